"""Files and folders that take the place of others whole, or not at all; and what a file ends with.

What a killed process leaves half-written is deleted by the next that writes there, and nothing
else.
"""

import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from tests.session.rows import WORDS, row, settings
from wikitopics.session.errors import SessionError
from wikitopics.session.storage import writer as stores
from wikitopics.session.storage.files import (
    draft_of,
    last_line,
    left_behind,
    replacing,
    replacing_folder,
)


def write(target, *names):
    with replacing_folder(target, "model") as folder:
        for name in names:
            (folder / name).write_text(name)


def test_a_folder_takes_the_place_of_one_that_was_written_so(tmp_path):
    target = tmp_path / "out"
    write(target, "model", "model.npy")
    write(target, "model.txt")
    assert [file.name for file in target.iterdir()] == ["model.txt"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"], "nothing is left beside it"


@pytest.mark.parametrize("name", ["notes.txt", "model/"])
def test_a_folder_with_anything_else_in_it_is_left_alone(tmp_path, name):
    other = tmp_path / "out" / name
    other.parent.mkdir()
    other.mkdir() if name.endswith("/") else other.write_text("mine")
    with pytest.raises(SessionError, match="holds other files"):
        write(tmp_path / "out", "model")
    assert other.exists()
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(SessionError, match=r"not a folder|Not a directory"):
        write(tmp_path / "out", "model")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_folder_that_cannot_be_written_whole_leaves_what_was_there(tmp_path, monkeypatch):
    write(tmp_path / "out", "model")
    with pytest.raises(ZeroDivisionError), replacing_folder(tmp_path / "out", "model") as folder:
        (folder / "model.new").write_text(str(1 / 0))
    assert [file.name for file in tmp_path.rglob("*")] == ["out", "model"]

    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("wikitopics.session.storage.files.sync", full)
    with pytest.raises(SessionError, match="No space left"):
        write(tmp_path / "out", "model.new")
    assert [file.name for file in tmp_path.rglob("*")] == ["out", "model"]


SWAPPED = """
import os, pathlib, shutil, signal, sys
from wikitopics.session.storage import files

target, last, passed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), 0

def around(work):
    def done(*rest, **named):
        global passed
        passed += 1
        if passed == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*rest, **named)
    return done

for module, name in ((pathlib.Path, "rename"), (shutil, "rmtree"), (files, "sync")):
    setattr(module, name, around(getattr(module, name)))
with files.replacing_folder(target, "model") as folder:
    (folder / "model").write_text("new")
"""


def test_a_kill_at_any_instant_loses_no_folder_that_is_being_replaced(tmp_path, cli, monkeypatch):
    target = tmp_path / "out"
    codes = []
    for instant in range(1, 9):
        with replacing_folder(target, "model") as folder:
            (folder / "model").write_text("old")
        program = [sys.executable, "-c", SWAPPED, target, str(instant)]
        codes.append(subprocess.run(program).returncode)
        there = [path for path in tmp_path.rglob("model") if not path.parent.name.endswith(".new")]
        assert there, f"both are gone at instant {instant}"
        assert {path.read_text() for path in there} <= {"old", "new"}
        if there == [target / "model"]:
            continue
        monkeypatch.chdir(tmp_path)
        told = cli("doctor", "--offline").out
        assert (
            "set aside by a killed `export`, which the next `export` to the same folder puts back"
            in told
        )
        with pytest.raises(ZeroDivisionError), replacing_folder(target, "model"):
            raise ZeroDivisionError
        assert (target / "model").read_text() in ("old", "new")
    assert set(codes) == {-signal.SIGKILL, 0}
    with replacing_folder(target, "model") as folder:
        (folder / "model").write_text("last")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_two_that_write_one_file_never_mix(tmp_path):
    with replacing(tmp_path / "out") as slow:
        slow.write(b"slow")
        with replacing(tmp_path / "out") as quick:
            quick.write(b"quick")
        assert (tmp_path / "out").read_bytes() == b"quick"
    assert (tmp_path / "out").read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["file", "session"])
def test_a_folder_whose_names_cannot_be_synced_holds_the_file_all_the_same(
    tmp_path, monkeypatch, kind
):
    real = os.fsync
    refused = []

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            refused.append(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    if kind == "file":
        with replacing(tmp_path / "out") as file:
            file.write(b"whole")
    else:
        stores.create(tmp_path / "out", settings(), stores.Beginning(WORDS, [row()]))
    assert refused
    assert os.listdir(tmp_path) == ["out"]


KILLED = """
import os, signal
import wikitopics.session.storage.files as files

def killed(path):
    for ending in ("-journal", "-wal"):
        if os.path.isfile(path):
            open(f"{path}{ending}", "w").close()
    os.kill(os.getpid(), signal.SIGKILL)

files.sync = killed
from wikitopics.cli import main
main()
"""
"""The command line, killed where a file or folder is about to get its name."""


@pytest.mark.parametrize(
    ("command", "packages"),
    [
        (["export", "articles", "-o", "OUT/articles.csv"], ()),
        pytest.param(
            ["export", "model", "--format", "gensim", "-o", "OUT/model"],
            ("gensim",),
            marks=pytest.mark.interop,
        ),
        (["backup", "OUT/copy.db"], ()),
        pytest.param(
            ["report", "-o", "OUT/report.html"], ("jinja2", "matplotlib"), marks=pytest.mark.interop
        ),
        (["train", "CORPUS", "--session", "OUT/new.db"], ()),
    ],
    ids=["articles", "gensim", "backup", "report", "train"],
)
def test_what_a_killed_command_leaves_goes_with_the_next(
    command,
    packages,
    trained,
    corpus,
    tmp_path,
    spawn,
):
    for package in packages:
        pytest.importorskip(package)
    out = tmp_path / "out"
    out.mkdir()
    words: list[str] = []
    for word in command:
        words += (
            [*corpus.options(), "--topics", "2"]
            if word == "CORPUS"
            else [word.replace("OUT", str(out))]
        )
    killed = spawn(*words, program=("-c", KILLED))
    told = killed.communicate()[1]
    assert killed.returncode == -signal.SIGKILL, told
    assert [path for path in out.iterdir() if path.name.startswith(".wikitopics-")], told
    with replacing(out / "anything") as file:
        file.write(b"x")
    assert [path.name for path in out.iterdir() if path.suffix != ".lock"] == ["anything"]


def test_what_a_live_process_writes_stays(tmp_path):
    with draft_of(tmp_path / "a") as one, replacing_folder(tmp_path / "b", "b") as other:
        (other / "b").write_text("x")
        with replacing(tmp_path / "c") as file:
            file.write(b"x")
        assert one.exists()
        assert other.exists()
        assert list(left_behind(tmp_path)) == []
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_of_others_nothing_is_deleted_and_doctor_names_it(tmp_path, cli, monkeypatch):
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    mine = folder / "mine"
    mine.mkdir()
    (mine / "thesis").write_text("x")
    with draft_of(folder / "x") as draft:
        name = draft.name
    left = [
        ".wikitopics-0123456789abcdef.new",  # as 1.0.0 named them, which did not lock them
        ".wikitopics-0badcafe-0123456789abcdef.new",  # of another machine
    ]
    for one in left:
        (folder / one).write_text("x")
    (folder / name).symlink_to(mine)
    os.mkfifo(folder / name.replace("-", "-" * 2))
    with replacing(folder / "y") as file:
        file.write(b"x")
    assert {*left, name, "mine", "x", "y"} <= set(os.listdir(folder))
    assert (mine / "thesis").exists()
    told = {one["check"]: one for one in json.loads(cli("doctor", "--offline", "--json").out)}[
        "leftovers"
    ]
    assert told["ok"]
    assert all(str(folder / one) in told["detail"] for one in left)
    assert str(folder / name) not in told["detail"].split(", ")


def test_a_draft_of_another_user_stays(tmp_path, monkeypatch):
    with draft_of(tmp_path / "x") as draft:
        pass
    draft.write_text("x")
    owner = draft.stat().st_uid
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: owner + 1)
        replacing(tmp_path / "y").__enter__()
        assert draft.exists()
    with replacing(tmp_path / "z"):
        assert not draft.exists()


def test_a_draft_that_is_swept_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    real = fcntl.flock
    swept = []

    def flock(descriptor, how):
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with replacing(tmp_path / "x") as file:
        file.write(b"whole")
    assert swept
    assert (tmp_path / "x").read_bytes() == b"whole"


def test_a_file_system_without_locks_holds_files_all_the_same(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(fcntl, "flock", flock)
    with draft_of(tmp_path / "x") as draft, replacing(tmp_path / "y") as file:
        file.write(b"whole")
        assert draft.exists()
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"the only one", "the only one"),
        (b"first\n  the last \n\n \n", "the last"),
        (b"x" * 10_000 + b"\nthe last\n", "the last"),
        (b"\xff is no text\n", "\ufffd is no text"),
    ],
)
def test_a_log_ends_with_its_last_line(tmp_path, data, last):
    assert last_line(tmp_path) == last_line(tmp_path / "s.log") == ""
    (tmp_path / "s.log").write_bytes(data)
    assert last_line(tmp_path / "s.log") == last


def test_a_link_to_a_device_is_not_replaced(tmp_path):
    link = tmp_path / "out"
    device = "/dev/full" if os.path.exists("/dev/full") else "/dev/zero"
    link.symlink_to(device)
    with pytest.raises(SessionError, match="out: a device, not a regular file"), replacing(link):
        pass
    assert link.is_symlink()

"""What a killed process leaves half-written is deleted by the next that writes there, and nothing else."""

import json
import os
import signal

import pytest

from wikitopics.session.errors import SessionError
from wikitopics.session.storage.files import draft_of, left_behind, replacing, replacing_folder

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
def test_what_a_killed_command_leaves_is_gone_after_the_next(
    command, packages, trained, corpus, tmp_path, spawn
):
    for package in packages:
        pytest.importorskip(package)
    out = tmp_path / "out"
    out.mkdir()
    words: list[str] = []
    for word in command:
        words += [*corpus.options(), "--topics", "2"] if word == "CORPUS" else [word.replace("OUT", str(out))]
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
        assert left_behind(tmp_path) == []
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
        name.replace(".new", ".old"),  # a user's folder that was to be replaced
    ]
    for one in left:
        (folder / one).write_text("x")
    (folder / name).symlink_to(mine)
    os.mkfifo(folder / name.replace("-", "-" * 2))
    with replacing(folder / "y") as file:
        file.write(b"x")
    assert {*left, name, "mine", "x", "y"} <= set(os.listdir(folder))
    assert (mine / "thesis").exists()
    told = {one["check"]: one for one in json.loads(cli("doctor", "--offline", "--json").out)}["leftovers"]
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
    import fcntl

    real, swept = fcntl.flock, []

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
    import fcntl

    def flock(*_):
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(fcntl, "flock", flock)
    with draft_of(tmp_path / "x") as draft, replacing(tmp_path / "y") as file:
        file.write(b"whole")
        assert draft.exists()
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(SessionError, match="No such file"), replacing(tmp_path / "none" / "x"):
        pass

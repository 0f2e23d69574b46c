"""Files and folders that take the place of others whole, or not at all; and what a file ends with."""

import errno
import os
import stat

import pytest

from tests.session.rows import WORDS, row, settings
from wikitopics.session.errors import SessionError
from wikitopics.session.storage import writer as stores
from wikitopics.session.storage.files import last_line, replacing, replacing_folder


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


def test_a_block_that_fails_leaves_what_was_there(tmp_path):
    write(tmp_path / "out", "model")
    with pytest.raises(ZeroDivisionError), replacing_folder(tmp_path / "out", "model") as folder:
        (folder / "model.new").write_text(str(1 / 0))
    assert [file.name for file in tmp_path.rglob("*")] == ["out", "model"]


def test_a_folder_that_cannot_be_written_whole_leaves_the_old_one(tmp_path, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(tmp_path / "out", "model")
    monkeypatch.setattr("wikitopics.session.storage.files.sync", full)
    with pytest.raises(SessionError, match="No space left"):
        write(tmp_path / "out", "model.new")
    assert [file.name for file in tmp_path.rglob("*")] == ["out", "model"]


@pytest.mark.parametrize("kind", ["file", "session"])
def test_a_folder_whose_names_cannot_be_synced_holds_the_file_all_the_same(tmp_path, monkeypatch, kind):
    real, refused = os.fsync, []

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
        stores.create(tmp_path / "out", settings(), WORDS, [row()])
    assert refused
    assert os.listdir(tmp_path) == ["out"]


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
    (tmp_path / "s.log").write_bytes(data)
    assert last_line(tmp_path / "s.log") == last


def test_a_log_that_cannot_be_read_has_no_last_line(tmp_path):
    assert last_line(tmp_path) == last_line(tmp_path / "s.log") == ""

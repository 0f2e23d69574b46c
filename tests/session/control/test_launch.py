"""Starting a trainer in the background, which writes to a log beside the session."""

import errno
import os

import pytest

from wikitopics.session.control import Trainers, forget, start_trainer
from wikitopics.session.errors import SessionError
from wikitopics.session.paths import log_file
from wikitopics.session.version import __version__


def test_a_system_that_starts_no_process_is_told_of_and_nothing_stays_open(tmp_path, monkeypatch):
    def refuse(*_, **more):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr("wikitopics.session.control.start_python", refuse)
    before = os.listdir("/dev/fd")
    with pytest.raises(SessionError, match="cannot start a trainer: Resource temporarily unavailable"):
        start_trainer(tmp_path / "night.db", [])
    assert os.listdir("/dev/fd") == before


@pytest.mark.parametrize(("end", "told"), [("kill", "killed by signal 9"), ("", "exit code 2")])
def test_how_a_trainer_died(tmp_path, end, told):
    trainers, path = Trainers(), tmp_path / "s.db"
    assert trainers.death(path) == ""
    process = trainers.start(path, ["demo", "--headless", "--session", str(path)] if end else ["--nonsense"])
    if end:
        assert trainers.death(path) == ""
        process.kill()
    process.wait()
    assert trainers.death(path) == told


def test_a_folder_that_cannot_be_made_is_told_of(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SessionError, match=r"cannot write .*night\.db\.log: "):
        start_trainer(tmp_path / "file" / "night.db", [])


def test_a_log_that_is_a_link_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("years of work\n")
    log_file(tmp_path / "s.db").symlink_to(precious)
    with pytest.raises(SessionError, match="symbolic link"):
        start_trainer(tmp_path / "s.db", ["--version"])
    assert precious.read_text() == "years of work\n"


def test_a_log_is_emptied_for_a_new_trainer_only_where_nobody_writes_to_it(tmp_path):
    path = tmp_path / "s.db"
    log_file(path).write_text("of an earlier run\n")
    first = start_trainer(path, ["demo", "--headless", "--session", str(path)])
    try:
        second = start_trainer(path, ["--version"])
        assert second.wait() == 0
        start_trainer(path, ["--nonsense"]).wait()
        told = log_file(path).read_text()
        assert "of an earlier run" not in told
        assert f"wikitopics {__version__}\n" in told
        assert "--nonsense" in told
    finally:
        first.terminate()
        first.wait()


@pytest.mark.parametrize(
    ("log", "begun", "left"),
    [
        ("wikitopics: the wiki is no wiki\n", False, False),
        ("stopped before training began\n", False, False),
        ("Traceback (most recent call last):\nValueError: 1\n", False, True),
        ("wikitopics: the disk is full\n", True, True),
    ],
)
def test_a_failed_start_leaves_no_log_unless_there_is_more_in_it(tmp_path, log, begun, left):
    path = tmp_path / "s.db"
    log_file(path).write_text(log)
    if begun:
        path.touch()
    forget(path)
    assert log_file(path).exists() is left

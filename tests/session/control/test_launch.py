"""Starting a trainer in the background, where the system does not let us."""

import errno
import os

import pytest

from wikitopics.session.control.launch import start_trainer
from wikitopics.session.errors import SessionError


def test_a_system_that_starts_no_process_is_told_of_and_nothing_stays_open(tmp_path, monkeypatch):
    def refuse(*_, **more):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr("wikitopics.session.control.launch.start_python", refuse)
    before = os.listdir("/dev/fd")
    with pytest.raises(SessionError, match="cannot start a trainer: Resource temporarily unavailable"):
        start_trainer(tmp_path / "night.db", [])
    assert os.listdir("/dev/fd") == before


def test_a_folder_that_cannot_be_made_is_told_of(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SessionError, match=r"cannot write .*night\.db\.log: "):
        start_trainer(tmp_path / "file" / "night.db", [])

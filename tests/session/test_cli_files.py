"""Session files that are missing, foreign, newer, damaged or in use: one line and the right exit code."""

import contextlib
import json
import os
import sqlite3

import pytest

from session.lock import trainer_lock
from session.schema import VERSION


@pytest.mark.parametrize("command", ["status", "topics", "watch", "infer"])
def test_a_session_that_is_not_there(cli, command, home, one_line):
    one_line(cli(command), 1, "there is no session", "train")
    assert not home.exists()


@pytest.mark.parametrize("command", [["stop"], ["pause"], ["resume"], ["save"]])
def test_no_trainer_to_speak_to(cli, command, trained, one_line):
    one_line(cli(*command), 1, "no trainer runs")


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["topics"],
        ["train"],
        ["export", "model"],
        ["articles", "--topic", "0"],
        ["backup", "x"],
    ],
)
def test_a_file_that_is_no_session(cli, command, home, tmp_path, monkeypatch, one_line):
    monkeypatch.chdir(tmp_path)
    home.mkdir()
    path = home / "default.db"
    for content in (b"", b"my thesis", b"SQLite format 3\0" + b"\x77" * 4096):
        path.write_bytes(content)
        one_line(cli(*command), 5)
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    one_line(cli(*command), 5, "folder")


@pytest.mark.parametrize("command", [["status"], ["train"], ["export", "topics"]])
def test_a_newer_format(cli, command, trained, one_line):
    with contextlib.closing(sqlite3.connect(trained)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    one_line(cli(*command), 5, "newer", "upgrade")


def test_a_second_trainer(cli, corpus, trained, one_line):
    with trainer_lock(trained):
        one_line(cli("train", *corpus.options()), 4, f"pid {os.getpid()}")
        status = json.loads(cli("status", "--json").out)
        assert (status["running"], status["pid"]) == (True, os.getpid())


def test_damage_in_the_middle_is_one_line(cli, trained, one_line):
    data = bytearray(trained.read_bytes())
    data[4096 : len(data) // 2] = os.urandom(len(data) // 2 - 4096)
    trained.write_bytes(bytes(data))
    for command in (["status"], ["topics"], ["export", "articles"], ["train"]):
        outcome = cli(*command)
        assert outcome.code in (1, 5)
        assert outcome.err.count("\n") == 1
        assert outcome.err.startswith("wikitopics: ")


def test_the_session_folder_is_a_file(cli, home, corpus, one_line):
    home.write_text("")
    one_line(cli("train", *corpus.options()), 1, "folder")

"""What the command line says when somebody is lost: one line each, with what to do next."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wikitopics.cli import run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WIKITOPICS_HOME", str(tmp_path))
    monkeypatch.delenv("WIKITOPICS_CONTACT", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "meant"), [("wath", "'watch'"), ("topic", "'topics'"), ("xyz", "demo, train")]
)
def test_an_unknown_command_is_answered_with_what_there_is(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([typed]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert meant in lines[0]


def test_whoever_names_no_session_is_told_which_there_are(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status"]) == 1
    assert "wikitopics demo" in capsys.readouterr().err
    (home / "night.db").write_bytes(b"")
    assert run(["status"]) == 1
    assert "--session night" in capsys.readouterr().err


def test_train_without_a_contact_says_who_asks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "Wikimedia" in line
    assert "--contact" in line


def test_a_reader_that_has_had_enough_is_no_failure() -> None:
    command = [sys.executable, "-m", "wikitopics", "vocab", "show"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writing)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_vocabulary_that_could_not_be_written_is_not_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["vocab", "build", "missing.jsonl", "-o", "/nowhere/words.txt"]) == 2
    assert "no folder /nowhere" in capsys.readouterr().err

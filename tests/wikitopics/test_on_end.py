"""`train --on-end COMMAND`."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from wikitopics.cli import train
from wikitopics.cli.train import at_end
from wikitopics.session.errors import SessionError

TELL = 'echo "$WIKITOPICS_EXIT_CODE|$WIKITOPICS_REASON|$WIKITOPICS_SESSION" >> '


def test_it_is_told_how_a_good_run_ended(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with at_end(f"{TELL}'{out}'", tmp_path / "s.db", pytest.fail) as end:
        end.reason = "stopped; `touch x` $(touch x) it's\nover"
    assert out.read_text() == f"0|stopped; `touch x` $(touch x) it's over|{tmp_path}/s.db\n"
    assert not (tmp_path / "x").exists()


def test_it_is_told_why_a_trainer_could_not_begin(tmp_path: Path, cli: Callable[..., Any]) -> None:
    out = tmp_path / "out"
    outcome = cli("train", "--counts", tmp_path / "none.npz", "--on-end", f"{TELL}'{out}'")
    told, reason, _ = out.read_text().split("|")
    assert int(told) == outcome.code != 0
    assert outcome.err == f"wikitopics: {reason}\n"
    assert out.read_text().count("\n") == 1


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, click.Abort])
def test_it_is_told_of_an_interruption(tmp_path: Path, interruption: type[BaseException]) -> None:
    out = tmp_path / "out"
    with pytest.raises(interruption), at_end(f"{TELL}'{out}'", tmp_path / "s.db", pytest.fail):
        raise interruption
    assert out.read_text() == f"130|interrupted|{tmp_path}/s.db\n"


@pytest.mark.parametrize(
    ("command", "says"), [("exit 3", "failed with code 3"), ("sleep 600", "took over 0 s and was killed")]
)
def test_its_own_failure_is_a_line_and_it_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, says: str
) -> None:
    if command == "sleep 600":
        monkeypatch.setattr(train, "PATIENCE", 0.2)
    told: list[str] = []
    with at_end(command, tmp_path, told.append):
        pass
    with pytest.raises(SessionError), at_end(command, tmp_path, told.append):
        raise SessionError("damaged")
    assert told == [f"wikitopics: --on-end {says}"] * 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_another_signal_waits_for_it(
    tmp_path: Path, spawn: Callable[..., Any], number: signal.Signals
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = f"exec 3> '{fifo}'; echo begun >&3; sleep 1; echo done >&3"
    trainer = spawn("train", "--counts", tmp_path / "none.npz", "--on-end", command)
    with open(fifo, encoding="utf-8") as said:
        assert said.readline() == "begun\n"
        trainer.send_signal(number)
        assert said.read() == "done\n"
    trainer.communicate(timeout=60)
    assert trainer.returncode == -number


def test_ctrl_c_ends_it_and_all_that_it_started(tmp_path: Path, spawn: Callable[..., Any]) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = f"exec 3> '{fifo}'; echo begun >&3; sleep 600 & sleep 600"
    trainer = spawn("train", "--counts", tmp_path / "none.npz", "--on-end", command)
    with open(fifo, encoding="utf-8") as said:
        assert said.readline() == "begun\n"
        trainer.send_signal(signal.SIGINT)
        assert said.read() == ""  # nobody holds the pipe any more
    trainer.communicate(timeout=60)
    assert trainer.returncode == 130

"""`--on-end`: the command that runs when a trainer has ended."""

import os
import signal

import click
import pytest

from wikitopics.cli import ending
from wikitopics.cli.ending import at_end
from wikitopics.cli.output import ReaderGone
from wikitopics.session.errors import SessionError

TELL = 'echo "$WIKITOPICS_EXIT_CODE|$WIKITOPICS_REASON|$WIKITOPICS_SESSION" >> '


def test_a_command_at_the_end_is_told_how_a_good_run_ended(tmp_path):
    out = tmp_path / "out"
    with at_end(f"{TELL}'{out}'", tmp_path / "s.db", pytest.fail) as end:
        end.reason = "stopped; `touch x` $(touch x) it's\nover"
    assert out.read_text() == f"0|stopped; `touch x` $(touch x) it's over|{tmp_path}/s.db\n"
    assert not (tmp_path / "x").exists()


def test_a_command_at_the_end_is_told_why_a_trainer_could_not_begin(tmp_path, cli):
    out = tmp_path / "out"
    outcome = cli("train", "--counts", tmp_path / "none.npz", "--on-end", f"{TELL}'{out}'")
    told, reason, _ = out.read_text().split("|")
    assert int(told) == outcome.code != 0
    assert outcome.err == f"wikitopics: {reason}\n"
    assert out.read_text().count("\n") == 1


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, click.Abort])
def test_a_command_at_the_end_is_told_of_an_interruption(tmp_path, interruption):
    out = tmp_path / "out"
    with pytest.raises(interruption), at_end(f"{TELL}'{out}'", tmp_path / "s.db", pytest.fail):
        raise interruption
    assert out.read_text() == f"130|interrupted|{tmp_path}/s.db\n"


def test_a_command_at_the_end_runs_even_if_nobody_reads_how_the_run_ended(tmp_path):
    out = tmp_path / "out"

    def tell(reason):
        raise ReaderGone

    def train():
        with at_end(f"{TELL}'{out}'", tmp_path / "s.db", pytest.fail) as end:
            end.reason = "finished"
            end.tell = tell

    with pytest.raises(ReaderGone):
        train()
    assert out.read_text() == f"0|finished|{tmp_path}/s.db\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [("exit 3", "failed with code 3"), ("sleep 600", "took over 0 s and was killed")],
)
def test_a_command_at_the_end_that_fails_or_never_ends_is_a_line(
    tmp_path,
    monkeypatch,
    command,
    says,
):
    if command == "sleep 600":
        monkeypatch.setattr(ending, "PATIENCE", 0.2)
    told = []
    with at_end(command, tmp_path, told.append):
        pass
    with pytest.raises(SessionError), at_end(command, tmp_path, told.append):
        raise SessionError("damaged")
    assert told == [f"wikitopics: --on-end {says}"] * 2


@pytest.mark.parametrize(
    ("number", "command", "says", "code"),
    [
        (signal.SIGTERM, "sleep 1; echo done >&3", "done\n", -signal.SIGTERM),
        (signal.SIGHUP, "sleep 1; echo done >&3", "done\n", -signal.SIGHUP),
        (signal.SIGINT, "sleep 600 & sleep 600", "", 130),
    ],
)
def test_ctrl_c_ends_a_command_at_the_end_and_signals_wait(
    tmp_path,
    spawn,
    number,
    command,
    says,
    code,
):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    begun = f"exec 3> '{fifo}'; echo begun >&3; {command}"
    trainer = spawn("train", "--counts", tmp_path / "none.npz", "--on-end", begun)
    with open(fifo, encoding="utf-8") as said:
        assert said.readline() == "begun\n"
        trainer.send_signal(number)
        assert said.read() == says  # once nobody holds the pipe any more
    trainer.communicate(timeout=60)
    assert trainer.returncode == code

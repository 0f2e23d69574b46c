"""`wikitopics.train`: its trainer's process, other calls at the same time, and what a kill leaves behind."""

import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from unittest.mock import Mock

import pytest

import wikitopics as wt
from tests.commands import ROOT
from tests.waiting import gone, until
from tests.wikitopics.in_python.learning import TEXTS, assert_nothing_is_left, learn
from wikitopics.in_python.trainer import wait
from wikitopics.session.control import start_trainer
from wikitopics.session.errors import NotNow
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.system import TrainerLock, owner

pytestmark = pytest.mark.filterwarnings("ignore:short texts")


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import pandas as pd
from tests.wikitopics.in_python.learning import TEXTS, learn
learn(pd.Series(TEXTS, range(500, 620)), passes=10_000)
"""


def endless_program():
    """A program that will not come to its end."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def articles(path):
    with suppress(wt.SessionError):
        return wt.open(path).status().articles
    return 0


def pid_of_trainer_at_work(path):
    """The trainer's pid, once it has trained on more articles than the session has now."""
    before = articles(path)
    until(lambda: articles(path) > before)
    return owner(path).pid


@pytest.fixture
def exits_on_sigterm():
    """The tests' process has a handler of its own, as a program may have."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_while_a_trainer_is_being_started_ends_that_trainer(
    in_a_process,
    path,
    monkeypatch,
    exits_on_sigterm,
    number,
    raised,
):
    started = []

    def interrupted(*arguments):
        started.append(start_trainer(*arguments))
        signal.raise_signal(number)
        return started[0]

    monkeypatch.setattr("wikitopics.session.control.start_trainer", interrupted)
    with pytest.raises(raised):
        learn(passes=10_000)
    assert started[0].poll() is not None
    assert_nothing_is_left(path)


def test_an_index_that_cannot_be_stored_yet_is_stored_later(path, monkeypatch):
    attempts = []

    def store(_, index):
        attempts.append(index)
        if len(attempts) < 3:
            raise NotNow("another program is writing to it")

    monkeypatch.setattr("wikitopics.in_python.trainer.store_index", store)
    monkeypatch.setattr("wikitopics.in_python.trainer.POLL_SECONDS", 0.01)
    path.parent.mkdir()
    path.touch()
    index = {"name": None, "dtype": "int64"}
    with subprocess.Popen("cat", stdin=subprocess.PIPE) as process:

        def show():
            if len(attempts) == 3:
                process.stdin.close()

        assert wait(process, path, index, show) == 0
    assert attempts == 3 * [index]


def test_an_index_that_cannot_be_stored_when_the_trainer_has_ended_is_an_error(path, monkeypatch):
    full = Mock(side_effect=NotNow("the disk is full"))
    monkeypatch.setattr("wikitopics.in_python.trainer.store_index", full)
    path.parent.mkdir()
    path.touch()
    with subprocess.Popen("true") as process, pytest.raises(NotNow):
        wait(process, path, {"name": None, "dtype": "int64"}, lambda: None)


def test_two_at_once_do_not_take_each_others_texts(path, monkeypatch):
    def owner_once_texts_are_written(path):
        """In place of `owner`, which finds the trainer that is running on the session: as if the
        other one had begun only after this call had written its texts."""
        return owner(path) if InMemoryTexts.of(path).texts.exists() else None

    monkeypatch.setattr("wikitopics.in_python.run.owner", owner_once_texts_are_written)
    path.parent.mkdir()
    says = (
        f"in use by another trainer .pid {os.getpid()}.; watch it with `wikitopics watch --session "
        "notes`"
    )
    with TrainerLock(path), pytest.raises(wt.SessionError, match=says):  # locked by the other one
        learn()
    assert InMemoryTexts.of(path).texts.exists()


def test_a_call_at_the_same_time_is_refused_before_it_writes(in_a_process, path):
    """Once the program that made the first call is killed, its trainer still holds the texts."""
    program = endless_program()
    try:
        until(InMemoryTexts.of(path).texts.exists)
        with pytest.raises(wt.SessionError, match=r"another call of|in use by another trainer"):
            learn(TEXTS[::-1])
        trainer = pid_of_trainer_at_work(path)
        program.kill()
        with pytest.raises(wt.SessionError, match="another call of"), InMemoryTexts.of(path).held():
            pass
    finally:
        program.kill()
        program.communicate()
    os.kill(trainer, signal.SIGTERM)
    until(lambda: gone(trainer))
    with InMemoryTexts.of(path).held() as held:
        InMemoryTexts.of(path).remove(held)


def test_texts_that_another_call_took_over_are_not_removed(path):
    given = InMemoryTexts.of(path)
    with given.held() as first:
        given.texts.unlink()  # as the trainer does at its end
        with given.held() as second:
            given.remove(first)
            assert given.texts.exists()
            given.remove(second)
    assert_nothing_is_left(path)


def test_a_trainer_that_was_stopped_is_warned_of(path, cli):
    program = endless_program()
    pid_of_trainer_at_work(path)
    assert cli("stop", "--session", "notes").code == 0
    _, told = program.communicate()
    assert "UserWarning: the trainer was stopped after" in told
    assert program.returncode == 0


def test_sigterm_stops_the_trainer_too(path):
    program = endless_program()
    trainer = pid_of_trainer_at_work(path)
    program.terminate()
    program.communicate()
    assert program.returncode == -signal.SIGTERM
    until(lambda: gone(trainer))
    assert wt.open(path).status().state == "stopped"
    assert_nothing_is_left(path)


@pytest.mark.long
def test_whoever_is_killed_the_texts_are_removed(in_a_process, path, cli):
    program = endless_program()
    pid_of_trainer_at_work(path)
    until(lambda: articles(path) >= len(TEXTS))  # each has its proportions
    assert all(
        stat.S_IMODE(file.stat().st_mode) == 0o600
        for file in InMemoryTexts.of(path)
        if file.exists()
    )
    program.send_signal(signal.SIGINT)
    _, told = program.communicate()
    assert told.endswith("KeyboardInterrupt\n"), told
    assert wt.open(path).status().state == "stopped"
    assert wt.open(path).proportions(frame=True).index.tolist() == list(range(500, 620))
    assert_nothing_is_left(path)

    program = endless_program()  # resumes the session
    trainer = pid_of_trainer_at_work(path)
    program.kill()
    program.communicate()
    before = articles(path)
    until(lambda: articles(path) > before)
    with pytest.raises(wt.SessionError, match=f"in use by another trainer .pid {trainer}"):
        learn(passes=10_000)
    assert InMemoryTexts.of(path).texts.exists()
    os.kill(trainer, signal.SIGTERM)
    until(lambda: gone(trainer))
    assert_nothing_is_left(path)

    program = endless_program()
    os.kill(pid_of_trainer_at_work(path), signal.SIGKILL)
    _, told = program.communicate()
    assert "SessionError: the trainer was killed by signal 9" in told.splitlines()[-1]
    assert program.returncode == 1
    assert_nothing_is_left(path)

    for remove in (lambda: cli("sessions", "rm", "notes", "--yes"), lambda: learn()):
        program = endless_program()
        trainer = pid_of_trainer_at_work(path)
        program.kill()
        os.kill(trainer, signal.SIGKILL)
        program.communicate()
        until(lambda trainer=trainer: gone(trainer))
        left = f"left by killed trainers, which you can delete: {InMemoryTexts.of(path).texts}"
        assert f"texts passed from Python, {left}" in cli("doctor", "--offline").out
        with suppress(wt.SessionError):  # `learn` asks for other passes than the session has
            remove()
        assert_nothing_is_left(path)

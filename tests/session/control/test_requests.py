"""Stopping a trainer from another process: it is asked, and nothing else is ever signalled."""

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.sessions import holder
from wikitopics.session import control
from wikitopics.session.errors import NotRunning, SessionError, SessionInUse
from wikitopics.session.records import TrainerActivity
from wikitopics.session.storage import reader as heartbeat
from wikitopics.session.storage.lock import lock_path
from wikitopics.session.storage.reader import check_alone
from wikitopics.session.storage.trainer import HeartbeatWriter, request_control
from wikitopics.session.system import Process


@contextlib.contextmanager
def held_by_another(path, text):
    """Another program has locked the lock file, and ``text`` stands in it."""
    lock_path(path).write_text(text)
    with lock_path(path).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def bystander():
    """A process that has nothing to do with us; it must not be harmed."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    alive = process.poll() is None
    process.kill()
    process.wait()
    assert alive


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(control, "OBEY_SECONDS", 0.1)
    monkeypatch.setattr(control, "PATIENCE_SECONDS", 0.1)


def test_where_no_trainer_runs_nobody_is_told(path):
    with pytest.raises(NotRunning):
        control.stop(path)


@pytest.mark.parametrize("text", ["{pid}\n", "{pid}\nanother place\n1\n", "0\n", "1" * 20 + "\n", "nonsense"])
def test_a_number_in_a_lock_file_is_no_trainer(path, bystander, short, text):
    with (
        held_by_another(path, text.format(pid=bystander.pid)),
        pytest.raises(SessionError, match="end it on the machine where it runs"),
    ):
        control.stop(path)


def test_a_process_that_has_taken_the_number_is_not_signalled(path, bystander, short):
    own = Process.own()
    later = Process(bystander.pid, own.place, own.start)  # began at another time
    with held_by_another(path, later.as_text()), pytest.raises(SessionError, match=str(bystander.pid)):
        control.stop(path)


def test_a_suspended_trainer_is_told_of_and_ends_once_it_is_continued(path, short):
    with holder(path) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        told = []
        end = rf"once continued \(`kill -CONT {process.pid}`\) it saves and ends$"
        why = rf"it is suspended, as by Ctrl\+Z; {end}"
        with pytest.raises(SessionError, match=f"has not ended within 0 s; {why}"):
            control.stop(path, told.append)
        (line,) = told
        assert re.fullmatch(f"waiting for the trainer: {why}", line)
        process.send_signal(signal.SIGCONT)
        assert process.wait() == -signal.SIGTERM


@pytest.mark.parametrize("answers", [True, False])
def test_who_does_not_hear_is_signalled_where_it_is_certain_who_it_is(path, short, monkeypatch, answers):
    """A trainer that is still starting does not look at what it is asked for."""
    monkeypatch.setattr(control, "PATIENCE_SECONDS", 600.0)
    if not answers:
        path = path.with_name("not-yet.db")
    process = holder(path)
    threading.Thread(target=process.wait).start()
    control.stop(path)
    assert process.wait() == -signal.SIGTERM
    process.stdout.close()


def test_an_old_wish_is_not_for_the_next_trainer(corpus, home, cli):
    small = ["--topics", 3, "--batch-size", 64, "--held-out", 40]
    assert cli("train", *corpus.options(), *small, "--articles", 64).code == 0
    request_control(home / "default.db", stop=True, paused=True)
    assert cli("train").code == 0
    now = json.loads(cli("status", "--json").out)
    assert (now["state"], now["articles"]) == ("finished", 657)


@pytest.mark.parametrize("lives", [True, False])
def test_a_lock_file_deleted_under_a_trainer(trained, lives, cli, one_line, monkeypatch):
    """Its heartbeat goes on in the session."""
    monkeypatch.setattr(heartbeat, "STALE_SECONDS", 3600)  # it beats but once
    code = "from wikitopics.session.system import Process\n"
    code += "print(Process.own().as_text(), end='', flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    began = f"/proc/{other.pid}/stat"
    trainer = Process.from_text("".join(other.stdout.readline() for _ in range(3)))
    assert trainer.pid == other.pid
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(Process, "own", classmethod(lambda cls: trainer))
        with contextlib.closing(HeartbeatWriter(trained)) as pulse:
            pulse.beat("running", TrainerActivity())
    if not lives:
        other.kill()  # and not waited for: so it is with a shell's background jobs
    try:
        while not lives and os.path.exists(began) and trainer.lives():
            time.sleep(0.01)
        outcome = cli("train", "--articles", 9999, "--session", trained)
        if lives:
            one_line(outcome, 4, f"pid {other.pid}")
        else:
            assert outcome.code == 0, outcome.err
    finally:
        other.communicate("\n")


@pytest.mark.parametrize("beats", [True, False])
def test_a_trainer_that_cannot_be_seen_from_here_is_known_by_its_heartbeat(path, beats, monkeypatch):
    monkeypatch.setattr(heartbeat, "BEATS_SECONDS", 600.0 if beats else 0.2)
    monkeypatch.setattr(Process, "own", classmethod(lambda cls: Process(1, "another container", "1")))
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.beat("running", TrainerActivity())
        if beats:
            monkeypatch.setattr("time.sleep", lambda _: pulse.beat("running", TrainerActivity()))
        with pytest.raises(SessionInUse) if beats else contextlib.nullcontext():
            check_alone(path)

"""A run whose disk is full, whose file another program writes to or takes away."""

import contextlib
import errno
import math
import os
import sqlite3
import threading

import pytest

from tests.session.memory import account_holds, log_of, pages_of, pause, reasons, status
from tests.waiting import until_true
from wikitopics.session.errors import DiskFull, SessionError
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.run import Limits, Run


@pytest.fixture
def full(monkeypatch):
    """As long as it is set, the disk is full."""
    full, commit = threading.Event(), SessionWriter.commit
    full.set()

    def try_it(self, *arguments):
        if full.is_set():
            raise DiskFull("the disk is full: x")
        commit(self, *arguments)

    monkeypatch.setattr(SessionWriter, "commit", try_it)
    return full


async def test_a_full_disk_is_waited_for(trainer_of, memory, full, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.run.RETRY_SECONDS", 0.1)

    async def make_room(run):
        await until_true(lambda: status(trainer_of.path).waiting_for == "the disk is full: x")
        now = status(trainer_of.path)
        assert (now.articles, now.hindered) == (0, True)
        full.clear()
        memory.slow = 0.0

    memory.slow = 0.03
    assert await trainer_of(memory, meanwhile=make_room) == "finished"
    assert status(trainer_of.path).articles == 570
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_a_slow_commit_is_what_is_waited_for(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.run.SAVING_SECONDS", 0.2)
    monkeypatch.setattr("wikitopics.session.training.run.QUIET_SECONDS", 0.4)
    disk, commit, told = threading.Event(), SessionWriter.commit, []

    def slowly(self, *arguments):
        disk.wait(60)
        commit(self, *arguments)

    monkeypatch.setattr(SessionWriter, "commit", slowly)

    async def look(run):
        await until_true(lambda: status(trainer_of.path).waiting_for == "the models to be saved")
        await until_true(lambda: "saving the models has taken over a minute" in str(log_of(trainer_of.path)))
        memory.activity.waiting_for, memory.activity.waiting_until = "the next request", 2e9
        told.clear()
        await until_true(lambda: told)
        assert told[-1] == ("saving the models has taken over a minute so far", None)
        disk.set()

    def report(now):
        told.append((now.activity.waiting_for, now.activity.waiting_until))

    assert await trainer_of(memory, meanwhile=look, report=report) == "finished"
    assert told[-1] == ("the next request", 2e9)


@pytest.mark.parametrize("hours", [math.inf, 1])
async def test_a_full_disk_keeps_no_trainer_from_stopping(trainer_of, memory, full, monkeypatch, hours):
    passed = 0
    ran = Run.ran
    monkeypatch.setattr(Run, "ran", lambda run: ran(run) + passed)
    if hours == 1:
        monkeypatch.setattr("wikitopics.session.training.run.RETRY_SECONDS", 0.1)

    async def stop(run):
        nonlocal passed
        await until_true(lambda: run.blocked is not None)
        if hours != 1:
            run.stop("enough")
        passed = 3600
        await until_true(lambda: run.stopping.is_set())

    memory.slow = 0.03
    with pytest.raises(DiskFull):
        await trainer_of(memory, Limits(hours=hours), stop)
    assert reasons(trainer_of.path) == ["the disk is full: x"]


async def test_another_writer_is_waited_for(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.run.RETRY_SECONDS", 0.1)
    monkeypatch.setattr("wikitopics.session.storage.database.BUSY_SECONDS", 0.2)

    async def write(run):
        await until_true(lambda: run.stream.progress.crawled > 0)
        with contextlib.closing(sqlite3.connect(trainer_of.path, isolation_level=None, timeout=60)) as other:
            other.execute("BEGIN IMMEDIATE")
            await until_true(lambda: run.blocked is not None)
            assert "another program" in run.blocked.what
            other.execute("ROLLBACK")
        memory.slow = 0.0

    memory.slow = 0.03
    assert await trainer_of(memory, meanwhile=write) == "finished"
    assert pages_of(trainer_of.path) == list(range(1, 701))


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_session_that_was_taken_away_ends_the_run(trainer_of, memory, replaced):
    async def take(run):
        await until_true(lambda: run.stream.progress.crawled > 0)
        trainer_of.path.unlink()
        if replaced:
            trainer_of.path.write_bytes(b"SQLite format 3\0")

    memory.slow = 0.02
    with pytest.raises(SessionError, match="was removed or replaced"):
        await trainer_of(memory, meanwhile=take)
    assert memory.closed


async def test_progress_that_cannot_be_written_does_not_end_the_heartbeat(trainer_of, memory):
    def report(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    memory.hang_at = 100

    async def meanwhile(run):
        await memory.hanging.wait()
        await pause(trainer_of.path, run)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=meanwhile, report=report) == "enough"
    assert account_holds(status(trainer_of.path))

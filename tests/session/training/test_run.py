"""A run: to its end, to its limits, stopped from outside, on a full disk, with a heartbeat that
dies."""

import asyncio
import contextlib
import errno
import math
import os
import signal
import sqlite3
import threading
from unittest.mock import Mock

import numpy as np
import pytest

from tests.session.memory import (
    BATCH,
    BATCH_BYTES,
    FIRST_MINIBATCH,
    HELD_OUT,
    PAGES,
    account_holds,
    crawled_with,
    log_of,
    pages_of,
    pause,
    reasons,
    status,
    with_words,
)
from tests.waiting import until_true
from wikitopics.crawler.errors import WikiRefused, WikiUnreachable
from wikitopics.session import control
from wikitopics.session.errors import DiskFull, SessionError
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.storage.recorded import RecordedReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training import blocks as feed_module
from wikitopics.session.training import charting
from wikitopics.session.training.blocks import JOBS_AHEAD
from wikitopics.session.training.renewal import Renewal
from wikitopics.session.training.run import Limits, Run, commit_due
from wikitopics.session.training.stream import Stream

WITHOUT_WORDS = PAGES - with_words(PAGES)
DISAMBIGUATION = crawled_with(PAGES) - PAGES
"""Pages that the source skips."""
TRAINED = with_words(PAGES) - HELD_OUT
"""Articles on which the session is trained at its end: those with a known word, except the ones that
are held out."""


async def comes_to_its_end(trainer_of, memory, **more):
    """Train to the end of the source; whatever went before, every page is in the session once."""
    assert await trainer_of(memory, **more) == "finished"
    assert status(trainer_of.path).articles == TRAINED
    assert pages_of(trainer_of.path) == list(range(1, PAGES + 1))


async def test_to_the_end_of_the_source_and_no_further(trainer_of, memory):
    await comes_to_its_end(trainer_of, memory)
    now = status(trainer_of.path)
    assert (now.state, now.held_out, now.pending) == ("finished", HELD_OUT, 0)
    skips = {"no known word": WITHOUT_WORDS, "disambiguation": DISAMBIGUATION}
    assert (now.skipped, now.skips) == (WITHOUT_WORDS + DISAMBIGUATION, skips)
    assert (now.crawled, now.bytes_read) == (crawled_with(PAGES), PAGES // BATCH * BATCH_BYTES)
    assert now.models[0].perplexity is not None
    assert reasons(trainer_of.path) == ["finished"]
    log = [text for _, text in log_of(trainer_of.path)]
    assert "skipped so far: 170 (no known word 100, disambiguation 70)" in log
    assert any(line.startswith(f"after {TRAINED} documents: perplexity lda ") for line in log)
    assert await trainer_of(memory) == "finished"
    after = status(trainer_of.path)
    assert (after.articles, after.crawled, after.models) == (now.articles, now.crawled, now.models)


async def test_rates_fade_while_nothing_is_learnt(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.rates.SECONDS", 0.5)
    memory.hang_at = 400
    run = asyncio.create_task(trainer_of(memory))
    await until_true(memory.hanging.is_set)

    def rests():
        now = status(trainer_of.path)
        return now.articles and (now.activity.train_rate, now.activity.crawl_rate) == (0.0, 0.0)

    await until_true(rests)
    assert status(trainer_of.path).state == "running"
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


async def test_what_was_learnt_is_saved_before_a_step_that_takes_long(
    trainer_of, memory, monkeypatch
):
    real_step = Stream.step
    measuring_steps = []
    """The numbers of the steps that measure."""
    were_saved_before = []
    """For each step, whether all that was learnt had been saved before it."""

    def step(self, elapsed):
        everything_is_saved = status(trainer_of.path).articles == self.progress.articles
        were_saved_before.append(everything_is_saved)
        if self.measures_next:
            number_of_step = len(were_saved_before)
            measuring_steps.append(number_of_step)
            assert everything_is_saved
        return real_step(self, elapsed)

    def only_before_measuring(_, work):
        """No commit is due, except before a step that measures."""
        return work is not None and work.measures

    monkeypatch.setattr(Run, "commits_before", only_before_measuring)
    monkeypatch.setattr(Stream, "step", step)
    assert await trainer_of(memory) == "finished"
    assert measuring_steps == [1, 2, 4, 8]
    assert not all(were_saved_before)


async def test_hours_are_this_runs(trainer_of, memory):
    memory.hang_at = 0
    assert "--hours" in await trainer_of(memory, Limits(hours=0.1 / 3600))
    assert "--hours" in await trainer_of(memory, Limits(hours=0.1 / 3600))
    assert status(trainer_of.path).elapsed_seconds >= 0.2


async def test_hours_end_a_step_that_takes_long(trainer_of, memory, monkeypatch):
    """What was trained before it stays, as at any other stop."""
    let_go = threading.Event()
    hanging = threading.Event()
    real_step = Stream.step

    def step(self, elapsed):
        if self.progress.articles >= FIRST_MINIBATCH:
            hanging.set()
            let_go.wait(60)
        return real_step(self, elapsed)

    monkeypatch.setattr(Stream, "step", step)
    monkeypatch.setattr("wikitopics.session.training.run.PATIENCE", 0.1)
    try:
        assert "--hours" in await trainer_of(memory, Limits(hours=2 / 3600))
        assert not let_go.is_set()
    finally:
        let_go.set()
    # On a busy machine, the time may be up before anything is trained.
    trained = FIRST_MINIBATCH if hanging.is_set() else 0
    assert status(trainer_of.path).articles == trained


async def test_megabytes_are_this_runs(trainer_of, memory):
    memory.slow = 0.001
    assert "--max-mb" in await trainer_of(memory, Limits(megabytes=0.02))
    first = status(trainer_of.path)
    assert first.bytes_read >= 20_000
    assert account_holds(first)
    await trainer_of(memory, Limits(megabytes=0.02))
    assert status(trainer_of.path).bytes_read >= first.bytes_read + 20_000


async def test_pause_and_resume(trainer_of, memory):
    memory.slow = 0.02
    memory.hang_at = 600  # the run cannot be over before it is paused
    path = trainer_of.path

    async def meanwhile(run):
        await until_true(lambda: run.stream.progress.crawled > 0)
        await pause(path, run)
        await asyncio.sleep(0.1)
        before = run.stream.progress.crawled
        await asyncio.sleep(0.4)
        assert run.stream.progress.crawled == before
        await until_true(lambda: status(path).state == "paused")
        await until_true(lambda: run.learnt.of_steps() == 0.0)
        await asyncio.to_thread(control.ask, path, paused=False)
        memory.slow = 0.0
        memory.go_on.set()
        await until_true(lambda: run.stream.progress.crawled > before)

    await comes_to_its_end(trainer_of, memory, meanwhile=meanwhile)


async def test_a_source_that_is_slowed_down_can_be_hurried(trainer_of, memory):
    memory.activity.pace = 90.0
    memory.hang_at = 140

    async def ask(run):
        await memory.hanging.wait()
        await asyncio.to_thread(control.ask, trainer_of.path, hurry=True)
        await until_true(lambda: memory.activity.pace == 0.0)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=ask) == "enough"


async def test_a_layout_that_is_asked_for_is_begun(trainer_of, memory, monkeypatch):
    asked = []
    monkeypatch.setattr(Stream, "lay_out", lambda stream: asked.append(stream))
    memory.hang_at = 140

    async def ask(run):
        await memory.hanging.wait()
        await asyncio.to_thread(control.ask, trainer_of.path, lay_out=True)
        await until_true(lambda: asked == [run.stream])
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=ask) == "enough"
    assert len(asked) == 1


async def test_the_last_layout_is_what_is_waited_for(trainer_of, memory, monkeypatch):
    is_laid_out = threading.Event()
    really_with_places = charting.with_places

    def with_places(layout, before):
        if layout.articles > charting.FIRST:  # not the one that is begun while there are others
            is_laid_out.wait(60)
        return really_with_places(layout, before)

    monkeypatch.setattr(charting, "with_places", with_places)
    awaited = "laying out the map of articles"

    async def look(run):
        await until_true(lambda: status(trainer_of.path).waiting_for == awaited)
        is_laid_out.set()

    assert await trainer_of(memory, meanwhile=look) == "finished"
    assert status(trainer_of.path).waiting_for is None


async def test_a_save_that_is_asked_for_is_made_though_none_is_due(trainer_of, memory, monkeypatch):
    monkeypatch.setattr(Run, "commits_before", lambda *_: False)
    memory.hang_at = 140

    async def ask(run):
        await memory.hanging.wait()
        await until_true(lambda: run.stream.progress.articles == FIRST_MINIBATCH)
        assert status(trainer_of.path).crawled == 0
        run.feed.activity.own_wait = True  # as if the source waited by its own choice
        await asyncio.to_thread(control.ask, trainer_of.path, save=True)
        await until_true(lambda: status(trainer_of.path).articles == FIRST_MINIBATCH)
        assert not run.feed.activity.own_wait  # a save ends such a wait: the source tries again
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=ask) == "enough"


def hours_of_runs(monkeypatch):
    """A function after whose call runs have lasted an hour longer."""
    added_seconds = 0
    real_seconds = Run.ran

    def ran(run):
        return real_seconds(run) + added_seconds

    def let_an_hour_pass():
        nonlocal added_seconds
        added_seconds = 3600

    monkeypatch.setattr(Run, "ran", ran)
    return let_an_hour_pass


async def test_hours_end_a_paused_run_too(trainer_of, memory, monkeypatch):
    memory.hang_at = 400
    let_an_hour_pass = hours_of_runs(monkeypatch)

    async def meanwhile(run):
        await until_true(lambda: run.stream.progress.crawled > 0)
        await pause(trainer_of.path, run)
        let_an_hour_pass()

    assert "--hours" in await trainer_of(memory, Limits(hours=1), meanwhile)


@pytest.mark.parametrize("reason", ["enough", "stopped by SIGTERM"])
async def test_a_stop_keeps_all_that_was_fetched_and_trains_no_short_minibatch(
    trainer_of, memory, reason
):
    memory.hang_at = 140

    async def stop(run):
        await memory.hanging.wait()
        await until_true(lambda: run.stream.progress.articles == FIRST_MINIBATCH and not run.busy)
        if reason == "enough":
            run.stop(reason)
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    assert await trainer_of(memory, meanwhile=stop) == reason
    now = status(trainer_of.path)
    assert (now.state, now.articles) == ("stopped", FIRST_MINIBATCH)
    assert now.pending == with_words(140) - HELD_OUT - FIRST_MINIBATCH
    assert now.crawled == crawled_with(140)
    assert account_holds(now)
    memory.hang_at = None
    await comes_to_its_end(trainer_of, memory)
    assert memory.starts == [0, 140]


def hold_until(let_go, monkeypatch):
    """No job is counted before the event ``let_go`` is set."""
    count = feed_module.count_job

    def count_later(job):
        let_go.wait()
        return count(job)

    monkeypatch.setattr(feed_module, "count_job", count_later)


async def test_a_stop_with_batches_under_way_drains_them(trainer_of, memory, monkeypatch):
    let_go = threading.Event()
    hold_until(let_go, monkeypatch)
    read_ahead = JOBS_AHEAD * BATCH  # pages; each batch is a job

    async def stop(run):
        await until_true(lambda: run.feed.queued == read_ahead)
        run.stop("enough")
        let_go.set()

    await trainer_of(memory, meanwhile=stop)
    now = status(trainer_of.path)
    assert (now.articles, now.crawled) == (0, crawled_with(read_ahead))
    assert now.pending == with_words(read_ahead) - HELD_OUT
    assert account_holds(now)
    await comes_to_its_end(trainer_of, memory)
    assert memory.starts == [0, read_ahead]
    assert status(trainer_of.path).crawled == crawled_with(PAGES)


@pytest.mark.parametrize(
    "error", [WikiUnreachable("gone"), WikiRefused("403: go away"), RuntimeError("a bug")]
)
async def test_an_error_of_the_source_saves_what_came_before_it(trainer_of, memory, error):
    memory.fail_at = 150
    memory.error = error
    with pytest.raises(type(error), match=str(error)):
        await trainer_of(memory)
    now = status(trainer_of.path)
    assert (now.articles, now.crawled) == (FIRST_MINIBATCH, crawled_with(150))
    assert account_holds(now)
    assert reasons(trainer_of.path) == [str(error)]
    assert any(str(error) in text for _, text in log_of(trainer_of.path))
    memory.fail_at = None
    await comes_to_its_end(trainer_of, memory)


async def test_a_reader_of_progress_that_went_away_stops_the_run(trainer_of, memory):
    def report(_):
        raise BrokenPipeError

    memory.hang_at = 100
    assert "nothing is reading" in await trainer_of(memory, report=report)
    assert account_holds(status(trainer_of.path))


async def test_a_step_that_fails_saves_nothing_half_done(trainer_of, memory, monkeypatch):
    real_step = Stream.step
    steps = 0

    def step(self, elapsed):
        nonlocal steps
        steps += 1
        if steps == 3:
            self.models[0].learn = None  # the step calls it and fails
        return real_step(self, elapsed)

    monkeypatch.setattr(Stream, "step", step)
    with pytest.raises(TypeError):
        await trainer_of(memory)
    monkeypatch.setattr(Stream, "step", real_step)
    assert account_holds(status(trainer_of.path))
    await comes_to_its_end(trainer_of, memory)


@pytest.mark.parametrize(
    ("part", "work"), [(Stream, "step"), (Stream, "finish"), (Renewal, "replace_topics")]
)
async def test_a_stop_gives_up_what_would_take_long_and_loses_nothing(
    trainer_of,
    memory,
    monkeypatch,
    part,
    work,
):
    monkeypatch.setattr("wikitopics.session.training.run.PATIENCE", 0.1)
    renewed_at = 4 * FIRST_MINIBATCH  # articles: in the middle of the run
    rule = "wikitopics.session.training.schedule.renewal_due"
    monkeypatch.setattr(rule, lambda before, after: after == renewed_at)
    real_work = getattr(part, work)
    begun = threading.Event()
    let_go = threading.Event()

    def slow(self, *arguments):
        real_work(self, *arguments)
        # A step is only slow once some have been taken before it.
        is_early_step = work == "step" and self.progress.articles < renewed_at
        if not is_early_step:
            begun.set()
            let_go.wait()

    async def stop(run):
        await until_true(begun.is_set)
        run.stop("enough")

    monkeypatch.setattr(part, work, slow)
    try:
        assert await trainer_of(memory, meanwhile=stop) == "enough"
        now = status(trainer_of.path)
        assert account_holds(now)
        if work != "finish":
            assert now.articles < TRAINED
    finally:
        let_go.set()
    monkeypatch.setattr(part, work, real_work)
    await comes_to_its_end(trainer_of, memory)
    # The second run began after the last batch that the first one had saved.
    batches_saved = now.crawled // crawled_with(BATCH)
    assert memory.starts[1] == batches_saved * BATCH


async def test_a_stop_while_all_proportions_are_read_leaves_the_session_to_others(
    trainer_of, memory, monkeypatch
):
    monkeypatch.setattr("wikitopics.session.training.run.PATIENCE", 0.1)
    real_parts = RecordedReader.each_part
    begun = threading.Event()
    let_go = threading.Event()
    ends = []

    def slow(self, *arguments, **options):
        begun.set()
        let_go.wait()
        try:
            yield from real_parts(self, *arguments, **options)
            ends.append(None)
        except Exception as error:
            ends.append(error)
            raise

    async def stop(run):
        await until_true(begun.is_set)
        run.stop("enough")

    monkeypatch.setattr(RecordedReader, "each_part", slow)
    try:
        assert await trainer_of(memory, meanwhile=stop) == "enough"
    finally:
        let_go.set()
    await until_true(lambda: ends)
    assert ends == [None]
    monkeypatch.setattr(RecordedReader, "each_part", real_parts)
    await comes_to_its_end(trainer_of, memory)


async def test_workers_that_stand_still_are_told_of(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.monitor.QUIET_SECONDS", 0.3)
    let_go = threading.Event()
    hold_until(let_go, monkeypatch)

    def told():
        return [text for level, text in log_of(trainer_of.path) if level == "error"]

    async def wait(run):
        await until_true(
            lambda: "processes that parse" in (status(trainer_of.path).waiting_for or "")
        )
        await until_true(told)  # the log has it only after the heartbeat
        monkeypatch.setattr("wikitopics.session.training.monitor.QUIET_SECONDS", 60)
        let_go.set()
        await until_true(lambda: status(trainer_of.path).waiting_for is None)

    assert await trainer_of(memory, meanwhile=wait) == "finished"
    assert sum("the processes that parse documents" in message for message in told()) == 1


@pytest.fixture
def full(monkeypatch):
    """As long as it is set, the disk is full."""
    is_full = threading.Event()
    is_full.set()
    real_commit = SessionWriter.commit

    def commit(self, *arguments):
        if is_full.is_set():
            raise DiskFull("the disk is full: x")
        real_commit(self, *arguments)

    monkeypatch.setattr(SessionWriter, "commit", commit)
    return is_full


async def test_a_full_disk_is_waited_for(trainer_of, memory, full, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.run.RETRY_SECONDS", 0.1)

    async def make_room(run):
        await until_true(lambda: status(trainer_of.path).waiting_for == "the disk is full: x")
        now = status(trainer_of.path)
        assert (now.articles, now.hindered) == (0, True)
        full.clear()
        memory.slow = 0.0

    memory.slow = 0.03
    await comes_to_its_end(trainer_of, memory, meanwhile=make_room)


async def test_a_slow_commit_is_what_is_waited_for(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.monitor.SAVING_SECONDS", 0.2)
    # What the log calls a minute.
    monkeypatch.setattr("wikitopics.session.training.monitor.QUIET_SECONDS", 0.4)
    disk_goes_on = threading.Event()
    real_commit = SessionWriter.commit
    told = []
    """What is waited for, and until when, by each report."""

    def commit(self, *arguments):
        disk_goes_on.wait(60)
        real_commit(self, *arguments)

    monkeypatch.setattr(SessionWriter, "commit", commit)
    next_request = 2e9

    async def look(run):
        await until_true(lambda: status(trainer_of.path).waiting_for == "saving the models")
        await until_true(
            lambda: "saving the models has taken over a minute" in str(log_of(trainer_of.path))
        )
        memory.activity.waiting_for = "the next request"
        memory.activity.waiting_until = next_request
        told.clear()
        await until_true(lambda: told)
        assert told[-1] == ("saving the models has taken over a minute so far", None)
        disk_goes_on.set()

    def report(now):
        told.append((now.activity.waiting_for, now.activity.waiting_until))

    assert await trainer_of(memory, meanwhile=look, report=report) == "finished"
    assert told[-1] == ("the next request", next_request)


@pytest.mark.parametrize("hours", [math.inf, 1])
async def test_a_trainer_stops_although_the_disk_is_full(
    trainer_of,
    memory,
    full,
    monkeypatch,
    hours,
):
    """Without a limit of hours, when it is told to; with one, when its time is up."""
    let_an_hour_pass = hours_of_runs(monkeypatch)
    is_limited = hours == 1
    if is_limited:
        # The run notices that its time is up when it next tries to save.
        monkeypatch.setattr("wikitopics.session.training.run.RETRY_SECONDS", 0.1)

    async def stop(run):
        await until_true(lambda: run.blocked is not None)
        if is_limited:
            let_an_hour_pass()
        else:
            run.stop("enough")
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
        with contextlib.closing(
            sqlite3.connect(trainer_of.path, isolation_level=None, timeout=60)
        ) as other:
            other.execute("BEGIN IMMEDIATE")
            await until_true(lambda: run.blocked is not None)
            assert "another program" in run.blocked.what
            other.execute("ROLLBACK")
        memory.slow = 0.0

    memory.slow = 0.03
    await comes_to_its_end(trainer_of, memory, meanwhile=write)


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


@pytest.mark.parametrize("error", [RuntimeError("a bug"), SessionError("s.db cannot be written")])
@pytest.mark.parametrize("paused", [False, True])
async def test_a_dead_heart_ends_the_run_and_loses_nothing(
    trainer_of,
    memory,
    monkeypatch,
    error,
    paused,
):
    """The run ends although it waits for a source that never answers, or for the end of a pause."""
    memory.hang_at = 140

    async def die(run):
        await memory.hanging.wait()
        await until_true(lambda: run.stream.progress.articles == FIRST_MINIBATCH and not run.busy)
        if paused:
            await pause(trainer_of.path, run)
        monkeypatch.setattr(HeartbeatWriter, "beat", Mock(side_effect=error))
        await until_true(lambda: run.stopping.is_set())

    with pytest.raises(type(error), match=str(error)):
        await trainer_of(memory, meanwhile=die)
    now = status(trainer_of.path)
    assert now.articles == FIRST_MINIBATCH
    assert now.pending == with_words(140) - HELD_OUT - FIRST_MINIBATCH
    assert now.crawled == crawled_with(140)
    assert account_holds(now)
    assert reasons(trainer_of.path) == [f"the heartbeat failed: {error}"]
    assert log_of(trainer_of.path)[-1][1] == f"the trainer ended: the heartbeat failed: {error}"


async def test_a_heartbeat_outlives_a_disk_that_is_full_awhile(trainer_of, memory, monkeypatch):
    memory.hang_at = 100
    real_beat = HeartbeatWriter.beat
    failing = Mock(side_effect=DiskFull("the disk is full: s.db"))

    async def fill(run):
        await memory.hanging.wait()
        monkeypatch.setattr(HeartbeatWriter, "beat", failing)
        await until_true(lambda: failing.call_count > 2)
        assert not run.stopping.is_set()
        monkeypatch.setattr(HeartbeatWriter, "beat", real_beat)
        await pause(trainer_of.path, run)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=fill) == "enough"


@pytest.mark.parametrize("seed", range(5))
def test_every_minibatch_is_saved_within_two_seconds(seed):
    """A run in which a step takes about as long as the last one of its kind."""
    random = np.random.default_rng(seed)
    typical_seconds = {
        "step": 2.0 ** random.uniform(-6, 2),
        "step that measures": 2.0 ** random.uniform(-3, 3),
    }
    last_seconds = dict(typical_seconds)
    now = 0.0
    saved_at = 0.0
    ends_of_unsaved_steps = []
    for number in range(500):
        kind = "step that measures" if number % 17 == 0 else "step"
        if commit_due(now - saved_at, last_seconds[kind], taken=0.1):
            now += 0.1
            saved_at = now
            ends_of_unsaved_steps.clear()
        last_seconds[kind] = typical_seconds[kind] * random.uniform(0.9, 1.1)
        now += last_seconds[kind]
        assert all(now - end <= 2 for end in ends_of_unsaved_steps)
        ends_of_unsaved_steps.append(now)


@pytest.mark.parametrize(("taken", "apart"), [(0.1, 1.0), (0.3, 1.2), (30.0, 1.5)])
def test_commits_that_take_long_are_farther_apart(taken, apart):
    ages = [number / 100 for number in range(1, 200)]
    assert next(age for age in ages if commit_due(age, 0.01, taken)) == pytest.approx(
        apart, abs=0.02
    )

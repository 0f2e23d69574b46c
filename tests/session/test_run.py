"""A run over a source in memory: what arrives is trained and saved, however the run ends."""

import asyncio
import contextlib
import errno
import os
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from crawler.errors import WikiRefused, WikiUnreachable
from crawler.page import Activity, Page, PageBatch, SourceInfo
from session import control
from session import feed as feed_module
from session.counting import count_pages
from session.errors import DiskFull, SessionError
from session.feed import CrawlFeed
from session.lock import trainer_lock
from session.pulse import Pulse
from session.reader import SessionReader
from session.run import Limits, Run
from session.saving import Saving
from session.store import Store
from session.trainer import Trainer
from vocab import Vocabulary

INFO = SourceInfo("memory", 700)


class Memory:
    """Pages `1 …` in batches of ten, every seventh without a known word; acts up where told to."""

    def __init__(self, words, pages=700):
        self.activity = Activity()
        random = np.random.default_rng(1)
        self.pages = [
            Page(
                i,
                f"Page {i}",
                i + 1000,
                " ".join(random.choice(words[:20] if i % 2 else words[20:], 30)) if i % 7 else "42",
                "text",
            )
            for i in range(1, pages + 1)
        ]
        self.fail_at, self.error = None, None
        self.hang_at = None
        self.hanging = asyncio.Event()
        self.slow = 0.0
        self.starts = []
        self.closed = 0

    async def open(self):
        return INFO

    async def batches(self, position):
        start = position["page"] if position else 0
        self.starts.append(start)
        for first in range(start, len(self.pages), 10):
            if self.hang_at is not None and first >= self.hang_at:
                self.activity.waiting_for = "the wiki"
                self.hanging.set()
                await asyncio.Event().wait()
            if self.fail_at is not None and first >= self.fail_at:
                raise self.error
            if self.slow:
                await asyncio.sleep(self.slow)
            self.activity.bytes_read += 1000
            yield PageBatch(tuple(self.pages[first : first + 10]), {"page": first + 10}, 1, first / 700)

    async def close(self):
        self.closed += 1


@pytest.fixture
def memory(corpus):
    return Memory(list(corpus.words))


@pytest.fixture
def trainer_of(tmp_path, corpus, new_session, monkeypatch):
    """Runs a session over a source, counting in threads: `await trainer_of(source, limits)`."""
    path = new_session(tmp_path / "s.db", corpus, model=("lda:topics=3,batch_size=64",), held_out=30)
    vocabulary = Vocabulary.from_words(corpus.words)
    monkeypatch.setattr(CrawlFeed, "_new_pool", lambda self: ThreadPoolExecutor(2))
    monkeypatch.setattr("session.feed.count_in_worker", lambda pages: count_pages(pages, vocabulary, INFO))

    async def run(source, limits=None, meanwhile=None, report=lambda _: None):
        limits = limits or Limits()
        with trainer_lock(path):
            store = Store(path)
            feed = CrawlFeed(source, INFO, corpus.words)
            one = Run(
                path,
                store,
                Trainer(store, article_limit=limits.articles, threads=1),
                feed,
                limits,
                report,
                lambda _: None,
            )
            try:
                task = asyncio.create_task(one())
                if meanwhile is not None:
                    await meanwhile(one)
                return await asyncio.wait_for(task, 30)
            finally:
                await feed.close()

    run.path = path
    return run


def status(path):
    with SessionReader(path) as reader:
        return reader.status()


def pages_of(path):
    with SessionReader(path) as reader:
        return sorted(article.page_id for article in reader.all_articles(trained_only=False))


def account_holds(now):
    return now.crawled == now.articles + now.held_out + now.pending + now.skipped


async def until(condition, seconds=10.0):
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def test_to_the_end_of_the_source(trainer_of, memory):
    assert await trainer_of(memory) == "finished"
    now = status(trainer_of.path)
    assert (now.state, now.articles, now.held_out, now.pending) == ("finished", 570, 30, 0)
    assert now.skipped == 100 + 70
    assert now.crawled == 770
    assert now.bytes_read == 70_000
    assert now.models[0].perplexity is not None
    assert pages_of(trainer_of.path) == list(range(1, 701))
    with SessionReader(trainer_of.path) as reader:
        assert [run.reason for run in reader.runs()] == ["finished"]


async def test_a_finished_session_trains_nothing_more(trainer_of, memory):
    await trainer_of(memory)
    before = status(trainer_of.path)
    assert await trainer_of(memory) == "finished"
    after = status(trainer_of.path)
    assert (after.articles, after.crawled, after.models) == (before.articles, before.crawled, before.models)


async def test_what_was_learnt_is_saved_before_a_step_that_would_keep_it_waiting(
    trainer_of, memory, monkeypatch
):
    real, seen = Trainer.step, []

    class Patient(Saving):
        def due(self, measures=None):
            return bool(measures)

    def step(self, elapsed):
        seen.append((self.measures_next, self._store.progress().articles == self.progress.articles))
        return real(self, elapsed)

    monkeypatch.setattr("session.run.Saving", Patient)
    monkeypatch.setattr(Trainer, "step", step)
    assert await trainer_of(memory) == "finished"
    assert [number for number, (measures, _) in enumerate(seen, start=1) if measures] == [1, 2, 4, 8]
    assert all(saved for measures, saved in seen if measures)
    assert not all(saved for _, saved in seen)


async def test_a_stop_keeps_all_that_was_fetched_and_trains_no_short_minibatch(trainer_of, memory):
    memory.hang_at = 140

    async def stop(run):
        await memory.hanging.wait()
        await until(lambda: run._trainer.progress.articles == 64)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=stop) == "enough"
    now = status(trainer_of.path)
    assert (now.state, now.articles, now.pending, now.crawled) == ("stopped", 64, 120 - 30 - 64, 140 + 14)
    assert account_holds(now)
    memory.hang_at = None
    assert await trainer_of(memory) == "finished"
    assert memory.starts == [0, 140]
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_a_stop_with_batches_under_way_drains_them(trainer_of, memory, monkeypatch):
    held, count = threading.Event(), feed_module.count_in_worker
    monkeypatch.setattr(feed_module, "count_in_worker", lambda pages: held.wait() and count(pages))

    async def stop(run):
        await until(lambda: run._feed.queued == 80)
        run.stop("enough")
        held.set()

    await trainer_of(memory, meanwhile=stop)
    now = status(trainer_of.path)
    assert (now.articles, now.crawled, now.pending) == (0, 88, 80 - 11 - 30)
    assert account_holds(now)
    await trainer_of(memory)
    assert memory.starts == [0, 80]
    assert status(trainer_of.path).crawled == 770
    assert pages_of(trainer_of.path) == list(range(1, 701))


@pytest.mark.parametrize(
    "error", [WikiUnreachable("gone"), WikiRefused("403: go away"), RuntimeError("a bug")]
)
async def test_an_error_of_the_source_saves_what_came_before_it(trainer_of, memory, error):
    memory.fail_at, memory.error = 150, error
    with pytest.raises(type(error), match=str(error)):
        await trainer_of(memory)
    now = status(trainer_of.path)
    assert (now.articles, now.crawled) == (64, 150 + 15)
    assert account_holds(now)
    with SessionReader(trainer_of.path) as reader:
        assert [run.reason for run in reader.runs()] == [str(error)]
        assert any(str(error) in event.message for event in reader.events())
    memory.fail_at = None
    assert await trainer_of(memory) == "finished"
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_articles_is_exact(trainer_of, memory):
    assert await trainer_of(memory, Limits(articles=100)) == "finished"
    now = status(trainer_of.path)
    assert now.articles == 100
    assert account_holds(now)
    assert await trainer_of(memory, Limits(articles=333)) == "finished"
    assert status(trainer_of.path).articles == 333


async def test_hours_are_this_runs(trainer_of, memory):
    memory.hang_at = 0
    assert "--hours" in await trainer_of(memory, Limits(hours=0.1 / 3600))
    assert "--hours" in await trainer_of(memory, Limits(hours=0.1 / 3600))
    assert status(trainer_of.path).elapsed_seconds >= 0.2


async def test_megabytes_are_this_runs(trainer_of, memory):
    memory.slow = 0.001
    assert "--max-mb" in await trainer_of(memory, Limits(megabytes=0.02))
    first = status(trainer_of.path)
    assert first.bytes_read >= 20_000
    assert account_holds(first)
    await trainer_of(memory, Limits(megabytes=0.02))
    assert status(trainer_of.path).bytes_read >= first.bytes_read + 20_000


async def test_pause_resume_and_save(trainer_of, memory):
    memory.slow = 0.02
    path = trainer_of.path

    async def meanwhile(run):
        await until(lambda: run._trainer.progress.crawled > 0)
        await asyncio.to_thread(control.pause, path)
        await until(lambda: run._paused)
        await asyncio.sleep(0.1)
        before = run._trainer.progress.crawled
        await asyncio.sleep(0.4)
        assert run._trainer.progress.crawled == before
        await until(lambda: status(path).state == "paused")
        await asyncio.to_thread(control.save, path)
        await asyncio.to_thread(control.resume, path)
        await until(lambda: run._trainer.progress.crawled > before)

    assert await trainer_of(memory, meanwhile=meanwhile) == "finished"
    assert pages_of(path) == list(range(1, 701))


async def test_hours_end_a_paused_run_too(trainer_of, memory):
    memory.slow = 0.02

    async def pause(run):
        await until(lambda: run._trainer.progress.crawled > 0)
        control.pause(trainer_of.path)

    assert "--hours" in await trainer_of(memory, Limits(hours=1.5 / 3600), pause)


async def test_a_signal_stops_and_saves(trainer_of, memory):
    memory.hang_at = 100

    async def kill(run):
        await memory.hanging.wait()
        await until(lambda: run._trainer.progress.crawled == 110)
        os.kill(os.getpid(), signal.SIGTERM)

    assert await trainer_of(memory, meanwhile=kill) == "stopped by SIGTERM"
    assert status(trainer_of.path).crawled == 110


async def test_a_full_disk_is_waited_for(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("session.run.RETRY_SECONDS", 0.1)
    full = True
    real = Store.commit

    def commit(self, *arguments):
        if full:
            raise DiskFull("no space left on the disk of x")
        real(self, *arguments)

    monkeypatch.setattr(Store, "commit", commit)

    async def make_room(run):
        nonlocal full
        await until(lambda: status(trainer_of.path).waiting_for == "the disk: no space left on the disk of x")
        assert status(trainer_of.path).articles == 0
        full = False

    memory.slow = 0.03
    assert await trainer_of(memory, meanwhile=make_room) == "finished"
    assert status(trainer_of.path).articles == 570
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_a_full_disk_does_not_keep_a_trainer_from_stopping(trainer_of, memory, monkeypatch):
    def commit(self, *arguments):
        raise DiskFull("no space left on the disk of x")

    monkeypatch.setattr(Store, "commit", commit)

    async def stop(run):
        await until(lambda: run._blocked is not None)
        run.stop("enough")

    memory.slow = 0.03
    with pytest.raises(DiskFull):
        await trainer_of(memory, meanwhile=stop)
    with SessionReader(trainer_of.path) as reader:
        assert reader.runs()[-1].reason == "no space left on the disk of x"


async def test_hours_end_a_run_that_cannot_save(trainer_of, memory, monkeypatch):
    def commit(self, *arguments):
        raise DiskFull("no space left on the disk of x")

    monkeypatch.setattr("session.run.RETRY_SECONDS", 0.1)
    monkeypatch.setattr(Store, "commit", commit)
    memory.slow = 0.03
    with pytest.raises(DiskFull):
        await trainer_of(memory, Limits(hours=2 / 3600), lambda run: until(run._stop.is_set))


async def test_another_writer_is_waited_for(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("session.run.RETRY_SECONDS", 0.1)
    monkeypatch.setattr("session.database.BUSY_SECONDS", 0.2)

    async def write(run):
        await until(lambda: run._trainer.progress.crawled > 0)
        with contextlib.closing(sqlite3.connect(trainer_of.path, isolation_level=None, timeout=10)) as other:
            other.execute("BEGIN IMMEDIATE")
            await until(lambda: run._blocked is not None)
            assert "another program" in run._blocked
            other.execute("ROLLBACK")

    memory.slow = 0.03
    assert await trainer_of(memory, meanwhile=write) == "finished"
    assert pages_of(trainer_of.path) == list(range(1, 701))


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_session_that_was_taken_away_ends_the_run(trainer_of, memory, replaced):
    async def take(run):
        await until(lambda: run._trainer.progress.crawled > 0)
        trainer_of.path.unlink()
        if replaced:
            trainer_of.path.write_bytes(b"SQLite format 3\0")

    memory.slow = 0.02
    with pytest.raises(SessionError, match="was removed or replaced"):
        await trainer_of(memory, meanwhile=take)
    assert memory.closed


async def test_a_reader_of_progress_that_went_away_stops_the_run(trainer_of, memory):
    def report(_):
        raise BrokenPipeError

    memory.hang_at = 100
    assert "nobody reads" in await trainer_of(memory, report=report)
    assert account_holds(status(trainer_of.path))


async def test_a_step_that_fails_saves_nothing_half_done(trainer_of, memory, monkeypatch):
    real, calls = Trainer.step, []

    def step(self, elapsed):
        calls.append(1)
        if len(calls) == 3:
            self.models[0].learn = None
        return real(self, elapsed)

    monkeypatch.setattr(Trainer, "step", step)
    with pytest.raises(TypeError):
        await trainer_of(memory)
    monkeypatch.setattr(Trainer, "step", real)
    assert account_holds(status(trainer_of.path))
    assert await trainer_of(memory) == "finished"
    assert status(trainer_of.path).articles == 570
    assert pages_of(trainer_of.path) == list(range(1, 701))


@pytest.mark.parametrize("work", ["step", "finish", "renew"])
async def test_a_stop_gives_up_what_would_take_long_and_loses_nothing(
    trainer_of, memory, monkeypatch, states, work
):
    monkeypatch.setattr("session.run.PATIENCE", 0.1)
    monkeypatch.setattr("session.trainer.renewal_due", lambda before, after: after == 256)
    real, begun, held = getattr(Trainer, work), threading.Event(), threading.Event()

    def slow(self, *arguments):
        real(self, *arguments)
        if work != "step" or self.progress.articles > 250:
            begun.set()
            held.wait()

    async def stop(run):
        await until(begun.is_set)
        run.stop("enough")

    monkeypatch.setattr(Trainer, work, slow)
    try:
        assert await trainer_of(memory, meanwhile=stop) == "enough"
        now = status(trainer_of.path)
        assert account_holds(now)
        assert now.articles < 570 or work == "finish"
    finally:
        held.set()
    monkeypatch.setattr(Trainer, work, real)
    assert await trainer_of(memory) == "finished"
    assert memory.starts[1] == now.crawled // 11 * 10
    assert status(trainer_of.path).articles == 570
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_progress_that_cannot_be_written_does_not_end_the_heartbeat(trainer_of, memory):
    def report(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    memory.hang_at = 100

    async def pause(run):
        await memory.hanging.wait()
        await asyncio.to_thread(control.pause, trainer_of.path)
        await until(lambda: run._paused)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=pause, report=report) == "enough"
    assert account_holds(status(trainer_of.path))


async def test_the_heartbeat_says_what_goes_on(trainer_of, memory):
    memory.hang_at = 100

    async def look(run):
        await memory.hanging.wait()
        await until(lambda: status(trainer_of.path).waiting_for == "the wiki")
        now = status(trainer_of.path)
        assert (now.running, now.pid, now.state) == (True, os.getpid(), "running")
        assert now.heartbeat_age_seconds < 5
        run.stop("enough")

    await trainer_of(memory, meanwhile=look)
    now = status(trainer_of.path)
    assert (now.running, now.pid, now.waiting_for) == (False, None, None)


async def test_real_worker_processes_count_the_same(corpus, memory):
    feed = CrawlFeed(memory, INFO, corpus.words, workers=2)
    feed.start({"page": 640})
    blocks = []
    try:
        while (found := await feed.next()) is not None:
            blocks.append(found)
    finally:
        await feed.close()
    assert [page for b in blocks for page in b.documents.page_ids.tolist()] == list(range(641, 701))
    expected = count_pages(memory.pages[640:650], Vocabulary.from_words(corpus.words), INFO)
    assert np.array_equal(blocks[0].documents.counts, expected.counts)
    assert [b.position for b in blocks] == [{"page": n} for n in range(650, 701, 10)]


async def test_a_killed_worker_loses_no_page(corpus, memory):
    feed = CrawlFeed(memory, INFO, corpus.words, workers=1)
    memory.slow = 0.02
    feed.start(None)
    seen = []
    try:
        seen += (await feed.next()).documents.page_ids.tolist()
        for pid in list(feed._pool._processes):
            os.kill(pid, signal.SIGKILL)
        while (found := await feed.next()) is not None:
            seen += found.documents.page_ids.tolist()
    finally:
        await feed.close()
    assert seen == list(range(1, 701))


def test_a_pulse_of_a_locked_file_is_one_line(trainer_of):
    with contextlib.closing(Pulse(trainer_of.path)) as pulse:
        assert pulse.begin(0) == 1

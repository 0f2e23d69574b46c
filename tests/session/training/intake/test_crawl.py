"""Pages become counts in worker processes, in their order and each once."""

import asyncio
import gc
import os
import signal
from concurrent.futures import Executor, Future

import numpy as np
import pytest

from tests.session.memory import INFO, blocks_of
from wikitopics.crawler.source import Activity, Page, PageBatch
from wikitopics.session.training.intake.blocks import MOST_AHEAD, Intake
from wikitopics.session.training.intake.jobs import count_pages, counting_workers, start_worker
from wikitopics.session.training.intake.workers import WorkerDied, Workers
from wikitopics.vocab import Vocabulary


async def test_real_worker_processes_count_the_same(corpus, memory):
    feed = Intake(memory, counting_workers(corpus.words, INFO, 2))
    blocks = await blocks_of(feed, {"page": 640})
    assert [page for b in blocks for page in b.page_ids.tolist()] == list(range(641, 701))
    expected = count_pages(memory.pages[640:650], Vocabulary.from_words(corpus.words), INFO)
    assert np.array_equal(blocks[0].counts, expected.counts)
    assert [b.position for b in blocks] == [{"page": n} for n in range(650, 701, 10)]


def test_articles_keep_the_ids_that_they_have():
    def counted(*ids):
        pages = [Page(n, "Page", 0, "word", "text", id=each) for n, each in enumerate(ids)]
        return count_pages(pages, Vocabulary.from_words(["some", "word"]), INFO)

    assert counted("a", "b").ids == ("a", "b")
    assert counted(None).ids is None
    assert counted().ids is None


async def test_a_killed_worker_loses_no_page(corpus, memory):
    workers = Workers(1, start_worker, (corpus.words, INFO))
    feed = Intake(memory, workers)
    memory.slow = 0.02
    feed.start(None)
    seen = (await feed.next()).page_ids.tolist()
    (worker,) = workers.pids()
    os.kill(worker, signal.SIGKILL)
    memory.slow = 0.0
    while (found := await feed.next()) is not None:
        seen += found.page_ids.tolist()
    await feed.close()
    assert seen == list(range(1, 701))


class Large:
    """A hundred pages of 8 MiB in batches of their own."""

    def __init__(self):
        self.activity = Activity()
        self.fetched = 0

    async def batches(self, position):
        for number in range(1, 101):
            self.fetched = number
            yield PageBatch((Page(number, "Large", 1, "x" * (8 << 20), "text"),), {"page": number})

    async def close(self):
        pass


class Slow(Large):
    """Its batches take a while to end; notes what has ended."""

    def __init__(self):
        super().__init__()
        self.ended = []

    async def batches(self, position):
        try:
            async for batch in super().batches(position):
                yield batch
        finally:
            await asyncio.sleep(0.01)
            self.ended.append("batches")

    async def close(self):
        self.ended.append("source")


async def test_what_is_read_ahead_is_bounded_by_its_bytes(monkeypatch):
    source = Large()
    monkeypatch.setattr("wikitopics.session.training.intake.blocks.JOBS_AHEAD", 100)
    feed = Intake(source, Never())
    feed.start(None)
    for _ in range(1000):
        await asyncio.sleep(0)
    assert source.fetched * (8 << 20) == MOST_AHEAD
    await feed.close()


async def test_the_batches_end_before_their_source_is_closed():
    source = Slow()
    feed = Intake(source, Never())
    feed.start(None)
    while not feed.queued:
        await asyncio.sleep(0)
    await feed.close()
    assert source.ended == ["batches", "source"]


async def test_an_error_is_told_though_the_source_takes_a_while_to_end():
    class Broken(Executor):
        def submit(self, fn, /, *args, **kwargs):
            raise OSError("no more processes")

        def jobs(self):
            return 1

    feed = Intake(Slow(), Broken())
    feed.start(None)
    async with asyncio.timeout(60):
        with pytest.raises(OSError, match="no more processes"):
            await feed.next()
    await feed.close()


class Never(Executor):
    """Takes jobs and does none."""

    def __init__(self):
        self.answers = []

    def submit(self, fn, /, *args, **kwargs):
        self.answers.append(Future())
        return self.answers[-1]

    def jobs(self):
        return 1


async def test_an_answer_that_nobody_waits_for_any_more_is_no_news():
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    never = Never()
    feed = Intake(Large(), never)
    feed.start(None)
    while not never.answers:
        await asyncio.sleep(0)
    await feed.close()
    for answer in never.answers:
        if not answer.cancelled():
            answer.set_exception(WorkerDied("was killed at the end"))
    never.answers.clear()
    await asyncio.sleep(0)
    del feed
    gc.collect()
    await asyncio.sleep(0)
    assert told == []

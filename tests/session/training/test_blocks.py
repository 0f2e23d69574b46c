"""Pages become counts in workers, in their order and each once; one that breaks its reader is
skipped."""

import asyncio
import gc
import os
import signal
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from tests.session.memory import INFO, Memory, Pool, blocks_of, log_of, status
from wikitopics.crawler.page import Page
from wikitopics.crawler.source import Activity, PageBatch
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.block import Block
from wikitopics.session.training.blocks import MOST_AHEAD, Intake
from wikitopics.session.training.jobs import (
    CountedJob,
    count_pages,
    counting_workers,
    start_worker,
)
from wikitopics.session.training.workers import JobFailed, WorkerDied, Workers
from wikitopics.vocab import Vocabulary


async def test_real_worker_processes_count_the_same(corpus, memory):
    feed = Intake(memory, counting_workers(corpus.words, INFO, 2))
    blocks = await blocks_of(feed, {"page": 640})
    assert [page for b in blocks for page in b.page_ids.tolist()] == list(range(641, 701))
    expected = count_pages(memory.pages[640:650], Vocabulary.from_words(corpus.words), INFO)
    assert np.array_equal(blocks[0].counts, expected.counts)
    assert [b.position for b in blocks] == [{"page": n} for n in range(650, 701, 10)]


async def test_a_killed_worker_loses_no_page(corpus, memory):
    workers = Workers(1, start_worker, (corpus.words, INFO))
    feed = Intake(memory, workers)
    memory.slow = 0.02
    feed.start(None)
    seen = (await feed.next()).page_ids.tolist()
    (worker,) = workers._workers
    os.kill(worker._process.pid, signal.SIGKILL)
    memory.slow = 0.0
    while (found := await feed.next()) is not None:
        seen += found.page_ids.tolist()
    await feed.close()
    assert seen == list(range(1, 701))


class Large:
    """A hundred pages of 8 MiB in batches of their own, which take a while to end; notes what has
    ended."""

    def __init__(self):
        self.activity = Activity()
        self.fetched = 0
        self.ended = []

    async def batches(self, position):
        try:
            for number in range(1, 101):
                self.fetched = number
                yield PageBatch(
                    (Page(number, "Large", 1, "x" * (8 << 20), "text"),), {"page": number}
                )
        finally:
            await asyncio.sleep(0.01)
            self.ended.append("batches")

    async def close(self):
        self.ended.append("source")


async def test_what_is_read_ahead_is_bounded_by_its_bytes(monkeypatch):
    source = Large()
    monkeypatch.setattr("wikitopics.session.training.blocks.JOBS_AHEAD", 100)
    feed = Intake(source, idle([]))
    feed.start(None)
    for _ in range(1000):
        await asyncio.sleep(0)
    assert source.fetched * (8 << 20) == MOST_AHEAD
    await feed.close()


async def test_pages_that_are_counted_and_not_handed_out_count_as_well():
    def count(fn, job):
        answer = Future()
        answer.set_result(CountedJob(Block.uncounted(*job.fetched)))
        return answer

    source = Large()
    feed = Intake(source, Pool(count))
    feed.start(None)
    for taken in range(3):
        for _ in range(1000):
            await asyncio.sleep(0)
        assert (source.fetched - taken) * (8 << 20) == MOST_AHEAD
        await feed.next()
    await feed.close()


async def test_the_batches_end_before_their_source_is_closed():
    source = Large()
    feed = Intake(source, idle([]))
    feed.start(None)
    while not feed.queued:
        await asyncio.sleep(0)
    await feed.close()
    assert source.ended == ["batches", "source"]


async def test_an_error_is_told_though_the_source_takes_a_while_to_end():
    def broken(*_):
        raise OSError("no more processes")

    feed = Intake(Large(), Pool(broken))
    feed.start(None)
    async with asyncio.timeout(60):
        with pytest.raises(OSError, match="no more processes"):
            await feed.next()
    await feed.close()


def idle(answers):
    """Workers that take jobs and do none; ``answers`` gets what is waited for."""
    return Pool(lambda *_: answers.append(Future()) or answers[-1])


async def test_an_answer_that_nobody_waits_for_any_more_is_no_news():
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    answers = []
    feed = Intake(Large(), idle(answers))
    feed.start(None)
    while not answers:
        await asyncio.sleep(0)
    await feed.close()
    for answer in answers:
        if not answer.cancelled():
            answer.set_exception(WorkerDied("was killed at the end"))
    answers.clear()
    await asyncio.sleep(0)
    del feed
    gc.collect()
    await asyncio.sleep(0)
    assert told == []


WORKER = """
import os
from wikitopics.session.training import jobs as counting

def text_to_count(page, info):
    if "raises" in page.title:
        raise ValueError("not\\nthis one")
    if "kills" in page.title:
        os.kill(os.getpid(), 9)
    while "hangs" in page.title:
        pass
    return page.text

counting.text_to_count, counting.CALL_SECONDS = text_to_count, 1
counting.start_worker(words, info)
"""


def poisoned(words, poison):
    """Sixty pages in batches of ten; ``poison`` gives titles by page id."""
    source = Memory(list(words), 60)
    for number, title in poison.items():
        source.pages[number - 1] = replace(source.pages[number - 1], title=title)
    return source


@pytest.fixture
def feed_of(corpus):
    """Makes a feed of 60 pages whose workers cannot stand those called `raises`, `kills` and
    `hangs`."""
    workers = Workers(2, exec, (WORKER, {"words": corpus.words, "info": INFO}))
    return lambda poison: Intake(poisoned(corpus.words, poison), workers)


@pytest.mark.parametrize(
    ("poison", "reason"),
    [
        ("it raises", r"ValueError('not\nthis one')"),
        ("it kills", "was killed, or took over"),
        ("it hangs", "was killed, or took over"),
    ],
)
async def test_a_poison_page_is_left_empty_and_all_others_are_counted(
    feed_of,
    corpus,
    poison,
    reason,
):
    feed = feed_of({25: poison})
    blocks = await blocks_of(feed)
    assert [block.position for block in blocks] == [{"page": n} for n in range(10, 61, 10)]
    pages = poisoned(corpus.words, {25: poison}).pages
    pages[24] = replace(pages[24], text="")
    expected = count_pages(pages, Vocabulary.from_words(corpus.words), INFO)
    assert Block.concatenate(blocks).to_bytes() == expected.to_bytes()
    (warning,) = [warning for block in blocks for warning in block.warnings]
    assert f"page 25 ('{poison}') is skipped" in warning
    assert reason in warning


@pytest.mark.long
async def test_poison_in_several_blocks(feed_of):
    feed = feed_of({1: "it kills", 2: "it raises", 3: "it kills", 31: "it hangs", 60: "it kills"})
    blocks = await blocks_of(feed)
    assert [len(block) for block in blocks] == [10] * 6
    assert [len(block) - sum(block.has_words) for block in blocks] == [4, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("good", "together", "ends"),
    [(range(4, 61, 4), 60, False), (range(4, 40, 4), 60, True), ((), 2, True)],
)
async def test_a_fourth_death_in_a_row_is_no_fault_of_the_pages(corpus, good, together, ends):
    def survive(fn, job):
        """Some pages, if these come alone."""
        answer = Future()
        pages = job.fetched
        if len(pages) == 1 and pages[0].page_id in good:
            answer.set_result(CountedJob(Block.uncounted(pages[0])))
        else:
            answer.set_exception(WorkerDied("by signal 9"))
        return answer

    async def batches(position):  # of several good ones, the order would depend on the machine
        for start in range(0, 60, together):
            yield PageBatch(
                tuple(source.pages[start : start + together]), {"page": start + together}
            )

    source = poisoned(corpus.words, {})
    source.batches = batches
    with pytest.raises(SessionError, match="by signal 9") if ends else nullcontext():
        await blocks_of(Intake(source, Pool(survive)))


async def test_a_skipped_page_is_in_the_account_and_in_the_log(trainer_of, corpus, monkeypatch):
    # Kernels that take long to be compiled are told of too.
    monkeypatch.setattr("wikitopics.session.training.monitor.QUIET_SECONDS", 3600)

    def choosy(job):
        if any("raises" in page.title for page in job.fetched):
            raise JobFailed("ValueError('not\\nthis one')")
        return CountedJob(count_pages(job.fetched, Vocabulary.from_words(corpus.words), INFO))

    monkeypatch.setattr("wikitopics.session.training.blocks.count_job", choosy)
    told = []
    source = poisoned(corpus.words, {25: "it raises \x1b[2J\u202e"})
    assert await trainer_of(source, say=told.append) == "finished"
    now = status(trainer_of.path)
    assert (now.crawled, now.articles, now.held_out) == (66, 60 - 8 - 1 - 30, 30)
    assert now.skips == {"could not be read": 1, "no known word": 8, "disambiguation": 6}
    assert [text for level, text in log_of(trainer_of.path) if level == "warning"] == told
    assert told == [r"page 25 ('it raises \x1b[2J\u202e') is skipped: ValueError('not\nthis one')"]

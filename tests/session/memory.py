"""A source in memory, and what is asked about the session that it is trained into."""

import asyncio
from concurrent.futures import Executor

import numpy as np

from tests.waiting import until_true
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.source import Activity, PageBatch
from wikitopics.session import control
from wikitopics.session.storage.reader import SessionReader

PAGES = 700
BATCH = 10
"""Pages that come together; with each batch, one more page is skipped."""
BATCH_BYTES = 1000
"""Bytes that are read for a batch."""
INFO = SourceInfo("memory", PAGES)
HELD_OUT = 30
"""Articles that are held out in the session of the fixture `trainer_of`."""
FIRST_MINIBATCH = 64
"""Articles that its model is trained on first."""


def with_words(pages):
    """How many of the first so many pages have a known word: of seven, the last has none."""
    return pages - pages // 7


def crawled_with(pages):
    """How many pages have been crawled once so many have come."""
    return pages + pages // BATCH


class Pool(Executor):
    """Workers that do with each job what ``submit`` does."""

    def __init__(self, submit, jobs=1):
        self.submit = submit
        self.jobs = jobs


class Memory:
    """Pages `1 …` in batches of ten, every seventh without a known word. Hangs, fails or is slow
    where it is told to."""

    def __init__(self, words, pages=PAGES):
        self.activity = Activity()
        random = np.random.default_rng(1)
        self.pages = []
        for number in range(1, pages + 1):
            if number % 7 == 0:
                text = "42"
            else:
                some_words = words[:20] if number % 2 else words[20:]
                text = " ".join(random.choice(some_words, 30))
            self.pages.append(Page(number, f"Page {number}", number + 1000, text, "text"))
        self.fail_at = None
        self.error = None
        self.hang_at = None
        self.hanging = asyncio.Event()
        self.go_on = asyncio.Event()
        self.slow = 0.0
        self.starts = []
        self.closed = 0

    async def open(self):
        return INFO

    async def batches(self, position):
        start = position["page"] if position else 0
        self.starts.append(start)
        for first in range(start, len(self.pages), BATCH):
            if self.hang_at is not None and first >= self.hang_at:
                self.activity.waiting_for = "the wiki"
                self.hanging.set()
                await self.go_on.wait()
                self.activity.waiting_for = None
            if self.fail_at is not None and first >= self.fail_at:
                raise self.error
            if self.slow:
                await asyncio.sleep(self.slow)
            self.activity.bytes_read += BATCH_BYTES
            after = first + BATCH
            pages = tuple(self.pages[first:after])
            yield PageBatch(pages, {"page": after}, {"disambiguation": 1}, first / PAGES)

    async def close(self):
        self.closed += 1


def status(path):
    with SessionReader(path) as reader:
        return reader.status()


def log_of(path):
    """(level, text) of the lines of the log."""
    with SessionReader(path) as reader:
        return [(event.level, event.message) for event in reader.events()]


def reasons(path):
    """Why each run ended."""
    with SessionReader(path) as reader:
        return [run.reason for run in reader.runs()]


async def pause(path, run):
    """Ask from outside, and wait until the run obeys."""
    await asyncio.to_thread(control.ask, path, paused=True)
    await until_true(lambda: run.state == "paused")


def in_order(path, trained_only=False):
    """The page ids of all articles."""
    page_ids = []
    with SessionReader(path) as reader:
        for _, pages, *_ in reader.all_articles(trained_only=trained_only):
            page_ids += pages
    return page_ids


def pages_of(path):
    return sorted(in_order(path))


def account_holds(now):
    return now.crawled == now.articles + now.held_out + now.pending + now.skipped


async def blocks_of(feed, position=None, most=None):
    """The blocks of a feed, ``most`` of them, which is then closed."""
    blocks = []
    try:
        feed.start(position)
        while most is None or len(blocks) < most:
            block = await feed.next()
            if block is None:
                break
            blocks.append(block)
        return blocks
    finally:
        await feed.close()

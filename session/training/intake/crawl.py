"""The crawl side of a run: a source read ahead, its pages counted in worker processes, blocks in order.

Documents that are counted already take the same way.
"""

import asyncio
import contextlib
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from wikitopics.crawler.source import Activity, PageBatch, Position, Source, close_batches
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.decoding import whole
from wikitopics.session.training.intake.count_pages import count_in_worker
from wikitopics.session.training.intake.pool import CountingPool
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied
from wikitopics.session.training.rates import Rate

if TYPE_CHECKING:
    from wikitopics.session.storage.tables.counts import KeptCounts
    from wikitopics.session.training.intake.counts_npz import CountsFile

Wait = Literal["network", "parsing"]
AHEAD = 8
"""Batches in progress."""
MOST_AHEAD = 48 << 20
"""The most bytes of texts in progress."""


class Blocks(ABC):
    """The source of a run's blocks."""

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.waits_for: Wait | None = None
        """What `next` is currently waiting for."""
        self.queued = 0
        """Articles fetched and not yet handed out."""
        self.arrivals = Rate()
        """Articles counted."""
        self.wanted: Callable[[], int] = lambda: 1
        """How many articles the trainer lacks at the moment."""

    @abstractmethod
    def start(self, position: Position | None) -> None:
        """Begin after ``position``."""

    @abstractmethod
    async def next(self) -> Block | None:
        """The next block; None at the end of the source. Raises what the source raises."""

    async def drain(self) -> list[Block]:
        """Stop fetching and hand out what has been fetched, in order; takes at most a few seconds.

        What is not handed out is fetched again another time.
        """
        return []

    @abstractmethod
    async def close(self) -> None:
        """Close processes and connections."""


class CountedBlocks(Blocks):
    """Hands out exactly as many documents of a file as the trainer asks for, so none are ever pending."""

    def __init__(self, file: "CountsFile | KeptCounts") -> None:
        super().__init__(Activity())
        self._file = file
        self._next = 0

    def start(self, position: Position | None) -> None:
        place = "progress.position"
        self._next = whole(position.get("document"), place, 0, len(self._file)) if position else 0

    async def next(self) -> Block | None:
        if self._next >= len(self._file):
            return None
        block = self._file.documents(self._next, self._next + max(1, self.wanted()))
        self._next += len(block)
        self.arrivals.add(len(block))
        return replace(block, position={"document": self._next}, lap=self._next / len(self._file))

    async def close(self) -> None:
        self._file.close()


class CrawledBlocks(Blocks):
    """A `Source` with its pages counted by a pool of processes.

    At most eight batches are in progress, or as many as the workers need, and about 48 MiB of text, so that
    memory stays bounded when training is slower than the crawl. Fetching continues while earlier pages are
    parsed and trained.
    """

    def __init__(self, source: Source, pool: CountingPool) -> None:
        super().__init__(source.activity)
        self._source, self._pool = source, pool
        self._bytes_ahead = 0
        self._items: deque[tuple[PageBatch, Future[Block]]] = deque()
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, position: Position | None) -> None:
        self._task = asyncio.create_task(self._fetch(position))

    async def _fetch(self, position: Position | None) -> None:
        batches = self._source.batches(position)
        try:
            async for batch in batches:
                self._items.append((batch, self._pool.submit(count_in_worker, batch.pages)))
                self.queued += len(batch.pages)
                self._bytes_ahead += _bytes_of(batch)
                self._moved.set()
                while len(self._items) >= max(AHEAD, self._pool.jobs()) or self._bytes_ahead >= MOST_AHEAD:
                    self._moved.clear()
                    await self._moved.wait()
        finally:
            try:
                await close_batches(batches)
            finally:
                self._moved.set()  # this task will be done before anything waiting for it looks

    async def next(self) -> Block | None:
        assert self._task is not None
        try:
            self.waits_for = "network"
            while not self._items:
                if self._task.done():
                    await self._task
                    return None
                self._moved.clear()
                await self._moved.wait()
            self.waits_for = "parsing"
            return await self._first()
        finally:
            self.waits_for = None

    async def _first(self) -> Block:
        """The oldest item. It stays queued until it is counted, so that a cancelled wait loses nothing."""
        batch, counting = self._items[0]
        try:
            block = await self._pool.result(counting)
        except (JobFailed, WorkerDied):
            block = await self._pool.one_by_one(batch.pages)
        self._items.popleft()
        self._moved.set()
        self.queued -= len(batch.pages)
        self._bytes_ahead -= _bytes_of(batch)
        self.arrivals.add(len(batch.pages))
        return replace(block, skips=batch.skips, position=dict(batch.position), lap=batch.lap)

    async def drain(self) -> list[Block]:
        await self._stop_fetching()
        blocks: list[Block] = []
        with contextlib.suppress(TimeoutError, SessionError, OSError):  # the rest is fetched another time
            async with asyncio.timeout(3.0):
                while self._items:
                    blocks.append(await self._first())
        return blocks

    async def _stop_fetching(self) -> None:
        if self._task is not None:
            self._task.cancel()
            # An error that ended it was raised by next(), or comes too late to matter.
            await asyncio.gather(self._task, return_exceptions=True)

    async def close(self) -> None:
        await self._stop_fetching()
        self._pool.close()
        await self._source.close()


def _bytes_of(batch: PageBatch) -> int:
    """Memory used by its texts: 1 to 4 bytes per character, depending on the widest one in each text."""
    return sum(sys.getsizeof(page.text) for page in batch.pages)

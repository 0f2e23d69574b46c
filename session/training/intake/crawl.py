"""The crawl side of a run: a source read ahead, its pages counted in worker processes, blocks in order.

Documents that are counted already take the same way.
"""

import asyncio
import contextlib
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from wikitopics.crawler.source import (
    Activity,
    BadPosition,
    BadSource,
    PageBatch,
    Part,
    PartedSource,
    Position,
    Source,
    close_batches,
)
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.decoding import whole
from wikitopics.session.training.intake.pool import (
    EMPTY,
    CountedPart,
    CountingPool,
    count_in_worker,
    count_part_in_worker,
    pages_in_worker,
)
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied

if TYPE_CHECKING:
    from wikitopics.session.storage.counts import KeptCounts
    from wikitopics.session.training.intake.counts_npz import CountsFile


# Rates at which articles come in and are learnt, over the last seconds.

SECONDS = 10.0
"""Older events are forgotten."""
FEW = 4
"""The fewest steps that tell a rate, however old they are."""


class Rate:
    """Events per second that has passed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int]] = deque()
        self._begun = clock()
        """The start, or the newest event that is forgotten."""

    def add(self, number: int) -> None:
        """Note that ``number`` events happen now."""
        self._events.append((self._clock(), number))

    def __call__(self) -> float:
        """Over the last ten seconds."""
        number = self._recent()
        return number / min(SECONDS, max(1.0, self._clock() - self._begun))

    def of_steps(self) -> float:
        """Rate measured between the last steps, for large rare steps; 0 if the next is long overdue."""
        number = self._recent(keep=FEW)
        if not self._events:
            return 0.0
        newest = self._events[-1][0]
        span = max(newest - self._begun, 1e-3)
        usual = span / len(self._events)
        overdue = self._clock() - newest - usual
        return 0.0 if overdue > max(SECONDS, usual) else number / (span + max(0.0, overdue))

    def _recent(self, keep: int = 0) -> int:
        last = self._clock() - SECONDS
        while len(self._events) > keep and self._events[0][0] < last:
            self._begun, _ = self._events.popleft()
        return sum(number for _, number in self._events)


Wait = Literal["network", "parsing"]
BATCHES_AHEAD = 8
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
                while (
                    len(self._items) >= max(BATCHES_AHEAD, self._pool.jobs())
                    or self._bytes_ahead >= MOST_AHEAD
                ):
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


# A source in parts: each is read and counted by a worker, and the articles of a round are put in order.

BLOCK = 512
"""Articles handed out at a time."""
BLOCKS_AHEAD = 1
"""Rounds in progress besides the one waited for: sixteen parts are work for as many workers."""
MOST_PARTS = 64
"""The most parts in progress, in whole rounds: once fetched, each takes 2 MB here and in a cluster's
scheduler."""
MOST_LARGE = 4
"""The most parts fetched again with more of the file at a time: for some files each takes 32 MB."""
TRIES = 8
"""The most attempts to read one part better than before."""


class PartedBlocks(Blocks):
    """Hands out the articles of one round after another.

    The position is the number of the round and the number of its articles handed out. After a stop, the round
    is read again without those.
    """

    def __init__(self, source: PartedSource[Any], pool: CountingPool) -> None:
        super().__init__(source.activity)
        self._source, self._pool = source, pool
        self._rounds = source.rounds()
        self._under_way: deque[list[asyncio.Task[CountedPart]]] = deque()
        self._room = asyncio.Semaphore(0)
        self._most_brought = 0
        self._large = asyncio.Semaphore(MOST_LARGE)
        self._round = self._done = 0
        self._blocks: deque[Block] = deque()

    def start(self, position: Position | None) -> None:
        if position is not None:
            self._round, self._done = (_number(position, key) for key in ("round", "done"))

    async def next(self) -> Block | None:
        self.waits_for = "parsing"
        try:
            while not self._blocks:
                if self._round >= len(self._rounds):
                    return None
                self._blocks.extend(await self._read_round())
                self._under_way.popleft()
                self._round, self._done = self._round + 1, 0
        finally:
            self.waits_for = None
        block = self._blocks.popleft()
        self.queued -= len(block)
        return block

    async def _read_round(self) -> list[Block]:
        """The blocks of the first round in progress. It stays first until it is read, so a cancelled wait
        loses nothing."""
        self._make_room()
        for coming in self._rounds[self._round + len(self._under_way) :]:
            parts = sum(map(len, self._under_way))
            if len(self._under_way) > BLOCKS_AHEAD and parts >= min(self._pool.jobs(), MOST_PARTS):
                break
            self._under_way.append([asyncio.create_task(self._counted(part)) for part in coming.parts])
        this = self._rounds[self._round]
        counted = [await asyncio.shield(part) for part in self._under_way[0]]
        order = this.order([part.block.page_ids.tolist() for part in counted])
        block = Block.concatenate([part.block for part in counted]).take(order)
        self._done = min(self._done, len(block))
        self.queued += len(block) - self._done
        return list(self._cut(block, counted))

    def _make_room(self) -> None:
        """Let enough parts be fetched at a time that no worker waits for one; the others need no memory yet.

        A cluster may have grown since the last time.
        """
        while self._most_brought <= 2 * self._pool.jobs():
            self._most_brought += 1
            self._room.release()

    async def _counted(self, part: Part) -> CountedPart:
        async with self._room:
            found = await self._read(part)
        if found.fault:  # otherwise the rest of the source would be skipped in no time
            raise BadSource(found.fault)
        self.arrivals.add(len(found.block))
        return found

    async def _read(self, part: Part) -> CountedPart:
        brought = await self._source.bring(part)
        found = await self._count(brought)
        if found.lack:
            async with self._large:
                for _ in range(TRIES):
                    better = found.lack and await self._source.bring_better(brought, found.lack)
                    if better is None:
                        break
                    brought, found = better, await self._count(better)
        return found

    async def _count(self, part: Part) -> CountedPart:
        try:
            return await self._pool.result(self._pool.submit(count_part_in_worker, part))
        except (JobFailed, WorkerDied):
            return await self._page_by_page(part)

    async def _page_by_page(self, part: Part) -> CountedPart:
        """A part whose worker failed, read page by page: only the page at fault is left out."""
        try:
            pages, rest = await self._pool.result(self._pool.submit(pages_in_worker, part))
        except (JobFailed, WorkerDied) as error:
            return CountedPart(replace(EMPTY, warnings=(f"{part} cannot be read: {str(error)[:200]}",)))
        block = await self._pool.one_by_one(pages)
        warnings = (*rest.block.warnings, *block.warnings)
        return replace(rest, block=replace(block, skips=rest.block.skips, warnings=warnings))

    def _cut(self, block: Block, counted: Sequence[CountedPart]) -> Iterator[Block]:
        """A round as blocks, starting after the articles handed out before a stop."""
        number, done, rounds = self._round, self._done, len(self._rounds)
        skips: Counter[str] = Counter()
        warnings: tuple[str, ...] = ()
        if not done:
            for part in counted:
                skips.update(part.block.skips)
                warnings += part.block.warnings
        while True:
            behind = min(done + BLOCK, len(block))
            is_last = behind == len(block)
            position = {"round": number + 1, "done": 0} if is_last else {"round": number, "done": behind}
            lap = (number + behind / max(1, len(block))) / rounds
            yield replace(block[done:behind], skips=skips, position=position, lap=lap, warnings=warnings)
            if is_last:
                return
            done, skips, warnings = behind, Counter(), ()

    async def close(self) -> None:
        parts = [part for each in self._under_way for part in each]
        for part in parts:
            part.cancel()
        await asyncio.gather(*parts, return_exceptions=True)  # errors were reported before
        self._pool.close()
        await self._source.close()


def _number(position: Position, key: str) -> int:
    """A number of the position. Raises `BadPosition`."""
    number = position.get(key)
    if type(number) is not int or not 0 <= number < 2**63:
        raise BadPosition
    return number

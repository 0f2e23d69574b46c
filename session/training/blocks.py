"""The blocks of a run: a source read ahead, its jobs counted by workers, and handed out in
order."""

import asyncio
import contextlib
import json
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.source import Activity, FetchedPages, Job, Position, Source, Stretch
from wikitopics.session.errors import SessionError, errors_of
from wikitopics.session.storage.block import Block
from wikitopics.session.training.jobs import (
    CALL_SECONDS,
    CountedJob,
    count_job,
    pages_of_job,
    skipped,
)
from wikitopics.session.training.rates import RateMeter
from wikitopics.session.training.workers import JobFailed, Pool, WorkerDied

WaitsFor = Literal["network", "parsing"]
JOBS_AHEAD = 8
"""The most jobs in progress, unless twice the number done at a time is more."""
MOST_AHEAD = 48 << 20
"""The most bytes of jobs in progress."""
MOST_LARGE = 4
"""The most jobs renewed at a time: in some files each takes 64 MB."""
TRIES = 8
"""The most attempts to read more of one job than before."""
MOST_DEATHS = 3
"""If more jobs in a row than this kill their workers, the pages are not to blame."""
EMPTY = Block.concatenate([])


class Blocks(ABC):
    """Hands out a run's blocks, in order."""

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.waits_for: WaitsFor | None = None
        """What `next` is waiting for."""
        self.queued = 0
        """Articles fetched and not yet handed out."""
        self.arrivals = RateMeter()
        """Articles counted."""
        self.wanted: Callable[[], int] = lambda: 1
        """How many articles the trainer still needs for its next step; set by the run."""

    @abstractmethod
    def start(self, position: Position | None) -> None:
        """Begin after ``position``."""

    @abstractmethod
    async def next(self) -> Block | None:
        """The next block; None at the end of the source. Raises what the source raises."""

    async def drain(self) -> list[Block]:
        """Stop fetching and hand out what has been fetched, in order; takes at most a few seconds.

        Anything not handed out is fetched again in a later run.
        """
        return []

    @abstractmethod
    async def close(self) -> None:
        """Close processes and connections."""


@dataclass(slots=True)
class _Reading:
    """A stretch in progress."""

    stretch: Stretch
    jobs: list[asyncio.Task[CountedJob]] = field(default_factory=list)
    size: int = 0
    """The bytes of its jobs, if it holds them until it is handed out."""

    @property
    def is_complete(self) -> bool:
        """Whether all of its jobs are in progress or done."""
        return len(self.jobs) == len(self.stretch.jobs)


class Intake(Blocks):
    """A source whose jobs are counted by a pool of workers.

    The jobs in progress are limited in number and in bytes, so that memory stays bounded when
    training is slower than the crawl. Fetching continues while earlier pages are parsed and trained
    on.
    """

    def __init__(self, source: Source, pool: Pool) -> None:
        super().__init__(source.activity)
        self._source = source
        self._pool = pool
        self._readings: deque[_Reading] = deque()
        """The stretches in progress, oldest first."""
        self._blocks: deque[Block] = deque()
        """What is left of the oldest stretch that has been counted."""
        self._running = 0
        """The number of jobs in progress."""
        self._bytes = 0
        """The bytes of the jobs in progress, and of counted jobs that a stretch still holds."""
        self._deaths = 0
        """How many jobs in a row have killed their workers."""
        self._moved = asyncio.Event()
        """Set when something has been fetched, counted or handed out."""
        self._renewing_large = asyncio.Semaphore(MOST_LARGE)
        self._fetching: asyncio.Task[None] | None = None

    def start(self, position: Position | None) -> None:
        self._fetching = asyncio.create_task(self._fetch(position))

    async def _fetch(self, position: Position | None) -> None:
        batches = self._source.batches(position)
        try:
            async for stretch in batches:
                reading = _Reading(stretch)
                self._readings.append(reading)
                for make in stretch.jobs:
                    await self._room(lambda: self._running)
                    job = await make()
                    self.queued += job.articles
                    self._running += 1
                    self._bytes += job.size
                    # The bytes of a job that can be read again are freed once it is counted. Those
                    # of any other are kept until its stretch is handed out.
                    if stretch.rereadable:
                        freed_once_counted = job.size
                    else:
                        freed_once_counted = 0
                        reading.size += job.size
                    counting = self._count_renewing(job, freed_once_counted)
                    reading.jobs.append(asyncio.create_task(counting))
                    self._moved.set()
                await self._room(self._jobs_held)
        finally:
            try:
                await batches.aclose()
            finally:
                # `next`, which waits for this, goes on only once this task has ended: so it finds
                # that the task is done.
                self._moved.set()

    def _jobs_held(self) -> int:
        """The number of jobs of all stretches in progress; but 0 if only one stretch is.

        So a second stretch is started however many jobs the first one has. Otherwise workers would
        be idle until the first one has been handed out.
        """
        if len(self._readings) == 1:
            return 0
        return sum(len(reading.jobs) for reading in self._readings)

    async def _room(self, jobs: Callable[[], int]) -> None:
        """Wait until there is room for another job beside the number that ``jobs`` returns."""
        most_jobs = max(JOBS_AHEAD, 2 * self._pool.jobs)
        while jobs() >= most_jobs or self._bytes >= MOST_AHEAD:
            await self._move()

    async def _move(self) -> None:
        """Wait until something has been fetched, counted or handed out."""
        self._moved.clear()
        await self._moved.wait()

    async def next(self) -> Block | None:
        assert self._fetching is not None
        try:
            while not self._blocks:
                if self._readings and self._readings[0].is_complete:
                    self.waits_for = "parsing"
                    await self._take_first()
                elif self._fetching.done():
                    await self._fetching  # raises its error
                    return None
                else:
                    self.waits_for = "parsing" if self._running else "network"
                    await self._move()
        finally:
            self.waits_for = None
        block = self._blocks.popleft()
        self.queued -= len(block)
        return block

    async def _take_first(self) -> None:
        """Cut the oldest stretch into blocks. It remains in progress until it is counted, so that
        cancelling the wait loses nothing."""
        reading = self._readings[0]
        counted = [await asyncio.shield(job) for job in reading.jobs]
        self._readings.popleft()
        self._bytes -= reading.size
        self._moved.set()
        block = Block.concatenate([job.block for job in counted])
        order = reading.stretch.order([job.block.page_ids.tolist() for job in counted])
        if order is not None:
            block = block.take(order)
        skips = Counter(reading.stretch.skips)
        warnings: list[str] = []
        for job in counted:
            skips += Counter(job.block.skips)
            warnings += job.block.warnings
        # All articles of the block were counted as queued. Now only those of its pieces are: the
        # pieces lack articles that were handed out before the trainer was stopped.
        self.queued -= len(block)
        for start, stop, position, lap in reading.stretch.pieces(len(block)):
            with errors_of(f"the position of {type(self._source).__name__}"):
                json.dumps(dict(position))  # only to raise its error, before a session stores it
            piece = replace(block[start:stop], position=dict(position), lap=lap)
            if start == 0:
                piece = replace(piece, skips=skips, warnings=tuple(warnings))
            self._blocks.append(piece)
            self.queued += len(piece)

    async def _count_renewing(self, job: Job, freed: int) -> CountedJob:
        """The counts of as much of a job as can be read; ``freed``: the bytes no longer needed once
        it is counted."""
        expected_articles = job.articles
        try:
            counted = await self._count(job)
            if counted.lack:
                async with self._renewing_large:
                    for _ in range(TRIES):
                        renewed = await job.renewed(counted.lack)
                        if renewed is None:
                            break
                        job = renewed
                        counted = await self._count(job)
                        if not counted.lack:
                            break
        finally:
            self._running -= 1
            self._bytes -= freed
            self._moved.set()
        if counted.fault:
            # All further jobs would fail in the same way, and the source would seem to have ended.
            raise BadSource(counted.fault)
        self.queued += len(counted.block) - expected_articles
        self.arrivals.add(len(counted.block))
        return counted

    async def _count(self, job: Job) -> CountedJob:
        """The counts of a job. If its worker fails, count by page and leave out only the page at
        fault."""
        with contextlib.suppress(JobFailed, WorkerDied):
            return await asyncio.wrap_future(self._pool.submit(count_job, job))
        # The worker has failed. All that follows is the counting by page.
        if isinstance(job, FetchedPages):
            uncounted = CountedJob(EMPTY, pages=job.fetched)
        else:
            try:
                uncounted = await self._result_alone(pages_of_job, job)
            except (JobFailed, WorkerDied) as error:
                warning = f"{job} cannot be read: {str(error)[:200]}"
                return CountedJob(replace(EMPTY, warnings=(warning,)))
        blocks: list[Block] = []
        warnings = list(uncounted.block.warnings)
        for page in uncounted.pages:
            try:
                counted = await self._result_alone(count_job, FetchedPages((page,)))
            except WorkerDied:
                reason = f"the process that read it was killed, or took over {CALL_SECONDS} s"
            except JobFailed as error:
                reason = str(error)[:200]
            else:
                blocks.append(counted.block)
                self._deaths = 0
                continue
            warnings.append(skipped(page, reason))
            blocks.append(Block.uncounted(page))
        block = replace(
            Block.concatenate(blocks),
            skips=uncounted.block.skips,
            warnings=tuple(warnings),
        )
        return replace(uncounted, block=block, pages=())

    async def _result_alone(self, fn: Callable[[Job], CountedJob], job: Job) -> CountedJob:
        """The result of a job that may kill its worker. Raises SessionError if several in a row
        do."""
        try:
            return await asyncio.wrap_future(self._pool.submit(fn, job))
        except WorkerDied as death:
            self._deaths += 1
            if self._deaths > MOST_DEATHS:
                raise SessionError(
                    "the processes that parse articles keep dying, often of too little memory: the "
                    f"last one {death}"
                ) from None
            raise

    async def drain(self) -> list[Block]:
        await self._stop_fetching()
        self._blocks.clear()  # the rest of a stretch is read again, as is everything after it
        with contextlib.suppress(TimeoutError, SessionError, BadSource, OSError):
            async with asyncio.timeout(3.0):
                while self._readings:
                    oldest = self._readings[0]
                    if not oldest.is_complete or oldest.stretch.rereadable:
                        break
                    await self._take_first()
        return list(self._blocks)

    async def _stop_fetching(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            # An error that ended it has been raised by next(), or comes too late to matter.
            await asyncio.gather(self._fetching, return_exceptions=True)

    async def close(self) -> None:
        await self._stop_fetching()
        jobs = [job for reading in self._readings for job in reading.jobs]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)  # errors were reported before
        self._pool.shutdown(wait=False, cancel_futures=True)
        await self._source.close()

"""The blocks of a run: a source read ahead, its jobs counted by workers, and handed out in
order."""

import asyncio
import contextlib
import json
import signal
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from wikitopics.crawler.errors import REST_LEFT_OUT, BadSource, CutOff, Lacking
from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.page import Page, Skip, SourceInfo
from wikitopics.crawler.source import Activity, FetchedPages, Job, Lack, Position, Source, Stretch
from wikitopics.session.errors import SessionError, errors_of
from wikitopics.session.storage.block import Block
from wikitopics.session.training.rates import RateMeter
from wikitopics.session.training.workers import JobFailed, Pool, WorkerDied, Workers
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule, rule_of
from wikitopics.vocab.vocabulary import Lexicon

# A job to word counts: the one step where the crawl meets the vocabulary.
#
# It runs in worker processes: whatever a page does to its reader ends no more than such a process.

PAGES_TOGETHER = 50
"""Pages whose text is in memory at a time."""
CALL_SECONDS = 60
"""CPU seconds after which a worker that counts some pages is killed; a page usually takes
milliseconds.

Wall-clock time would blame a page for a busy machine, or for a trainer that was suspended.
"""
EMPTY = Block.concatenate([])

_worker: tuple[Vocabulary | Rule, SourceInfo] | None = None


@dataclass(frozen=True, slots=True)
class CountedJob:
    """The result of counting a job."""

    block: Block
    fault: str = ""
    """Why the job cannot be read at all at present, such as a missing disk; "" if it was read."""
    lack: Lack | None = None
    """What is needed to read more of the job, if that can be had."""
    pages: tuple[Page, ...] = ()
    """The job's articles, if these are to be counted one at a time."""


def start_worker(words: Sequence[str], info: SourceInfo) -> None:
    """Prepare a worker process; ``words`` are the lines of a vocabulary.

    If they name a rule and no words, every word is counted.
    """
    global _worker
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    rule = rule_of(words)
    rule.words("")  # loads the segmenter now: if that fails, no page is to blame
    _worker = Vocabulary.from_lines(words) if len(words) > 1 else rule, info


def count_job(job: Job, *, counts: bool = True) -> CountedJob:
    """The word counts of a job's articles, in order; runs in a worker prepared by `start_worker`.

    Without ``counts``: the articles themselves, and everything else about the job.
    """
    assert _worker is not None
    vocabulary, info = _worker
    blocks: list[Block] = []
    skips: Counter[Skip] = Counter()
    pages: list[Page] = []
    warnings: tuple[str, ...] = ()
    fault = ""
    lack: Lack | None = None

    def count() -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
        try:
            blocks.append(count_pages(pages, vocabulary, info))
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        pages.clear()

    try:
        for page in job.pages(info):
            if not isinstance(page, Page):
                skips[page] += 1
                continue
            pages.append(page)
            if counts and len(pages) == PAGES_TOGETHER:
                count()
    except CutOff as error:
        warnings = (f"{job}: {error}",)
        lack = "again"
    except Lacking as error:
        warnings = (f"{job}: {error}; {REST_LEFT_OUT}",)
        lack = "more"
    except BadSource as error:
        fault = str(error)
    if counts:
        count()
    block = replace(Block.concatenate(blocks), skips=skips, warnings=warnings)
    return CountedJob(block, fault, lack, tuple(pages))


pages_of_job = partial(count_job, counts=False)


def count_pages(pages: Sequence[Page], vocabulary: Vocabulary | Rule, info: SourceInfo) -> Block:
    """The word counts of ``pages``, in order; a page without a known word is kept as an empty row.

    With only a rule, every word is known, and the block has its own lexicon.
    """
    rule, counter = (
        (vocabulary, Lexicon(vocabulary))
        if isinstance(vocabulary, Rule)
        else (vocabulary.rule, vocabulary)
    )
    counted = [counter.count(_text(page, info, rule)) for page in pages]
    return Block.of_pages(pages, counted, counter.words if isinstance(counter, Lexicon) else None)


def _text(page: Page, info: SourceInfo, rule: Rule) -> str:
    """The text in which ``rule`` finds the page's words: its prose, or one line for each title
    linked to."""
    return "\n".join(page_links(page, info)) if rule.of_titles else prose(page, info)


def skipped(page: Page, reason: str) -> str:
    """The log line about a page that could not be read."""
    # Written by `repr`, so that nothing in the title can control a terminal.
    return f"page {page.page_id} ({page.title[:100]!r}) is skipped: {reason}"


def counting_workers(words: Sequence[str], info: SourceInfo, number: int) -> Workers:
    """Processes on this machine that count with the vocabulary whose lines are ``words``."""
    return Workers(number, start_worker, (tuple(words), info))


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
        """How many articles the trainer still needs for its next step."""

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
        self._source, self._pool = source, pool
        self._readings: deque[_Reading] = deque()
        self._blocks: deque[Block] = deque()
        self._running = self._bytes = self._deaths = 0
        self._moved = asyncio.Event()
        self._large = asyncio.Semaphore(MOST_LARGE)
        self._task: asyncio.Task[None] | None = None

    def start(self, position: Position | None) -> None:
        self._task = asyncio.create_task(self._fetch(position))

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
                    if not stretch.rereadable:
                        reading.size += job.size
                    counts = self._count_renewing(job, freed=job.size if stretch.rereadable else 0)
                    reading.jobs.append(asyncio.create_task(counts))
                    self._moved.set()
                # Start a second stretch, however many jobs the first one has: otherwise workers
                # would be idle until that one has been handed out.
                await self._room(
                    lambda: (
                        len(self._readings) > 1 and sum(len(each.jobs) for each in self._readings)
                    )
                )
        finally:
            try:
                await batches.aclose()
            finally:
                self._moved.set()  # this task ends before anything that waits for it looks

    async def _room(self, jobs: Callable[[], int]) -> None:
        """Wait until there is room for another job beside the number that ``jobs`` returns."""
        while jobs() >= max(JOBS_AHEAD, 2 * self._pool.jobs) or self._bytes >= MOST_AHEAD:
            await self._move()

    async def _move(self) -> None:
        """Wait until something has been fetched, counted or handed out."""
        self._moved.clear()
        await self._moved.wait()

    async def next(self) -> Block | None:
        assert self._task is not None
        try:
            while not self._blocks:
                if self._readings and self._readings[0].is_complete:
                    self.waits_for = "parsing"
                    await self._take_first()
                elif self._task.done():
                    await self._task
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
        skips = sum((Counter(job.block.skips) for job in counted), Counter(reading.stretch.skips))
        warnings = tuple(line for job in counted for line in job.block.warnings)
        self.queued -= len(block)
        for start, stop, position, lap in reading.stretch.pieces(len(block)):
            news: dict[str, Any] = {} if start else {"skips": skips, "warnings": warnings}
            with errors_of(f"the position of {type(self._source).__name__}"):
                json.dumps(dict(position))
            self._blocks.append(
                replace(block[start:stop], position=dict(position), lap=lap, **news)
            )
            self.queued += stop - start

    async def _count_renewing(self, job: Job, freed: int) -> CountedJob:
        """The counts of as much of a job as can be read; ``freed``: the bytes no longer needed once
        it is counted."""
        articles = job.articles
        try:
            counted = await self._count(job)
            if counted.lack:
                async with self._large:
                    for _ in range(TRIES):
                        renewed = await job.renewed(counted.lack) if counted.lack else None
                        if renewed is None:
                            break
                        job = renewed
                        counted = await self._count(job)
        finally:
            self._running -= 1
            self._bytes -= freed
            self._moved.set()
        if counted.fault:  # otherwise the rest of the source would be skipped at once
            raise BadSource(counted.fault)
        self.queued += len(counted.block) - articles
        self.arrivals.add(len(counted.block))
        return counted

    async def _count(self, job: Job) -> CountedJob:
        """The counts of a job. If its worker fails, count by page and leave out only the page at
        fault."""
        with contextlib.suppress(JobFailed, WorkerDied):
            return await asyncio.wrap_future(self._pool.submit(count_job, job))
        try:
            rest = (
                CountedJob(EMPTY, pages=job.fetched)
                if isinstance(job, FetchedPages)
                else await self._result_alone(pages_of_job, job)
            )
        except (JobFailed, WorkerDied) as error:
            return CountedJob(
                replace(EMPTY, warnings=(f"{job} cannot be read: {str(error)[:200]}",))
            )
        blocks, warnings = [], list(rest.block.warnings)
        for page in rest.pages:
            try:
                blocks.append((await self._result_alone(count_job, FetchedPages((page,)))).block)
                self._deaths = 0
                continue
            except WorkerDied:
                reason = f"the process that read it was killed, or took over {CALL_SECONDS} s"
            except JobFailed as error:
                reason = str(error)[:200]
            warnings.append(skipped(page, reason))
            blocks.append(Block.uncounted(page))
        block = replace(Block.concatenate(blocks), skips=rest.block.skips, warnings=tuple(warnings))
        return replace(rest, block=block, pages=())

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
                while (
                    self._readings
                    and self._readings[0].is_complete
                    and not self._readings[0].stretch.rereadable
                ):
                    await self._take_first()
        return list(self._blocks)

    async def _stop_fetching(self) -> None:
        if self._task is not None:
            self._task.cancel()
            # An error that ended it has been raised by next(), or comes too late to matter.
            await asyncio.gather(self._task, return_exceptions=True)

    async def close(self) -> None:
        await self._stop_fetching()
        jobs = [job for reading in self._readings for job in reading.jobs]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)  # errors were reported before
        self._pool.shutdown(wait=False, cancel_futures=True)
        await self._source.close()

"""One run of a trainer: crawl, learn, save, until an end is reached or asked for."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from wikitopics.session.errors import NotNow
from wikitopics.session.records import State
from wikitopics.session.sources import kind_named
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.heartbeats import ControlRequest
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.blocks import Blocks
from wikitopics.session.training.first_texts import FIRST_TEXTS, short_texts
from wikitopics.session.training.rates import RateMeter
from wikitopics.session.training.stream import Work
from wikitopics.session.training.vocabulary import Consumer

FINISHED = "finished"
"""The reason given for the end of a run that was not stopped."""
TIME_IS_UP = "the time given with --hours is up"
COMMIT_SECONDS = 1.0
"""Seconds: a commit follows a minibatch at once, unless the last commit is younger than this."""
COMMIT_REST = 4.0
"""It must also be so many times as old as commits take: large models take long to write."""
LATEST_SECONDS = 1.5
"""Seconds since the last commit that the next step may not exceed: otherwise commit first."""
RETRY_SECONDS = 5.0
"""Seconds between two attempts to save while the disk is full or another program writes."""
PATIENCE = 2.0
"""Seconds that a minibatch in progress may take after a stop before it is abandoned."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of this run, besides the number of articles; they may differ from run to run."""

    hours: float = math.inf
    megabytes: float = math.inf

    @property
    def seconds(self) -> float:
        """The hours, in seconds."""
        return self.hours * 3600

    def less(self, seconds: float, bytes_read: int) -> "Limits":
        """What is left of the limits after this much."""
        hours = self.hours - seconds / 3600
        megabytes = self.megabytes - bytes_read / 1e6
        return Limits(max(0.0, hours), max(0.0, megabytes))

    def reached(self, seconds: float, bytes_read: int) -> str:
        """Why a run ends after this much; "" if it continues."""
        if seconds >= self.seconds:
            return TIME_IS_UP
        if bytes_read >= self.megabytes * 1e6:
            return "the limit given with --max-mb has been reached"
        return ""


class Wait(NamedTuple):
    """What a run waits for."""

    what: str
    until: float | None = None
    """Seconds since the epoch, if that is known."""
    failing: bool = False
    """Whether something went wrong: then ``what`` is a sentence, otherwise a noun phrase."""


def commit_due(age: float, likely: float, taken: float) -> bool:
    """Whether to commit now, by seconds: ``age``, those since the last commit; ``likely``, those
    that the next step will take; ``taken``, those that the last commit took."""
    wanted = max(COMMIT_SECONDS, COMMIT_REST * taken)
    return age >= wanted or age + likely > LATEST_SECONDS


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most ``seconds``."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


class Run:
    """A trainer at work on a session that this process has locked.

    One thread trains, measures and commits. Stops and pauses come from signals, other processes and
    the run's limits; only the first stop counts.
    """

    def __init__(
        self,
        store: SessionWriter,
        stream: Consumer,
        feed: Blocks,
        limits: Limits,
    ) -> None:
        self.stream = stream
        """Replaced when a step is abandoned."""
        self.feed = feed
        feed.wanted = lambda: self.stream.missing
        self.stopping = asyncio.Event()
        self.resuming = asyncio.Event()
        """Set unless the run is paused."""
        self.resuming.set()
        self.reason = "stopped"
        """Why the run ends, in words."""
        self.blocked: Wait | None = None
        """Why nothing can be saved."""
        self.warnings: list[str] = []
        """The warnings of blocks received, until they are in the log."""
        self._first_lengths: list[int] | None = None
        """The number of known words in each of the first texts, until there are enough to judge;
        None if there is nothing to judge."""
        self.learnt = RateMeter()
        """The rate at which articles are learnt."""
        self._store = store
        self._limits = limits
        self._thread = _new_thread()
        self._step: asyncio.Future[object] | None = None
        """A step in progress or failed: until it is resolved, models and counters do not match."""
        self._step_seconds: dict[bool, float] = {}
        """The duration of the last step with a measurement (True), which may be long, and without
        (False)."""
        self.waits_for = ""
        """What users wait for while the stream's present work is done, if that may take long."""
        self._save_requested = False
        self._saved_at = time.monotonic()
        self._last_commit_took = 0.0
        """Seconds."""
        self._saves_since = math.inf
        """When the commit in progress began."""
        self._seconds_before = stream.progress.elapsed_seconds
        """The running time of earlier runs."""
        self._bytes_before = stream.progress.bytes_read
        """The bytes that earlier runs have read."""
        self._began = time.monotonic()

    @property
    def state(self) -> State:
        """What the run should be doing."""
        if self.stopping.is_set():
            return "stopping"
        return "running" if self.resuming.is_set() else "paused"

    @property
    def busy(self) -> bool:
        """Whether a step is in progress."""
        return self._step is not None

    def saving_seconds(self) -> float:
        """Seconds that the commit in progress has taken so far; 0 if there is none."""
        return max(0.0, time.monotonic() - self._saves_since)

    def ran(self) -> float:
        """The seconds of this run."""
        return time.monotonic() - self._began

    def limits_left(self) -> Limits:
        """What is left of the run's limits."""
        return self._limits.less(self.ran(), self.feed.activity.bytes_read)

    def elapsed(self) -> float:
        """Seconds of running time over all runs."""
        return self._seconds_before + self.ran()

    def stop(self, reason: str) -> None:
        """Tell the run to end."""
        if not self.stopping.is_set():
            self.reason = reason
            self._end()

    def obey(self, request: ControlRequest) -> None:
        """Carry out the requests of other processes."""
        if request.stop:
            self.stop("stopped by `wikitopics stop`")
        self._save_requested |= request.save
        self.feed.activity.own_wait &= not request.save
        if request.lay_out:
            self.stream.lay_out()
        if request.hurry:
            self.feed.activity.pace = 0.0
        if request.paused and not self.stopping.is_set():
            self.resuming.clear()
        else:
            self.resuming.set()

    def _end(self) -> None:
        self.stopping.set()
        self.resuming.set()

    async def train(self) -> None:
        """Train to the end; ``reason`` then says why. Everything fed is committed, even on an
        error."""
        if kind_named(self.stream.settings.source).own and not self.stream.progress.crawled:
            self._first_lengths = []
        seconds_left = max(0.0, self._limits.seconds - self.ran())
        loop = asyncio.get_running_loop()
        # Rings even amid a long step.
        alarm = loop.call_later(seconds_left, self.stop, TIME_IS_UP)
        try:
            try:
                self.feed.start(self.stream.progress.position)
                await self._consume()
                if not self.stopping.is_set():
                    await self._finish()
            finally:
                alarm.cancel()
                self._end()
                await self._save_all()
        except BaseException as error:
            self.reason = str(error) or type(error).__name__
            raise

    async def _finish(self) -> None:
        """End the session, whose models are measured at its end too."""
        await self._commit_if(True)  # the last measurement may take long
        stream = self.stream
        finishing = Work(lambda elapsed_seconds: stream.finish(elapsed_seconds()))
        if await self.do(finishing):
            self.reason = FINISHED
            await self.commit()

    async def _consume(self) -> None:
        """Train on arriving articles until there are no more or the run should stop."""
        stream = self.stream
        work = stream.work()
        arriving: asyncio.Task[Block | None] | None = None
        try:
            while not self.stopping.is_set() and not stream.done():
                if not self.resuming.is_set():
                    await self._commit_if(True)
                    await wait_for(self.resuming, 1.0)  # time passes, even if nothing else happens
                    self.learnt = RateMeter()  # a pause does not count towards the rate
                elif work is not None:
                    await self._commit_if(work.on_committed)
                    if not await self.do(work):
                        break
                else:
                    if arriving is None:
                        arriving = asyncio.create_task(self.feed.next())
                    await self._or_stop(arriving, COMMIT_SECONDS)
                    if arriving.done():
                        block = arriving.result()
                        arriving = None
                        self._receive(block)
                work = stream.work()
                await self._commit_if(self.commits_before(work))
                self._check_limits()
        finally:
            # A block that just came in must not be lost. An error of the source no longer matters.
            if arriving is not None and not arriving.cancel() and arriving.exception() is None:
                block = arriving.result()
                if block is not None:
                    self._take(block)

    async def _save_all(self) -> None:
        """Commit everything fetched and trained; if a step is still running or has failed, what was
        trained before it."""
        enough = time.monotonic() + PATIENCE
        blocks = await self.feed.drain()
        if self._step is not None:
            await asyncio.wait({self._step}, timeout=max(0.0, enough - time.monotonic()))
            if not self._step.done() or self._step.exception() is not None:
                self._thread.shutdown(wait=False)  # the step is left running in its thread
                self._thread = _new_thread()
                self.stream = await self._call(self.stream.as_committed)
            self._step = None
        for block in blocks:
            self._take(block)
        await self.commit()

    def _receive(self, block: Block | None) -> None:
        """Take the next block; None: the source has ended."""
        if block is None:
            self._judge_first_texts()
            self.stream.end_of_source()
        else:
            self._take(block)

    def _take(self, block: Block) -> None:
        self.stream.feed(block)
        self.warnings += block.warnings
        if self._first_lengths is not None:
            self._first_lengths += block.words.tolist()
            if len(self._first_lengths) >= FIRST_TEXTS:
                self._judge_first_texts()

    def _judge_first_texts(self) -> None:
        """Warn of short texts, once."""
        if self._first_lengths is not None:
            self.warnings += short_texts(self._first_lengths)
            self._first_lengths = None

    def _check_limits(self) -> None:
        reason = self._limits.reached(self.ran(), self.feed.activity.bytes_read)
        if reason:
            self.stop(reason)

    async def do(self, work: Work) -> bool:
        """Do the stream's next work; False if a stop comes before it is done."""
        stream = self.stream
        self.waits_for = work.waits_for
        began = time.monotonic()
        articles_before = stream.progress.articles
        self._step = asyncio.ensure_future(self._call(lambda: work.do(self.elapsed)))
        await self._or_stop(self._step)
        if not self._step.done():
            return False
        self._step.result()  # raises its error
        self._step = None
        self.waits_for = ""
        trained = stream.progress.articles - articles_before
        if trained:
            if not self._step_seconds:  # a run's first step is saved at once: people see it resume
                self._saved_at = -math.inf
            self._step_seconds[work.measures] = time.monotonic() - began
            self.learnt.add(trained)
        return True

    def commits_before(self, work: Work | None) -> bool:
        """Whether to commit now, before the next step; None: no step is ready."""
        likely = 0.0 if work is None else self._step_seconds.get(work.measures, 0.0)
        return commit_due(time.monotonic() - self._saved_at, likely, self._last_commit_took)

    async def _commit_if(self, due: bool) -> None:
        if self._save_requested or (due and self.stream.dirty):
            self._save_requested = False
            await self.commit()

    async def commit(self) -> None:
        """Save; if the disk is full or busy, wait for it, unless the run is ending. Raises
        `SessionError`."""
        stream = self.stream

        def commit() -> None:
            bytes_read = self._bytes_before + self.feed.activity.bytes_read
            stream.commit(self.elapsed(), bytes_read)

        while True:
            began = time.monotonic()
            self._saves_since = began
            try:
                await self._call(commit)
                break
            except NotNow as error:
                self._check_limits()
                if self.stopping.is_set():
                    raise
                self.blocked = Wait(str(error), time.time() + RETRY_SECONDS, failing=True)
                await wait_for(self.stopping, RETRY_SECONDS)
            finally:
                self._saves_since = math.inf
        self.blocked = None
        self._saved_at = time.monotonic()
        self._last_commit_took = self._saved_at - began

    async def close(self) -> None:
        """Close the session."""
        await self._call(self._store.close)
        self._thread.shutdown()

    async def _or_stop(self, future: asyncio.Future[T], seconds: float | None = None) -> None:
        """Wait until ``future`` is done or the run should stop, at most ``seconds``."""
        stop = asyncio.ensure_future(self.stopping.wait())
        first: set[asyncio.Future[Any]] = {future, stop}
        await asyncio.wait(first, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="trainer")

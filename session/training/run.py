"""One run of a trainer: crawl, count, learn, measure and save until the end or until told to stop.

Three things go on at once: the source is read ahead (this event loop and a pool of processes), the models
learn and the store commits (one thread: `wikitopics.session.training.learner`), and a heartbeat
reports to other processes and receives their requests (`wikitopics.session.training.heart`).
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from wikitopics.session.errors import NotNow
from wikitopics.session.sources import described
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.beginning import Beginning
from wikitopics.session.training.heart import Heart
from wikitopics.session.training.intake.crawl import Blocks
from wikitopics.session.training.learner import COMMIT_SECONDS, Learner
from wikitopics.session.training.monitor import Monitor, Outside, Wait
from wikitopics.session.training.orders import Orders
from wikitopics.session.training.stream import Stream

FINISHED = "finished"
"""The reason for the end of a run that was not stopped."""
RETRY_SECONDS = 5.0
"""Seconds between two attempts to save while the disk is full or another program writes."""
PATIENCE = 2.0
"""Seconds that a minibatch in progress may still take after a stop, before it is abandoned."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of this run, besides the articles of the stream; they may differ from run to run."""

    hours: float | None = None
    megabytes: float | None = None

    def less(self, seconds: float, bytes_read: int) -> "RunLimits":
        """What is left of the limits after this much."""
        return RunLimits(
            None if self.hours is None else max(0.0, self.hours - seconds / 3600),
            None if self.megabytes is None else max(0.0, self.megabytes - bytes_read / 1e6),
        )


class Run:
    """A trainer at work on a session that this process has locked."""

    def __init__(
        self,
        path: Path,
        store: SessionWriter,
        stream: Stream | Beginning,
        feed: Blocks,
        limits: RunLimits,
        outside: Outside,
        given: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.orders = Orders()
        self.learner = Learner(stream, store, self.orders)
        self.feed = feed
        feed.wanted = lambda: self.learner.stream.missing
        advice = described(store.settings().source).advice
        self.monitor = Monitor(feed, self.learner, self.orders, advice, given)
        self._heart = Heart(path, self.monitor, self.orders, outside)
        self._limits = limits
        self._signals = outside.signals

    async def __call__(self) -> str:
        """Run to the end; returns why it ended. Everything fed is committed, even on an error."""
        self._signals.tell(lambda number: self.orders.stop(f"stopped by {number.name}"))
        ticking = asyncio.create_task(self.learner.tick())
        try:
            await self._heart.begin(self.learner.stream.progress.articles)
            try:
                await self._train()
            finally:
                death = await self._heart.end(self.orders.reason)
        finally:
            ticking.cancel()
            await self.learner.close()
        if death is not None:
            raise death
        return self.orders.reason

    async def _train(self) -> None:
        try:
            try:
                self.feed.start(self.learner.stream.progress.position)
                await self._consume()
                await self._finish()
            finally:
                self.orders.end()
                await self._save_all()
        except BaseException as error:
            self.orders.reason = str(error) or type(error).__name__
            raise

    async def _consume(self) -> None:
        """Train on arriving articles until there are no more or the run should stop."""
        stream, orders = self.learner.stream, self.orders
        arriving: asyncio.Task[Block | None] | None = None
        work = stream.work()
        try:
            while not orders.stopped and not stream.done():
                if orders.paused:
                    await self._commit_if(True)
                    await orders.until_going_on(1.0)  # time passes, even if nothing else happens
                    self.learner.rested()
                elif work is not None:
                    await self._commit_if(work.on_committed)
                    if not await self.learner.do(work):
                        break
                else:
                    arriving = arriving or asyncio.create_task(self.feed.next())
                    await orders.or_stop(arriving, COMMIT_SECONDS)
                    if arriving.done():
                        block, arriving = arriving.result(), None
                        if block is None:
                            stream.end_of_source()
                        else:
                            self._take(block)
                work = stream.work()
                due = self.learner.saving.due(None if work is None else work.measures)
                await self._commit_if(due)
                self._check_limits()
        finally:
            # A block that just came in must not be lost; an error in it is raised by drain's next.
            if arriving is not None and not arriving.cancel() and arriving.exception() is None:
                block = arriving.result()
                if block is not None:
                    self._take(block)

    async def _finish(self) -> None:
        """If the run was not stopped, the session has ended: measure there too."""
        if self.orders.stopped:
            return
        await self._commit_if(True)  # the last measurement may take long
        stream = self.learner.stream
        if await self.learner.attempt(lambda: stream.finish(self.learner.elapsed())):
            self.orders.reason = FINISHED
            await self._commit()

    async def _save_all(self) -> None:
        """Commit everything fetched and trained."""
        enough = time.monotonic() + PATIENCE
        blocks = await self.feed.drain()
        await self.learner.settle(max(0.0, enough - time.monotonic()))
        for block in blocks:
            self._take(block)
        await self._commit()

    def _take(self, block: Block) -> None:
        self.learner.stream.feed(block)
        self.monitor.warn(block.warnings)

    def _check_limits(self) -> None:
        limits = self._limits
        if limits.hours is not None and self.learner.ran() >= limits.hours * 3600:
            self.orders.stop("the time given with --hours is up")
        if limits.megabytes is not None and self.feed.activity.bytes_read >= limits.megabytes * 1e6:
            self.orders.stop("the limit given with --max-mb is reached")

    async def _commit_if(self, due: bool) -> None:
        if self.orders.save or (due and self.learner.stream.dirty):
            self.orders.save = False
            await self._commit()

    async def _commit(self) -> None:
        """Save; if the disk is full or busy, wait for it, unless the run is ending."""
        while True:
            try:
                await self.learner.commit(self.feed.activity.bytes_read)
            except NotNow as error:
                self._check_limits()
                if self.orders.stopped:
                    raise
                self.monitor.blocked = Wait(str(error), time.time() + RETRY_SECONDS, failing=True)
                await self.orders.until_stop(RETRY_SECONDS)
            else:
                self.monitor.blocked = None
                return

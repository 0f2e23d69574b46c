"""One run of a trainer: crawl, learn, save, report, until an end is reached or asked for."""

import asyncio
import contextlib
import os
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from wikitopics.model.kernels import is_compiling
from wikitopics.session import sources
from wikitopics.session.errors import NotNow, SessionError
from wikitopics.session.options import PASSES
from wikitopics.session.records import BoundBy, State, TrainerActivity, age, skips_told
from wikitopics.session.sources import described
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.settings import Progress
from wikitopics.session.storage.trainer import HeartbeatWriter
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.system import Signals
from wikitopics.session.training.creation import VocabularyBuild
from wikitopics.session.training.intake.crawl import Blocks
from wikitopics.session.training.learner import COMMIT_SECONDS, Learner, Orders
from wikitopics.session.training.measuring import Measured
from wikitopics.session.training.stream import Stream

# A run's reports on itself: its pace, what limits it, and the lines of its log.

Line = tuple[str, str]
"""Level and text."""


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a progress line: the present state of the stream, ahead of the last commit."""

    state: State
    progress: Progress
    elapsed_seconds: float
    measured: Measured
    activity: TrainerActivity
    passes: int = 1
    noun: str = "articles"
    """What the texts of the source are called."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Whom a trainer tells of itself, and what may stop it."""

    report: Callable[[Report], None]
    """Called with every heartbeat."""
    say: Callable[[str], None]
    """Takes messages that should not wait for a heartbeat."""
    signals: Signals


@dataclass(frozen=True, slots=True)
class Wait:
    """What a run waits for."""

    what: str
    until: float | None = None
    """Seconds since the epoch, if that is known."""
    failing: bool = False
    """Whether ``what`` went wrong: then it is a sentence, otherwise a noun phrase."""


def _doubled(before: int, now: int) -> bool:
    """Whether a count has passed a power of two."""
    return now.bit_length() > before.bit_length()


LASTING_SECONDS = 10.0
"""A blockage longer than this (seconds) is followed by a "resumed" line."""
QUIET_SECONDS = 60.0
"""Seconds without a counted page after which the run reports what it waits for."""
SAVING_SECONDS = 5.0
"""A commit of more seconds is reported as what the run waits for: models are large, or the disk is slow."""
ERRORS = 5
"""The most of the source's last errors that are reported."""
_REQUESTS = ("requests", "requests_last_minute", "allowed_per_minute", "retries", "throttled")
OF_SOURCE = (*_REQUESTS, "latency_seconds", "batch_pages")
"""What of the source's `Activity` is reported as it is."""


class Monitor:
    """Watches a run; `sample` must be called with every heartbeat."""

    def __init__(
        self,
        feed: Blocks,
        learner: Learner,
        orders: Orders,
        advice: tuple[int, str] | None,
        given: Mapping[str, object],
    ) -> None:
        """``advice``: a number of articles, and what to say once they have been read; ``given``: as in
        `TrainerActivity`."""
        self.blocked: Wait | None = None
        """Why nothing can be saved; set by whatever tries to."""
        self._feed, self._learner, self._orders = feed, learner, orders
        self._given = given
        progress = learner.stream.progress
        settings = learner.stream.settings
        self._noun = sources.noun(settings.source)
        self._read = sources.unit_noun(settings.source, settings[PASSES])
        self._advice = advice if advice is not None and progress.crawled < advice[0] else None
        self._bound_by: deque[BoundBy] = deque(maxlen=20)
        self._counted = (0, 0)
        self._counted_at = learner.elapsed()
        # What the log has told already: the state at the start is not news.
        self._measured_at = learner.stream.measured.articles
        self._skipped = progress.skipped
        self._errors: set[str] = set()
        self._hindrance: str | None = None
        self._hindered_at = 0.0
        self._warnings: list[str] = []

    def warn(self, warnings: Sequence[str]) -> None:
        """Add lines to the log."""
        self._warnings += warnings

    def sample(self) -> None:
        """Record what the run is busy with."""
        progress = self._learner.stream.progress
        counted = (progress.crawled, progress.articles)
        if counted != self._counted or self._orders.paused:
            self._counted, self._counted_at = counted, self._learner.elapsed()
        if self.blocked is not None:
            self._bound_by.clear()
        elif self._learner.busy:
            self._bound_by.append("training")
        elif not self._learner.saving_seconds() and self._feed.waits_for is not None:
            self._bound_by.append(self._feed.waits_for)

    def report(self) -> Report:
        """Everything at this moment."""
        stream = self._learner.stream
        return Report(
            state=self._orders.state,
            progress=stream.progress,
            elapsed_seconds=self._learner.elapsed(),
            measured=stream.measured,
            activity=self._activity(),
            passes=stream.settings[PASSES],
            noun=self._read,
        )

    def news(self) -> list[Line]:
        """The news since the last call, each told once."""
        progress, measured = self._learner.stream.progress, self._learner.stream.measured
        news: list[Line] = []
        if _doubled(self._measured_at, measured.articles):
            news += self._measurement(measured)
        if _doubled(self._skipped, progress.skipped):
            news += self._skips(progress)
        errors = [error.text for error in self._feed.activity.errors]
        new = [error for error in errors if error not in self._errors]
        news += [("warning", line) for line in (*new, *self._warnings)]
        self._errors, self._warnings = set(errors), []
        news += self._hindrances(new)
        if self._advice is not None and progress.crawled >= self._advice[0]:
            news.append(("warning", self._advice[1]))
            self._advice = None
        return news

    def _hindrances(self, told: Sequence[str]) -> list[Line]:
        """Log why the run is blocked, and when it resumes."""
        wait, now = self._waiting(), self._learner.elapsed()
        hindrance = wait.what if wait is not None and wait.failing else None
        before, self._hindrance = self._hindrance, hindrance
        if hindrance is not None:
            if before is None:
                self._hindered_at = now
            return [] if hindrance in (before, *told) else [("error", hindrance)]
        if before is not None and (lasted := now - self._hindered_at) >= LASTING_SECONDS:
            return [("info", f"resumed after {age(lasted)}")]
        return []

    def last_news(self) -> list[Line]:
        """The last news, and the newest numbers, which may not have doubled."""
        stream = self._learner.stream
        return [*self.news(), *self._measurement(stream.measured), *self._skips(stream.progress)]

    def _measurement(self, measured: Measured) -> list[Line]:
        if measured.articles <= self._measured_at or not measured.perplexities:
            return []
        self._measured_at = measured.articles
        scores = ", ".join(f"{name} {value:,.1f}" for name, value in measured.perplexities.items())
        return [("info", f"after {measured.articles:,} {self._read}: perplexity {scores}")]

    def _skips(self, progress: Progress) -> list[Line]:
        if progress.skipped <= self._skipped:
            return []
        self._skipped = progress.skipped
        return [("info", f"skipped so far: {progress.skipped:,} ({skips_told(progress.skips)})")]

    def _activity(self) -> TrainerActivity:
        stream, source = self._learner.stream, self._feed.activity
        wait = self._waiting() or Wait("")
        return TrainerActivity(
            article_limit=stream.article_limit,
            given=self._given,
            waiting_for=wait.what or None,
            waiting_until=wait.until,
            failing=wait.failing,
            elapsed_seconds=self._learner.elapsed(),
            next_measurement=stream.next_measurement,
            compiling=self._learner.busy and is_compiling(),
            bound_by=Counter(self._bound_by).most_common(1)[0][0] if self._bound_by else None,
            crawl_rate=self._feed.arrivals(),
            train_rate=self._learner.rate(),
            queue=self._feed.queued + stream.progress.pending,
            **{name: getattr(source, name) for name in OF_SOURCE},
            errors=tuple((error.at, error.text) for error in source.errors[-ERRORS:]),
        )

    def _waiting(self) -> Wait | None:
        """What the run is waiting for; None if it works."""
        if self.blocked is not None:
            return self.blocked
        saving = self._learner.saving_seconds()
        if saving >= SAVING_SECONDS:
            if saving >= QUIET_SECONDS:
                return Wait("saving the models has taken over a minute so far", failing=True)
            return Wait("the models to be saved")
        stream, source = self._learner.stream, self._feed.activity
        if source.trouble is not None:
            return Wait(source.trouble, source.waiting_until, failing=True)
        if source.waiting_for:
            told = f"{stream.waits_for} ({source.waiting_for})" if stream.waits_for else source.waiting_for
            return Wait(told, source.waiting_until)
        return Wait(stream.waits_for) if stream.waits_for else self._quiet()

    def _quiet(self) -> Wait | None:
        """A wait that nothing reports: stopped processes, or a connection that is merely open."""
        if self._learner.elapsed() - self._counted_at < QUIET_SECONDS:
            return None
        if self._learner.busy:
            return Wait("a step of training has taken over a minute so far", failing=True)
        if self._feed.waits_for == "parsing":
            told = f"the processes that parse {self._noun} have counted none for over a minute"
            return Wait(told, failing=True)
        return Wait(f"no {self._noun[:-1]} has come in for over a minute", failing=True)


# The heartbeat: reports to other processes twice a second, and receives their requests.

BEAT_SECONDS = 0.5
FLOW_EVERY = 4
"""Beats between two stored rates for the screen's graphs."""

T = TypeVar("T")


class Heart:
    """Beats in a separate task and thread, beside the training.

    If the disk is full or busy, it waits. Any other error kills it, and the run is then told to stop at once,
    since no other process could see that it is alive or send it requests.
    """

    def __init__(self, path: Path, monitor: Monitor, orders: Orders, outside: Outside) -> None:
        self._path, self._monitor, self._orders, self._outside = path, monitor, orders, outside
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="heartbeat")
        self._over = asyncio.Event()

    async def begin(self, first_article: int) -> None:
        """Begin a run. Raises `SessionError` if that cannot be written."""
        try:
            await self._call(lambda: self._open(first_article))
        except BaseException:
            self._thread.shutdown()
            raise
        self._beating = asyncio.create_task(self._beat())
        self._beating.add_done_callback(self._is_over)

    def _open(self, first_article: int) -> None:
        self._writer = HeartbeatWriter(self._path)
        try:
            self._run = self._writer.begin(first_article)
        except BaseException:
            self._writer.close()
            raise

    async def end(self, reason: str) -> BaseException | None:
        """End the run and say why, if possible. Returns the error that killed the heart, if it died."""
        self._over.set()  # not cancelled, since its current log lines would be lost
        await asyncio.wait({self._beating})
        death = _death(self._beating)
        self._tell_progress()
        last_words: Sequence[Callable[[], Awaitable[object]]] = (
            lambda: self._say("stopped"),
            lambda: self._note(self._monitor.last_news()),
            lambda: self._log("info", f"the trainer ended: {reason}"),
            lambda: self._call(lambda: self._writer.end(self._run, reason)),
        )
        for word in last_words:
            # The error that killed the heart may keep it from writing, but not from closing.
            with contextlib.suppress(SessionError if death is None else Exception):
                await word()
        await self._call(self._writer.close)
        self._thread.shutdown()
        return death

    def _is_over(self, beating: asyncio.Task[None]) -> None:
        if (death := _death(beating)) is not None:
            self._orders.stop(f"the heartbeat failed: {str(death) or type(death).__name__}")

    async def _beat(self) -> None:
        number = 0
        await self._note([("info", f"a trainer began (pid {os.getpid()})")])
        while not self._over.is_set():
            self._monitor.sample()
            with contextlib.suppress(NotNow):  # the next beat tries again, and the commit reports the error
                await self._say(self._orders.state, keep_flow=number % FLOW_EVERY == 0)
            await self._note(self._monitor.news())
            self._tell_progress()
            number += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), BEAT_SECONDS)

    async def _say(self, state: State, *, keep_flow: bool = False) -> None:
        activity = self._monitor.report().activity
        self._orders.obey(await self._call(lambda: self._writer.beat(state, activity, keep_flow=keep_flow)))

    async def _note(self, news: Sequence[Line]) -> None:
        for level, message in news:
            if level != "info":
                self._outside.say(message)
            with contextlib.suppress(NotNow):
                await self._log(level, message)

    async def _log(self, level: str, message: str) -> None:
        await self._call(lambda: self._writer.event(level, message))

    def _tell_progress(self) -> None:
        try:
            self._outside.report(self._monitor.report())
        except BrokenPipeError:
            self._orders.stop("nothing reads the progress any more")
        except OSError:
            pass  # such as a full disk: training continues without it

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _death(beating: asyncio.Task[None]) -> BaseException | None:
    return asyncio.CancelledError() if beating.cancelled() else beating.exception()


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
        stream: Stream | VocabularyBuild,
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
                    await orders.wait_while_paused(1.0)  # time passes, even if nothing else happens
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

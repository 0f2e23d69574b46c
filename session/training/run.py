"""One run of a trainer: crawl, learn, save, until an end is reached or asked for; and what is told of it."""

import asyncio
import contextlib
import math
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from operator import gt
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from wikitopics.model.kernels import is_compiling
from wikitopics.session import sources
from wikitopics.session.errors import NotNow, Say, SessionError
from wikitopics.session.options import PASSES
from wikitopics.session.records import BoundBy, Progress, State, TrainerActivity, age, skips_told
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.writer import ControlRequest, HeartbeatWriter, SessionWriter
from wikitopics.session.training.blocks import Blocks, Rate
from wikitopics.session.training.measuring import Measured
from wikitopics.session.training.stream import Work
from wikitopics.session.training.vocabulary import Consumer

FINISHED = "finished"
"""The reason for the end of a run that was not stopped."""
COMMIT_SECONDS = 1.0
"""Seconds: a commit follows a minibatch at once, unless the last commit is younger than this."""
LATEST_SECONDS = 1.5
"""Seconds: commit first if the next step is likely to end later than this after the last commit."""
RETRY_SECONDS = 5.0
"""Seconds between two attempts to save while the disk is full or another program writes."""
PATIENCE = 2.0
"""Seconds that a minibatch in progress may still take after a stop, before it is abandoned."""
SUSPENDED_SECONDS = 5.0
"""Seconds between two looks at the clock in which the process stood still; a monitor looks every second."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of this run, besides the articles of the stream; they may differ from run to run."""

    hours: float = math.inf
    megabytes: float = math.inf

    def less(self, seconds: float, bytes_read: int) -> "Limits":
        """What is left of the limits after this much."""
        hours, megabytes = self.hours - seconds / 3600, self.megabytes - bytes_read / 1e6
        return Limits(max(0.0, hours), max(0.0, megabytes))

    def reached(self, seconds: float, bytes_read: int) -> str:
        """Why a run ends after this much; "" if it continues."""
        if seconds >= self.hours * 3600:
            return "the time given with --hours is up"
        return "the limit given with --max-mb is reached" if bytes_read >= self.megabytes * 1e6 else ""


class Wait(NamedTuple):
    """What a run waits for."""

    what: str
    until: float | None = None
    """Seconds since the epoch, if that is known."""
    failing: bool = False
    """Whether ``what`` went wrong: then it is a sentence, otherwise a noun phrase."""


def commit_due(age: float, likely: float = 0.0) -> bool:
    """Whether to commit now; ``age``: seconds since the last commit, ``likely``: what the next step will
    take."""
    return age >= COMMIT_SECONDS or age + likely > LATEST_SECONDS


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most ``seconds``."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


class Run:
    """A trainer at work on a session that this process has locked.

    One thread trains, measures and commits. Stops and pauses come from signals, from other processes and from
    the run's limits; only the first stop counts.
    """

    def __init__(self, store: SessionWriter, stream: Consumer, feed: Blocks, limits: Limits) -> None:
        self.stream = stream
        """Replaced after a step was abandoned."""
        self.feed = feed
        feed.wanted = lambda: self.stream.missing
        self.stopping, self.resuming = asyncio.Event(), asyncio.Event()
        self.resuming.set()
        self.reason = "stopped"
        """Why the run ends, in words."""
        self.blocked: Wait | None = None
        """Why nothing can be saved."""
        self.warnings: list[str] = []
        """Of the blocks that came in, until they are in the log."""
        self.learnt = Rate()
        """Articles learnt."""
        self._store, self._limits = store, limits
        self._thread = _new_thread()
        self._step: asyncio.Future[object] | None = None
        """A step in progress or failed: until it is resolved, models and counters are out of step."""
        self._step_seconds: dict[bool, float] = {}
        """How long the last step took that measured (True), which may be long, and the last that did not."""
        self._save_requested = False
        self._saved_at, self._saves_since = time.monotonic(), math.inf
        self._before = stream.progress.elapsed_seconds, stream.progress.bytes_read
        self._clock = threading.Lock()
        self._looked_at, self._ran = time.monotonic(), 0.0

    @property
    def state(self) -> State:
        """What the run should be doing."""
        if self.stopping.is_set():
            return "stopping"
        return "running" if self.resuming.is_set() else "paused"

    @property
    def busy(self) -> bool:
        """Whether a step is under way."""
        return self._step is not None

    def saving_seconds(self) -> float:
        """Seconds that the commit in progress has taken so far; 0 if there is none."""
        return max(0.0, time.monotonic() - self._saves_since)

    def ran(self) -> float:
        """Seconds of this run, without those in which the process was suspended, as after Ctrl+Z."""
        with self._clock:
            now = time.monotonic()
            passed, self._looked_at = now - self._looked_at, now
            self._ran += passed if passed < SUSPENDED_SECONDS else 0.0
            return self._ran

    def elapsed(self) -> float:
        """Seconds of running time over all runs."""
        return self._before[0] + self.ran()

    def stop(self, reason: str) -> None:
        """Order the run to end."""
        if not self.stopping.is_set():
            self.reason = reason
            self._end()

    def obey(self, request: ControlRequest) -> None:
        """Take the requests of other processes."""
        if request.stop:
            self.stop("stopped by `wikitopics stop`")
        self._save_requested |= request.save
        if request.paused and not self.stopping.is_set():
            self.resuming.clear()
        else:
            self.resuming.set()

    def _end(self) -> None:
        self.stopping.set()
        self.resuming.set()

    async def train(self) -> None:
        """Train to the end; ``reason`` then says why. Everything fed is committed, even on an error."""
        try:
            try:
                self.feed.start(self.stream.progress.position)
                await self._consume()
                if not self.stopping.is_set():  # the session has ended: measure there too
                    await self._commit_if(True)  # the last measurement may take long
                    stream = self.stream
                    if await self.do(Work(lambda elapsed_seconds: stream.finish(elapsed_seconds()))):
                        self.reason = FINISHED
                        await self.commit()
            finally:
                self._end()
                await self._save_all()
        except BaseException as error:
            self.reason = str(error) or type(error).__name__
            raise

    async def _consume(self) -> None:
        """Train on arriving articles until there are no more or the run should stop."""
        stream, work = self.stream, self.stream.work()
        arriving: asyncio.Task[Block | None] | None = None
        try:
            while not self.stopping.is_set() and not stream.done():
                if not self.resuming.is_set():
                    await self._commit_if(True)
                    await wait_for(self.resuming, 1.0)  # time passes, even if nothing else happens
                    self.learnt = Rate()  # a pause is no part of it
                elif work is not None:
                    await self._commit_if(work.on_committed)
                    if not await self.do(work):
                        break
                else:
                    arriving = arriving or asyncio.create_task(self.feed.next())
                    await self._or_stop(arriving, COMMIT_SECONDS)
                    if arriving.done():
                        block, arriving = arriving.result(), None
                        if block is None:
                            stream.end_of_source()
                        else:
                            self._take(block)
                work = stream.work()
                await self._commit_if(self.commits_before(work))
                self._check_limits()
        finally:
            # A block that just came in must not be lost; an error in it is raised by drain's next.
            if arriving is not None and not arriving.cancel() and arriving.exception() is None:
                block = arriving.result()
                if block is not None:
                    self._take(block)

    async def _save_all(self) -> None:
        """Commit everything fetched and trained; after a step that continues or has failed, what was trained
        before it."""
        enough = time.monotonic() + PATIENCE
        blocks = await self.feed.drain()
        if self._step is not None:
            await asyncio.wait({self._step}, timeout=max(0.0, enough - time.monotonic()))
            if not self._step.done() or self._step.exception() is not None:
                self._thread.shutdown(wait=False)  # the step is left to its thread
                self._thread = _new_thread()
                self.stream = await self._call(self.stream.as_committed)
            self._step = None
        for block in blocks:
            self._take(block)
        await self.commit()

    def _take(self, block: Block) -> None:
        self.stream.feed(block)
        self.warnings += block.warnings

    def _check_limits(self) -> None:
        if reason := self._limits.reached(self.ran(), self.feed.activity.bytes_read):
            self.stop(reason)

    async def do(self, work: Work) -> bool:
        """Do what the stream has to do next; False if a stop comes before it is done."""
        stream, began, before = self.stream, time.monotonic(), self.stream.progress.articles
        self._step = asyncio.ensure_future(self._call(lambda: work.do(self.elapsed)))
        await self._or_stop(self._step)
        if not self._step.done():
            return False
        self._step.result()
        self._step = None
        if trained := stream.progress.articles - before:
            if not self._step_seconds:  # the first step of a run is saved at once: people see it resume
                self._saved_at = -math.inf
            self._step_seconds[work.measures] = time.monotonic() - began
            self.learnt.add(trained)
        return True

    def commits_before(self, work: Work | None) -> bool:
        """Whether to commit now, before the next step; None: no step is ready."""
        likely = 0.0 if work is None else self._step_seconds.get(work.measures, 0.0)
        return commit_due(time.monotonic() - self._saved_at, likely)

    async def _commit_if(self, due: bool) -> None:
        if self._save_requested or (due and self.stream.dirty):
            self._save_requested = False
            await self.commit()

    async def commit(self) -> None:
        """Save; if the disk is full or busy, wait for it, unless the run is ending. Raises `SessionError`."""
        stream, (_, bytes_before) = self.stream, self._before
        while True:
            self._saves_since = time.monotonic()
            try:
                await self._call(
                    lambda: stream.commit(self.elapsed(), bytes_before + self.feed.activity.bytes_read)
                )
                break
            except NotNow as error:
                self._check_limits()
                if self.stopping.is_set():
                    raise
                self.blocked = Wait(str(error), time.time() + RETRY_SECONDS, failing=True)
                await wait_for(self.stopping, RETRY_SECONDS)
            finally:
                self._saves_since = math.inf
        self.blocked, self._saved_at = None, time.monotonic()

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


# What is told of a run: heartbeats to other processes, lines of the log, progress to whoever started it.

BEAT_SECONDS = 0.5
FLOW_EVERY = 4
"""Beats between two stored rates for the screen's graphs."""
LASTING_SECONDS = 10.0
"""A blockage longer than this (seconds) is followed by a "resumed" line."""
QUIET_SECONDS = 60.0
"""Seconds without a counted page after which the run reports what it waits for."""
SAVING_SECONDS = 5.0
"""A commit of more seconds is reported as what the run waits for: models are large, or the disk is slow."""
ERRORS = 5
"""The most of the source's last errors that are reported."""
FROM_SOURCE = (
    *("requests", "requests_last_minute", "allowed_per_minute", "latency_seconds", "batch_pages"),
    *("retries", "throttled"),
)
"""What a trainer's activity takes from that of its source as it is."""

Line = tuple[str, str]
"""Level and text."""


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a progress line: the present state of the stream, ahead of the last commit."""

    state: State
    progress: Progress
    measured: Measured
    activity: TrainerActivity
    passes: int = 1
    noun: str = "articles"
    """What the texts of the source are called."""


Tell = Callable[[Report], None]


class Monitor:
    """Tells of a run while it goes on.

    It beats in a separate task and thread, beside the training. If the disk is full or busy, it waits. Any
    other error kills it, and the run is then told to stop at once, since no other process could see that it
    is alive or send it requests.
    """

    def __init__(self, path: Path, run: Run, report: Tell, say: Say, options: Mapping[str, object]) -> None:
        """``report``: called with every heartbeat; ``say``: takes messages that should not wait for one;
        ``options``: those of this run alone, as ``given`` in `TrainerActivity`."""
        self._path, self._run, self._options = path, run, options
        self._report, self._say = report, say
        progress, settings = run.stream.progress, run.stream.settings
        self._passes, self._noun = settings[PASSES], sources.noun(settings.source)
        self._unit_noun = sources.unit_noun(settings.source, self._passes)
        self._bound_by: deque[BoundBy] = deque(maxlen=20)
        self._counted, self._counted_at = (0, 0), run.elapsed()
        # What the log has told already: the state at the start is not news.
        self._measured_at = run.stream.measured.articles
        self._skipped = progress.skipped
        self._errors: set[str] = set()
        self._hindrance: str | None = None
        self._hindered_at = 0.0
        advice = sources.described(settings.source).advice
        self._advice = advice if advice is not None and progress.crawled < advice[0] else None

    async def follow(self) -> str:
        """Have the run go to its end, and tell of it; returns why it ended.

        Raises its errors, `SessionError` if its beginning cannot be written, and what killed the heart.
        """
        run, ticking = self._run, asyncio.create_task(self._tick())
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="heartbeat") as self._thread:
                await self._call(self._open)
                self._over = asyncio.Event()
                beating = asyncio.create_task(self._beat())
                beating.add_done_callback(self._stop_if_dead)
                try:
                    await run.train()
                finally:
                    await self._end(beating)
        finally:
            ticking.cancel()
            await run.close()
        if (death := _death(beating)) is not None:
            raise death
        return run.reason

    async def _tick(self) -> None:
        """Watch the running time, until cancelled."""
        while True:
            self._run.ran()
            await asyncio.sleep(1.0)

    def _open(self) -> None:
        self._writer = HeartbeatWriter(self._path)
        try:
            self._number = self._writer.begin(self._run.stream.progress.articles)
        except BaseException:
            self._writer.close()
            raise

    async def _beat(self) -> None:
        number = 0
        await self._log([("info", f"a trainer began (pid {os.getpid()})")])
        while not self._over.is_set():
            self._sample()
            with contextlib.suppress(NotNow):  # the next beat tries again, and the commit reports the error
                await self._tell_others(self._run.state, keep_flow=number % FLOW_EVERY == 0)
            await self._log(self.news())
            self._tell_progress()
            number += 1
            await wait_for(self._over, BEAT_SECONDS)

    def _stop_if_dead(self, beating: asyncio.Task[None]) -> None:
        if (death := _death(beating)) is not None:
            self._run.stop(f"the heartbeat failed: {str(death) or type(death).__name__}")

    async def _end(self, beating: asyncio.Task[None]) -> None:
        """End the heartbeat and say why, if possible."""
        self._over.set()  # not cancelled, since its current log lines would be lost
        await asyncio.wait({beating})
        self._tell_progress()
        reason = self._run.reason
        last_words: Sequence[Callable[[], Awaitable[object]]] = (
            lambda: self._tell_others("stopped"),
            lambda: self._log(self.news(last=True)),
            lambda: self._call(partial(self._writer.event, "info", f"the trainer ended: {reason}")),
            lambda: self._call(partial(self._writer.end, self._number, reason)),
        )
        for word in last_words:
            # The error that killed the heart may keep it from writing, but not from closing.
            with contextlib.suppress(SessionError if _death(beating) is None else Exception):
                await word()
        await self._call(self._writer.close)

    async def _tell_others(self, state: State, *, keep_flow: bool = False) -> None:
        beat = partial(self._writer.beat, state, self._activity(), keep_flow=keep_flow)
        self._run.obey(await self._call(beat))

    async def _log(self, news: Sequence[Line]) -> None:
        for level, message in news:
            if level != "info":
                self._say(message)
            with contextlib.suppress(NotNow):
                await self._call(partial(self._writer.event, level, message))

    def _tell_progress(self) -> None:
        run, stream = self._run, self._run.stream
        report = Report(
            run.state, stream.progress, stream.measured, self._activity(), self._passes, self._unit_noun
        )
        try:
            self._report(report)
        except BrokenPipeError:
            run.stop("nothing reads the progress any more")
        except OSError:
            pass  # such as a full disk: training continues without it

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _sample(self) -> None:
        """Record what the run is busy with."""
        run, progress = self._run, self._run.stream.progress
        counted = (progress.crawled, progress.articles)
        if counted != self._counted or run.state == "paused":
            self._counted, self._counted_at = counted, run.elapsed()
        if run.blocked is not None:
            self._bound_by.clear()
        elif run.busy:
            self._bound_by.append("training")
        elif not run.saving_seconds() and run.feed.waits_for is not None:
            self._bound_by.append(run.feed.waits_for)

    def news(self, *, last: bool = False) -> list[Line]:
        """The news since the last call, each told once: numbers when they pass a power of two.

        ``last``: also numbers that have not done so.
        """
        run, progress = self._run, self._run.stream.progress
        lines = self._numbers(lambda now, before: now.bit_length() > before.bit_length())
        errors = [error.text for error in run.feed.activity.errors]
        new = [error for error in errors if error not in self._errors]
        self._errors = set(errors)
        warnings, run.warnings = run.warnings, []
        lines += [("warning", line) for line in (*new, *warnings)]
        lines += self._hindrances(new)
        if self._advice is not None and progress.crawled >= self._advice[0]:
            lines.append(("warning", self._advice[1]))
            self._advice = None
        return lines + self._numbers(gt) if last else lines

    def _numbers(self, is_news: Callable[[int, int], bool]) -> list[Line]:
        """The last measurement and the skipped articles, if their numbers are news after those told."""
        measured, progress, lines = self._run.stream.measured, self._run.stream.progress, list[Line]()
        if measured.perplexities and is_news(measured.articles, self._measured_at):
            self._measured_at = measured.articles
            scores = ", ".join(f"{name} {value:,.1f}" for name, value in measured.perplexities.items())
            lines.append(("info", f"after {measured.articles:,} {self._unit_noun}: perplexity {scores}"))
        if is_news(progress.skipped, self._skipped):
            self._skipped = progress.skipped
            lines.append(("info", f"skipped so far: {progress.skipped:,} ({skips_told(progress.skips)})"))
        return lines

    def _hindrances(self, errors: Sequence[str]) -> list[Line]:
        """Log why the run is blocked, unless that is one of these ``errors``, and when it resumes."""
        wait, now = self._wait(), self._run.elapsed()
        hindrance = wait.what if wait is not None and wait.failing else None
        before, self._hindrance = self._hindrance, hindrance
        if hindrance is not None:
            if before is None:
                self._hindered_at = now
            return [] if hindrance in (before, *errors) else [("error", hindrance)]
        if before is not None and (lasted := now - self._hindered_at) >= LASTING_SECONDS:
            return [("info", f"resumed after {age(lasted)}")]
        return []

    def _activity(self) -> TrainerActivity:
        run, stream, source = self._run, self._run.stream, self._run.feed.activity
        wait = self._wait() or Wait("")
        return TrainerActivity(
            article_limit=stream.article_limit,
            given=self._options,
            waiting_for=wait.what or None,
            waiting_until=wait.until,
            failing=wait.failing,
            elapsed_seconds=run.elapsed(),
            next_measurement=stream.next_measurement,
            compiling=run.busy and is_compiling(),
            bound_by=Counter(self._bound_by).most_common(1)[0][0] if self._bound_by else None,
            crawl_rate=run.feed.arrivals(),
            train_rate=run.learnt.of_steps(),
            queue=run.feed.queued + stream.progress.pending,
            errors=tuple((error.at, error.text) for error in source.errors[-ERRORS:]),
            **{name: getattr(source, name) for name in FROM_SOURCE},
        )

    def _wait(self) -> Wait | None:
        """What the run is waiting for; None if it works."""
        run, stream, source = self._run, self._run.stream, self._run.feed.activity
        if run.blocked is not None:
            return run.blocked
        saving = run.saving_seconds()
        if saving >= QUIET_SECONDS:
            return Wait("saving the models has taken over a minute so far", failing=True)
        if saving >= SAVING_SECONDS:
            return Wait("the models to be saved")
        if source.trouble is not None:
            return Wait(source.trouble, source.waiting_until, failing=True)
        if source.waiting_for:
            what = f"{stream.waits_for} ({source.waiting_for})" if stream.waits_for else source.waiting_for
            return Wait(what, source.waiting_until)
        if stream.waits_for:
            return Wait(stream.waits_for)
        # Nothing reports why it is quiet: stopped processes, or a connection that is merely open.
        if run.elapsed() - self._counted_at < QUIET_SECONDS:
            return None
        if run.busy:
            return Wait("a step of training has taken over a minute so far", failing=True)
        if run.feed.waits_for == "parsing":
            what = f"the processes that parse {self._noun} have counted none for over a minute"
            return Wait(what, failing=True)
        return Wait(f"no {self._noun[:-1]} has come in for over a minute", failing=True)


def _death(beating: asyncio.Task[None]) -> BaseException | None:
    return asyncio.CancelledError() if beating.cancelled() else beating.exception()

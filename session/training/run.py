"""One run of a trainer: crawl, count, learn, measure and save until the end or until told to stop.

Three things go on at once: the source is read ahead (this event loop and a pool of processes), the
models learn and the store commits (one thread, since numba's kernels hold no lock), and a heartbeat
tells other processes what is going on and learns what they ask for.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from session.errors import NotNow, SessionError
from session.records import BoundBy, Event, State, TrainerActivity
from session.storage.codec.heartbeat import Wishes
from session.storage.codec.progress import Progress
from session.storage.documents import Block
from session.storage.heartbeat import HeartbeatWriter
from session.storage.writer import SessionWriter
from session.training.commits import COMMIT_SECONDS, Saving
from session.training.crawl import Blocks
from session.training.news import Line, News
from session.training.rates import Speed
from session.training.stream import Stream

BEAT_SECONDS = 0.5
RETRY_SECONDS = 5.0
"""Between two tries to save where the disk is full or another program writes."""
FLOW_EVERY = 4
"""Every so many beats the rates are kept for the screen's graphs."""
PATIENCE = 2.0
"""Seconds from a stop that a minibatch under way may take to its end; after that it is given up."""
QUIET_SECONDS = 60.0
"""After so long without a counted page, say what the run waits for."""

T = TypeVar("T")


def watch_signals(call: Callable[[signal.Signals], object]) -> None:
    """From now on call ``call`` in the running loop on each signal that asks a trainer to stop."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup SIGHUP stays ignored
            loop.add_signal_handler(number, call, number)


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds this run; may differ from run to run."""

    articles: int | None = None
    hours: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a progress line is made of."""

    state: State
    progress: Progress
    elapsed_seconds: float
    perplexities: Mapping[str, float]
    activity: TrainerActivity


class Run:
    """A trainer at work on a session that this process has locked."""

    def __init__(
        self,
        path: Path,
        store: SessionWriter,
        trainer: Stream,
        feed: Blocks,
        limits: Limits,
        report: Callable[[Report], None],
        tell: Callable[[str], None],
    ) -> None:
        """``report`` is called with every heartbeat, ``tell`` with what should not wait for that."""
        self._path = path
        self._store = store
        self._trainer = trainer
        self._feed = feed
        self._limits = limits
        self._report = report
        self._tell = tell
        self._stop = asyncio.Event()
        self._reason = "stopped"
        self._paused = False
        self._go_on = asyncio.Event()
        self._go_on.set()
        self._save = False
        self._blocked: str | None = None
        self._computing: asyncio.Future[object] | None = None
        """A step under way, or one that failed: until this resolves, models and counters are out of step."""
        self._news = News(store.settings.source, trainer.progress, trainer.measured)
        self._warnings: list[str] = []
        self._begun = time.monotonic()
        self._elapsed_before = trainer.progress.elapsed_seconds
        self._bytes_before = trainer.progress.bytes_read
        self._saving = Saving()
        self._learning = Speed()
        self._binding: deque[BoundBy] = deque(maxlen=20)
        self._counted = (0, 0)
        self._counted_at = time.monotonic()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trainer")
        self._heartbeat_thread = ThreadPoolExecutor(1, thread_name_prefix="heartbeat")

    def stop(self, reason: str) -> None:
        """Commit and end within seconds; a minibatch under way that takes longer is trained another time."""
        if not self._stop.is_set():
            self._reason = reason
            self._stop.set()
            self._go_on.set()

    async def __call__(self) -> str:
        """Run to the end; returns why it ended. Whatever was fed is committed, also on an error."""
        watch_signals(self._signalled)
        heartbeat = await self._in_heartbeat(lambda: HeartbeatWriter(self._path))
        run = await self._in_heartbeat(lambda: heartbeat.begin(self._trainer.progress.articles))
        await self._log(heartbeat, "info", f"a trainer began (pid {os.getpid()})")
        over = asyncio.Event()
        beat = asyncio.create_task(self._beat(heartbeat, over))
        try:
            self._feed.start(self._trainer.progress.position)
            await self._consume()
            if not self._stop.is_set():
                await self._commit_if(True)  # the last measurement may take long
                if await self._compute(lambda: self._trainer.finish(self._elapsed())):
                    self._reason = "finished"
                    await self._commit()
        except BaseException as error:
            self._reason = str(error) or type(error).__name__
            raise
        finally:
            self._stop.set()
            try:
                await self._save_all()
            except SessionError as error:
                self._reason = str(error)
                raise
            finally:
                over.set()  # not cancelled: what it is about to log would be lost
                (died,) = await asyncio.gather(beat, return_exceptions=True)
                self._tell_progress()
                await self._part(heartbeat, run)
                if isinstance(died, Exception):
                    raise died
        return self._reason

    async def _save_all(self) -> None:
        """Commit what has been fetched and trained."""
        enough = time.monotonic() + PATIENCE
        blocks = await self._feed.drain()
        if self._computing is not None:
            await asyncio.wait({self._computing}, timeout=max(0.0, enough - time.monotonic()))
            if not self._computing.done() or self._computing.exception() is not None:
                await self._give_up()
        for block in blocks:
            self._take(block)
        await self._commit()

    async def _give_up(self) -> None:
        """Leave the step that is under way, or has failed, to its thread, and go back to before it."""
        self._thread.shutdown(wait=False)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trainer")
        self._trainer = await self._in_trainer(self._trainer.as_committed)

    async def _part(self, heartbeat: HeartbeatWriter, run: int) -> None:
        """Say how it ended, where that can be said, and let go of everything."""
        await self._say(heartbeat, "stopped", keep_flow=False)
        await self._note_news(heartbeat)
        await self._tell_all(heartbeat, self._news.at_the_end(self._trainer.progress, self._trainer.measured))
        await self._log(heartbeat, "info", f"the trainer ended: {self._reason}")
        with contextlib.suppress(SessionError):
            await self._in_heartbeat(lambda: heartbeat.end(run, self._reason))
        await self._in_heartbeat(heartbeat.close)
        await self._in_trainer(self._store.close)
        self._thread.shutdown()
        self._heartbeat_thread.shutdown()

    async def _consume(self) -> None:
        trainer = self._trainer
        arriving: asyncio.Task[Any] | None = None
        try:
            while not self._stop.is_set() and not trainer.done():
                if self._paused:
                    await self._commit_if(True)
                    with contextlib.suppress(TimeoutError):  # time passes, though nothing else does
                        await asyncio.wait_for(self._go_on.wait(), 1.0)
                elif trainer.renewing:
                    await self._commit_if(True)
                    if not await self._compute(trainer.renew):
                        break
                elif trainer.ready():
                    if not await self._learn():
                        break
                else:
                    arriving = arriving or asyncio.create_task(self._feed.next())
                    await self._or_stop(arriving, COMMIT_SECONDS)
                    if arriving.done():
                        block = arriving.result()
                        arriving = None
                        if block is None:
                            trainer.end_of_source()
                        else:
                            self._take(block)
                await self._commit_if(self._saving.due(trainer.measures_next if trainer.ready() else None))
                self._check_limits()
        finally:
            if arriving is not None:
                # A block that came in just now is not to be lost; an error in it is told by drain's next.
                if arriving.done() and arriving.exception() is None and arriving.result() is not None:
                    self._take(arriving.result())
                arriving.cancel()

    def _take(self, block: Block) -> None:
        self._trainer.feed(block)
        self._warnings += block.warnings

    async def _learn(self) -> bool:
        trainer, began = self._trainer, time.monotonic()
        trained_before, measured = trainer.progress.articles, trainer.measures_next
        if not await self._compute(lambda: trainer.step(self._elapsed)):
            return False
        seconds = time.monotonic() - began
        self._saving.stepped(seconds, measured=measured)
        self._learning.add(trainer.progress.articles - trained_before, seconds)
        return True

    async def _compute(self, work: Callable[[], object]) -> bool:
        """Have the trainer's thread do ``work``; False where a stop comes before it is done."""
        self._computing = asyncio.ensure_future(self._in_trainer(work))
        await self._or_stop(self._computing)
        if not self._computing.done():
            return False
        self._computing.result()
        self._computing = None
        return True

    async def _or_stop(self, future: asyncio.Future[Any], timeout: float | None = None) -> None:
        """Wait until ``future`` is done, the run is to stop, or for ``timeout`` seconds."""
        stop = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({future, stop}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()

    def _check_limits(self) -> None:
        limits, activity = self._limits, self._feed.activity
        if limits.hours is not None and time.monotonic() - self._begun >= limits.hours * 3600:
            self.stop("the time given with --hours is up")
        if limits.megabytes is not None and activity.bytes_read >= limits.megabytes * 1e6:
            self.stop("the download given with --max-mb is reached")

    async def _commit_if(self, due: bool) -> None:
        if self._save or (due and self._trainer.dirty):
            self._save = False
            await self._commit()

    async def _commit(self) -> None:
        """Save; where the disk is full or busy wait for it, unless the run is ending."""
        while True:
            try:
                await self._in_trainer(self._commit_now)
            except NotNow as error:
                self._check_limits()
                if self._stop.is_set():
                    raise
                self._blocked = f"the disk: {error}"
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), RETRY_SECONDS)
            else:
                self._blocked = None
                self._saving.saved()
                return

    def _commit_now(self) -> None:
        self._trainer.commit(self._elapsed(), self._bytes_before + self._feed.activity.bytes_read)

    def _elapsed(self) -> float:
        return self._elapsed_before + time.monotonic() - self._begun

    async def _beat(self, heartbeat: HeartbeatWriter, over: asyncio.Event) -> None:
        number = 0
        while not over.is_set():
            self._sample()
            wishes = await self._say(heartbeat, self._state(), keep_flow=number % FLOW_EVERY == 0)
            self._obey(wishes)
            await self._note_news(heartbeat)
            self._tell_progress()
            number += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), BEAT_SECONDS)

    def _tell_progress(self) -> None:
        try:
            self._report(self._as_report())
        except BrokenPipeError:
            self.stop("nobody reads the progress any more")
        except OSError:
            pass  # written to a full disk, say: training goes on without it

    async def _note_news(self, heartbeat: HeartbeatWriter) -> None:
        warnings, self._warnings = self._warnings, []
        news = self._news.since(
            self._trainer.progress,
            self._trainer.measured,
            [error.text for error in self._feed.activity.errors],
            warnings,
            self._blocked or (f"waiting for {quiet}" if (quiet := self._quiet()) else None),
        )
        await self._tell_all(heartbeat, news)

    async def _tell_all(self, heartbeat: HeartbeatWriter, news: Sequence[Line]) -> None:
        for level, message in news:
            if level != "info":
                self._tell(message)
            await self._log(heartbeat, level, message)

    async def _log(self, heartbeat: HeartbeatWriter, level: str, message: str) -> None:
        with contextlib.suppress(SessionError):  # as in _say
            await self._in_heartbeat(lambda: heartbeat.event(level, message))

    def _sample(self) -> None:
        counted = (self._trainer.progress.crawled, self._trainer.progress.articles)
        if counted != self._counted or self._paused:
            self._counted, self._counted_at = counted, time.monotonic()
        if self._computing is not None:
            self._binding.append("training")
        elif self._feed.waits_for is not None:
            self._binding.append(self._feed.waits_for)

    def _quiet(self) -> str | None:
        """What is waited for though nobody says so: stopped processes, a connection that is merely open."""
        if self._feed.activity.waiting_for or time.monotonic() - self._counted_at < QUIET_SECONDS:
            return None
        if self._computing is not None:
            return "a step of training (over a minute by now)"
        if self._feed.waits_for == "parsing":
            return "the processes that parse articles (none counted for over a minute)"
        return "the source (no article for over a minute)"

    def _state(self) -> State:
        if self._stop.is_set():
            return "stopping"
        return "paused" if self._paused else "running"

    def _obey(self, wishes: Wishes | None) -> None:
        if wishes is None:
            return
        if wishes.stop:
            self.stop("stopped by `wikitopics stop`")
        self._save = self._save or wishes.save
        self._paused = wishes.paused
        if self._paused and not self._stop.is_set():
            self._go_on.clear()
        else:
            self._go_on.set()

    async def _say(self, heartbeat: HeartbeatWriter, state: State, *, keep_flow: bool) -> Wishes | None:
        activity = self._activity()
        try:
            return await self._in_heartbeat(lambda: heartbeat.beat(state, activity, keep_flow=keep_flow))
        except SessionError:
            return None  # a busy or full disk: the next beat tries again, and the commit says what is wrong

    def _activity(self) -> TrainerActivity:
        source = self._feed.activity
        return TrainerActivity(
            article_limit=self._limits.articles,
            waiting_for=self._blocked or source.waiting_for or self._quiet(),
            waiting_until=None if self._blocked else source.waiting_until,
            bound_by=Counter(self._binding).most_common(1)[0][0] if self._binding else None,
            crawl_rate=self._feed.arrivals(),
            train_rate=self._learning(busy=self._computing is not None),
            queue=self._feed.queued + self._trainer.progress.pending,
            requests=source.requests,
            requests_last_minute=source.requests_last_minute,
            allowed_per_minute=source.allowed_per_minute,
            latency_seconds=source.latency_seconds,
            batch_pages=source.batch_pages,
            retries=source.retries,
            throttled=source.throttled,
            errors=tuple(Event(error.at, "warning", error.text) for error in source.errors[-5:]),
        )

    def _as_report(self) -> Report:
        return Report(
            state=self._state(),
            progress=self._trainer.progress,
            elapsed_seconds=self._elapsed(),
            perplexities=dict(self._trainer.measured.perplexities),
            activity=self._activity(),
        )

    def _signalled(self, number: signal.Signals) -> None:
        if self._stop.is_set() and number == signal.SIGINT:
            os._exit(130)  # the last commit stands; nothing else needs tidying
        self.stop(f"stopped by {number.name}")

    async def _in_trainer(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def _in_heartbeat(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._heartbeat_thread, call)

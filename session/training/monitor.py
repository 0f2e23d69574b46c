"""Reports on a run: heartbeats for other processes, lines of the log, and progress for the
caller."""

import asyncio
import contextlib
import math
import os
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from wikitopics.compiled import is_compiling
from wikitopics.crawler.source import Activity
from wikitopics.session import sources
from wikitopics.session.errors import NotNow, Say, SessionError
from wikitopics.session.options import PASSES
from wikitopics.session.records import BoundBy, Progress, State, TrainerActivity
from wikitopics.session.storage.database import closed_on_error
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.training.held_out import Measured
from wikitopics.session.training.rates import LastMinute
from wikitopics.session.training.run import Run, Wait, wait_for
from wikitopics.session.training.time_left import Goal, Left, TimeLeft
from wikitopics.session.wording import age, skips_told

T = TypeVar("T")

BEAT_SECONDS = 0.5
FLOW_EVERY = 4
"""The number of heartbeats between two stored rates for the screen's graphs."""
LASTING_SECONDS = 10.0
"""After a blockage of more seconds than this, a "resumed" line is logged, which `story` reads."""
QUIET_SECONDS = 60.0
"""Seconds without a counted page after which the run reports what it waits for."""
SAVING_SECONDS = 5.0
"""A commit of more seconds is reported as what the run waits for: large models, or a slow disk."""
ERRORS = 5
"""The most of the source's last errors that are reported."""
FROM_SOURCE = {field.name for field in fields(Activity)} & {
    field.name for field in fields(TrainerActivity)
}
"""The fields that a trainer's activity has in common with its source's, such as `requests`."""

Line = tuple[str, str]
"""The level and text of a log line."""


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a progress line: the current state of the stream, ahead of the last
    commit."""

    state: State
    progress: Progress
    measured: Measured
    activity: TrainerActivity
    passes: int = 1
    noun: str = "articles"
    """The noun for the source's texts."""
    own: bool = False
    """Whether these are the user's own documents."""


Reporter = Callable[[Report], None]


class Monitor:
    """Reports on a run in progress.

    The heartbeat has its own task and thread, beside the training. If the disk is full or busy, it
    waits. Any other error ends the heartbeat, and then the run is told to stop at once, since no
    other process could see that it is alive or send it requests.
    """

    def __init__(
        self,
        path: Path,
        run: Run,
        report: Reporter,
        say: Say,
        options: Mapping[str, object],
    ) -> None:
        """``report``: called with every heartbeat; ``say``: takes messages that cannot wait for
        one; ``options``: those of this run alone, as ``given`` in `TrainerActivity`."""
        self._path = path
        self._run = run
        self._report = report
        self._say = say
        self._options = options
        progress = run.stream.progress
        settings = run.stream.settings
        self._passes = run.stream.passes
        kind = sources.kind_named(settings.source)
        self._are_own = kind.own
        self._noun = sources.noun(settings.source)
        self._unit_noun = sources.unit_noun(settings.source, settings[PASSES])
        self._bound_by: deque[BoundBy] = deque(maxlen=20)
        """What the run was busy with at the last heartbeats."""
        self._counted: tuple[int | str | None, ...] = ()
        """Articles crawled, trained and inferred again, and what is told of those that are placed
        on the map, at the last heartbeat."""
        self._counted_at = run.elapsed()
        """When that last changed."""
        self._requests = LastMinute()
        self._bytes_before = progress.bytes_read
        """The bytes that earlier runs have read."""
        earlier: dict[str, float] = {}
        if not any(self._stage()):  # a later one goes at another pace, so far unknown
            earlier = {name: goal.done for name, goal in self._goals().items()}
        self._time_left = TimeLeft(earlier, progress.elapsed_seconds)
        self._left: Left | None = None
        """How long the run will still take, as of the last heartbeat."""
        # What the log already has: the state at the start is not news.
        self._measured_at = run.stream.measured.articles
        self._skipped = progress.skipped
        self._errors: set[str] = set()
        self._hindrance: str | None = None
        """Why the run was blocked at the last heartbeat."""
        self._hindered_at = 0.0
        self._advice = kind.advice
        """The articles after which a line of advice is due, and the line; None if it is not due any
        more."""
        if self._advice is not None:
            articles, _ = self._advice
            if progress.crawled >= articles:
                self._advice = None

    async def follow(self) -> str:
        """Run to the end and report on it; returns why the run ended.

        Raises the errors of the run and of the heartbeat, and `SessionError` if the start cannot be
        written.
        """
        run = self._run
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
            await run.close()
        death = _death(beating)
        if death is not None:
            raise death
        return run.reason

    def _open(self) -> None:
        self._writer = HeartbeatWriter(self._path)
        with closed_on_error(self._writer):
            self._number = self._writer.begin(self._run.stream.progress.articles)

    async def _beat(self) -> None:
        number = 0
        await self._log([("info", f"the trainer started (pid {os.getpid()})")])
        while not self._over.is_set():
            self._sample()
            # After an error the next beat tries again, and the commit reports it.
            with contextlib.suppress(NotNow):
                await self._tell_others(self._run.state, keep_flow=number % FLOW_EVERY == 0)
            await self._log(self.news())
            self._tell_progress()
            number += 1
            await wait_for(self._over, BEAT_SECONDS)

    def _stop_if_dead(self, beating: asyncio.Task[None]) -> None:
        death = _death(beating)
        if death is not None:
            reason = str(death) or type(death).__name__
            self._run.stop(f"the heartbeat failed: {reason}")

    async def _end(self, beating: asyncio.Task[None]) -> None:
        """End the heartbeat and say why, if possible."""
        self._over.set()  # not cancelled, since its current log lines would be lost
        await asyncio.wait({beating})
        self._tell_progress()
        reason = self._run.reason
        articles = self._run.stream.progress.articles
        writer = self._writer
        steps: Sequence[Callable[[], Awaitable[object]]] = (
            lambda: self._tell_others("stopped"),
            lambda: self._log(self.news(last=True)),
            lambda: self._call(partial(writer.event, "info", f"the trainer ended: {reason}")),
            lambda: self._call(partial(writer.end, self._number, reason, articles)),
        )
        # The error that ended the heartbeat may keep it from writing, but not from closing.
        harmless: type[Exception] = SessionError if _death(beating) is None else Exception
        for step in steps:
            with contextlib.suppress(harmless):
                await step()
        await self._call(writer.close)

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
        run = self._run
        report = Report(
            run.state,
            run.stream.progress,
            run.stream.measured,
            self._activity(),
            self._passes,
            self._unit_noun,
            self._are_own,
        )
        try:
            self._report(report)
        except BrokenPipeError:
            run.stop("nothing is reading the progress any more")
        except OSError:
            pass  # such as a full disk: training continues without it

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _sample(self) -> None:
        """Record what the run is busy with."""
        run = self._run
        progress = run.stream.progress
        counted = (progress.crawled, progress.articles, progress.renew_from, run.waits_for)
        if counted != self._counted or run.state == "paused":
            self._counted = counted
            self._counted_at = run.elapsed()
        if run.blocked is not None:
            self._bound_by.clear()
        elif run.busy:
            self._bound_by.append("training")
        elif not run.saving_seconds() and run.feed.waits_for is not None:
            self._bound_by.append(run.feed.waits_for)
        self._requests.note(run.feed.activity.requests)
        self._left = self._note_time_left()

    def _note_time_left(self) -> Left | None:
        """Note how far the run is; returns how long it will still take, None if that cannot be
        told."""
        run = self._run
        # A source that spreads its articles does so at a pace that quickens.
        if run.state != "running" or run.feed.activity.pace:
            self._time_left.pause()
            return None
        seconds = run.limits_left().seconds
        return self._time_left.note(
            time.monotonic(), self._goals(), stage=self._stage(), most=seconds
        )

    def _stage(self) -> tuple[bool, bool]:
        """Whether the run is in a later pass, and whether it is in the last reading: each of these
        goes at a pace of its own."""
        progress = self._run.stream.progress
        return progress.again > 0, progress.in_last_reading

    def _goals(self) -> dict[str, Goal]:
        """What ends the run, and how far it is towards that."""
        run = self._run
        stream = run.stream
        lap = stream.progress.lap
        goals: dict[str, Goal] = {}
        if lap is not None:
            goals["source"] = Goal(lap, 1 - lap)
        if stream.articles_wanted is not None:
            taken = stream.articles_taken
            goals["articles"] = Goal(taken, stream.articles_wanted - taken)
        megabytes = run.limits_left().megabytes
        if math.isfinite(megabytes):
            done = self._bytes_before + run.feed.activity.bytes_read
            goals["bytes"] = Goal(done, megabytes * 1e6)
        return goals

    def news(self, *, last: bool = False) -> list[Line]:
        """The news since the last call, each reported once: numbers when they pass a power of two.

        ``last``: report the other numbers too.
        """
        run = self._run
        lines = self._numbers(lambda now, before: now.bit_length() > before.bit_length())
        errors = [error.text for error in run.feed.activity.errors]
        new_errors = [error for error in errors if error not in self._errors]
        self._errors = set(errors)
        lines += [("warning", error) for error in new_errors]
        lines += [("warning", warning) for warning in run.warnings]
        run.warnings = []
        lines += self._hindrances(new_errors)
        if self._advice is not None:
            articles, advice = self._advice
            if run.stream.progress.crawled >= articles:
                lines.append(("warning", advice))
                self._advice = None
        if last:
            lines += self._numbers(lambda now, before: now > before)
        return lines

    def _numbers(self, is_news: Callable[[int, int], bool]) -> list[Line]:
        """The last measurement and the skipped articles, if their numbers are news since the last
        report."""
        measured = self._run.stream.measured
        progress = self._run.stream.progress
        lines: list[Line] = []
        if measured.perplexities and is_news(measured.articles, self._measured_at):
            self._measured_at = measured.articles
            scores = ", ".join(
                f"{name} {value:,.1f}" for name, value in measured.perplexities.items()
            )
            lines.append(
                ("info", f"after {measured.articles:,} {self._unit_noun}: perplexity {scores}")
            )
        if is_news(progress.skipped, self._skipped):
            self._skipped = progress.skipped
            lines.append(
                ("info", f"skipped so far: {progress.skipped:,} ({skips_told(progress.skips)})")
            )
        return lines

    def _hindrances(self, errors: Sequence[str]) -> list[Line]:
        """Why the run is blocked, unless that is one of these ``errors``, and when it resumes."""
        now = self._run.elapsed()
        wait = self._wait()
        hindrance = wait.what if wait is not None and wait.failing else None
        before = self._hindrance
        self._hindrance = hindrance
        if hindrance is not None:
            if before is None:
                self._hindered_at = now
            return [] if hindrance in (before, *errors) else [("error", hindrance)]
        lasted = now - self._hindered_at
        if before is not None and lasted >= LASTING_SECONDS:
            return [("info", f"resumed after {age(lasted)}: {before}")]
        return []

    def _activity(self) -> TrainerActivity:
        run = self._run
        stream = run.stream
        source = run.feed.activity
        wait = self._wait() or Wait("")
        bound_by: BoundBy | None = None
        if self._bound_by:
            ((bound_by, _),) = Counter(self._bound_by).most_common(1)
        activity: dict[str, Any] = {name: getattr(source, name) for name in FROM_SOURCE}
        # These say more than the fields of the source with their names.
        activity["waiting_for"] = wait.what or None
        activity["waiting_until"] = wait.until
        activity["own_wait"] = source.own_wait and run.blocked is None
        left = self._left if run.state == "running" else None
        seconds_left = None
        seconds_left_range = None
        if left is not None:
            seconds_left = round(left.seconds, 1)
            seconds_left_range = (round(left.low, 1), round(left.high, 1))
        activity["errors"] = tuple((error.at, error.text) for error in source.errors[-ERRORS:])
        return TrainerActivity(
            article_limit=stream.article_limit,
            given=self._options,
            failing=wait.failing,
            elapsed_seconds=run.elapsed(),
            next_measurement=stream.next_measurement,
            # The first texts are parsed while models are compiled, which takes the processors.
            compiling=is_compiling() and (run.busy or run.feed.waits_for == "parsing"),
            starting_over=stream.starting_over if run.busy else 0,
            bound_by=bound_by,
            crawl_rate=run.feed.arrivals(),
            train_rate=run.learnt.of_steps(),
            requests_last_minute=self._requests.number,
            requests_seconds=self._requests.seconds,
            queue=run.feed.queued + stream.progress.pending,
            unsaved=stream.dirty,
            seconds_left=seconds_left,
            seconds_left_range=seconds_left_range,
            **activity,
        )

    def _wait(self) -> Wait | None:
        """What the run is waiting for; None if it is working."""
        run = self._run
        stream = run.stream
        source = run.feed.activity
        if run.blocked is not None:
            return run.blocked
        saving = run.saving_seconds()
        if saving >= QUIET_SECONDS:
            return Wait("saving the models has taken over a minute so far", failing=True)
        if saving >= SAVING_SECONDS:
            return Wait("saving the models")
        if run.waits_for:
            return Wait(run.waits_for)
        if source.trouble is not None:
            return Wait(source.trouble, source.waiting_until, failing=True)
        if source.waiting_for:
            what = source.waiting_for
            if stream.waits_for:
                what = f"{stream.waits_for} ({what})"
            return Wait(what, source.waiting_until)
        if stream.waits_for:
            return Wait(stream.waits_for)
        # Nothing says why the run is idle: suspended processes, or a connection that is open but
        # silent.
        if run.elapsed() - self._counted_at < QUIET_SECONDS:
            return None
        if run.busy:
            return Wait("a training step has taken over a minute so far", failing=True)
        if run.feed.waits_for == "parsing":
            what = f"the processes that parse {self._noun} have counted none for over a minute"
            return Wait(what, failing=True)
        article = sources.singular(self._noun)
        return Wait(f"no {article} has come in for over a minute", failing=True)


def _death(beating: asyncio.Task[None]) -> BaseException | None:
    """The error that ended the heartbeat, if one did."""
    return asyncio.CancelledError() if beating.cancelled() else beating.exception()

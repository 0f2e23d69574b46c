"""A run's reports on itself: its pace, what limits it, and the lines of its log."""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wikitopics.model.compiling import is_compiling
from wikitopics.session import sources
from wikitopics.session.options import PASSES
from wikitopics.session.records import BoundBy, Event, State, TrainerActivity, age, skips_told
from wikitopics.session.signals import Signals
from wikitopics.session.storage.tables.progress import Progress
from wikitopics.session.training.evaluation import Measured
from wikitopics.session.training.intake.crawl import Blocks
from wikitopics.session.training.learner import Learner
from wikitopics.session.training.orders import Orders

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
"""Seconds of a hindrance after which the log tells that the run goes on."""
QUIET_SECONDS = 60.0
"""Seconds without a counted page after which the run reports what it waits for."""
SAVING_SECONDS = 5.0
"""A commit of more seconds is reported as what the run waits for: models are large, or the disk is slow."""
ERRORS = 5
"""The most of the source's last errors that are reported."""


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
        self._read = sources.counted(settings.source, settings[PASSES])
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
        """What keeps the run from going on, and that it goes on again."""
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
            requests=source.requests,
            requests_last_minute=source.requests_last_minute,
            allowed_per_minute=source.allowed_per_minute,
            latency_seconds=source.latency_seconds,
            batch_pages=source.batch_pages,
            retries=source.retries,
            throttled=source.throttled,
            errors=tuple(Event(error.at, "warning", error.text) for error in source.errors[-ERRORS:]),
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

"""A run's reports on itself: its pace, what limits it, and lines for the log."""

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wikitopics.model.compiling import is_compiling
from wikitopics.session.records import BoundBy, Event, State, TrainerActivity
from wikitopics.session.storage.codec.progress import Progress
from wikitopics.session.training.intake.crawl import Blocks
from wikitopics.session.training.running.learner import Learner
from wikitopics.session.training.running.news import Line, News
from wikitopics.session.training.running.orders import Orders

QUIET_SECONDS = 60.0
"""Seconds without a counted page after which the run reports what it waits for."""
SAVING_SECONDS = 5.0
"""A commit of more seconds is reported as what the run waits for: models are large, or the disk is slow."""
ERRORS = 5
"""The most of the source's last errors that are reported."""


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a progress line: the present state of the stream, ahead of the last commit."""

    state: State
    progress: Progress
    elapsed_seconds: float
    perplexities: Mapping[str, float]
    activity: TrainerActivity


class Monitor:
    """Watches a run; `sample` must be called with every heartbeat."""

    def __init__(self, feed: Blocks, learner: Learner, orders: Orders, news: News) -> None:
        self.blocked: str | None = None
        """Why nothing can be saved; set by whatever tries to."""
        self._feed, self._learner, self._orders, self._news = feed, learner, orders, news
        self._warnings: list[str] = []
        self._bound_by: deque[BoundBy] = deque(maxlen=20)
        self._counted = (0, 0)
        self._counted_at = time.monotonic()

    def warn(self, warnings: Sequence[str]) -> None:
        """Add lines to the log."""
        self._warnings += warnings

    def sample(self) -> None:
        """Record what the run is busy with."""
        progress = self._learner.stream.progress
        counted = (progress.crawled, progress.articles)
        if counted != self._counted or self._orders.paused:
            self._counted, self._counted_at = counted, time.monotonic()
        if self._learner.busy:
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
            perplexities=stream.measured.perplexities,
            activity=self._activity(),
        )

    def news(self) -> list[Line]:
        """The news since the last call."""
        stream, quiet = self._learner.stream, self._quiet()
        warnings, self._warnings = self._warnings, []
        return self._news.since(
            stream.progress,
            stream.measured,
            [error.text for error in self._feed.activity.errors],
            warnings,
            self.blocked or (f"waiting for {quiet}" if quiet else None),
        )

    def last_news(self) -> list[Line]:
        """The last news, and the newest numbers."""
        stream = self._learner.stream
        return [*self.news(), *self._news.at_the_end(stream.progress, stream.measured)]

    def _activity(self) -> TrainerActivity:
        stream, source = self._learner.stream, self._feed.activity
        waiting_for, waiting_until = self._waiting()
        return TrainerActivity(
            article_limit=stream.article_limit,
            waiting_for=waiting_for,
            waiting_until=waiting_until,
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

    def _waiting(self) -> tuple[str | None, float | None]:
        """What the run is waiting for, and until when, if the source names a time."""
        if self.blocked:
            return self.blocked, None
        if self._learner.saving_seconds() >= SAVING_SECONDS:
            return "the models to be saved", None
        stream, source = self._learner.stream, self._feed.activity
        if not source.waiting_for:
            return stream.waits_for or self._quiet(), None
        told = f"{stream.waits_for} ({source.waiting_for})" if stream.waits_for else source.waiting_for
        return told, source.waiting_until

    def _quiet(self) -> str | None:
        """A wait that nothing reports: stopped processes, or a connection that is merely open."""
        if self._feed.activity.waiting_for or time.monotonic() - self._counted_at < QUIET_SECONDS:
            return None
        if self._learner.busy:
            return "a step of training (over a minute so far)"
        if self._learner.saving_seconds():
            return "the models to be saved (over a minute so far)"
        if self._feed.waits_for == "parsing":
            return "the processes that parse articles (none counted for over a minute)"
        return "the source (no article for over a minute)"

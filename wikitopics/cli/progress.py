"""The progress of a trainer without a screen: lines for people, or JSON for programs."""

import sys
import time
from typing import TYPE_CHECKING

from wikitopics.cli import output
from wikitopics.session.errors import Say
from wikitopics.session.wording import skips_told, starting_over

if TYPE_CHECKING:
    from wikitopics.session.records import TrainerActivity
    from wikitopics.session.training.monitor import Report

COMPILING = (
    "compiling the models, once for each kind of model and of texts: this takes about half a minute"
)


def _pace(activity: "TrainerActivity") -> list[str]:
    """The rate of what sets the pace, as the one part of a line; none if that is not known.

    Where training does, a burst of reading only fills the queue.
    """
    doing = "reading"
    rate = activity.crawl_rate
    if activity.bound_by == "training":
        doing = "learning"
        rate = activity.train_rate
    return [f"{doing} {output.rate(rate * 3600)}/h"] if rate else []


def _done(report: "Report") -> float | None:
    """The share of what was asked for that is done: of the source, or of `--articles` if these come
    to their end sooner; None if neither is known."""
    lap = report.progress.lap
    limit = report.activity.article_limit
    if not limit:
        return lap
    return max(lap or 0.0, min(1.0, report.progress.articles / limit))


class ProgressLines:
    """Progress lines on stderr: two early ones, then every 30 s (5 s on a terminal)."""

    def __init__(self, tell: Say) -> None:
        self._tell = tell
        self._next = 0.0
        self._every = 5.0 if sys.stderr.isatty() else 30.0
        self._last: Report | None = None
        self._told_compiling = False

    def _tell_compiling(self, report: "Report") -> None:
        """Say once why nothing is learnt yet, if that is why."""
        if report.activity.compiling and not self._told_compiling:
            self._told_compiling = True
            self._tell(COMPILING)

    def __call__(self, report: "Report") -> None:
        self._tell_compiling(report)
        measured_before = self._last is not None and bool(self._last.measured.perplexities)
        is_first_score = bool(report.measured.perplexities) and not measured_before
        self._last = report
        is_due = is_first_score or time.monotonic() >= self._next
        if report.state == "stopping" or not is_due:
            return
        self._next = time.monotonic() + self._every
        self._tell(self._line(report))

    def _tell_skipped(self, report: "Report") -> None:
        """Say how many of the user's own documents were skipped, if any were; of a crawl, some
        always are."""
        progress = report.progress
        if report.own and progress.skipped:
            reasons = skips_told(progress.skips)
            documents = progress.crawled - progress.again
            self._tell(f"skipped: {progress.skipped:,} of {documents:,} ({reasons})")

    def _line(self, report: "Report") -> str:
        progress = report.progress
        activity = report.activity
        parts = [
            output.duration(activity.elapsed_seconds),
            f"{progress.articles:,} {report.noun}",
        ]
        if progress.in_last_reading:
            parts.append("last reading")
        elif report.passes > 1:
            parts.append(f"pass {progress.pass_:,} of {report.passes:,}")
        if progress.articles == 0:
            parts.append(f"{progress.held_out:,} held out")
        perplexities = report.measured.perplexities
        if perplexities:
            scores = ", ".join(f"{name} {value:,.0f}" for name, value in perplexities.items())
            parts.append(f"perplexity {scores} at {output.rate(report.measured.articles)}")
        if report.state == "running" and not progress.in_last_reading:
            parts += _pace(activity)
        done = _done(report)
        if done is not None:
            parts.append(f"{done:.1%} done")
        if activity.time_left:
            parts.append(activity.time_left)
        if activity.starting_over:
            parts.append(starting_over(activity.starting_over, report.noun))
        if report.state == "paused":
            parts.append("paused")
        if activity.waiting_for and report.state != "stopping":
            parts.append(activity.wait(time.time()))
        return "  ".join(parts)

    def end(self, reason: str) -> None:
        """The last lines."""
        if self._last is not None:
            self._tell(self._line(self._last))
            self._tell_skipped(self._last)
            reason = f"{reason}; everything is saved"
        self._tell(reason)


class JsonLines(ProgressLines):
    """Progress as JSON objects on standard output, one per line."""

    @staticmethod
    def _values(report: "Report") -> dict[str, object]:
        from wikitopics.session.records import per_hour

        progress = report.progress
        activity = report.activity
        articles_per_hour = per_hour(progress.articles, activity.elapsed_seconds)
        return {
            "state": report.state,
            "articles": progress.articles,
            "tokens": progress.tokens,
            "held_out": progress.held_out,
            "crawled": progress.crawled,
            "pending": progress.pending,
            "skipped": progress.skipped,
            "elapsed_seconds": round(activity.elapsed_seconds, 3),
            "articles_per_hour": round(articles_per_hour, 1),
            "crawled_per_hour": round(activity.crawl_rate * 3600, 1),
            "perplexity": dict(report.measured.perplexities),
            "waiting_for": activity.waiting_for,
            "lap": progress.lap,
            "seconds_left": activity.seconds_left,
            "seconds_left_range": activity.seconds_left_range,
            "passes": report.passes,
            "pass": progress.pass_,
        }

    def __call__(self, report: "Report") -> None:
        self._last = report
        if output.nobody_reads():
            raise output.ReaderGone
        self._tell_compiling(report)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            output.put_json(self._values(report))

    def end(self, reason: str) -> None:
        """The last object says why the run ended."""
        from wikitopics.session.training.run import FINISHED

        # First a line: the reader may be gone, but the log should have it.
        self._tell(reason if self._last is None else f"{reason}; everything is saved")
        if self._last is not None:
            state = "finished" if reason == FINISHED else "stopped"
            output.put_json(self._values(self._last) | {"state": state, "reason": reason})

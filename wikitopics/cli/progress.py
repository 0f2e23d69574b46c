"""The progress of a trainer without a screen: lines for people, or JSON for programs."""

import sys
import time
from typing import TYPE_CHECKING

from wikitopics.cli import output
from wikitopics.session.errors import Say

if TYPE_CHECKING:
    from wikitopics.session.training.monitor import Report

COMPILING = "compiling the models, only once after installation: this takes about half a minute"


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
        measured_before = self._last is not None and self._last.measured.perplexities
        first = bool(report.measured.perplexities) and not measured_before
        self._last = report
        if report.state == "stopping" or (time.monotonic() < self._next and not first):
            return
        self._next = time.monotonic() + self._every
        self._tell(self._line(report))

    def _line(self, report: "Report") -> str:
        progress, now = report.progress, report.activity
        parts = [
            output.duration(report.activity.elapsed_seconds),
            f"{progress.articles:,} {report.noun}",
        ]
        if report.passes > 1:
            parts.append(f"pass {progress.pass_:,} of {report.passes:,}")
        if progress.articles == 0:
            parts.append(f"{progress.held_out:,} held out")
        if measured := report.measured.perplexities:
            scores = ", ".join(f"{name} {value:,.0f}" for name, value in measured.items())
            parts.append(f"perplexity after {report.measured.articles:,}: {scores}")
        if now.crawl_rate:
            parts.append(f"reading {output.rate(now.crawl_rate * 3600)} {report.noun}/h")
        seconds = _seconds_left(report)
        if progress.lap is not None:
            parts.append(f"{progress.lap:.1%} of the source read")
        if seconds is not None:
            from wikitopics.session.records import age  # loads NumPy

            parts.append(f"{age(seconds)} left")
        if report.state == "paused":
            parts.append("paused")
        if now.waiting_for and report.state != "stopping":
            parts.append(now.wait(time.time()))
        return "  ".join(parts)

    def end(self, reason: str) -> None:
        """The last line."""
        if self._last is not None:
            self._tell(self._line(self._last))
            reason = f"{reason}; everything is saved"
        self._tell(reason)


def _seconds_left(report: "Report") -> float | None:
    """Seconds until everything wanted has been read; None if that is unknown or the state not
    "running"."""
    progress = report.progress
    seconds = report.activity.seconds_left(progress.articles, progress.crawled, progress.lap)
    return seconds if report.state == "running" else None


class JsonLines(ProgressLines):
    """The same as JSON objects on standard output, one per line."""

    @staticmethod
    def _values(report: "Report") -> dict[str, object]:
        from wikitopics.session.records import per_hour

        progress = report.progress
        return {
            "state": report.state,
            **output.fields_of(
                progress,
                "articles",
                "tokens",
                "held_out",
                "crawled",
                "pending",
                "skipped",
            ),
            "elapsed_seconds": round(report.activity.elapsed_seconds, 3),
            "articles_per_hour": round(
                per_hour(progress.articles, report.activity.elapsed_seconds), 1
            ),
            "crawled_per_hour": round(report.activity.crawl_rate * 3600, 1),
            "perplexity": dict(report.measured.perplexities),
            "waiting_for": report.activity.waiting_for,
            "lap": progress.lap,
            "seconds_left": _seconds_left(report),
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

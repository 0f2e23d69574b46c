"""The lines of a session's log that a reader wants to find in the morning."""

from collections.abc import Sequence

from wikitopics.session.records import skips_told
from wikitopics.session.storage.codec.progress import Progress
from wikitopics.session.training.evaluation import Measured

Line = tuple[str, str]
"""Level and text."""


class News:
    """Reports each event once. The state at the start is not news."""

    def __init__(self, advice: tuple[int, str] | None, progress: Progress, measured: Measured) -> None:
        """``advice``: a number of articles, and what to say once they have been read."""
        self._measured_at = measured.articles
        self._skipped = progress.skipped
        self._errors: set[str] = set()
        self._blocked: str | None = None
        self._advice = advice if advice is not None and progress.crawled < advice[0] else None

    def since(
        self,
        progress: Progress,
        measured: Measured,
        errors: Sequence[str],
        warnings: Sequence[str],
        blocked: str | None,
    ) -> list[Line]:
        """The news since the last call.

        ``errors``: the source's last few, some of which were reported before; ``warnings``: new ones;
        ``blocked``: why nothing can be saved.
        """
        news: list[Line] = []
        if _doubled(self._measured_at, measured.articles):
            news += self._measurement(measured)
        if _doubled(self._skipped, progress.skipped):
            news += self._skips(progress)
        news += [("warning", error) for error in errors if error not in self._errors]
        self._errors = set(errors)
        news += [("warning", warning) for warning in warnings]
        if blocked and blocked != self._blocked:
            news.append(("error", blocked))
        self._blocked = blocked
        if self._advice is not None and progress.crawled >= self._advice[0]:
            news.append(("warning", self._advice[1]))
            self._advice = None
        return news

    def at_the_end(self, progress: Progress, measured: Measured) -> list[Line]:
        """The newest numbers, if `since` was waiting for them to double."""
        return [*self._measurement(measured), *self._skips(progress)]

    def _measurement(self, measured: Measured) -> list[Line]:
        if measured.articles <= self._measured_at or not measured.perplexities:
            return []
        self._measured_at = measured.articles
        scores = ", ".join(f"{name} {value:,.1f}" for name, value in measured.perplexities.items())
        return [("info", f"after {measured.articles:,} articles: perplexity {scores}")]

    def _skips(self, progress: Progress) -> list[Line]:
        if progress.skipped <= self._skipped:
            return []
        self._skipped = progress.skipped
        return [("info", f"skipped so far: {progress.skipped:,} ({skips_told(progress.skips)})")]


def _doubled(before: int, now: int) -> bool:
    """Whether a count has passed a power of two."""
    return now.bit_length() > before.bit_length()

"""What a reader in the morning wants to find in the session's log."""

from collections.abc import Mapping, Sequence

from session.store import Progress

MANY_ARTICLES = 500_000
DUMP_ADVICE = (
    f"over {MANY_ARTICLES:,} articles by the API: for a whole wiki Wikimedia prefers dumps, "
    "with --source dump --dump FILE"
)


class News:
    """Tells each thing once. Begins with how things stand, which is no news."""

    def __init__(self, source: str, progress: Progress, perplexities: Mapping[str, float]) -> None:
        self._perplexities = perplexities
        self._articles = progress.articles
        self._errors: set[str] = set()
        self._blocked: str | None = None
        self._advises = source == "api" and progress.crawled < MANY_ARTICLES

    def since(
        self,
        progress: Progress,
        perplexities: Mapping[str, float],
        errors: Sequence[str],
        warnings: Sequence[str],
        blocked: str | None,
    ) -> list[tuple[str, str]]:
        """(level, line) of what has happened since the last call.

        ``errors``: the source's last few, some of them told before; ``warnings``: none of them told before;
        ``blocked``: why nothing can be saved.
        """
        news: list[tuple[str, str]] = []
        if perplexities != self._perplexities:
            self._perplexities = perplexities
            articles = progress.articles
            if articles.bit_length() != self._articles.bit_length():  # a line each time it has doubled
                self._articles = articles
                scores = ", ".join(f"{name} {value:,.1f}" for name, value in perplexities.items())
                news.append(("info", f"after {articles:,} articles: perplexity {scores}"))
        news += [("warning", error) for error in errors if error not in self._errors]
        self._errors = set(errors)
        news += [("warning", warning) for warning in warnings]
        if blocked and blocked != self._blocked:
            news.append(("error", blocked))
        self._blocked = blocked
        if self._advises and progress.crawled >= MANY_ARTICLES:
            self._advises = False
            news.append(("warning", DUMP_ADVICE))
        return news

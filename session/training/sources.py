"""Which source a request or a session means, and how to open it."""

from collections.abc import Callable, Mapping
from typing import Any

from crawler.addresses import api_candidates, language_api
from crawler.embedded.sample import SAMPLE_ARTICLES
from crawler.embedded.source import DemoSource
from crawler.limits import is_wikimedia
from crawler.source import Source
from crawler.sources.api import ApiSource
from crawler.sources.dump import DumpSource
from crawler.sources.html import HtmlSource
from crawler.sources.recent import RecentSource
from crawler.wiki import Wiki
from session.errors import BadUsage
from session.paths import session_folder, user_path
from session.request import ENGLISH, TrainRequest
from session.settings import Settings
from session.version import __version__

UNNAMED_SIZE = 1_000_000
"""Articles of the embedded wiki for the sessions of the first version, which do not name their number."""
_ONLINE: Mapping[str, Callable[[Wiki], Source]] = {
    "api": ApiSource,
    "html": HtmlSource,
    "recent": RecentSource,
}


def source_options(request: TrainRequest, stored: Settings | None) -> dict[str, Any]:
    """What names the source, as kept in the session and compared when it resumes. No contact, ever."""
    kind = stored.source if stored else request.source_kind()
    if kind == "counts":
        return {"counts": request.counts}
    if kind == "dump":
        files = [name if name == "-" else str(user_path(name).absolute()) for name in request.dump]
        return {"dump": files}
    if kind == "demo":
        return {"wiki_size": request.wiki_size or max(SAMPLE_ARTICLES, _needed(request))}
    return {"api_url": request.api_url or language_api(request.lang or ENGLISH)}


def _needed(request: TrainRequest) -> int:
    """Articles that the request wants to train on, and those held out before."""
    return (request.articles or 0) + (request.held_out or 0)


def needs_contact(kind: str, options: dict[str, Any]) -> bool:
    """Whether the source is one of Wikimedia's hosts."""
    return kind in _ONLINE and any(is_wikimedia(url.host or "") for url in api_candidates(options["api_url"]))


def make_source(
    kind: str, options: dict[str, Any], request: TrainRequest, *, resuming: bool = False
) -> Source:
    """The source, not yet opened. Raises :class:`crawler.errors.CrawlerError` for options that cannot be.

    ``resuming``: it will go on behind a position; a dump then need not be read a first time.
    """
    if kind in _ONLINE:
        wiki = Wiki(
            options["api_url"],
            version=__version__,
            contact=request.contact,
            rpm=request.rpm,
            budget_folder=session_folder(),
        )
        return _ONLINE[kind](wiki)
    if kind == "demo":
        return DemoSource(version=__version__, size=options["wiki_size"] or UNNAMED_SIZE)
    if kind == "dump":
        return DumpSource(options["dump"], held_out=request.held_out, resuming=resuming)
    raise BadUsage(f"--source {kind} is not known")

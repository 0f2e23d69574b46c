"""A wiki's information about itself, requested before its first article is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wikitopics.crawler.errors import TransientError
from wikitopics.crawler.source import SourceInfo

if TYPE_CHECKING:
    from yarl import URL

SITEINFO: Mapping[str, str] = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "meta": "siteinfo",
    "siprop": "general|namespaces|namespacealiases|statistics",
}
FOUND_API = "api"
"""The key of a source's identity under which a session stores the address of the wiki's api.php."""
_MOST_NAMES = 200
_LONGEST_NAME = 255
_MOST_ARTICLES = 1 << 40
_USUAL_PATH = "/wiki/$1"
_LONGEST_PATH = 500
_SENT_AS_IT_IS = "!$%&'()*+,-./:;=?@_~"
_PATH = re.compile(r"/(?!/)(?:[^%]|%[0-9A-Fa-f]{2})*")


@dataclass(frozen=True, slots=True)
class SiteInfo(SourceInfo):
    """The parts of siteinfo that matter here, types checked."""

    article_path: str = _USUAL_PATH
    """The path of rendered pages, with ``$1`` for the title, such as "/wiki/$1"."""


def read_siteinfo(reply: Mapping[str, Any], url: URL) -> SiteInfo:
    """Parse the siteinfo reply of the api.php at ``url``. Raises `TransientError` if it is not one."""
    query = reply.get("query")
    general = query.get("general") if isinstance(query, dict) else None
    if not isinstance(query, dict) or not isinstance(general, dict):
        raise TransientError(f"{url.host} answers, but not as a MediaWiki does")
    if not str(general.get("generator", "")).startswith("MediaWiki"):
        raise TransientError(f"{url.host} answers, but is not a MediaWiki")
    host = f"[{url.host}]" if ":" in str(url.host) else str(url.host)
    return SiteInfo(
        name=host if url.port in (80, 443, None) else f"{host}:{url.port}",
        articles=_articles(query.get("statistics")),
        file_names=_names(query, 6, ("File", "Image")),
        category_names=_names(query, 14, ("Category",)),
        identity={FOUND_API: str(url.with_query(None))},
        article_path=_article_path(general.get("articlepath")),
    )


def _article_path(path: object) -> str:
    """A path on the wiki's own host, for one title, as it can be sent; the default one if it is invalid."""
    if not isinstance(path, str) or len(path) >= _LONGEST_PATH or path.count("$1") != 1 or "#" in path:
        return _USUAL_PATH
    try:
        escaped = quote(path, safe=_SENT_AS_IT_IS)
    except UnicodeEncodeError:
        return _USUAL_PATH
    return escaped if _PATH.fullmatch(escaped) else _USUAL_PATH


def _articles(statistics: object) -> int | None:
    number = statistics.get("articles") if isinstance(statistics, dict) else None
    return number if type(number) is int and 0 <= number < _MOST_ARTICLES else None


def _names(query: Mapping[str, Any], namespace: int, english: tuple[str, ...]) -> tuple[str, ...]:
    found: list[object] = list(english)
    namespaces = query.get("namespaces")
    entry = namespaces.get(str(namespace)) if isinstance(namespaces, dict) else None
    if isinstance(entry, dict):
        found += [entry.get("name"), entry.get("canonical")]
    aliases = query.get("namespacealiases")
    if isinstance(aliases, list):
        found += [a.get("alias") for a in aliases[:1000] if isinstance(a, dict) and a.get("id") == namespace]
    good = [n for n in found if isinstance(n, str) and n and len(n) <= _LONGEST_NAME]
    return tuple(dict.fromkeys(good))[:_MOST_NAMES]

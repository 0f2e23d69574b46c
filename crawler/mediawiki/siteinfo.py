"""A wiki's information about itself, requested before its first article is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wikitopics.crawler.source import ARTICLE_PATH, SourceInfo, TransientError

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
_LONGEST_PATH = 500
_SENT_AS_IT_IS = "!$%&'()*+,-./:;=?@_~"
_PATH = re.compile(r"/(?!/)(?:[^%]|%[0-9A-Fa-f]{2})*")


def read_siteinfo(reply: Mapping[str, Any], url: URL) -> SourceInfo:
    """The parts that matter here of the siteinfo reply of the api.php at ``url``, types checked.

    Raises `TransientError` if it is not one.
    """
    query = reply.get("query")
    general = query.get("general") if isinstance(query, dict) else None
    if not isinstance(query, dict) or not isinstance(general, dict):
        raise TransientError(f"{url.host} answers, but not as a MediaWiki does")
    if not str(general.get("generator", "")).startswith("MediaWiki"):
        raise TransientError(f"{url.host} answers, but is not a MediaWiki")
    host = f"[{url.host}]" if ":" in str(url.host) else str(url.host)
    namespaces = query.get("namespaces")
    entries = namespaces if isinstance(namespaces, dict) else {}
    main, language = entries.get("0"), general.get("lang")
    return SourceInfo(
        name=host if url.port in (80, 443, None) else f"{host}:{url.port}",
        articles=_articles(query.get("statistics")),
        file_names=_names(query, entries, "6", ("File", "Image")),
        category_names=_names(query, entries, "14", ("Category",)),
        language=language[:_LONGEST_NAME] if isinstance(language, str) else "",
        namespaces=tuple(
            name for key in list(entries)[:_MOST_NAMES] if key != "0" for name in _names(query, entries, key)
        ),
        keeps_case=isinstance(main, dict) and main.get("case") == "case-sensitive",
        identity={FOUND_API: str(url.with_query(None))},
        article_path=_article_path(general.get("articlepath")),
    )


def _article_path(path: object) -> str:
    """A path on the wiki's own host, for one title, as it can be sent; the default one if it is invalid."""
    if not isinstance(path, str) or len(path) >= _LONGEST_PATH or path.count("$1") != 1 or "#" in path:
        return ARTICLE_PATH
    try:
        escaped = quote(path, safe=_SENT_AS_IT_IS)
    except UnicodeEncodeError:
        return ARTICLE_PATH
    return escaped if _PATH.fullmatch(escaped) else ARTICLE_PATH


def _articles(statistics: object) -> int | None:
    number = statistics.get("articles") if isinstance(statistics, dict) else None
    return number if type(number) is int and 0 <= number < _MOST_ARTICLES else None


def _names(
    query: Mapping[str, Any], namespaces: Mapping[str, Any], key: str, english: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The names of the namespace with this number."""
    entry, aliases = namespaces.get(key), query.get("namespacealiases")
    found: list[object] = list(english)
    if isinstance(entry, dict):
        found += [entry.get("name"), entry.get("canonical")]
    if isinstance(aliases, list):
        found += [a.get("alias") for a in aliases[:1000] if isinstance(a, dict) and str(a.get("id")) == key]
    good = [n for n in found if isinstance(n, str) and n and len(n) <= _LONGEST_NAME]
    return tuple(dict.fromkeys(good))[:_MOST_NAMES]

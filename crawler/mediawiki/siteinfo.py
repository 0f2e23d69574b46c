"""A wiki's information about itself, requested before its first article is read.

Any reply may be hostile: types are checked, and sizes limited.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from yarl import URL

from wikitopics.crawler import page
from wikitopics.crawler.errors import WikiUnreachable
from wikitopics.crawler.http.wire import value_at
from wikitopics.crawler.mediawiki import FOUND_API
from wikitopics.crawler.mediawiki.finding import read_general

SITEINFO: Mapping[str, str] = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "meta": "siteinfo",
    "siprop": "general|namespaces|namespacealiases|statistics",
}
FIRST_VERSION = (1, 26)
"""The first MediaWiki whose random order can be continued; `formatversion=2` came with 1.25."""
_VERSION = re.compile(r"MediaWiki (\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?")
_MOST_NAMES = 200
_MOST_ALIASES = 1000
_LONGEST_NAME = 255
_MOST_ARTICLES = 1 << 40
_LONGEST_PATH = 500
_SENT_AS_IT_IS = "!$%&'()*+,-./:;=?@_~"
_PATH = re.compile(r"/(?!/)(?:[^%]|%[0-9A-Fa-f]{2})*")


def read_siteinfo(reply: Mapping[str, Any], url: URL) -> page.SourceInfo:
    """The relevant parts of the siteinfo reply of the api.php at ``url``, with types checked.

    Raises `TransientError` if it is not one, and `WikiUnreachable` if the wiki is too old to be
    read.
    """
    general = read_general(reply, url)
    query = reply["query"]
    namespaces = _by_number(query.get("namespaces"))
    _check_version(general["generator"], namespaces, url)
    is_ipv6 = ":" in str(url.host)
    host = f"[{url.host}]" if is_ipv6 else str(url.host)
    has_usual_port = url.port in (80, 443, None)
    articles = value_at(query, "statistics", "articles")
    if type(articles) is not int or not 0 <= articles < _MOST_ARTICLES:
        articles = None
    language = general.get("lang")
    names: list[str] = []
    for number in list(namespaces)[:_MOST_NAMES]:
        if number != "0":
            names += _names(query, namespaces, number)
    return page.SourceInfo(
        name=host if has_usual_port else f"{host}:{url.port}",
        articles=articles,
        file_names=_names(query, namespaces, "6", ("File", "Image")),
        category_names=_names(query, namespaces, "14", ("Category",)),
        language=language[:_LONGEST_NAME] if isinstance(language, str) else "",
        namespaces=tuple(names),
        keeps_case=value_at(namespaces, "0", "case") == "case-sensitive",
        identity={FOUND_API: str(url.with_query(None))},
        article_path=_article_path(general.get("articlepath"), url),
    )


def _check_version(generator: str, namespaces: Mapping[str, Any], url: URL) -> None:
    """Raise `WikiUnreachable` if this MediaWiki is too old. If it hides its version, the format of
    its ``namespaces`` tells."""
    version = _VERSION.match(generator)
    if version is None:
        named = "an old MediaWiki"
        # One that does not know `formatversion=2` gives the names under "*".
        is_old = any(isinstance(each, dict) and "*" in each for each in namespaces.values())
    else:
        named = version[0]
        is_old = (int(version[1]), int(version[2])) < FIRST_VERSION
    if is_old:
        first = ".".join(map(str, FIRST_VERSION))
        raise WikiUnreachable(
            f"{url.host} runs {named}, whose API cannot continue a list of random articles; the "
            f"first version that can be read is {first}. An XML dump of this wiki can be read with "
            "--source dump"
        )


def _by_number(namespaces: object) -> Mapping[str, Any]:
    """The siteinfo's namespaces by their numbers; MediaWiki 1.26 lists them."""
    if isinstance(namespaces, list):
        return {str(each.get("id")): each for each in namespaces if isinstance(each, dict)}
    return namespaces if isinstance(namespaces, dict) else {}


def _article_path(path: object, url: URL) -> str:
    """A path on the wiki's own host, for one title, as it can be sent; the default one if it is
    invalid."""
    if isinstance(path, str):
        # "https://host/wiki/$1" and "//host/wiki/$1" give "/wiki/$1", if the host is the wiki's.
        scheme, double_slash, host_and_path = path.partition("//")
        host, slash, below_root = host_and_path.partition("/")
        own_host = str(url.host) if url.is_default_port() else f"{url.host}:{url.port}"
        is_address = bool(double_slash) and scheme in ("", "http:", "https:")
        if is_address and host.lower() == own_host:
            path = slash + below_root
    if not isinstance(path, str) or len(path) >= _LONGEST_PATH:
        return page.ARTICLE_PATH
    if path.count("$1") != 1 or "#" in path:
        return page.ARTICLE_PATH
    try:
        escaped = quote(path, safe=_SENT_AS_IT_IS)
    except UnicodeEncodeError:
        return page.ARTICLE_PATH
    return escaped if _PATH.fullmatch(escaped) else page.ARTICLE_PATH


def _names(
    query: Mapping[str, Any],
    namespaces: Mapping[str, Any],
    key: str,
    english: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The names of the namespace with this number."""
    names: list[object] = list(english)
    entry = namespaces.get(key)
    if isinstance(entry, dict):
        names += [entry.get("name"), entry.get("canonical")]
    aliases = query.get("namespacealiases")
    if isinstance(aliases, list):
        for alias in aliases[:_MOST_ALIASES]:
            if isinstance(alias, dict) and str(alias.get("id")) == key:
                names.append(alias.get("alias"))
    texts = [name for name in names if isinstance(name, str)]
    valid = [name for name in texts if 0 < len(name) <= _LONGEST_NAME]
    without_repeats = tuple(dict.fromkeys(valid))
    return without_repeats[:_MOST_NAMES]

"""One MediaWiki: finding its api.php, queries with continuations, and its replies.

Any reply may be hostile: types are checked, and sizes limited.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from yarl import URL

from wikitopics.crawler import page
from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused, WikiUnreachable
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits, limits_for, wikimedia_page_limits
from wikitopics.crawler.http.wire import (
    REASON_BYTES,
    Clock,
    Reply,
    RequestBounds,
    plain_reason,
    value_at,
)
from wikitopics.crawler.mediawiki import FOUND_API
from wikitopics.crawler.mediawiki.finding import ApiSearch, read_general
from wikitopics.crawler.source import Activity

# Pages from the Action API's replies. One batch of pages may come in several replies.

_MOST_CHARACTERS = 8 << 20
"""The most characters of all texts of a batch: as many as MediaWiki sends in one reply."""


@dataclass(slots=True)
class _Listed:
    """A page of the batch, with or without its text so far."""

    title: str
    revision_id: int = 0
    text: str | None = None
    skip: page.Skip | None = None
    """The reason why it is not an article."""


class Gathering:
    """The pages of one batch, as reply after reply fills in their texts."""

    def __init__(self) -> None:
        self._listed: dict[int, _Listed] = {}
        self._nameless: Counter[page.Skip] = Counter()
        """Entries without an id: missing pages, and entries that are not pages."""
        self._size = 0

    def add(self, entries: Sequence[Mapping[str, Any]]) -> bool:
        """Merge the pages of one reply; returns whether it contained anything new.

        Raises `TransientError` if the texts exceed the limit of a batch.
        """
        has_news = False
        nameless: Counter[page.Skip] = Counter()
        for entry in entries:
            page_id = entry.get("pageid")
            title = entry.get("title")
            in_main_namespace = entry.get("ns", 0) == 0  # the wiki was asked for no other pages
            if not (in_main_namespace and page.is_id(page_id) and isinstance(title, str)):
                nameless[_skip(entry) or "damaged"] += 1
                continue
            listed = self._listed.get(page_id)
            if listed is None:
                listed = _Listed(page.sound_text(title[: page.LONGEST_TITLE]))
                if page.utf8_size(title) > page.LONGEST_TITLE:
                    listed.skip = "too large"
                self._listed[page_id] = listed
                has_news = True
            skip = _skip(entry)
            if skip is not None:
                if listed.skip is None:
                    has_news = True
                listed.skip = skip
            if listed.text is None and _take_text(listed, entry):
                has_news = True
                self._size += len(listed.text or "")
        # Each reply of a batch lists the same nameless pages again, so their numbers are not added:
        # for each reason, a Counter's `|=` keeps the larger one.
        self._nameless |= nameless
        if self._size > _MOST_CHARACTERS and len(self._listed) > 1:
            raise TransientError("the articles of one batch are too large in total", too_large=True)
        return has_news

    def without_text(self) -> list[int]:
        """Ids of the pages whose text is still missing, in ascending order."""
        return sorted(
            page_id
            for page_id, listed in self._listed.items()
            if listed.text is None and listed.skip is None
        )

    def titles(self) -> list[tuple[int, str]]:
        """Id and title of the pages that may be articles, in the order in which the wiki listed
        them."""
        return [
            (page_id, listed.title)
            for page_id, listed in self._listed.items()
            if listed.skip is None
        ]

    def ids(self) -> list[int]:
        """All listed ids, in the wiki's order."""
        return list(self._listed)

    def leave_out(self, page_ids: Iterable[int], reason: page.Skip) -> None:
        """Record that these pages do not count as articles."""
        for page_id in page_ids:
            self._listed[page_id].skip = reason

    def __len__(self) -> int:
        """The number of pages listed, with and without an article."""
        return len(self._listed) + self._nameless.total()

    def pages(self) -> tuple[page.Page, ...]:
        """The articles, in the order in which the wiki listed them."""
        return tuple(
            page.Page(page_id, listed.title, listed.revision_id, listed.text, "wikitext")
            for page_id, listed in self._listed.items()
            if listed.text is not None and listed.skip is None
        )

    def skips(self) -> Counter[page.Skip]:
        """The number of listed pages known not to be articles, by reason."""
        skips = (listed.skip for listed in self._listed.values())
        return Counter(skip for skip in skips if skip is not None) + self._nameless

    def skips_without_text(self) -> Counter[page.Skip]:
        """The same for a final batch: pages still without text are skipped."""
        return self.skips() + Counter({"no text": len(self.without_text())})


def _take_text(listed: _Listed, entry: Mapping[str, Any]) -> bool:
    """Note the page's text, or why it can have none; returns whether the entry has one or the
    other."""
    revision = value_at(entry, "revisions", 0)
    main = value_at(revision, "slots", "main")
    if isinstance(revision, dict) and "content" in revision:
        main = revision  # the format of MediaWiki before version 1.32
    if not isinstance(main, dict):
        return False
    content = main.get("content")
    if not isinstance(content, str):
        listed.skip = "deleted or hidden"
        return True
    if main.get("contentmodel", "wikitext") != "wikitext":
        listed.skip = "no wikitext"
        return True
    if page.utf8_size(content) > page.LARGEST_TEXT:
        listed.skip = "too large"
        return True
    revision_id = value_at(revision, "revid")
    listed.revision_id = revision_id if page.is_id(revision_id) else 0
    listed.text = page.sound_text(content)
    return True


def _skip(entry: Mapping[str, Any]) -> page.Skip | None:
    """Why a listed page is not an article, as far as this entry tells."""
    if entry.get("missing") or entry.get("invalid"):
        return "deleted or hidden"
    if entry.get("redirect"):
        return "redirect"
    if value_at(entry, "pageprops", "disambiguation") is not None:
        return "disambiguation"
    return None


_THROTTLE_TEXT = re.compile(r"too many requests|robot policy|rate limit|\b429\b", re.IGNORECASE)
_THROTTLE_CODES = ("ratelimited", "readonly")
_REFUSAL = re.compile(r"denied|blocked|badaccess|loggedin|permission")
"""Error codes such as readapidenied, autoblocked, badaccess-groups and notloggedin."""
_UNACCEPTABLE = re.compile(
    r"bad|unknown(?!error)|unrecognized|missingparam|invalidparam|toomany|nosuch|assert"
)
"""The beginnings of error codes for a request that this wiki will never answer. `unknownerror` is
not one of them: it stands for a fault of the wiki's own."""
_AROUND = "\ufeff \t\r\n"
"""A byte order mark and blanks, which may stand around the JSON."""
_DECODER = json.JSONDecoder()
_OBJECT = re.compile(r'\{\s*"')
_PAGE = re.compile("<(!doctype|html|script)", re.IGNORECASE)
_MOST_BEGINNINGS = 10
"""The most places at which reading an object is tried."""
_MOST_BEFORE = 1 << 20
"""The most characters before the JSON: PHP may write a notice for every page of a batch, or
several."""
_KEYS = frozenset(("query", "error", "errors", "batchcomplete", "continue"))
"""An object in the midst of other text is the API's if it has one of these keys."""
_DISABLED = re.compile(r"(MediaWiki )?API is not enabled[^.]*\.?")
_MOST_PAGES = 5000
_MOST_CONTINUES = 30
_LONGEST_CONTINUE = 4096


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to one query, or one piece of it."""

    pages: Sequence[Mapping[str, Any]]
    """The pages as the reply lists them; an entry that is not a page becomes an empty one."""
    continuation: dict[str, str] | None
    """The parameters to add to the query to continue it; None at the end."""
    complete: bool
    """Whether these pages have everything that was asked for."""


def read_answer(reply: Reply) -> QueryAnswer:
    """The reply to a query. Raises the errors of `read_api`, and `TransientError` if it is not
    valid."""
    value = read_api(reply)
    answer = QueryAnswer(entries(value), read_continue(value), "batchcomplete" in value)
    if answer.continuation is None and not answer.complete:
        raise TransientError("the wiki's reply is neither complete nor continued")
    return answer


def read_api(reply: Reply) -> dict[str, Any]:
    """The Action API's reply as an object without ``error``.

    Raises `TransientError` for temporary faults (not JSON, cut, maxlag, the text of a 429 under
    status 200), `WikiRefused`, and `CrawlerError` for requests that this wiki will never answer.
    """
    host = reply.url.host
    if reply.status in (404, 410):
        what = f"{host}{reply.quote(reply.url.path)} is not a MediaWiki API ({reply.status})"
        raise TransientError(f"{what}: name the wiki's api.php with --api-url", lasting=True)
    if reply.status != 200:
        raise TransientError(f"{host} answers {reply.status}")
    value = _json_object(reply)
    error = value.get("error")
    errors = value.get("errors")  # in the newer formats of errors
    if error is None and isinstance(errors, list) and errors:
        error = errors[0]
    if error is not None:
        _judge_error(error, reply)
    return value


def _json_object(reply: Reply) -> dict[str, Any]:
    """The object in a reply, without the byte order marks, PHP's notices or comments around it.

    Raises `TransientError`, which quotes a reply without one.
    """
    host = reply.url.host
    text = reply.body.decode("utf-8", "surrogateescape").strip(_AROUND)
    for start in _objects(text):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if page.SURROGATE.search(text, start, end):  # a byte that was not UTF-8
            raise TransientError(f"{host} sends JSON that is not UTF-8")
        is_alone = start == 0 and end == len(text)
        if isinstance(value, dict) and (is_alone or not _KEYS.isdisjoint(value)):
            return value
    if text.startswith("{"):
        raise TransientError(f"{host} sends broken JSON")
    raise _no_json(reply, text)


def _objects(text: str) -> list[int]:
    """Where JSON objects may begin in ``text``, but not those inside a page's scripts."""
    if text.startswith("{"):
        return [0]
    page_begins = _PAGE.search(text, 0, _MOST_BEFORE)
    end = page_begins.start() if page_begins else _MOST_BEFORE
    matches = islice(_OBJECT.finditer(text, 0, end), _MOST_BEGINNINGS)
    return [match.start() for match in matches]


def _no_json(reply: Reply, text: str) -> TransientError:
    """The error for a reply that is ``text`` instead of JSON."""
    host = reply.url.host
    is_page = text.startswith("<")
    if not text:
        return TransientError(
            f"{host} sends nothing instead of the API's JSON: is this a MediaWiki?"
        )
    said = plain_reason(reply)
    is_short_text = len(reply.body) < REASON_BYTES and not is_page
    if is_short_text and _THROTTLE_TEXT.search(said):
        return TransientError(f"{host} says: {said}", throttled=True, answered=True)
    disabled = _DISABLED.search(said)
    if disabled:
        return TransientError(f"{host} says: {disabled[0]}", lasting=True)
    kind = "an HTML page" if is_page else "text"
    quoted = f" ({said})" if said else ""
    return TransientError(
        f"{host} sends {kind} instead of the API's JSON{quoted}: is this a MediaWiki?"
    )


def _judge_error(error: object, reply: Reply) -> None:
    """Raise the error that a reply reports."""
    host = reply.url.host
    fields = error if isinstance(error, dict) else {}
    message: object = ""
    for key in ("info", "text", "html", "*", "key"):  # by version and format of errors
        if fields.get(key):
            message = fields[key]
            break
    info = reply.quote(str(message))
    code = str(fields.get("code", "?"))
    quoted_code = reply.quote(code, 60)
    if code == "maxlag":
        raise TransientError(f"maxlag: {info}", throttled=True, answered=True)
    if code in _THROTTLE_CODES:
        raise TransientError(f"{host} says {quoted_code}: {info}", throttled=True, answered=True)
    if _REFUSAL.search(code):
        raise WikiRefused(f"{host} refuses the crawler ({quoted_code}): {info}")
    if _UNACCEPTABLE.match(code):
        raise CrawlerError(f"{host} does not accept the request ({quoted_code}): {info}")
    raise TransientError(f"{host} reports an error ({quoted_code}): {info}")


def entries(reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The pages of a reply. Raises `TransientError` if they are not a list."""
    pages = reply.get("query", {})  # PHP may write an empty object as an empty list
    if isinstance(pages, dict):
        pages = pages.get("pages", [])
    if not isinstance(pages, list) or len(pages) > _MOST_PAGES:
        raise TransientError("the wiki's list of pages is not valid")
    return [entry if isinstance(entry, dict) else {} for entry in pages]


def read_continue(reply: Mapping[str, Any]) -> dict[str, str] | None:
    """The parameters with which to continue. Raises `TransientError` for invalid ones."""
    value = reply.get("continue")
    if value is None:
        return None
    if not isinstance(value, dict) or not value or len(value) > _MOST_CONTINUES:
        raise TransientError("the wiki's continuation is not valid")
    parameters: dict[str, str] = {}
    for key, part in value.items():
        is_text_or_number = type(part) in (str, int)
        text = str(part) if is_text_or_number else ""
        if not is_text_or_number or len(text) > _LONGEST_CONTINUE or len(key) > 100:
            raise TransientError("the wiki's continuation is not valid")
        parameters[key] = text
    return parameters


# A wiki's information about itself, requested before its first article is read.

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


# Requests to one MediaWiki.

MOST_PAGES = 50
"""The API returns at most this many pages with content per reply to clients without an account."""
QUERY: Mapping[str, str] = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "maxlag": "5",
}
TEXTS: Mapping[str, str] = {
    "prop": "revisions|pageprops",
    "ppprop": "disambiguation",
    "rvprop": "ids|timestamp|content",
    "rvslots": "main",
}
_MOST_REPLIES = 4 * MOST_PAGES
"""The most replies for one batch: more mean that the wiki is going in circles."""
Query = Mapping[str, str]
ReadAnswer = Callable[[Reply], QueryAnswer]
"""Reads a reply, as `read_answer` does."""


class Wiki:
    """A MediaWiki at ``address`` (its api.php, or any address from which it can be found), and its
    client.

    ``stored_api``: the api.php that was found earlier, tried first if it is on the same host.
    ``rpm``: requests a minute, None for the host's default, 0 for no cap. ``budget_folder``: where
    this user's trainers share Wikimedia's budget. ``limits`` replaces the rules that follow from
    the host's name; if they are Wikimedia's, its rules for pages apply too. Raises `BadSource` and
    `ContactMissing` at once.
    """

    def __init__(
        self,
        address: str,
        *,
        stored_api: str | None = None,
        version: str,
        contact: str | None = None,
        rpm: int | None = None,
        budget_folder: Path | None = None,
        limits: RateLimits | None = None,
        clock: Clock | None = None,
        bounds: RequestBounds | None = None,
    ) -> None:
        self._search = ApiSearch(address, stored_api)
        self.host = self._search.address.host or ""
        self.limits = limits or limits_for(self.host, rpm)
        """The limits on requests to the API; those on pages may differ."""
        self.page_limits = wikimedia_page_limits(rpm) if self.limits.wikimedia else self.limits
        self.activity = Activity()
        self.client = Client(
            self.limits,
            self.activity,
            version=version,
            contact=contact,
            limits_of=lambda url: (
                self.limits if url.path.endswith("/api.php") else self.page_limits
            ),
            clock=clock,
            budget_folder=budget_folder,
            bounds=bounds,
        )
        self.api: URL | None = None
        """The api.php, once found."""
        self._site: page.SourceInfo | None = None

    async def open(self) -> page.SourceInfo:
        """The wiki's siteinfo, requested once, from the api.php that belongs to its address.

        Raises `WikiUnreachable` if there is none within 30 s, or if the wiki is too old.
        """
        tries = 0
        while self._site is None:
            found = await self._search.find(self.client, SITEINFO, read_api)
            if isinstance(found, TransientError):  # returned, not raised: it may pass
                tries += 1
                await self.client.backoff(found, tries)
            else:
                site, self.api = found
                self._site = read_siteinfo(site, self.api)
        return self._site

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    def url(self, query: Query) -> URL:
        """The address of this query, once the wiki is open."""
        assert self.api is not None
        return self.api.with_query({**QUERY, **query})

    async def ask(self, query: Query, read: ReadAnswer = read_answer) -> QueryAnswer:
        """A valid answer to ``query``, as ``read`` reads it."""
        return await self.client.fetch(self.url(query), read)

    async def gather(
        self,
        query: Query,
        answer: QueryAnswer,
        read: ReadAnswer = read_answer,
    ) -> tuple[Gathering, QueryAnswer]:
        """The pages of ``answer`` to ``query`` and of all its continuations, and the last answer.

        The last answer is incomplete if the wiki makes no progress because one text is larger than
        a whole reply may be.
        """
        gathering = Gathering()
        gathering.add(answer.pages)
        followed: list[Query] = []
        while answer.continuation is not None and not answer.complete:
            if len(followed) > _MOST_REPLIES:
                break
            followed.append(answer.continuation)
            answer = await self.ask({**query, **answer.continuation}, read)
            has_news = gathering.add(answer.pages)
            if not has_news and answer.continuation in followed:
                break  # the wiki goes round in circles
        return gathering, answer

    async def fill_in(self, gathering: Gathering, continuation: Query | None) -> None:
        """Fetch the texts of the listed pages by id, giving up the one at which the wiki is stuck,
        and any others that never arrive."""
        while missing := gathering.without_text():
            # The wiki is stuck at the page with which it would continue, or, if it names none, at
            # the first one.
            place = continuation.get("rvcontinue", "") if continuation else ""
            stuck_at, _, _ = place.partition("|")  # "page|revision"
            given_up = missing[0]
            for page_id in missing:
                if str(page_id) == stuck_at:
                    given_up = page_id
            gathering.leave_out([given_up], "no text")
            # Ask for the others until all are there, or the wiki is stuck again.
            while ids := gathering.without_text():
                page_ids = "|".join(map(str, ids[:MOST_PAGES]))
                answer = await self.ask({"pageids": page_ids, **TEXTS})
                if not gathering.add(answer.pages):
                    continuation = answer.continuation
                    break

    async def by_title(self, titles: Sequence[str]) -> Gathering:
        """The pages with these titles, at most 50; missing ones and redirects are not articles."""
        query = {**TEXTS, "titles": "|".join(titles), "prop": TEXTS["prop"] + "|info"}
        gathering, answer = await self.gather(query, await self.ask(query))
        if not answer.complete:
            await self.fill_in(gathering, answer.continuation)
        return gathering

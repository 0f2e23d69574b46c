"""One MediaWiki: finding its api.php, queries with continuations, and its replies.

Any reply may be hostile: types are checked, and sizes limited.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from yarl import URL

from wikitopics.crawler import page
from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits, api_candidates, limits_for, wikimedia_page_limits
from wikitopics.crawler.http.wire import REASON_BYTES, Clock, Reply, RequestBounds, plain_reason, value_at
from wikitopics.crawler.mediawiki import FOUND_API
from wikitopics.crawler.source import Activity

# Pages from the Action API's replies: types are checked, sizes limited, and pieces of one batch combined.

_MOST_CHARACTERS = 8 << 20
"""The most characters of a batch: as much as one MediaWiki reply, though a batch may take many replies."""


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
        news = False
        nameless: Counter[page.Skip] = Counter()
        for entry in entries:
            page_id, title = entry.get("pageid"), entry.get("title")
            if not page.is_id(page_id) or not isinstance(title, str) or entry.get("ns", 0) != 0:
                nameless[_skip(entry) or "damaged"] += 1
                continue
            known = self._listed.get(page_id)
            if known is None:
                known = self._listed[page_id] = _Listed(page.sound_text(title[: page.LONGEST_TITLE]))
                known.skip = "too large" if page.utf8_size(title) > page.LONGEST_TITLE else None
                news = True
            if skip := _skip(entry):
                news |= known.skip is None
                known.skip = skip
            if known.text is None:
                news |= _take_text(known, entry)
                self._size += len(known.text or "")
        self._nameless |= nameless  # the larger number, since each reply of a batch lists them again
        if self._size > _MOST_CHARACTERS and len(self._listed) > 1:
            raise TransientError("the articles of one batch are too large in total", too_large=True)
        return news

    def without_text(self) -> list[int]:
        """Ids of the pages whose text is still missing, in ascending order."""
        return sorted(i for i, p in self._listed.items() if p.text is None and p.skip is None)

    def titles(self) -> list[tuple[int, str]]:
        """Id and title of the pages that may be articles, in the order in which the wiki listed them."""
        return [(page_id, p.title) for page_id, p in self._listed.items() if p.skip is None]

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
            page.Page(page_id, p.title, p.revision_id, p.text, "wikitext")
            for page_id, p in self._listed.items()
            if p.text is not None and p.skip is None
        )

    def skips(self) -> Counter[page.Skip]:
        """The number of listed pages known not to be articles, by reason."""
        return Counter(p.skip for p in self._listed.values() if p.skip is not None) + self._nameless

    def skips_without_text(self) -> Counter[page.Skip]:
        """The same for a final batch: pages still without text are skipped."""
        return self.skips() + Counter({"no text": len(self.without_text())})


def _take_text(listed: _Listed, entry: Mapping[str, Any]) -> bool:
    revision = value_at(entry, "revisions", 0)
    main = value_at(revision, "slots", "main")
    if isinstance(revision, dict) and "content" in revision:
        main = revision  # the format of MediaWiki before version 1.32
    if not isinstance(main, dict):
        return False
    content = main.get("content")
    if not isinstance(content, str) or main.get("contentmodel", "wikitext") != "wikitext":
        listed.skip = "no wikitext" if isinstance(content, str) else "deleted or hidden"
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
    return None if value_at(entry, "pageprops", "disambiguation") is None else "disambiguation"


_THROTTLE_TEXT = re.compile(r"too many requests|robot policy|rate limit|\b429\b", re.IGNORECASE)
_THROTTLE_CODES = ("ratelimited", "readonly")
_REFUSAL_CODES = ("readapidenied", "permissiondenied", "blocked", "autoblocked", "globalblocking-blocked")
_FOR_GOOD = re.compile(r"bad|unknown(?!error)|unrecognized|missingparam|invalidparam|toomany|nosuch|assert")
_MOST_PAGES = 5000
_MOST_CONTINUES = 30
_LONGEST_CONTINUE = 4096


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to one query, or one piece of it."""

    pages: Sequence[Mapping[str, Any]]
    """The pages as the reply lists them; an entry that is not a page becomes an empty one."""
    continuation: dict[str, str] | None
    """The parameters with which to continue, all passed through; None at the end."""
    complete: bool
    """Whether these pages have everything that was asked for."""


def read_answer(reply: Reply) -> QueryAnswer:
    """The reply to a query. Raises the errors of `read_api`, and `TransientError` if it is not valid."""
    value = read_api(reply)
    answer = QueryAnswer(entries(value), read_continue(value), "batchcomplete" in value)
    if answer.continuation is None and not answer.complete:
        raise TransientError("the wiki's reply is neither complete nor continued")
    return answer


def read_api(reply: Reply) -> dict[str, Any]:
    """The Action API's reply as an object without ``error``.

    Raises `TransientError` for temporary faults (not JSON, cut, maxlag, the text of a 429 under status 200),
    `WikiRefused`, and `CrawlerError` for requests that this wiki will never answer.
    """
    host = reply.url.host
    if reply.status in (404, 410):
        what = f"{host}{reply.quote(reply.url.path)} is not a MediaWiki API ({reply.status})"
        raise TransientError(f"{what}: name the wiki's api.php with --api-url", lasting=True)
    if reply.status != 200:
        raise TransientError(f"{host} answers {reply.status}")
    start = reply.body[:200].lstrip()[:1]
    if start != b"{":
        if len(reply.body) < REASON_BYTES and start != b"<" and _THROTTLE_TEXT.search(plain_reason(reply)):
            raise TransientError(f"{host} says: {plain_reason(reply)}", throttled=True, answered=True)
        kind = "an HTML page" if start == b"<" else "nothing" if not start else "text"
        raise TransientError(f"{host} sends {kind} instead of the API's JSON: is this a MediaWiki?")
    try:
        value: dict[str, Any] = json.loads(reply.body.decode("utf-8"))
    except UnicodeDecodeError:
        raise TransientError(f"{host} sends JSON that is not UTF-8") from None
    except (ValueError, RecursionError):
        raise TransientError(f"{host} sends broken JSON") from None
    if "error" in value:
        _judge_error(value["error"], reply)
    return value


def _judge_error(error: object, reply: Reply) -> None:
    host = reply.url.host
    fields = error if isinstance(error, dict) else {}
    code, info = str(fields.get("code", "?")), reply.quote(str(fields.get("info", "")))
    named = reply.quote(code, 60)
    if code == "maxlag":
        raise TransientError(f"maxlag: {info}", throttled=True, answered=True)
    if code in _THROTTLE_CODES:
        raise TransientError(f"{host} says {named}: {info}", throttled=True, answered=True)
    if code in _REFUSAL_CODES:
        raise WikiRefused(f"{host} refuses the crawler ({named}): {info}")
    if _FOR_GOOD.match(code):
        raise CrawlerError(f"{host} does not accept the request ({named}): {info}")
    raise TransientError(f"{host} reports an error ({named}): {info}", answered=True)


def entries(reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The pages of a reply. Raises `TransientError` if they are not a list."""
    query = reply.get("query", {})
    pages = query.get("pages", []) if isinstance(query, dict) else query
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
        if type(part) not in (str, int) or len(text := str(part)) > _LONGEST_CONTINUE or len(key) > 100:
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
_MOST_NAMES = 200
_LONGEST_NAME = 255
_MOST_ARTICLES = 1 << 40
_LONGEST_PATH = 500
_SENT_AS_IT_IS = "!$%&'()*+,-./:;=?@_~"
_PATH = re.compile(r"/(?!/)(?:[^%]|%[0-9A-Fa-f]{2})*")


def read_siteinfo(reply: Mapping[str, Any], url: URL) -> page.SourceInfo:
    """The relevant parts of the siteinfo reply of the api.php at ``url``, with types checked.

    Raises `TransientError` if it is not one.
    """
    general = value_at(reply, "query", "general")
    if not isinstance(general, dict):
        raise TransientError(f"{url.host} answers, but not as a MediaWiki does")
    if not str(general.get("generator", "")).startswith("MediaWiki"):
        raise TransientError(f"{url.host} answers, but is not a MediaWiki")
    host = f"[{url.host}]" if ":" in str(url.host) else str(url.host)
    query, namespaces = reply["query"], value_at(reply, "query", "namespaces")
    entries = namespaces if isinstance(namespaces, dict) else {}
    language, articles = general.get("lang"), value_at(query, "statistics", "articles")
    return page.SourceInfo(
        name=host if url.port in (80, 443, None) else f"{host}:{url.port}",
        articles=articles if type(articles) is int and 0 <= articles < _MOST_ARTICLES else None,
        file_names=_names(query, entries, "6", ("File", "Image")),
        category_names=_names(query, entries, "14", ("Category",)),
        language=language[:_LONGEST_NAME] if isinstance(language, str) else "",
        namespaces=tuple(
            name for key in list(entries)[:_MOST_NAMES] if key != "0" for name in _names(query, entries, key)
        ),
        keeps_case=value_at(entries, "0", "case") == "case-sensitive",
        identity={FOUND_API: str(url.with_query(None))},
        article_path=_article_path(general.get("articlepath")),
    )


def _article_path(path: object) -> str:
    """A path on the wiki's own host, for one title, as it can be sent; the default one if it is invalid."""
    if not isinstance(path, str) or len(path) >= _LONGEST_PATH or path.count("$1") != 1 or "#" in path:
        return page.ARTICLE_PATH
    try:
        escaped = quote(path, safe=_SENT_AS_IT_IS)
    except UnicodeEncodeError:
        return page.ARTICLE_PATH
    return escaped if _PATH.fullmatch(escaped) else page.ARTICLE_PATH


def _names(
    query: Mapping[str, Any], namespaces: Mapping[str, Any], key: str, english: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The names of the namespace with this number."""
    entry, aliases = namespaces.get(key), query.get("namespacealiases")
    names: list[object] = list(english)
    if isinstance(entry, dict):
        names += [entry.get("name"), entry.get("canonical")]
    if isinstance(aliases, list):
        names += [a.get("alias") for a in aliases[:1000] if isinstance(a, dict) and str(a.get("id")) == key]
    good = [n for n in names if isinstance(n, str) and n and len(n) <= _LONGEST_NAME]
    return tuple(dict.fromkeys(good))[:_MOST_NAMES]


# Requests to one MediaWiki.

MOST_PAGES = 50
"""The API returns at most this many pages with content per reply to clients without an account."""
QUERY: Mapping[str, str] = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
TEXTS: Mapping[str, str] = {
    "prop": "revisions|pageprops",
    "ppprop": "disambiguation",
    "rvprop": "ids|timestamp|content",
    "rvslots": "main",
}
_MOST_REPLIES = 4 * MOST_PAGES
"""The most replies for one batch: more mean that the wiki is going in circles."""
Query = Mapping[str, str]
Read = Callable[[Reply], QueryAnswer]


class Wiki:
    """A MediaWiki at ``address`` (its api.php, or any address from which it can be found), and its client.

    ``rpm``: requests a minute, None for the host's default, 0 for no cap. ``budget_folder``: where this
    user's trainers share Wikimedia's budget. ``limits`` replaces the rules that follow from the host's name;
    if they are Wikimedia's, its rules for pages apply too. Raises `BadSource` and `ContactMissing` at once.
    """

    def __init__(
        self,
        address: str,
        *,
        version: str,
        contact: str | None = None,
        rpm: int | None = None,
        budget_folder: Path | None = None,
        limits: RateLimits | None = None,
        clock: Clock | None = None,
        bounds: RequestBounds | None = None,
    ) -> None:
        self._places = api_candidates(address)
        self.host = self._places[0].host or ""
        self.limits = limits or limits_for(self.host, rpm)
        """The limits on requests to the API; those on pages may differ."""
        self.page_limits = wikimedia_page_limits(rpm) if self.limits.wikimedia else self.limits
        self.activity = Activity()
        self.client = Client(
            self.limits,
            self.activity,
            version=version,
            contact=contact,
            limits_of=lambda url: self.limits if url.path.endswith("/api.php") else self.page_limits,
            clock=clock,
            budget_folder=budget_folder,
            bounds=bounds,
        )
        self.api: URL | None = None
        """The api.php, once found."""
        self._site: page.SourceInfo | None = None

    async def open(self) -> page.SourceInfo:
        """The wiki's siteinfo, requested once, from the first of the possible addresses that is an api.php.

        Raises `WikiUnreachable` if there is none within 30 s.
        """

        def read(reply: Reply) -> page.SourceInfo:
            return read_siteinfo(read_api(reply), reply.url)

        tries = 0
        while self._site is None:
            for url in self._places.copy():
                try:
                    self._site = await self.client.once(url.with_query(dict(SITEINFO)), read)
                except TransientError as caught:
                    if caught.lasting and len(self._places) > 1:
                        self._places.remove(url)
                    else:
                        error = caught
                else:
                    self.api = URL(self._site.identity[FOUND_API])  # after redirects
                    return self._site
            tries += 1
            await self.client.backoff(error, tries)
        return self._site

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    def url(self, query: Query) -> URL:
        """The address of this query, once the wiki is open."""
        assert self.api is not None
        return self.api.with_query({**QUERY, **query})

    async def ask(self, query: Query, read: Read = read_answer) -> QueryAnswer:
        """A valid answer to ``query``; ``read`` is that of the pass that ``query`` continues."""
        return await self.client.fetch(self.url(query), read)

    async def gather(
        self, query: Query, answer: QueryAnswer, read: Read = read_answer
    ) -> tuple[Gathering, QueryAnswer]:
        """The pages of ``answer`` to ``query`` and of all its continuations, and the last answer.

        The last answer is incomplete if the wiki makes no progress because one text is larger than a whole
        reply may be.
        """
        gathering = Gathering()
        gathering.add(answer.pages)
        seen: list[Query] = []
        while answer.continuation is not None and not answer.complete and len(seen) <= _MOST_REPLIES:
            seen.append(answer.continuation)
            answer = await self.ask({**query, **answer.continuation}, read)
            if not gathering.add(answer.pages) and answer.continuation in seen:
                break
        return gathering, answer

    async def fill_in(self, gathering: Gathering, continuation: Query | None) -> None:
        """Fetch the texts of the listed pages by id, giving up the one at which the wiki is stuck, and any
        others that never arrive."""
        while left := gathering.without_text():
            stuck = (continuation or {}).get("rvcontinue", "").partition("|")[0]  # "page|revision"
            gathering.leave_out([next((i for i in left if str(i) == stuck), left[0])], "no text")
            continuation = None
            while ids := gathering.without_text():
                answer = await self.ask({"pageids": "|".join(map(str, ids[:MOST_PAGES])), **TEXTS})
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

"""The part of MediaWiki's Action API that a crawler needs, with the same cursors and continuations."""

import asyncio
import json
import random
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from aiohttp import web

from wikitopics.crawler.embedded.corpus import Articles, Writer, page_address, render_page

# The faults of the embedded wiki: their kinds, rates and pages.

ERRORS: Mapping[str, tuple[int, str | None]] = {
    "429": (429, "1"),
    "429-date": (429, "date"),
    "429-absent": (429, None),
    "429-absurd": (429, "99999999999"),
    "429-under-200": (200, "1"),
    "403": (403, None),
    "500": (500, None),
    "502": (502, None),
    "503": (503, "1"),
    "504": (504, None),
}
"""The status and the Retry-After of error pages, by kind; "date": two seconds from now, as a date."""
REQUEST_KINDS = (
    *ERRORS,
    *("maxlag", "readonly", "json", "html", "charset", "gzip"),
    *("endless", "stall", "reset", "truncated", "out-of-order", "duplicate"),
)
"""Kinds that affect one request; each request has at most one."""
PAGE_KINDS = ("deleted", "disambiguation", "oversized")
"""Kinds that affect a page permanently: the same pages for the same seed."""


@dataclass(frozen=True)
class Faults:
    """Rates from 0 to 1 by kind; the rates of `REQUEST_KINDS` add up to at most 1."""

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for kind, rate in self.rates.items():
            if kind not in REQUEST_KINDS + PAGE_KINDS:
                raise ValueError(f"unknown fault {kind!r}: give {', '.join(REQUEST_KINDS + PAGE_KINDS)}")
            if not 0 <= rate <= 1:
                raise ValueError(f"fault {kind}: a rate from 0 to 1, not {rate}")
        if sum(self.rates.get(kind, 0.0) for kind in REQUEST_KINDS) > 1 + 1e-9:
            raise ValueError("the rates of the faults add up to more than 1")

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> "Faults":
        """Read ``"429=0.02,stall=0.01"``. Raises ValueError."""
        rates: dict[str, float] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            kind, separator, rate = part.partition("=")
            if not separator:
                raise ValueError(f"{part!r}: write KIND=RATE")
            rates[kind.strip()] = float(rate)
        return cls(rates, seed)

    def draw(self, rng: random.Random) -> str | None:
        """The fault of one request, usually None."""
        point = rng.random()
        for kind in REQUEST_KINDS:
            point -= self.rates.get(kind, 0.0)
            if point < 0:
                return kind
        return None

    def hits(self, kind: str, index: int) -> bool:
        """Whether page ``index`` has the fault ``kind``."""
        rate = self.rates.get(kind, 0.0)
        return rate > 0 and random.Random(f"{kind} {self.seed} {index}").random() < rate


_CURSOR = re.compile(r"(0\.[0-9]+)\|(0\.[0-9]+)\|[0-9]+\|([01])")
_MOST_LISTED = 500
_MOST_WITH_TEXT = 50
_REVISION_OFFSET = 1_000_000
_NAMESPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 6: "File", 10: "Template", 14: "Category"}


class ApiError(Exception):
    """An error as the API reports it, under status 200."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(code)
        self.reply = {"error": {"code": code, "info": info}, "servedby": "embedded"}


class EmbeddedApi:
    """Answers `action=query` on ``articles``.

    Pages are in a fixed random order, with page ``index`` at ``(index + shift) mod size``. A lap begun
    without a cursor therefore gives the articles in their own order and wraps around.
    """

    def __init__(
        self, articles: Articles, *, faults: Faults | None = None, most_bytes: int = 8 << 20
    ) -> None:
        self.articles = articles
        self.writer = Writer(articles.corpus.words)
        self.faults = faults or Faults()
        self._most_bytes = most_bytes
        self._shift = random.Random(self.faults.seed).randrange(max(1, articles.size))

    def answer(
        self, query: Mapping[str, str], fault: str | None = None, rng: random.Random | None = None
    ) -> dict[str, Any]:
        """The reply as an object. ``fault``: "truncated", "out-of-order" or "duplicate"."""
        if query.get("action") != "query":
            raise ApiError("unknown_action", 'Unrecognized value for parameter "action".')
        if query.get("meta") == "siteinfo":
            return {"batchcomplete": True, "query": _siteinfo(self.articles.size)}
        props = query.get("prop", "").split("|")
        here: dict[str, str] = {}
        behind: dict[str, str] = {}
        if query.get("generator") == "random":
            indexes, here, behind = self._random(query)
            entries = [self._entry(index, props) for index in indexes]
        elif "pageids" in query:
            entries = [self._entry(page_id - 1, props) for page_id in _ids(query["pageids"])]
        elif "titles" in query:
            entries = [self._titled(title, props) for title in query["titles"].split("|")[:_MOST_WITH_TEXT]]
        else:
            return {"batchcomplete": True}
        stuck_at = None
        if "revisions" in props:
            stuck_at = self._add_texts(query, entries, fault, rng or random.Random(0))
        if fault == "duplicate" and entries:
            entries.append(dict(entries[0]))
        reply: dict[str, Any] = {}
        if stuck_at is not None:
            reply["continue"] = {"rvcontinue": stuck_at, **here, "continue": "||pageprops"}
        else:
            reply["batchcomplete"] = True
            if behind:
                reply["continue"] = {**behind, "continue": "grncontinue||"}
        if entries:
            reply["query"] = {"pages": entries}
        return reply

    # -- pages -------------------------------------------------------------------

    def index_of_title(self, title: str) -> int | None:
        """The index of a page that exists."""
        index = self.articles.find(title)
        return None if index is None or self.faults.hits("deleted", index) else index

    def ids(self, index: int) -> tuple[int, int]:
        """Page id and revision id."""
        return index + 1, index + 1 + _REVISION_OFFSET

    def wikitext(self, index: int) -> str:
        """The wikitext of a page."""
        text = self.writer.wikitext(self.articles.article(index))
        if self.faults.hits("oversized", index):
            text += "\n" + "<!-- more than a reply may hold -->" * (self._most_bytes // 30)
        return text

    def _entry(self, index: int, props: Sequence[str]) -> dict[str, Any]:
        if not 0 <= index < self.articles.size:
            return {"pageid": index + 1, "missing": True}
        entry: dict[str, Any] = {"pageid": index + 1, "ns": 0, "title": self.articles.title(index)}
        if self.faults.hits("deleted", index):
            entry["missing"] = True
        if "pageprops" in props and self.faults.hits("disambiguation", index):
            entry["pageprops"] = {"disambiguation": ""}
        return entry

    def _titled(self, title: str, props: Sequence[str]) -> dict[str, Any]:
        index = self.articles.find(title.replace("_", " "))
        return {"ns": 0, "title": title, "missing": True} if index is None else self._entry(index, props)

    def _add_texts(
        self,
        query: Mapping[str, str],
        entries: Sequence[dict[str, Any]],
        fault: str | None,
        rng: random.Random,
    ) -> str | None:
        """Give the entries their texts as far as the reply's size allows; returns where to continue, if
        necessary."""
        cursor = query.get("rvcontinue", "0|0").split("|")
        if len(cursor) < 2 or not cursor[0].isdigit():
            raise ApiError("badcontinue", "Invalid continue param.")
        falling = len(cursor) > 2 or (fault == "out-of-order" and "rvcontinue" not in query)
        begin = int(cursor[0])
        due = [e for e in entries if "missing" not in e]
        due.sort(key=lambda e: int(e["pageid"]), reverse=falling)
        if begin:
            due = [e for e in due if (e["pageid"] <= begin if falling else e["pageid"] >= begin)]
        most = len(due)
        if fault in ("truncated", "out-of-order") and most > 1:
            most = rng.randint(1, most - 1)
        size = 0
        for number, entry in enumerate(due):
            page_id, revision_id = self.ids(entry["pageid"] - 1)
            text = self.wikitext(page_id - 1) if number < most else ""
            size += len(text)
            if number >= most or size > self._most_bytes:
                return f"{page_id}|{revision_id}" + ("|down" if falling else "")
            main = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": text}
            revision = {"revid": revision_id, "parentid": 0, "timestamp": "2024-05-03T00:00:00Z"}
            entry["revisions"] = [{**revision, "slots": {"main": main}}]
        return None

    # -- lists -------------------------------------------------------------------

    def _random(self, query: Mapping[str, str]) -> tuple[list[int], dict[str, str], dict[str, str]]:
        """Indexes of the batch, the cursor that lists it again, and the cursor after it."""
        size = self.articles.size
        limit = _limit(query.get("grnlimit", "1"))
        if "content" in query.get("rvprop", "").split("|"):
            limit = min(limit, _MOST_WITH_TEXT)
        if size == 0:
            return [], {}, {}
        begin = first = self._shift
        wrapped = False
        if "grncontinue" in query:
            cursor = _CURSOR.fullmatch(query["grncontinue"])
            if cursor is None:
                raise ApiError("badcontinue", "Invalid continue param. You should pass the original value.")
            begin, first, wrapped = self._rank(cursor[1]), self._rank(cursor[2]), cursor[3] == "1"
        # Ranks on the rest of the lap: up to the end, then from 0 to where the lap began.
        ranks = range(first, begin) if wrapped else range(first, size + begin)
        indexes = [(rank - self._shift) % size for rank in ranks[:limit]]
        behind = {}
        if len(ranks) > limit:
            behind["grncontinue"] = self._cursor(begin, ranks[limit] % size, wrapped or ranks[limit] >= size)
        return indexes, {"grncontinue": self._cursor(begin, first, wrapped)}, behind

    def _page_random(self, rank: int) -> str:
        return f"{(rank + 0.5) / self.articles.size:.12f}"

    def _rank(self, number: str) -> int:
        """The first rank whose page_random is not below ``number``."""
        size = self.articles.size
        rank = max(0, int(float(number) * size - 0.5) - 2)
        while rank < size and self._page_random(rank) < f"{float(number):.12f}":
            rank += 1
        return rank

    def _cursor(self, begin: int, rank: int, wrapped: bool) -> str:
        index = (rank - self._shift) % self.articles.size
        return f"{self._page_random(begin)}|{self._page_random(rank)}|{index + 1}|{int(wrapped)}"


def _siteinfo(size: int) -> dict[str, Any]:
    names = {
        str(i): {"id": i, "case": "first-letter", "name": n, **({"canonical": n} if n else {})}
        for i, n in _NAMESPACES.items()
    }
    general = {
        "mainpage": "Main Page",
        "sitename": "Embedded sample",
        "generator": "MediaWiki 1.39.17",
        "lang": "en",
        "articlepath": "/wiki/$1",
        "scriptpath": "/w",
        "readonly": False,
    }
    statistics = {"pages": size, "articles": size, "images": 0}
    aliases = [{"id": 6, "alias": "Image"}]
    return {"general": general, "statistics": statistics, "namespaces": names, "namespacealiases": aliases}


def _limit(text: str) -> int:
    """The number of pages to list, of the parameter ``grnlimit``."""
    if text == "max":
        return _MOST_LISTED
    if not text.isdigit() or not 1 <= int(text) <= _MOST_LISTED:
        raise ApiError("badinteger", 'Invalid value for integer parameter "grnlimit".')
    return int(text)


def _ids(text: str) -> Iterator[int]:
    parts = text.split("|")
    if len(parts) > _MOST_WITH_TEXT:
        raise ApiError("toomanyvalues", 'Too many values supplied for parameter "pageids".')
    for part in parts:
        if not part.isdigit():
            raise ApiError("badinteger", 'Invalid value for integer parameter "pageids".')
        yield int(part)


# The embedded wiki as an aiohttp application, including its faults.

ROBOTS = "User-agent: *\nDisallow: /w/\nDisallow: /wiki/Special:\nAllow: /w/load.php?\n"
_POLICY = "Please respect our robot policy https://w.wiki/4wJS when crawling us."


def make_app(api: EmbeddedApi, latency: float = 0.0) -> web.Application:
    """An application with `/w/api.php`, `/wiki/Title` and `/robots.txt`; ``latency``: seconds before each
    reply."""
    rng = random.Random(api.faults.seed)

    async def serve(request: web.Request) -> web.StreamResponse:
        if latency:
            await asyncio.sleep(latency)
        fault = api.faults.draw(rng)
        if fault is not None and fault in ERRORS:
            return _error_page(*ERRORS[fault])
        if request.path == "/w/api.php":
            body, content_type = _api_body(api, request, fault, rng), "application/json"
        else:
            response = _page(api, request)
            if not isinstance(response, bytes):
                return response
            body, content_type = response, "text/html"
        return await _send(request, body, content_type, fault, rng)

    app = web.Application()
    app.router.add_get("/w/api.php", serve)
    app.router.add_get("/wiki/{title:.*}", serve)
    app.router.add_get("/robots.txt", _robots)
    return app


def _error_page(status: int, retry_after: str | None) -> web.Response:
    headers = {"Retry-After": retry_after} if retry_after else {}
    if retry_after == "date":
        headers["Retry-After"] = formatdate(time.time() + 2, usegmt=True)
    text = _POLICY if status in (200, 403, 429) else "<html><h1>Our servers are under maintenance</h1></html>"
    return web.Response(status=status, text=text, headers=headers)


async def _robots(request: web.Request) -> web.Response:
    return web.Response(text=ROBOTS)


def _api_body(api: EmbeddedApi, request: web.Request, fault: str | None, rng: random.Random) -> bytes:
    """The reply as MediaWiki writes it: UTF-8, without spaces."""
    try:
        if fault == "maxlag" and "maxlag" in request.query:
            raise ApiError("maxlag", "Waiting for db1: 8.5 seconds lagged.")
        if fault == "readonly":
            raise ApiError("readonly", "The wiki is currently in read-only mode.")
        reply = api.answer(request.query, fault, rng)
    except ApiError as error:
        reply = error.reply
    return json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()


def _page(api: EmbeddedApi, request: web.Request) -> bytes | web.Response:
    typed = request.match_info["title"]
    title = typed.replace("_", " ")
    index = api.index_of_title(title)
    if index is None:
        return web.Response(
            status=404, text="<html>There is no article with this name.</html>", content_type="text/html"
        )
    if " " in typed:
        return web.Response(status=301, headers={"Location": page_address(title)})
    content = api.writer.html(api.articles.article(index))
    return render_page(title, *api.ids(index), content).encode()


async def _send(
    request: web.Request, body: bytes, content_type: str, fault: str | None, rng: random.Random
) -> web.StreamResponse:
    headers = {"Content-Type": f"{content_type}; charset=utf-8"}
    if fault == "maxlag":
        headers["Retry-After"] = "1"
    if fault == "json":
        body = (
            body[: rng.randrange(1, len(body))] if rng.random() < 0.5 else b'{"batchcomplete":true,}' + body
        )
    elif fault == "html":
        body, headers["Content-Type"] = b"<!DOCTYPE html><title>Wikimedia Error</title>", "text/html"
    elif fault == "charset":
        body = body.decode().encode("utf-16-le" if rng.random() < 0.5 else "cp037", "replace")
    elif fault == "gzip":
        return web.Response(
            body=b"\x1f\x8b" + rng.randbytes(3000), headers={**headers, "Content-Encoding": "gzip"}
        )
    if "gzip" in request.headers.get("Accept-Encoding", "") and len(body) > 1000:
        packer = zlib.compressobj(1, wbits=31)
        body = packer.compress(body) + packer.flush()
        headers["Content-Encoding"] = "gzip"
    if fault in ("endless", "stall", "reset"):
        return await _never_ends_well(request, body, headers, fault, rng)
    return web.Response(body=body, headers=headers)


async def _never_ends_well(
    request: web.Request, body: bytes, headers: dict[str, str], fault: str, rng: random.Random
) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    if fault == "reset" and rng.random() < 0.3:
        _cut(request)
        return response
    if fault == "endless":
        response.headers.pop("Content-Encoding", None)
    else:
        response.content_length = len(body)
    await response.prepare(request)
    try:
        if fault == "endless":
            while True:
                await response.write(b" " * 65536)
        await response.write(body[: rng.randrange(len(body))])
        if fault == "stall":
            await asyncio.sleep(3600)
        _cut(request)
    except ConnectionError:
        pass  # the client has closed the connection
    return response


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()

"""The part of MediaWiki's Action API that a crawler needs, with the same cursors and
continuations."""

import json
import random
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aiohttp import web

from wikitopics.crawler.embedded.corpus import SampleArticles, Writer

_CURSOR = re.compile(r"(0\.[0-9]+)\|(0\.[0-9]+)\|[0-9]+\|([01])")
_MOST_LISTED = 500
_MOST_WITH_TEXT = 50
_REVISION_OFFSET = 1_000_000
_NAMESPACES = {
    -2: "Media",
    -1: "Special",
    0: "",
    1: "Talk",
    6: "File",
    10: "Template",
    14: "Category",
}


class ApiError(Exception):
    """An error as the API reports it, under status 200."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(code)
        self.reply = {"error": {"code": code, "info": info}, "servedby": "embedded"}


class EmbeddedApi:
    """Answers `action=query` on ``articles``, asked by our own crawler: other queries are not
    checked.

    Pages are in a fixed random order, with page ``index`` at ``(index + shift) mod size``. A lap
    begun without a cursor therefore gives the articles in their own order and wraps around.
    """

    def __init__(
        self,
        articles: SampleArticles,
        *,
        seed: int = 0,
        most_bytes: int = 8 << 20,
    ) -> None:
        self.articles = articles
        self.writer = Writer(articles.corpus.words)
        self._most_bytes = most_bytes
        self._shift = random.Random(seed).randrange(max(1, articles.size))

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The reply as an object."""
        if query.get("meta") == "siteinfo":
            return {"batchcomplete": True, "query": _siteinfo(self.articles.size)}
        props = query.get("prop", "").split("|")
        entries, here, behind = self.listed(query, props)
        stuck_at = self.add_texts(query, entries) if "revisions" in props else None
        reply: dict[str, Any] = {"query": {"pages": entries}} if entries else {}
        if stuck_at is not None:
            return {
                "continue": {"rvcontinue": stuck_at, **here, "continue": "||pageprops"},
                **reply,
            }
        if behind:
            reply["continue"] = {**behind, "continue": "grncontinue||"}
        return {"batchcomplete": True, **reply}

    def listed(
        self, query: Mapping[str, str], props: Sequence[str]
    ) -> tuple[list[dict[str, Any]], dict[str, str], dict[str, str]]:
        """The pages of the query, the cursor that lists them again, and the cursor after them."""
        if query.get("generator") == "random":
            indexes, here, behind = self._random(query)
            return [self.entry(index, props) for index in indexes], here, behind
        numbers = query.get("pageids", "0").split("|")
        return [self.entry(int(number) - 1, props) for number in numbers], {}, {}

    # Pages

    def ids(self, index: int) -> tuple[int, int]:
        """Page id and revision id."""
        return index + 1, index + 1 + _REVISION_OFFSET

    def wikitext(self, index: int) -> str:
        """The wikitext of a page."""
        return self.writer.wikitext(self.articles.article(index))

    def entry(self, index: int, props: Sequence[str]) -> dict[str, Any]:
        """A page as it is listed. ``props``: the properties asked for."""
        if not 0 <= index < self.articles.size:
            return {"pageid": index + 1, "missing": True}
        return {"pageid": index + 1, "ns": 0, "title": self.articles.title(index)}

    def add_texts(self, query: Mapping[str, str], entries: Sequence[dict[str, Any]]) -> str | None:
        """Give the entries their texts as far as the reply's size allows; returns where to
        continue, if necessary."""
        first_id, _, _ = query.get("rvcontinue", "0|0").partition("|")
        begin = int(first_id)
        size = 0
        for entry in sorted(entries, key=lambda entry: int(entry["pageid"])):
            if "missing" in entry or entry["pageid"] < begin:
                continue
            page_id, revision_id = self.ids(entry["pageid"] - 1)
            text = self.wikitext(page_id - 1)
            size += len(text)
            if size > self._most_bytes:
                return f"{page_id}|{revision_id}"
            entry["revisions"] = [revision(revision_id, text)]
        return None

    # Lists

    def _random(self, query: Mapping[str, str]) -> tuple[list[int], dict[str, str], dict[str, str]]:
        """Indexes of the batch, the cursor that lists it again, and the cursor after it."""
        size = self.articles.size
        if size == 0:
            return [], {}, {}
        has_text = "content" in query.get("rvprop", "").split("|")
        most = _MOST_WITH_TEXT if has_text else _MOST_LISTED
        limit = min(int(query.get("grnlimit", "1")), most)
        begin = self._shift
        first = begin
        wrapped = False
        if "grncontinue" in query:
            cursor = _CURSOR.fullmatch(query["grncontinue"])
            if cursor is None:
                raise ApiError(
                    "badcontinue", "Invalid continue param. You should pass the original value."
                )
            begin = self._rank(cursor[1])
            first = self._rank(cursor[2])
            wrapped = cursor[3] == "1"
        # Ranks on the rest of the lap: up to the end, then from 0 to where the lap began.
        ranks = range(first, begin) if wrapped else range(first, size + begin)
        indexes = [(rank - self._shift) % size for rank in ranks[:limit]]
        behind = {}
        if len(ranks) > limit:
            following = ranks[limit]
            has_wrapped = wrapped or following >= size
            behind["grncontinue"] = self._cursor(begin, following % size, has_wrapped)
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


def revision(revision_id: int, text: str) -> dict[str, Any]:
    """A revision as the API lists it."""
    main = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": text}
    return {
        "revid": revision_id,
        "parentid": 0,
        "timestamp": "2024-05-03T00:00:00Z",
        "slots": {"main": main},
    }


def _siteinfo(size: int) -> dict[str, Any]:
    names = {
        str(number): {"id": number, "case": "first-letter", "name": name, "canonical": name}
        for number, name in _NAMESPACES.items()
    }
    general = {"generator": "MediaWiki 1.39.17", "lang": "en", "articlepath": "/wiki/$1"}
    aliases = [{"id": 6, "alias": "Image"}]
    site = {"general": general, "statistics": {"articles": size}}
    return site | {"namespaces": names, "namespacealiases": aliases}


def make_app(api: EmbeddedApi) -> web.Application:
    """An application with `/w/api.php`."""

    async def serve(request: web.Request) -> web.Response:
        return web.Response(**packed(request, body_of(api.answer, request.query)))

    app = web.Application()
    app.router.add_get("/w/api.php", serve)
    return app


def body_of(
    answer: Callable[[Mapping[str, str]], dict[str, Any]], query: Mapping[str, str]
) -> bytes:
    """The reply as MediaWiki writes it: UTF-8, without spaces."""
    try:
        reply = answer(query)
    except ApiError as error:
        reply = error.reply
    return json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()


def packed(
    request: web.Request, body: bytes, content_type: str = "application/json"
) -> dict[str, Any]:
    """The ``body`` and the ``headers`` of a response, compressed if the client takes that."""
    headers = {"Content-Type": f"{content_type}; charset=utf-8"}
    if "gzip" in request.headers.get("Accept-Encoding", "") and len(body) > 1000:
        packer = zlib.compressobj(1, wbits=31)
        body = packer.compress(body) + packer.flush()
        headers["Content-Encoding"] = "gzip"
    return {"body": body, "headers": headers}

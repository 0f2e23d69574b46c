"""A MediaWiki that misbehaves on request and renders pages: the embedded wiki with what crawlers
survive.

python -m tests.wiki --size 3000 --faults 429=0.05,reset=0.02,stall=0.01
"""

import argparse
import asyncio
import html
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

import numpy as np
from aiohttp import web

from wikitopics.crawler.embedded import EmbeddedWiki
from wikitopics.crawler.embedded import __main__ as program
from wikitopics.crawler.embedded.api import ApiError, EmbeddedApi, body_of, packed, revision
from wikitopics.crawler.embedded.corpus import (
    Corpus,
    SampleArticle,
    SampleArticles,
    Slot,
    Writer,
    load_sample,
)

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
"""The status and the Retry-After of error pages, by kind; "date": two seconds from now, as a
date."""
REQUEST_KINDS = (
    *ERRORS,
    *("maxlag", "readonly", "json", "html", "charset", "gzip"),
    *("endless", "stall", "reset", "truncated", "out-of-order", "duplicate"),
)
"""Kinds that affect one request; each request has at most one."""
COPY = re.compile(r"(.+) \(copy (\d{1,12})\)", re.DOTALL)
PAGE_KINDS = ("deleted", "disambiguation", "oversized")
"""Kinds that affect a page permanently: the same pages for the same seed."""
ARTICLE, PAGE = (
    Template(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("wiki_article.html", "wiki_page.html")
)
"""What goes inside ``.mw-parser-output``, and the page around it."""


@dataclass(frozen=True)
class Faults:
    """Rates from 0 to 1 by kind; the rates of `REQUEST_KINDS` add up to at most 1."""

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.rates.keys() <= {*REQUEST_KINDS, *PAGE_KINDS}:
            raise ValueError(
                f"faults are {', '.join(REQUEST_KINDS + PAGE_KINDS)}, not {[*self.rates]}"
            )

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> "Faults":
        """Read ``"429=0.02,stall=0.01"``. Raises ValueError."""
        parts = (part.strip().partition("=") for part in text.split(",") if part.strip())
        return cls({kind: float(rate) for kind, _, rate in parts}, seed)

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


def find(articles: SampleArticles, title: str) -> int | None:
    """The index of the article with that title."""
    first = articles.corpus.titles
    spared = articles.spared
    copy = COPY.fullmatch(title)
    index = first.index(title) if title in first else None
    if index is None and copy and copy[1] in first:
        base = first.index(copy[1])
        lap = int(copy[2])
        if lap >= 1 and base >= spared:
            index = len(first) + (lap - 1) * (len(first) - spared) + base - spared
    return index if index is not None and index < articles.size else None


class FaultyApi(EmbeddedApi):
    """The embedded wiki's API with faults."""

    def __init__(
        self,
        articles: SampleArticles,
        *,
        faults: Faults | None = None,
        **options: Any,
    ) -> None:
        self.faults = faults or Faults()
        super().__init__(articles, seed=self.faults.seed, **options)
        self.writer: PageWriter = PageWriter(articles.corpus.words)
        self._fault: str | None = None
        self._rng = random.Random(0)

    def misbehave(
        self,
        fault: str | None,
        rng: random.Random,
        query: Mapping[str, str],
    ) -> dict[str, Any]:
        """The reply with the fault "truncated", "out-of-order" or "duplicate"."""
        self._fault = fault
        self._rng = rng
        reply = self.answer(query)
        if fault == "duplicate" and (pages := reply.get("query", {}).get("pages")):
            pages.append(dict(pages[0]))
        return reply

    def listed(
        self, query: Mapping[str, str], props: Sequence[str]
    ) -> tuple[list[dict[str, Any]], dict[str, str], dict[str, str]]:
        if "titles" not in query:
            return super().listed(query, props)
        titles = query["titles"].split("|")[:50]
        indexes = [find(self.articles, title.replace("_", " ")) for title in titles]
        entries = [
            {"ns": 0, "title": title, "missing": True}
            if index is None
            else self.entry(index, props)
            for title, index in zip(titles, indexes, strict=True)
        ]
        return entries, {}, {}

    def index_of_title(self, title: str) -> int | None:
        """The index of a page that exists."""
        index = find(self.articles, title)
        return None if index is None or self.faults.hits("deleted", index) else index

    def wikitext(self, index: int) -> str:
        text = super().wikitext(index)
        if self.faults.hits("oversized", index):
            text += "\n" + "<!-- more than a reply may hold -->" * (self._most_bytes // 30)
        return text

    def entry(self, index: int, props: Sequence[str]) -> dict[str, Any]:
        entry = super().entry(index, props)
        if "missing" not in entry:
            if self.faults.hits("deleted", index):
                entry["missing"] = True
            if "pageprops" in props and self.faults.hits("disambiguation", index):
                entry["pageprops"] = {"disambiguation": ""}
        return entry

    def add_texts(self, query: Mapping[str, str], entries: Sequence[dict[str, Any]]) -> str | None:
        cursor = query.get("rvcontinue", "0|0").split("|")
        falling = len(cursor) > 2 or (self._fault == "out-of-order" and "rvcontinue" not in query)
        due = [entry for entry in entries if "missing" not in entry]
        if self._fault not in ("truncated", "out-of-order") and not falling:
            return super().add_texts(query, due)
        due.sort(key=lambda entry: int(entry["pageid"]), reverse=falling)
        if begin := int(cursor[0]):
            due = [e for e in due if (e["pageid"] <= begin if falling else e["pageid"] >= begin)]
        cut = self._fault in ("truncated", "out-of-order") and len(due) > 1
        most = self._rng.randint(1, len(due) - 1) if cut else len(due)
        size = 0
        for number, entry in enumerate(due):
            page_id, revision_id = self.ids(entry["pageid"] - 1)
            text = self.wikitext(page_id - 1) if number < most else ""
            size += len(text)
            if number >= most or size > self._most_bytes:
                return f"{page_id}|{revision_id}" + ("|down" if falling else "")
            entry["revisions"] = [revision(revision_id, text)]
        return None


class PageWriter(Writer):
    """Writes articles as HTML, too: the same words in the same order."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(words)
        self._page = [_in_html(*slot) for slot in enumerate(self.slots)] * 2

    def html(self, article: SampleArticle) -> str:
        """The contents of ``.mw-parser-output`` on the rendered page."""
        title = html.escape(article.title)
        return ARTICLE.substitute(title=title, prose=self.prose(article, self._page))


LINK = '<a href="/wiki/Portal" title="Portal">'
REDIRECT = '<a href="/wiki/Portal_(hub)" class="mw-redirect">'
DRESSES = ("", ""), (LINK, "</a>"), (REDIRECT, "</a>"), ("<i>", "</i>"), ('<i lang="fr">', "</i>")


def _in_html(number: int, slot: Slot) -> tuple[str, str]:
    """What stands before and after the word of a slot."""
    begin, close = DRESSES[slot.dress]
    end = slot.end or ".</p>\n<p>"
    if (heading := slot.heading) is not None:
        anchor = heading.replace(" ", "_")
        edit = (
            '<span class="mw-editsection"><span class="mw-editsection-bracket">[</span>'
            '<a href="/w/index.php?action=edit" title="Edit section: '
            f'{heading}"><span>edit</span></a><span class="mw-editsection-bracket">]</span></span>'
        )
        end = (
            '.</p>\n<div class="mw-heading mw-heading2"><h2 '
            f'id="{anchor}">{heading}</h2>{edit}</div>\n<p>'
        )
    if slot.reference is not None:
        close += (
            f'<sup id="cite_ref-{number}" class="reference"><a href="#cite_note-{number}">'
            f'<span class="cite-bracket">&#91;</span>{number}'
            '<span class="cite-bracket">&#93;</span></a></sup>'
        )
    return slot.before + begin, close + end


def render_page(title: str, page_id: int, revision_id: int, content: str) -> str:
    """The whole HTML page of one article; ``content`` goes inside ``.mw-parser-output``."""
    name = html.escape(title)
    address = quote(title.replace(" ", "_"), safe="/:")
    return PAGE.substitute(
        title=name,
        address=address,
        page_id=page_id,
        revision_id=revision_id,
        content=content,
    )


def page_address(title: str) -> str:
    """The path of a title's rendered page."""
    return "/wiki/" + quote(title.replace(" ", "_"), safe="/:(),!*;@$~.-_'")


ROBOTS = "User-agent: *\nDisallow: /w/\nDisallow: /wiki/Special:\nAllow: /w/load.php?\n"
_POLICY = "Please respect our robot policy https://w.wiki/4wJS when crawling us."


def make_app(api: FaultyApi, latency: float = 0.0) -> web.Application:
    """An application with `/w/api.php`, `/wiki/Title` and `/robots.txt`; ``latency``: seconds
    before each reply."""
    rng = random.Random(api.faults.seed)

    async def serve(request: web.Request) -> web.StreamResponse:
        if latency:
            await asyncio.sleep(latency)
        fault = api.faults.draw(rng)
        if fault is not None and fault in ERRORS:
            return _error_page(*ERRORS[fault])
        if request.path == "/w/api.php":
            body = _api_body(api, request, fault, rng)
            content_type = "application/json"
        else:
            response = _page(api, request)
            if not isinstance(response, bytes):
                return response
            body = response
            content_type = "text/html"
        return await _send(request, body, content_type, fault, rng)

    async def robots(request: web.Request) -> web.Response:
        return web.Response(text=ROBOTS)

    app = web.Application()
    app.router.add_get("/w/api.php", serve)
    app.router.add_get("/wiki/{title:.*}", serve)
    app.router.add_get("/robots.txt", robots)
    return app


def _error_page(status: int, retry_after: str | None) -> web.Response:
    headers = {"Retry-After": retry_after} if retry_after else {}
    if retry_after == "date":
        headers["Retry-After"] = formatdate(time.time() + 2, usegmt=True)
    text = (
        _POLICY
        if status in (200, 403, 429)
        else "<html><h1>Our servers are under maintenance</h1></html>"
    )
    return web.Response(status=status, text=text, headers=headers)


def _api_body(api: FaultyApi, request: web.Request, fault: str | None, rng: random.Random) -> bytes:
    def answer(query: Mapping[str, str]) -> dict[str, Any]:
        if fault == "maxlag" and "maxlag" in query:
            raise ApiError("maxlag", "Waiting for db1: 8.5 seconds lagged.")
        if fault == "readonly":
            raise ApiError("readonly", "The wiki is currently in read-only mode.")
        return api.misbehave(fault, rng, query)

    return body_of(answer, request.query)


def _page(api: FaultyApi, request: web.Request) -> bytes | web.Response:
    typed = request.match_info["title"]
    title = typed.replace("_", " ")
    index = api.index_of_title(title)
    if index is None:
        return web.Response(status=404, text="<html>No article</html>", content_type="text/html")
    if " " in typed:
        return web.Response(status=301, headers={"Location": page_address(title)})
    content = api.writer.html(api.articles.article(index))
    return render_page(title, *api.ids(index), content).encode()


async def _send(
    request: web.Request,
    body: bytes,
    content_type: str,
    fault: str | None,
    rng: random.Random,
) -> web.StreamResponse:
    headers: dict[str, str] = {}
    if fault == "maxlag":
        headers["Retry-After"] = "1"
    if fault == "json":
        cut = body[: rng.randrange(1, len(body))]
        odd = b'{"batchcomplete":true,}' + body
        body = cut if rng.random() < 0.5 else odd
    elif fault == "html":
        body = b"<!DOCTYPE html><title>Wikimedia Error</title>"
        content_type = "text/html"
    elif fault == "charset":
        body = body.decode().encode("utf-16-le" if rng.random() < 0.5 else "cp037", "replace")
    elif fault == "gzip":
        packed_badly = b"\x1f\x8b" + rng.randbytes(3000)
        return web.Response(body=packed_badly, headers={**headers, "Content-Encoding": "gzip"})
    made = packed(request, body, content_type)
    body = made["body"]
    headers = made["headers"] | headers
    if fault in ("endless", "stall", "reset"):
        return await _never_ends_well(request, body, headers, fault, rng)
    return web.Response(body=body, headers=headers)


async def _never_ends_well(
    request: web.Request,
    body: bytes,
    headers: dict[str, str],
    fault: str,
    rng: random.Random,
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


class SizedArticles(SampleArticles):
    """Articles of ``words_each`` words, drawn from each article's distribution; None: as many as it
    has."""

    def __init__(
        self,
        corpus: Corpus,
        size: int,
        seed: int = 0,
        words_each: int | None = None,
    ) -> None:
        super().__init__(corpus, size, seed)
        self._words_each = words_each

    def article(self, index: int) -> SampleArticle:
        article = super().article(index)
        if self._words_each is None or not len(article.word_ids):
            return article
        rng = np.random.default_rng((self._seed, index))
        return replace(article, word_ids=rng.choice(article.word_ids, self._words_each))


def words_for_bytes(corpus: Corpus, wanted: int) -> int:
    """The number of words with which articles of this corpus have about ``wanted`` bytes of
    wikitext."""
    writer = Writer(corpus.words)
    few = 200
    many = 1200

    def mean_bytes(words_each: int) -> float:
        articles = SizedArticles(corpus, 20, 0, words_each)
        return sum(len(writer.wikitext(articles.article(i)).encode()) for i in range(20)) / 20

    beside = mean_bytes(few)
    a_word = (mean_bytes(many) - beside) / (many - few)
    return max(1, round(few + (wanted - beside) / a_word))


class PagesWiki(EmbeddedWiki):
    """The wiki in a process of its own."""

    module = "tests.wiki"

    @property
    def pid(self) -> int:
        """The process id of the wiki."""
        return self._process.pid


def main() -> None:
    """Serve as the embedded wiki does, with faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.wiki", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--size", type=int, default=20_000, help="number of articles")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--article-bytes", type=int, help="wikitext of about so many bytes for every article"
    )
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--faults", default="", help="KIND=RATE,…")
    options = parser.parse_args()
    try:
        faults = Faults.parse(options.faults, options.seed)
    except ValueError as error:
        parser.error(str(error))
    corpus = load_sample()
    words_each = words_for_bytes(corpus, options.article_bytes) if options.article_bytes else None
    api = FaultyApi(SizedArticles(corpus, options.size, options.seed, words_each), faults=faults)
    asyncio.run(program.serve(make_app(api, options.latency), options.port))


if __name__ == "__main__":
    main()

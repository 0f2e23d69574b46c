"""A MediaWiki that misbehaves on request and renders pages: the embedded wiki with all that a
crawler has to survive.

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
    "maxlag",
    "readonly",
    "json",
    "html",
    "charset",
    "gzip",
    "endless",
    "stall",
    "reset",
    "truncated",
    "out-of-order",
    "duplicate",
)
"""Kinds that affect one request; each request has at most one."""
COPY = re.compile(r"(.+) \(copy (\d{1,12})\)", re.DOTALL)
PAGE_KINDS = ("deleted", "disambiguation", "oversized")
"""Kinds that affect a page permanently: the same pages for the same seed."""


def _template(name: str) -> Template:
    return Template(Path(__file__).with_name(name).read_text(encoding="utf-8"))


ARTICLE = _template("wiki_article.html")
"""What goes inside ``.mw-parser-output``."""
PAGE = _template("wiki_page.html")
"""The page around it."""


@dataclass(frozen=True)
class Faults:
    """Rates from 0 to 1 by kind; the rates of `REQUEST_KINDS` add up to at most 1."""

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        known = REQUEST_KINDS + PAGE_KINDS
        if not self.rates.keys() <= set(known):
            raise ValueError(f"faults are {', '.join(known)}, not {list(self.rates)}")

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> "Faults":
        """Read ``"429=0.02,stall=0.01"``. Raises ValueError."""
        rates = {}
        for part in text.split(","):
            if part.strip():
                kind, _, rate = part.strip().partition("=")
                rates[kind] = float(rate)
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
        if rate == 0:
            return False
        return random.Random(f"{kind} {self.seed} {index}").random() < rate


def find(articles: SampleArticles, title: str) -> int | None:
    """The index of the article with that title."""
    titles = articles.corpus.titles
    index = None
    if title in titles:
        index = titles.index(title)
    elif (copy := COPY.fullmatch(title)) and copy[1] in titles:
        original = titles.index(copy[1])
        number = int(copy[2])
        # Behind all titles come their first copies, then the second; the first few titles are
        # spared, and have none.
        spared = articles.spared
        copied = len(titles) - spared
        if number >= 1 and original >= spared:
            index = len(titles) + (number - 1) * copied + original - spared
    if index is None or index >= articles.size:
        return None
    return index


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
        """The reply, with the fault if it is "truncated", "out-of-order" or "duplicate"."""
        self._fault = fault
        self._rng = rng
        reply = self.answer(query)
        pages = reply.get("query", {}).get("pages")
        if fault == "duplicate" and pages:
            pages.append(dict(pages[0]))
        return reply

    def listed(
        self, query: Mapping[str, str], props: Sequence[str]
    ) -> tuple[list[dict[str, Any]], dict[str, str], dict[str, str]]:
        if "titles" not in query:
            return super().listed(query, props)
        entries: list[dict[str, Any]] = []
        for title in query["titles"].split("|")[:50]:
            index = find(self.articles, title.replace("_", " "))
            if index is None:
                entries.append({"ns": 0, "title": title, "missing": True})
            else:
                entries.append(self.entry(index, props))
        return entries, {}, {}

    def index_of_title(self, title: str) -> int | None:
        """The index of a page that exists."""
        index = find(self.articles, title)
        if index is None or self.faults.hits("deleted", index):
            return None
        return index

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
        # Where a reply out of order was cut, the cursor has a third part, "down": pages go on from
        # the highest id to the lowest.
        begin, _, *descent = query.get("rvcontinue", "0|0").split("|")
        begins_out_of_order = self._fault == "out-of-order" and "rvcontinue" not in query
        falling = bool(descent) or begins_out_of_order
        is_cut = self._fault in ("truncated", "out-of-order")
        due = [entry for entry in entries if "missing" not in entry]
        if not is_cut and not falling:
            return super().add_texts(query, due)
        due.sort(key=lambda entry: int(entry["pageid"]), reverse=falling)
        first_id = int(begin)
        if first_id != 0 and falling:
            due = [entry for entry in due if entry["pageid"] <= first_id]
        elif first_id != 0:
            due = [entry for entry in due if entry["pageid"] >= first_id]
        most = len(due)
        if is_cut and len(due) > 1:
            most = self._rng.randint(1, len(due) - 1)
        size = 0
        for number, entry in enumerate(due):
            page_id, revision_id = self.ids(entry["pageid"] - 1)
            cursor = f"{page_id}|{revision_id}|down" if falling else f"{page_id}|{revision_id}"
            if number >= most:
                return cursor
            text = self.wikitext(page_id - 1)
            size += len(text)
            if size > self._most_bytes:
                return cursor
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


DRESSES = (
    ("", ""),
    ('<a href="/wiki/Portal" title="Portal">', "</a>"),
    ('<a href="/wiki/Portal_(hub)" class="mw-redirect">', "</a>"),
    ("<i>", "</i>"),
    ('<i lang="fr">', "</i>"),
)
"""What stands around a word, by the slot's number of it."""


def _in_html(number: int, slot: Slot) -> tuple[str, str]:
    """What stands before and after the word of a slot."""
    begin, close = DRESSES[slot.dress]
    end = slot.end or ".</p>\n<p>"
    if slot.heading is not None:
        end = f".</p>\n{_heading_in_html(slot.heading)}\n<p>"
    if slot.reference is not None:
        close += (
            f'<sup id="cite_ref-{number}" class="reference"><a href="#cite_note-{number}">'
            f'<span class="cite-bracket">&#91;</span>{number}'
            '<span class="cite-bracket">&#93;</span></a></sup>'
        )
    return slot.before + begin, close + end


def _heading_in_html(heading: str) -> str:
    anchor = heading.replace(" ", "_")
    edit = (
        '<span class="mw-editsection"><span class="mw-editsection-bracket">[</span>'
        f'<a href="/w/index.php?action=edit" title="Edit section: {heading}">'
        '<span>edit</span></a><span class="mw-editsection-bracket">]</span></span>'
    )
    return f'<div class="mw-heading mw-heading2"><h2 id="{anchor}">{heading}</h2>{edit}</div>'


def render_page(title: str, page_id: int, revision_id: int, content: str) -> str:
    """The whole HTML page of one article; ``content`` goes inside ``.mw-parser-output``."""
    return PAGE.substitute(
        title=html.escape(title),
        address=quote(title.replace(" ", "_"), safe="/:"),
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
            return await _send(request, body, "application/json", fault, rng)
        page = _page(api, request)
        if not isinstance(page, bytes):
            return page
        return await _send(request, page, "text/html", fault, rng)

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
    text = "<html><h1>Our servers are under maintenance</h1></html>"
    if status in (200, 403, 429):
        text = _POLICY
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
    """A rendered page, or the response where there is none at this address."""
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
        with_a_stray_comma = b'{"batchcomplete":true,}' + body
        body = cut if rng.random() < 0.5 else with_a_stray_comma
    elif fault == "html":
        body = b"<!DOCTYPE html><title>Wikimedia Error</title>"
        content_type = "text/html"
    elif fault == "charset":
        charset = "utf-16-le" if rng.random() < 0.5 else "cp037"
        body = body.decode().encode(charset, "replace")
    elif fault == "gzip":
        packed_badly = b"\x1f\x8b" + rng.randbytes(3000)
        return web.Response(body=packed_badly, headers={**headers, "Content-Encoding": "gzip"})
    sent = packed(request, body, content_type)
    body = sent["body"]
    headers = sent["headers"] | headers
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
    """Articles of ``words_each`` words, drawn from each article's distribution; None: each has its
    own words."""

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
        if self._words_each is None or len(article.word_ids) == 0:
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
        texts = [writer.wikitext(articles.article(number)) for number in range(20)]
        return sum(len(text.encode()) for text in texts) / len(texts)

    # Bytes grow with the words along a line through these two points.
    bytes_of_few = mean_bytes(few)
    bytes_a_word = (mean_bytes(many) - bytes_of_few) / (many - few)
    return max(1, round(few + (wanted - bytes_of_few) / bytes_a_word))


class PagesWiki(EmbeddedWiki):
    """The wiki in a process of its own."""

    module = "tests.wiki"

    @property
    def pid(self) -> int:
        """Its process id."""
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
    words_each = None
    if options.article_bytes:
        words_each = words_for_bytes(corpus, options.article_bytes)
    articles = SizedArticles(corpus, options.size, options.seed, words_each)
    api = FaultyApi(articles, faults=faults)
    asyncio.run(program.serve(make_app(api, options.latency), options.port))


if __name__ == "__main__":
    main()

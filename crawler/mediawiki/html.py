"""Articles as rendered pages, `/wiki/Title`: as a reader sees them, with templates expanded.

Titles come from the Action API, without texts, in the same pass in random order as for `api`. The
position consists of the cursor after the current list, and the rest of that list.
"""

import asyncio
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import quote

import msgspec
from yarl import URL

from wikitopics.crawler.errors import BadPosition, CrawlerError, TransientError, WikiRefused
from wikitopics.crawler.http.robots import Robots
from wikitopics.crawler.http.wire import Reply, Wanted
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass, PageId
from wikitopics.crawler.mediawiki.siteinfo import SITEINFO
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.page import Page, Skip, SourceInfo
from wikitopics.crawler.source import PageBatch, Position

_LISTED = 100
"""Titles per listing: one request in a hundred is for the list."""
_AHEAD = 10
"""Pages fetched, or being fetched, beside those requested at once."""
_MOST_BYTES = 8 << 20
"""The most bytes of a rendered page; Wikipedia's longest articles have 3 MB."""
_MOST_FETCHED = 32 << 20
"""The most bytes of pages being fetched or waiting for earlier ones."""
_FORGET = 0.9
"""The weight of a large page's size in the estimate for the next one."""
_TRIES = 5
"""The number of failures after which the page, not the wiki, is to blame."""
_REVISION = re.compile(rb'"wgRevisionId":(\d{1,18})\b')
_HEAD_BYTES = 200_000
_MARK = b"mw-parser-output"
"""What an article's page contains, from MediaWiki 1.30 on."""
_OLD_MARKS = (b"mw-content-text", b'"wgIsArticle":true')
"""What it contains before."""
_AGENT = "wikitopics"
_SAFE = "/:(),!*;@$~.-_'"


_Title = tuple[PageId, str]
"""Page id and title."""


class HtmlSource:
    """The rendered articles of ``wiki``.

    Raises `WikiRefused` if robots.txt forbids its articles.
    """

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self.activity = wiki.activity
        self.activity.batch_pages = 1
        self.activity.allowed_per_minute = wiki.page_limits.rpm
        self._article_path = ""
        self._robots: Robots | None = None
        self._fetched = 0
        self._missed = 0
        self._expected = float(_MOST_BYTES)
        """The expected bytes of a page, estimated from earlier pages."""

    async def open(self) -> SourceInfo:
        """Find the wiki, ask it for its siteinfo, and read its robots.txt."""
        site = await self.wiki.open()
        self._article_path = site.article_path
        if self._robots is None:
            assert self.wiki.api is not None
            robots = self.wiki.api.with_path("/robots.txt")
            self._robots = await self.wiki.client.fetch(robots, _read_robots)
            if not self._robots.allows(self._url("A").raw_path_qs):
                raise WikiRefused(
                    f"robots.txt of {self.wiki.api.host} keeps crawlers out of its articles"
                )
        return site

    async def close(self) -> None:
        await self.wiki.close()

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The pass from ``position`` on, one page per batch."""
        crawl, left, end = _parts_of(position)
        if left or not crawl.is_over:
            crawl.articles = (await self.open()).articles
        while left or not crawl.is_over:
            begin = end
            skips = Counter[Skip]()
            if not left:
                left, skips = await self._list(crawl)
            end = crawl.share
            listed = len(left)
            if not left:
                yield PageBatch((), _position(crawl, left, end), skips, end)
            async with aclosing(self._fetch_all(left)) as all_found:
                async for found in all_found:
                    left = left[1:]
                    share = end - (end - begin) * len(left) / listed
                    pages: tuple[Page, ...] = ()
                    if isinstance(found, Page):
                        pages = (found,)
                    else:
                        skips[found] += 1
                    yield PageBatch(pages, _position(crawl, left, share), skips, share)
                    skips = Counter()

    async def _list(self, crawl: CrawlPass) -> tuple[list[_Title], Counter[Skip]]:
        """The next titles, and how many of the listed pages are not articles, by reason."""
        query = {**crawl.query(_LISTED), "prop": "pageprops", "ppprop": "disambiguation"}
        answer = await self.wiki.ask(query, crawl.read)
        try:
            gathering, answer = await self.wiki.gather(query, answer, crawl.read)
        except TransientError:
            raise CrawlerError("the wiki sends large texts with its list of titles") from None
        if not answer.complete:
            raise CrawlerError("the wiki's list of titles goes in circles")
        crawl.take(gathering, answer.continuation, self.wiki)
        return gathering.titles(), gathering.skips()

    async def _fetch_all(self, titles: Sequence[_Title]) -> AsyncGenerator[Page | Skip]:
        """For each title its page, or why there is none; meanwhile a bounded number is being
        fetched."""
        waiting = deque(titles)
        # Bodies as received: as text they can take four times as much.
        running: deque[tuple[PageId, str, asyncio.Task[bytes | Skip]]] = deque()
        try:
            while waiting or running:
                fit_in_memory = int(_MOST_FETCHED / self._expected)
                most = min(self.wiki.page_limits.at_once + _AHEAD, fit_in_memory)
                while waiting and len(running) < max(1, most):
                    page_id, title = waiting.popleft()
                    running.append((page_id, title, asyncio.create_task(self._fetch(title))))
                page_id, title, task = running[0]
                fetched = await task
                running.popleft()
                if isinstance(fetched, bytes):
                    self._fetched += 1
                    revision = _REVISION.search(fetched, 0, _HEAD_BYTES)
                    revision_id = int(revision[1]) if revision else 0
                    text = fetched.decode("utf-8", errors="replace")
                    yield Page(page_id, title, revision_id, text, "html")
                    continue
                self._missed += 1
                if self._fetched == 0 and self._missed >= _LISTED:
                    where = self.wiki.client.quote(str(self._url("Title")))
                    raise CrawlerError(
                        f"none of {self._missed} pages could be fetched from {where}"
                    )
                yield fetched
        finally:
            tasks = [task for _, _, task in running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, title: str) -> bytes | Skip:
        """A page's body, or the reason for skipping it."""
        url = self._url(title)
        assert self._robots is not None
        if not self._robots.allows(url.raw_path_qs):
            return "forbidden by robots.txt"
        wanted = Wanted(most_bytes=_MOST_BYTES)
        tries = 0
        wiki_works = False
        while True:
            try:
                fetched = await self.wiki.client.once(url, _read_page, wanted)
                if isinstance(fetched, bytes):
                    self._expected = max(len(fetched), _FORGET * self._expected)
                return fetched
            except TransientError as error:
                tries += 1
                if tries >= _TRIES and not error.throttled:
                    if wiki_works:
                        self.wiki.client.note(f"gave up on a page: {error.text}")
                        return "too large" if error.too_large else "no text"
                    await self.wiki.ask(SITEINFO)
                    wiki_works = True
                else:
                    await self.wiki.client.backoff(error, tries)

    def _url(self, title: str) -> URL:
        assert self.wiki.api is not None
        return page_url(self.wiki.api, self._article_path, title)


def page_url(api: URL, article_path: str, title: str) -> URL:
    """The address of the page of ``title``, always on the host of the api.php, whatever path and
    title contain."""
    path = article_path.replace("$1", quote(title.replace(" ", "_"), safe=_SAFE))
    # Not URL.join: a path that begins with // would lead to another host.
    return URL(f"{api.origin()}{path}", encoded=True)


def _read_robots(reply: Reply) -> Robots:
    """Everything is allowed if there is no robots.txt; a server error does not mean that there is
    none."""
    if 400 <= reply.status < 500:
        return Robots("", _AGENT)
    if reply.status != 200:
        raise TransientError(f"{reply.url.host} answers {reply.status} for robots.txt")
    return Robots(reply.body, _AGENT)


def _read_page(reply: Reply) -> bytes | Skip:
    """The body of an article's page, or why there is none. Raises TransientError."""
    if reply.status in (404, 410):
        return "deleted or hidden"
    is_article = _MARK in reply.body or all(mark in reply.body for mark in _OLD_MARKS)
    if reply.status != 200 or not is_article:
        raise TransientError(
            f"{reply.url.host} sends something other than the article ({reply.status})"
        )
    return reply.body


def _position(crawl: CrawlPass, left: Sequence[_Title], share: float) -> Position:
    return {**crawl.position, "left": [list(title) for title in left], "share": share}


def _parts_of(position: Position | None) -> tuple[CrawlPass, list[_Title], float]:
    """The pass, titles left and the share of the pass. Raises `BadPosition`."""
    if position is None:
        return CrawlPass(None), [], 0.0
    crawl = CrawlPass(position)
    try:
        left = msgspec.convert(position.get("left"), list[_Title])
    except msgspec.ValidationError:
        raise BadPosition from None
    share = position.get("share")
    if not isinstance(share, float):
        share = crawl.share
    return crawl, left, share

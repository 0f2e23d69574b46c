"""Articles as rendered pages, `/wiki/Title`: as a reader sees them, with templates expanded.

Titles come from the Action API, without texts, in the same pass in random order as in `api`. The position
consists of the cursor after the current list, and the rest of that list.
"""

import asyncio
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, Sequence
from urllib.parse import quote

from yarl import URL

from wikitopics.crawler.http.rules import Robots
from wikitopics.crawler.http.wire import Reply, Wanted
from wikitopics.crawler.mediawiki.api import CrawlPass
from wikitopics.crawler.mediawiki.wiki import SITEINFO, Wiki
from wikitopics.crawler.source import (
    BadPosition,
    CrawlerError,
    Page,
    PageBatch,
    Position,
    Skip,
    SourceInfo,
    TransientError,
    WikiRefused,
    is_id,
)

_LISTED = 100
"""Titles per listing: one request in a hundred is for the list."""
_BATCH = 10
_MOST_BYTES = 8 << 20
"""The most bytes of a rendered page; Wikipedia's longest articles have 3 MB."""
_MOST_FETCHED = 32 << 20
"""The most bytes of pages being fetched or waiting for earlier ones."""
_FORGET = 0.9
"""The weight of a large page's size in the estimate for the next one."""
_BATCH_CHARACTERS = 2 << 20
_TRIES = 5
"""The number of failures after which the page, not the wiki, is to blame."""
_REVISION = re.compile(rb'"wgRevisionId":(\d{1,18})\b')
_HEAD_BYTES = 200_000
_AGENT = "wikitopics"
_SAFE = "/:(),!*;@$~.-_'"


_Title = tuple[int, str]
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
        self._read = self._missed = 0
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
                raise WikiRefused(f"robots.txt of {self.wiki.api.host} keeps crawlers out of its articles")
        return site

    async def close(self) -> None:
        await self.wiki.close()

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The pass from ``position`` on, a few pages per batch."""
        crawl, left, share = _parts_of(position)
        if left or not crawl.is_over:
            crawl.articles = (await self.open()).articles
        while left or not crawl.is_over:
            skips: Counter[Skip] = Counter()
            if not left:
                left, skips = await self._list(crawl)
            begin, end, total = share, crawl.share, len(left)
            if not left:
                share = end
                yield PageBatch((), _position(crawl, left, share), skips, share)
            async for pages, missed in self._fetch_all(left):
                left = left[len(pages) + missed.total() :]
                share = end - (end - begin) * len(left) / total
                yield PageBatch(pages, _position(crawl, left, share), skips + missed, share)
                skips = Counter()
            share = end

    async def _list(self, crawl: CrawlPass) -> tuple[list[_Title], Counter[Skip]]:
        """The next titles, and how many of the listed pages are not articles, by reason."""
        query = {**crawl.query(_LISTED), "prop": "pageprops", "ppprop": "disambiguation"}
        answer = await self.wiki.ask(query, crawl.read)
        gathering, answer = await self.wiki.gather(query, answer, crawl.read)
        if not answer.complete:
            raise CrawlerError("the wiki's list of titles goes in circles")
        crawl.take(gathering, answer.continuation, self.wiki)
        return gathering.titles(), gathering.skips()

    async def _fetch_all(
        self, titles: Sequence[_Title]
    ) -> AsyncGenerator[tuple[tuple[Page, ...], Counter[Skip]]]:
        """The pages in order, a few at a time, with the number of pages that are not articles.

        While the caller processes them, a bounded number of the next ones is being fetched.
        """
        waiting = deque(titles)
        # Bodies as received: as text they can take four times as much.
        running: deque[tuple[_Title, asyncio.Task[bytes | Skip]]] = deque()
        try:
            while waiting or running:
                most = min(self.wiki.page_limits.at_once + _BATCH, int(_MOST_FETCHED / self._expected))
                while waiting and len(running) < max(1, most):
                    title = waiting.popleft()
                    running.append((title, asyncio.create_task(self._fetch(title[1]))))
                pages: list[Page] = []
                missed: Counter[Skip] = Counter()
                size = 0
                # Wait for the first; pages that arrive in the meantime go with it, as far as there is room.
                while (
                    running and (not (pages or missed) or running[0][1].done()) and size < _BATCH_CHARACTERS
                ):
                    (page_id, name), task = running.popleft()
                    fetched = await task
                    if isinstance(fetched, bytes):
                        revision = _REVISION.search(fetched, 0, _HEAD_BYTES)
                        text = fetched.decode("utf-8", errors="replace")
                        pages.append(Page(page_id, name, int(revision[1]) if revision else 0, text, "html"))
                        size += len(text)
                    else:
                        missed[fetched] += 1
                    if len(pages) + missed.total() == _BATCH:
                        break
                self._read += len(pages)
                self._missed += missed.total()
                if self._read == 0 and self._missed >= _LISTED:
                    where = self.wiki.client.quote(str(self._url("Title")))
                    raise CrawlerError(f"none of {self._missed} pages could be fetched from {where}")
                yield tuple(pages), missed
        finally:
            tasks = [task for _, task in running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, title: str) -> bytes | Skip:
        """A page's body, or the reason for skipping it."""
        url = self._url(title)
        assert self._robots is not None
        if not self._robots.allows(url.raw_path_qs):
            return "forbidden by robots.txt"
        tries, wiki_works = 0, False
        while True:
            try:
                fetched = await self.wiki.client.once(url, _read_page, Wanted(most_bytes=_MOST_BYTES))
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
    """The address of the page of ``title``, always on the host of the api.php, whatever path and title
    contain."""
    path = article_path.replace("$1", quote(title.replace(" ", "_"), safe=_SAFE))
    # Not URL.join: a path that begins with // would lead to another host.
    return URL(f"{api.origin()}{path}", encoded=True)


def _read_robots(reply: Reply) -> Robots:
    """Everything is allowed if there is no robots.txt; a server error does not mean that there is none."""
    if 400 <= reply.status < 500:
        return Robots("", _AGENT)
    if reply.status != 200:
        raise TransientError(f"{reply.url.host} answers {reply.status} for robots.txt")
    return Robots(reply.body, _AGENT)


def _read_page(reply: Reply) -> bytes | Skip:
    if reply.status in (404, 410):
        return "deleted or hidden"
    if reply.status != 200 or b"mw-parser-output" not in reply.body:
        raise TransientError(f"{reply.url.host} sends something other than the article ({reply.status})")
    return reply.body


def _position(crawl: CrawlPass, left: Sequence[_Title], share: float) -> Position:
    return {**crawl.position, "left": [list(title) for title in left], "share": share}


def _parts_of(position: Position | None) -> tuple[CrawlPass, list[_Title], float]:
    """The pass, titles left and the share of the pass. Raises `BadPosition`."""
    if position is None:
        return CrawlPass(None), [], 0.0
    left, share = position.get("left"), position.get("share")
    if not isinstance(left, list) or not all(
        isinstance(t, list) and len(t) == 2 and is_id(t[0]) and isinstance(t[1], str) for t in left
    ):
        raise BadPosition
    crawl = CrawlPass(position)
    return crawl, list(map(tuple, left)), share if isinstance(share, float) else crawl.share

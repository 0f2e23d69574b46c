"""Articles by the Action API: one pass through all of them in random order, without replacement.

`generator=random` lists consecutive pages in the wiki's fixed random order from a random start; its cursor
continues from there, wraps around and ends where it began. The cursor is the position, together with a small
memory of earlier pages (see `wikitopics.crawler.mediawiki.crawl_pass`).
"""

import math
from collections.abc import AsyncGenerator, Mapping

from wikitopics.crawler.http.rules import RateLimits
from wikitopics.crawler.http.wire import interval
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass, generator
from wikitopics.crawler.mediawiki.replies import Gathering
from wikitopics.crawler.mediawiki.wiki import MOST_PAGES, TEXTS, Wiki
from wikitopics.crawler.source import CrawlerError, PageBatch, Position, SourceInfo, TransientError

# How many pages to ask for in one request.

_FORGET = 0.95
"""The weight of an observation relative to the next newer one: about twenty replies count."""
_PRIOR_WEIGHT = 0.3
_PRIOR_LATENCY = 0.15
"""The latency of a reply without pages, assumed until replies of several sizes were seen."""
_PRIOR = tuple(_PRIOR_WEIGHT * value for value in (1.0, 0.0, _PRIOR_LATENCY, 0.0, 0.0, _PRIOR_LATENCY**2))
"""As sums of observations, see `BatchSizer`."""
_PRIOR_SPREAD = 0.08
_PROBE_EVERY = 60


class BatchSizer:
    """Chooses the batch size that gives most pages per second under ``limits``.

    If no reply is too slow, that is ``most``. Wikimedia asks for a rest of 5 s after each reply slower than 1
    s. There a line ``latency = a + b * pages`` is fitted to the replies, with less weight for older ones. The
    chosen size has the most pages per expected second, including the rest with the probability that follows
    from the spread about the line.
    """

    def __init__(self, limits: RateLimits, most: int) -> None:
        self._limits = limits
        self._most = most
        self._ceiling = most
        # Weighted sums over (pages n, latency y): 1, n, y, n², ny, y².
        self._sums = list(_PRIOR)
        self._replies = 0
        self._pages = most

    @property
    def pages(self) -> int:
        """The number of pages to request now."""
        return self._pages

    def seen(self, pages: int, latency: float) -> None:
        """Record that a reply with ``pages`` pages took ``latency`` seconds."""
        values = (1.0, pages, latency, pages * pages, pages * latency, latency * latency)
        self._sums = [
            keep + _FORGET * (s - keep) + v for s, keep, v in zip(self._sums, _PRIOR, values, strict=True)
        ]
        self._replies += 1
        if self._ceiling < self._most:
            self._ceiling = min(self._most, self._ceiling + max(1, self._ceiling // 10))
        self._pages = self._best()
        if self._replies % _PROBE_EVERY == 0 and self._pages < self._ceiling:
            self._pages = min(self._ceiling, self._pages + max(1, self._pages // 5))

    def timed_out(self) -> None:
        """Record that the wiki did not reply in time: request half as many, and grow again slowly."""
        self._ceiling = max(1, min(self._pages, self._ceiling) // 2)
        self._pages = min(self._pages, self._ceiling)

    def _best(self) -> int:
        if self._limits.slow_reply is None:
            return self._ceiling
        a, b, spread = self._line()
        return max(range(1, self._ceiling + 1), key=lambda n: (n / self._seconds(a + b * n, spread), n))

    def _line(self) -> tuple[float, float, float]:
        """Intercept, slope (both never negative) and spread of the latency over the pages."""
        w, n, y, nn, ny, yy = self._sums
        variance = nn - n * n / w
        slope = max(0.0, (ny - n * y / w) / variance) if variance > 1e-9 else 0.0
        intercept = max(0.0, (y - slope * n) / w)
        squares = yy - 2 * (slope * ny + intercept * y) + slope**2 * nn + 2 * slope * intercept * n
        left = max(0.0, (squares + intercept**2 * w) / w)
        return intercept, slope, math.sqrt(left + _PRIOR_SPREAD**2 / (1 + self._replies))

    def _seconds(self, latency: float, spread: float) -> float:
        """Expected seconds from one request to the next."""
        slow = self._limits.slow_reply or math.inf
        too_slow = 0.5 * math.erfc((slow - latency) / (spread * math.sqrt(2)))
        return max(latency, interval(self._limits)) + self._limits.slow_wait * too_slow


_MOST_EMPTY = 100
"""The most batches in a row without a page."""


class ApiSource:
    """All articles of ``wiki``, up to ``batch_pages`` of them per request."""

    def __init__(self, wiki: Wiki, batch_pages: int = MOST_PAGES) -> None:
        self.wiki = wiki
        self._sizer = BatchSizer(wiki.limits, min(batch_pages, MOST_PAGES))
        self.activity = wiki.activity
        self.activity.batch_pages = self._sizer.pages

    async def open(self) -> SourceInfo:
        """Find the wiki's api.php and ask it for its siteinfo."""
        return await self.wiki.open()

    async def close(self) -> None:
        await self.wiki.close()

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The pass from ``position`` on."""
        crawl, empty = CrawlPass(position), 0
        if not crawl.is_over:
            crawl.articles = (await self.open()).articles
        while not crawl.is_over:
            gathering, continuation = await self._gather(crawl)
            empty = 0 if len(gathering) else empty + 1
            if empty > _MOST_EMPTY:
                raise CrawlerError("the wiki keeps continuing without listing a page")
            self.wiki.step(crawl, continuation, gathering)
            yield PageBatch(gathering.pages(), crawl.position, gathering.skips_without_text(), crawl.share)

    async def _gather(self, crawl: CrawlPass) -> tuple[Gathering, Mapping[str, str] | None]:
        """The next batch of the pass, and how to continue after it; None at its end.

        If the wiki is too slow for this many pages, or they are too large, the next try is for fewer.
        """
        tries = 0
        while True:
            pages = self.activity.batch_pages = self._sizer.pages
            query = {**crawl.query(pages), **TEXTS}
            answer = None
            try:
                answer = await self.wiki.client.once(self.wiki.url(query), crawl.read)
                self._sizer.seen(max(1, len(answer.pages)), self.activity.latency_seconds or 0.0)
                gathering, answer = await self.wiki.gather(query, answer, crawl.read)
            except TransientError as error:
                if error.slow or error.too_large:
                    self._sizer.timed_out()
                if answer is None or pages == 1:  # pages that are too large in total need no wait
                    tries += 1
                    await self.wiki.client.backoff(error, tries)
                continue
            if not answer.complete:
                # One text never comes: fetch the others by id, then go past the batch.
                continuation = answer.continuation or {}
                await self.wiki.fill_in(gathering, continuation)
                here = {key: value for key, value in continuation.items() if key.startswith("grn")}
                answer = await self.wiki.ask({**generator(pages), **here}, crawl.read)
            return gathering, answer.continuation

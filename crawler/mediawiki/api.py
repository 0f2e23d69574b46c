"""Articles by the Action API: one pass through all of them in random order, without replacement.

`generator=random` lists consecutive pages in the wiki's fixed random order from a random start; its cursor
continues from there, wraps around and ends where it began. The cursor is the position, together with a small
memory of earlier pages (see `wikitopics.crawler.mediawiki.seen`).
"""

from collections.abc import AsyncGenerator

from wikitopics.crawler.errors import CrawlerError, TransientError
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass, generator
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.sizing import BatchSizer
from wikitopics.crawler.mediawiki.wiki import MOST_PAGES, TEXTS, Wiki, stuck_page
from wikitopics.crawler.source import PageBatch, Position, SourceInfo

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
        site = await self.wiki.open()
        return SourceInfo(
            site.name, site.articles, site.file_names, site.category_names, identity=self.wiki.identity
        )

    async def close(self) -> None:
        await self.wiki.close()

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The pass from ``position`` on."""
        crawl, empty = CrawlPass(position), 0
        if not crawl.is_over:
            crawl.articles = (await self.open()).articles
        while not crawl.is_over:
            gathering, going_on = await self._gather(crawl)
            empty = 0 if len(gathering) else empty + 1
            if empty > _MOST_EMPTY:
                raise CrawlerError("the wiki keeps continuing without listing a page")
            self.wiki.step(crawl, going_on, gathering)
            yield PageBatch(gathering.pages(), crawl.position, gathering.skips_without_text(), crawl.share)

    async def _gather(self, crawl: CrawlPass) -> tuple[Gathering, dict[str, str] | None]:
        """The next batch of the pass, and how to continue after it; None at its end."""
        tries = 0
        while True:
            gathering = Gathering()
            try:
                return gathering, await self._fill(gathering, crawl)
            except TransientError as error:  # too much in total: again, with fewer pages
                if self._sizer.pages == 1:
                    tries += 1
                    await self.wiki.client.backoff(error, tries)
                self._sizer.timed_out()

    async def _fill(self, gathering: Gathering, crawl: CrawlPass) -> dict[str, str] | None:
        query: dict[str, str] = {}

        def first_query() -> dict[str, str]:
            nonlocal query  # a wiki too slow for this many pages is asked for fewer at the next try
            self.activity.batch_pages = self._sizer.pages
            query = {**crawl.query(self._sizer.pages), **TEXTS}
            return query

        def on_error(error: TransientError) -> None:
            if error.slow or error.too_large:
                self._sizer.timed_out()

        answer = await self.wiki.ask(first_query, on_error, crawl=crawl)
        gathering.add(answer[0])
        if self.activity.latency_seconds is not None:
            self._sizer.seen(max(1, len(gathering)), self.activity.latency_seconds)
        going_on, complete = await self.wiki.ask_on(gathering, query, answer, crawl)
        if complete is None:
            # One text never comes: fetch the others by id, then go past the batch.
            await self.wiki.fill_in(gathering, stuck_page(going_on))
            here = {key: value for key, value in going_on.items() if key.startswith("grn")}
            complete = await self.wiki.ask({**generator(int(query["grnlimit"])), **here}, crawl=crawl)
        return complete[1]

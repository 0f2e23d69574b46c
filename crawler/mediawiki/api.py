"""Articles from the Action API: one pass through all of them in random order."""

from collections.abc import AsyncGenerator, Mapping

from wikitopics.crawler.errors import CrawlerError, TransientError
from wikitopics.crawler.mediawiki.batch_size import BatchSizer
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass, generator
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.replies import QueryAnswer
from wikitopics.crawler.mediawiki.wiki import MOST_PAGES, TEXTS, Wiki
from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import PageBatch, Position


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
        crawl = CrawlPass(position)
        if not crawl.is_over:
            crawl.articles = (await self.open()).articles
        while not crawl.is_over:
            gathering, continuation = await self._gather(crawl)
            crawl.take(gathering, continuation, self.wiki)
            yield PageBatch(
                gathering.pages(),
                crawl.position,
                gathering.skips_without_text(),
                crawl.share,
            )

    async def _gather(self, crawl: CrawlPass) -> tuple[Gathering, Mapping[str, str] | None]:
        """The next batch of the pass, and how to continue after it; None at its end.

        If the wiki is too slow for this many pages, or they are too large, fewer are requested
        next.
        """
        tries = 0
        while True:
            pages = self._sizer.pages
            self.activity.batch_pages = pages
            query = {**crawl.query(pages), **TEXTS}
            answer = None
            try:
                answer = await self.wiki.client.once(self.wiki.url(query), crawl.read)
                self._sizer.seen(max(1, len(answer.pages)), self.activity.latency_seconds or 0.0)
                gathering, answer = await self.wiki.gather(query, answer, crawl.read)
                if not answer.complete:
                    answer = await self._filled_in(crawl, pages, gathering, answer)
            except TransientError as error:
                if error.slow or error.too_large:
                    self._sizer.timed_out()
                if answer is None or pages == 1:  # pages that are too large in total need no wait
                    tries += 1
                    await self.wiki.client.backoff(error, tries)
                continue
            return gathering, answer.continuation

    async def _filled_in(
        self,
        crawl: CrawlPass,
        pages: int,
        gathering: Gathering,
        stuck: QueryAnswer,
    ) -> QueryAnswer:
        """Fetch the texts of a batch by id, since one of them never arrives; returns the answer
        that lists the batch without texts, and so says how to go on after it.

        Raises `TransientError` if the texts are too large in total, and CrawlerError if that answer
        is not complete.
        """
        continuation = stuck.continuation or {}
        await self.wiki.fill_in(gathering, continuation)
        cursor = {key: value for key, value in continuation.items() if key.startswith("grn")}
        answer = await self.wiki.ask({**generator(pages), **cursor}, crawl.read)
        if not answer.complete:
            raise CrawlerError("the wiki's list of articles goes in circles")
        return answer

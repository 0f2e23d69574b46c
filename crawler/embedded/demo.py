"""`demo`: the embedded wiki, crawled by the same client that crawls Wikipedia."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from wikitopics.crawler.embedded.launch import EmbeddedWiki
from wikitopics.crawler.mediawiki.api import ApiSource
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.source import Activity, PageBatch, Position, SourceInfo

NAME = "embedded sample"


class DemoSource:
    """A wiki of ``size`` articles in a separate process, which ends with `close` or with this process.

    Wikis of the same size are the same, whatever port they listen on, so positions remain valid.
    """

    def __init__(self, *, version: str, size: int) -> None:
        self.activity = Activity()
        self._options = ["--size", str(size)]
        self._version = version
        self._wiki: EmbeddedWiki | None = None
        self._source: ApiSource | None = None

    async def open(self) -> SourceInfo:
        """Start the wiki and ask it for its siteinfo."""
        if self._source is None:
            self._wiki = await asyncio.to_thread(EmbeddedWiki, self._options)
            self._source = ApiSource(Wiki(self._wiki.url, version=self._version))
            self.activity = self._source.activity
        # The port differs the next time: nothing to store.
        return replace(await self._source.open(), name=NAME, identity={})

    def batches(self, position: Position | None) -> AsyncIterator[PageBatch]:
        """Its lap, as for any wiki. Only after `open`."""
        assert self._source is not None
        return self._source.batches(position)

    async def close(self) -> None:
        if self._source is not None:
            await self._source.close()
        if self._wiki is not None:
            await asyncio.to_thread(self._wiki.stop)

"""What a source hears of a stream of changes."""

from contextlib import aclosing
from typing import Any

import pytest

from tests.crawler.streams import ARTICLES, Hear
from wikitopics.crawler.embedded.api import EmbeddedApi
from wikitopics.crawler.mediawiki import recent
from wikitopics.crawler.mediawiki.recent import RecentSource
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.source import PageBatch


@pytest.fixture
def hear(serve: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Hear:
    """Serves a stream beside its wiki, and reads batches until there are so many articles and skipped ones:
    ``batches, source = await hear(stream, articles, position)``."""
    monkeypatch.setattr(recent, "_GATHER_SECONDS", 0.2)

    async def heard(stream: Any, articles: int, position: Any = None, **options: Any) -> Any:
        url = await serve(EmbeddedApi(ARTICLES), override=stream)
        source = RecentSource(
            Wiki(url, version="0", clock=clock, **options), url.replace("api.php", "stream")
        )
        batches: list[PageBatch] = []
        try:
            async with aclosing(source.batches(position)) as coming:
                async for batch in coming:
                    batches.append(batch)
                    if sum(len(b.pages) + b.skipped for b in batches) >= articles:
                        break
        finally:
            await source.close()
        return batches, source

    return heard

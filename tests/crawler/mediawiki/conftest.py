"""What a source hears of a stream of changes."""

from contextlib import aclosing

import pytest

from tests.crawler.streams import ARTICLES
from tests.wiki import FaultyApi
from wikitopics.crawler.mediawiki import recent
from wikitopics.crawler.mediawiki.recent import RecentSource
from wikitopics.crawler.mediawiki.wiki import Wiki


@pytest.fixture
def hear(serve, clock, monkeypatch):
    """Serves a stream beside its wiki, and reads batches until there are so many articles and skipped ones:
    ``batches, source = await hear(stream, articles, position)``."""
    monkeypatch.setattr(recent, "_GATHER_SECONDS", 0.2)

    async def heard(stream, articles, position=None, **options):
        url = await serve(FaultyApi(ARTICLES), override=stream)
        source = RecentSource(
            Wiki(url, version="0", clock=clock, **options), url.replace("api.php", "stream")
        )
        batches = []
        try:
            async with aclosing(source.batches(position)) as coming:
                async for batch in coming:
                    batches.append(batch)
                    if sum(len(b.pages) + sum(b.skips.values()) for b in batches) >= articles:
                        break
        finally:
            await source.close()
        return batches, source

    return heard

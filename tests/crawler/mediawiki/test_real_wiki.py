"""A whole lap of a real MediaWiki, where WIKITOPICS_TEST_API names its api.php."""

import os

import aiohttp
import pytest

from tests.crawler.laps import crawl
from wikitopics.crawler.mediawiki.api import ApiSource
from wikitopics.crawler.mediawiki.wiki import Wiki

API = os.environ.get("WIKITOPICS_TEST_API", "")
pytestmark = pytest.mark.skipif(not API, reason="WIKITOPICS_TEST_API names no wiki")


async def every_article():
    found = set()
    query = {"action": "query", "format": "json", "formatversion": "2"}
    query |= {"list": "allpages", "aplimit": "500", "apfilterredir": "nonredirects"}
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.get(API, params=query) as response:
                reply = await response.json()
            found |= {page["pageid"] for page in reply["query"]["allpages"]}
            if "continue" not in reply:
                return found
            query |= reply["continue"]


@pytest.mark.parametrize("batch_pages", [50, 7])
async def test_every_article_once_whatever_interrupts(batch_pages):
    """Closed and opened again after every third batch, from the position of the last one."""
    pages, skipped = await crawl(lambda: ApiSource(Wiki(API, version="0"), batch_pages), 3)
    read = [page.page_id for page in pages]
    every = await every_article()
    assert len(read) == len(set(read))
    assert set(read) <= every
    assert len(read) + skipped == len(every)

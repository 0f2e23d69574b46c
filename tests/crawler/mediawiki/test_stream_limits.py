"""Wikimedia's rules for its stream of changes: they hold while it is being opened."""

import pytest
from yarl import URL

from tests.crawler.streams import ARTICLES, Stream, event, ids
from tests.wiki import FaultyApi
from wikitopics.crawler.http.rules import wikimedia_limits, wikimedia_service_limits
from wikitopics.crawler.mediawiki.recent import RecentSource
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.source import WikiUnreachable

POLITE = {"limits": wikimedia_limits(), "contact": "me@wiki-reader.org"}


async def test_on_wikimedia_the_stream_is_left_alone_after_an_error(hear, clock, tmp_path):
    stream = Stream(event(1), 500, event(2))
    before = clock.now
    batches, source = await hear(stream, 2, budget_folder=tmp_path, **POLITE)
    assert sorted(ids(batches)) == [1, 2]
    assert clock.now - before >= 900
    assert [error.text for error in source.activity.errors] == ["127.0.0.1 answers 500"]


async def test_a_start_does_not_wait_for_the_stream(hear, clock, tmp_path):
    """Neither for its own error nor for one that another trainer met."""
    stream = Stream(503)
    before = clock.now
    for _ in range(2):
        with pytest.raises(WikiUnreachable, match=r"try again after \d\d:\d\d:\d\d, in 15 minutes$"):
            await hear(stream, 1, budget_folder=tmp_path, **POLITE)
    assert len(stream.asked) == 1
    assert clock.now - before < 60


async def test_only_the_opening_of_a_stream_keeps_others_waiting(serve, clock, tmp_path):
    """Two trainers listen at the same time."""
    url = await serve(FaultyApi(ARTICLES), override=Stream())
    stream = url.replace("api.php", "stream")
    sources = [
        RecentSource(Wiki(url, version="0", clock=clock, budget_folder=tmp_path, **POLITE), stream)
        for _ in range(2)
    ]
    limits = wikimedia_service_limits("127.0.0.1", "the stream of changes")
    heard = [source.wiki.client.lines(URL(stream), {}, 60.0, limits) for source in sources]
    began = clock.now
    assert [await anext(lines) for lines in heard] == [b":ok", b":ok"]
    assert clock.now - began >= 1.0
    for lines, source in zip(heard, sources, strict=True):
        await lines.aclose()
        await source.close()

"""RecentSource against a stream of changes in the test and the embedded wiki."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from crawler.changes import changes
from crawler.embedded.api import EmbeddedApi
from crawler.embedded.corpus import Articles, synthetic_corpus
from crawler.embedded.faults import Faults
from crawler.errors import BadSource, WikiRefused
from crawler.limits import wikimedia_manners
from crawler.page import PageBatch, Position
from crawler.sources import recent
from crawler.sources.recent import RecentSource
from crawler.wiki import Wiki

ARTICLES = Articles(synthetic_corpus(60), 100)


def event(number: int, **fields: Any) -> bytes:
    change = {
        "meta": {"domain": "127.0.0.1"},
        "namespace": 0,
        "type": "edit",
        "title": ARTICLES.title(number),
    } | fields
    return f'event: message\nid: [{{"offset":{number}}}]\ndata: {json.dumps(change)}\n\n'.encode()


class Stream:
    """Sends one script a connection, then keeps the connection open."""

    def __init__(self, *scripts: bytes | int) -> None:
        self.scripts = list(scripts)
        self.asked: list[str | None] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse | None:
        if request.path != "/w/stream":
            return None
        self.asked.append(request.headers.get("Last-Event-ID"))
        script = self.scripts.pop(0) if self.scripts else b":ok\n\n"
        if isinstance(script, int):
            return web.Response(status=script, headers={"Retry-After": "3"}, text="no")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for at in range(0, len(script), 100):
            await response.write(script[at : at + 100])
        if not self.scripts:
            await asyncio.sleep(30)
        return response


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_GATHER_SECONDS", 0.2)


async def listen(
    url: str, clock: Any, articles: int, position: Position | None = None, **options: Any
) -> tuple[list[PageBatch], RecentSource]:
    """Batches until there are so many articles and skipped ones."""
    stream_url = url.replace("api.php", "stream")
    source = RecentSource(Wiki(url, version="0", clock=clock, **options), stream_url)
    batches: list[PageBatch] = []
    try:
        async with asyncio.timeout(20), aclosing(source.batches(position)) as coming:
            async for batch in coming:
                batches.append(batch)
                if sum(len(b.pages) + b.skipped for b in batches) >= articles:
                    break
    finally:
        await source.close()
    return batches, source


def ids(batches: list[PageBatch]) -> list[int]:
    return [page.page_id - 1 for batch in batches for page in batch.pages]


Serve = Callable[..., Awaitable[str]]


@pytest.mark.usefixtures("short_waits")
async def test_changed_articles_in_batches(serve: Serve, clock: Any) -> None:
    script = b":ok\n\n" + b"".join(
        [
            event(1),
            event(2, meta={"domain": "canary"}),
            event(3, meta={"domain": "de.wikipedia.org"}),
            event(4, namespace=1),
            event(5, type="categorize"),
            event(1),
            event(6, type="new"),
            event(7, title="a|b"),
            event(8, title=7),
            b"data: not json\n\n",
            b"data: " + b"[" * 100_000 + b"\n\n",
            event(9, title="No such article"),
            event(10),
        ]
    )
    stream = Stream(script)
    api = EmbeddedApi(ARTICLES, faults=Faults({"disambiguation": 0.0}))
    batches, source = await listen(await serve(api, override=stream), clock, 4)
    assert sorted(ids(batches)) == [1, 6, 10]
    assert sum(b.skipped for b in batches) == 1
    assert batches[-1].position == {"last_event_id": '[{"offset":10}]'}
    assert all(b.lap is None for b in batches)
    assert source.activity.waiting_for is None


@pytest.mark.usefixtures("short_waits")
async def test_goes_on_behind_the_last_event(serve: Serve, clock: Any) -> None:
    stream = Stream(event(1) + event(2), event(3), 429, 503, event(4))
    url = await serve(EmbeddedApi(ARTICLES), override=stream)
    batches, source = await listen(url, clock, 4, {"last_event_id": '[{"offset":0}]'})
    assert sorted(ids(batches)) == [1, 2, 3, 4]
    offsets = [f'[{{"offset":{n}}}]' for n in (0, 2, 3, 3, 3)]
    assert stream.asked == offsets
    assert source.activity.throttled == 2


@pytest.mark.usefixtures("short_waits")
async def test_a_burst_comes_in_full_batches(serve: Serve, clock: Any) -> None:
    stream = Stream(b"".join(event(n) for n in range(100)))
    batches, _ = await listen(await serve(EmbeddedApi(ARTICLES), override=stream), clock, 100)
    assert sorted(ids(batches)) == list(range(100))
    assert max(len(b.pages) for b in batches) == 50


@pytest.mark.usefixtures("short_waits")
async def test_stream_and_api_on_wikimedia(serve: Serve, clock: Any, tmp_path: Path) -> None:
    stream = Stream(b"".join(event(n) for n in range(70)))
    url = await serve(EmbeddedApi(ARTICLES), override=stream)
    polite = {"manners": wikimedia_manners(), "contact": "me@wiki-reader.org", "budget_folder": tmp_path}
    batches, _ = await listen(url, clock, 70, **polite)
    assert sorted(ids(batches)) == list(range(70))


async def test_403_stops(serve: Serve, clock: Any) -> None:
    url = await serve(EmbeddedApi(ARTICLES), override=Stream(403))
    with pytest.raises(WikiRefused):
        await listen(url, clock, 1)


def test_only_wikimedia_streams() -> None:
    with pytest.raises(BadSource, match="Wikimedia"):
        RecentSource(Wiki("https://wiki.someone.net/", version="0"))


async def test_a_foreign_position(clock: Any) -> None:
    source = RecentSource(Wiki("http://127.0.0.1:9/", version="0", clock=clock), "http://127.0.0.1:9/x")
    with pytest.raises(BadSource):
        await anext(source.batches({"cursor": {}}))
    await source.close()


async def test_ids_that_are_no_headers() -> None:
    async def lines() -> Any:
        for line in (
            b"id: a\x00b",
            *event(1).replace(b'id: [{"offset":1}]', b"id: caf\xc3\xa9").split(b"\n"),
        ):
            yield line

    assert [c.event_id async for c in changes(lines(), "127.0.0.1")] == [""]

"""Replies that are no answer: what can pass is asked for again, what cannot ends the run."""

import asyncio
import gzip
import json

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.mediawiki.wiki import read_api
from wikitopics.crawler.source import Activity

STILL = {"grncontinue": "0.05|0.050000|1|0", "continue": "grncontinue||"}
BODIES = {
    "html": "<!DOCTYPE html><p>hello",
    "text": "hello",
    "nothing": "",
    "cut json": '{"batchcomplete":true,"query":{"pages":[{"pa',
    "a list": "[1, 2]",
    "deep json": '{"a":' * 100_000,
    "neither complete nor continued": '{"query": {"pages": []}}',
    "continue is text": '{"batchcomplete": true, "continue": "on"}',
    "error": '{"error": {"code": "internal_api_error_DBQueryError", "info": "[x] Caught"}}',
    "unknown error": '{"error": {"code": "unknownerror", "info": "Unknown error"}}',
    "cursor stands still": json.dumps({"batchcomplete": True, "continue": STILL}),
    "not utf-8": '{"batchcomplete":true,"x":"ä"}'.encode("latin-1"),
}
PACKED = {"gzip garbage": b"no gzip at all", "gzip cut": gzip.compress(b"{}" * 500)[:-12]}


@pytest.mark.parametrize(
    "fault", [*BODIES, *PACKED, 500, 502, 503, 504, 408, 404, 410, "redirect away", "redirect circle"]
)
async def test_what_passes_is_retried(wiki, crawled, fault):
    async def act(request):
        if fault in PACKED:
            return web.Response(body=PACKED[fault], headers={"Content-Encoding": "gzip"})
        if fault in BODIES:
            return web.Response(body=BODIES[fault], content_type="application/json")
        if isinstance(fault, int):
            return web.Response(status=fault, text="oops")
        away = "http://elsewhere.invalid/w/api.php"
        return web.Response(status=302, headers={"Location": away if fault == "redirect away" else wiki.url})

    position = {"cursor": STILL} if fault == "cursor stands still" else None
    batches, s = await crawled(*[act] * (6 if fault == "redirect circle" else 3), position=position)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert s.activity.retries >= 2
    assert s.activity.errors
    assert all("\n" not in error.text and len(error.text) <= 300 for error in s.activity.errors)
    assert s.activity.waiting_for is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b" <!DOCTYPE html><p>", "an HTML page"), (b"hello", "text"), (b" \n", "nothing"), (b"", "nothing")],
)
def test_what_came_instead_of_json_is_told(body, kind):
    headers = CIMultiDictProxy[str](CIMultiDict())
    reply = Reply(200, URL("http://wiki.org/w/api.php"), headers, body)
    with pytest.raises(TransientError) as caught:
        read_api(reply)
    assert caught.value.text == f"wiki.org sends {kind} instead of the API's JSON: is this a MediaWiki?"


@pytest.mark.parametrize("begun", [0, 1])
async def test_cut_at_every_byte(wiki, clock, begun):
    """A server that closes the connection after n bytes of a good reply, for every n."""
    good = json.dumps(wiki.reply({"meta": "siteinfo"})).encode()
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(good)
    cuts = list(range(begun, len(head + good), 2))
    left = [*cuts, None]  # at first whole: as in the midst of a run

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write((head + good)[: left.pop() if left else None])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    activity = Activity()
    client = Client(RateLimits(rpm=None), activity, version="0", clock=clock)
    url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/w/api.php")
    for retries in (0, len(cuts)):
        assert (await client.fetch(url, read_api))["batchcomplete"] is True
        assert activity.retries == retries
    await client.close()
    server.close()
    await server.wait_closed()


async def test_a_body_that_unpacks_without_bound(wiki, crawled):
    """Those that never end, or stall, are faults of the embedded wiki."""

    async def bomb(request):
        packed = gzip.compress(b" " * (64 << 20), 1)
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    batches, s = await crawled(bomb, bounds=RequestBounds(most_bytes=1 << 20))
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert wiki.script == []
    assert s.activity.retries == 1


async def test_a_request_refused_for_good(acts, crawled):
    with pytest.raises(CrawlerError, match="badcontinue"):
        await crawled(acts.json({"error": {"code": "badcontinue", "info": "x"}}))


@pytest.mark.parametrize("early", [True, False])
async def test_403_stops(wiki, source, acts, early, read):
    text = "Please set a user-agent\n and respect our \x1b[31mrobot policy (me@wiki-reader.org)"
    s = source(contact="me@wiki-reader.org")
    if not early:
        await s.open()
    wiki.script = [acts.text(403, text)]
    with pytest.raises(WikiRefused, match="respect our") as caught:
        await read(s)
    assert caught.value.exit_code == 6
    assert "me@wiki-reader.org" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)

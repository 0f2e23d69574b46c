"""Replies that are no answer: what can pass is asked for again, what cannot ends the run."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.limits import RateLimits
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.mediawiki.replies import read_api
from wikitopics.crawler.source import Activity, Position


@pytest.mark.parametrize(
    "fault",
    [
        "html",
        "text",
        "nothing",
        "cut json",
        "a list",
        "deep json",
        "not utf-8",
        "500",
        "502",
        "503",
        "504",
        "408",
        "404",
        "410",
        "neither complete nor continued",
        "continue is text",
        "gzip garbage",
        "gzip cut",
        "redirect away",
        "redirect circle",
        "error",
        "unknown error",
        "cursor stands still",
    ],
)
async def test_what_passes_is_retried(wiki: Any, source: Any, acts: Any, fault: str, read_ids: Any) -> None:
    async def not_utf8(request: web.Request) -> web.Response:
        return web.Response(
            body='{"batchcomplete":true,"x":"ä"}'.encode("latin-1"), content_type="application/json"
        )

    async def packed(request: web.Request) -> web.Response:
        body = gzip.compress(b"{}" * 500)[:-12] if fault == "gzip cut" else b"no gzip at all"
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    moved = {"Location": "http://elsewhere.invalid/w/api.php" if fault == "redirect away" else wiki.url}
    still = {"grncontinue": "0.05|0.050000|1|0", "continue": "grncontinue||"}
    act = {
        "html": acts.text(200, "<!DOCTYPE html><p>hello", "text/html"),
        "text": acts.text(200, "hello"),
        "nothing": acts.text(200, ""),
        "cut json": acts.text(200, '{"batchcomplete":true,"query":{"pages":[{"pa', "application/json"),
        "a list": acts.json([1, 2]),
        "deep json": acts.text(200, '{"a":' * 100_000, "application/json"),
        "not utf-8": not_utf8,
        "neither complete nor continued": acts.json({"query": {"pages": []}}),
        "continue is text": acts.json({"batchcomplete": True, "continue": "on"}),
        "gzip garbage": packed,
        "gzip cut": packed,
        "redirect away": acts.text(302, "", **moved),
        "redirect circle": acts.text(302, "", **moved),
        "error": acts.json({"error": {"code": "internal_api_error_DBQueryError", "info": "[x] Caught"}}),
        "unknown error": acts.json({"error": {"code": "unknownerror", "info": "Unknown error"}}),
        "cursor stands still": acts.json({"batchcomplete": True, "continue": still}),
    }.get(fault) or acts.text(int(fault), "oops")
    s = source()
    await s.open()
    wiki.script = [act] * (6 if fault == "redirect circle" else 3)
    position: Position | None = {"cursor": still} if fault == "cursor stands still" else None
    assert await read_ids(s, position) == [1, 2, 3, 4, 5, 6, 7]
    assert s.activity.retries >= 2
    assert s.activity.errors
    assert all("\n" not in error.text and len(error.text) <= 300 for error in s.activity.errors)
    assert s.activity.waiting_for is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b" <!DOCTYPE html><p>hello", "an HTML page"),
        (b"hello", "text"),
        (b" \n", "nothing"),
        (b"", "nothing"),
    ],
)
def test_what_came_instead_of_json_is_told(body: bytes, kind: str) -> None:
    headers = CIMultiDictProxy[str](CIMultiDict())
    reply = Reply(200, URL("http://wiki.org/w/api.php"), headers, body)
    with pytest.raises(TransientError) as caught:
        read_api(reply)
    assert caught.value.text == f"wiki.org sends {kind} instead of the API's JSON: is this a MediaWiki?"


@pytest.mark.parametrize("begun", [0, 1])
async def test_cut_at_every_byte(wiki: Any, clock: Any, begun: int) -> None:
    """A server that closes the connection after n bytes of a good reply, for every n."""
    good = json.dumps(wiki.reply({"meta": "siteinfo"})).encode()
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(good)
    cuts = list(range(begun, len(head + good), 2))
    left = [*cuts, None]  # at first whole: as in the midst of a run

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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


@pytest.mark.parametrize("fault", ["endless", "bomb", "stalls"])
async def test_endless_and_stalling_bodies(wiki: Any, source: Any, read_ids: Any, fault: str) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"{" + b" " * 65536)
        except ConnectionError:
            return response

    async def bomb(request: web.Request) -> web.StreamResponse:
        packed = gzip.compress(b" " * (64 << 20), 1)
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    async def stalls(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"batch')
        await asyncio.sleep(3600)
        return response

    # Where replies may not stall at all, those of a busy machine do so too.
    s = source(bounds=RequestBounds(most_bytes=1 << 20, stall_seconds=0.2 if fault == "stalls" else 30.0))
    await s.open()
    wiki.script = [{"endless": endless, "bomb": bomb, "stalls": stalls}[fault]]
    assert await read_ids(s) == [1, 2, 3, 4, 5, 6, 7]
    assert wiki.script == []
    assert s.activity.retries == 1 or (fault == "stalls" and s.activity.retries > 1)


async def test_a_request_refused_for_good(wiki: Any, source: Any, acts: Any, read: Any) -> None:
    wiki.script = [acts.json(acts.siteinfo(3)), acts.json({"error": {"code": "badcontinue", "info": "x"}})]
    with pytest.raises(CrawlerError, match="badcontinue"):
        await read(source())


@pytest.mark.parametrize("early", [True, False])
async def test_403_stops(wiki: Any, source: Any, acts: Any, early: bool, read: Any) -> None:
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

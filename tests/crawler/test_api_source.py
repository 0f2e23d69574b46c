"""ApiSource against a wiki that answers by script."""

import asyncio
import gzip
import itertools
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from crawler.client import Client
from crawler.cursor import lap_share
from crawler.errors import ContactMissing, CrawlerError, WikiRefused, WikiUnreachable
from crawler.limits import Manners, wikimedia_manners
from crawler.page import Activity, PageBatch, Position
from crawler.sources.api import ApiSource
from crawler.wire import WireLimits

EMPTY = {"batchcomplete": True}


def source(wiki: Any, clock: Any, **options: Any) -> ApiSource:
    options.setdefault("batch_pages", 3)
    return ApiSource(wiki.url, version="0", clock=clock, **options)


async def read(s: ApiSource, position: Position | None = None) -> list[PageBatch]:
    try:
        return [batch async for batch in s.batches(position)]
    finally:
        await s.close()


def ids(batches: list[PageBatch]) -> list[int]:
    return [page.page_id for batch in batches for page in batch.pages]


async def test_one_lap(wiki: Any, clock: Any) -> None:
    s = source(wiki, clock)
    info = await s.open()
    batches = await read(s)
    assert info.articles == 7
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert batches[0].pages[0].title == "Page 1"
    assert batches[0].pages[0].text == "text of page 1"
    assert batches[0].pages[0].revision_id == 101
    assert batches[-1].lap == 1.0
    assert [b.lap for b in batches] == sorted(b.lap for b in batches)
    assert s.site is not None
    assert s.site.file_names == ("File", "Image", "Datei", "Bild")
    assert s.site.category_names == ("Category", "Kategorie")


async def test_resumes_exactly_behind_each_batch(wiki: Any, clock: Any) -> None:
    batches = await read(source(wiki, clock))
    for n, batch in enumerate(batches):
        stored = json.loads(json.dumps(batch.position))
        again = await read(source(wiki, clock), stored)
        assert ids(again) == ids(batches[n + 1 :])
    assert await read(source(wiki, clock), batches[-1].position) == []


async def test_what_is_sent(wiki: Any, clock: Any) -> None:
    await read(source(wiki, clock, contact="me@wiki-reader.org"))
    request = wiki.requests[1]
    assert request.headers["User-Agent"].startswith("wikitopics/0 (me@wiki-reader.org) aiohttp/")
    assert request.headers["Accept-Encoding"] == "gzip"
    assert "Cookie" not in request.headers
    assert request.query["maxlag"] == "5"
    assert request.query["formatversion"] == "2"
    assert "rvlimit" not in request.query
    assert "grncontinue" not in request.query
    assert wiki.requests[2].query["grncontinue"].endswith("|4|0")


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
        "neither complete nor continued",
        "continue is text",
        "gzip garbage",
        "gzip cut",
        "redirect away",
        "redirect circle",
        "error",
        "cursor stands still",
    ],
)
async def test_what_passes_is_retried(wiki: Any, clock: Any, acts: Any, fault: str) -> None:
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
        "cursor stands still": acts.json({"batchcomplete": True, "continue": still}),
    }.get(fault) or acts.text(int(fault), "oops")
    s = source(wiki, clock)
    await s.open()
    wiki.script = [act] * (6 if fault == "redirect circle" else 3)
    position: Position | None = {"cursor": still} if fault == "cursor stands still" else None
    assert ids(await read(s, position)) == [1, 2, 3, 4, 5, 6, 7]
    assert s.activity.retries >= 2
    assert s.activity.errors
    assert all("\n" not in line and len(line) <= 300 for line in s.activity.errors)
    assert s.activity.waiting_for is None


@pytest.mark.parametrize("retry_after", ["20", "absent", "garbage"])
@pytest.mark.parametrize("kind", ["429", "503", "429 under 200", "maxlag"])
async def test_told_to_wait(wiki: Any, clock: Any, acts: Any, kind: str, retry_after: str) -> None:
    headers = {"20": {"Retry_After": "20"}, "absent": {}, "garbage": {"Retry_After": "soon"}}[retry_after]
    lag = {"error": {"code": "maxlag", "info": "Waiting for db1: 8.5 seconds lagged.", "lag": 8.5}}
    act = {
        "429": acts.text(429, "Too many requests\n", **headers),
        "503": acts.text(503, "busy", **headers),
        "429 under 200": acts.text(200, "Please respect our robot policy https://w.wiki/4wJS\n", **headers),
        "maxlag": acts.json(lag, **headers),
    }[kind]
    s = source(wiki, clock)
    await s.open()
    before = clock.now
    wiki.script = [act]
    assert ids(await read(s)) == [1, 2, 3, 4, 5, 6, 7]
    waited = clock.now - before
    assert (20 <= waited <= 22.1) if retry_after == "20" else (5 <= waited <= 6.3)
    assert s.activity.throttled == 1


async def test_429_at_the_start_is_waited_out(wiki: Any, clock: Any, acts: Any) -> None:
    wiki.script = [acts.text(429, "Too many requests", Retry_After="55")]
    s = source(wiki, clock)
    await s.open()
    await s.close()


@pytest.mark.parametrize("early", [True, False])
async def test_403_stops(wiki: Any, clock: Any, acts: Any, early: bool) -> None:
    text = "Please set a user-agent\n and respect our \x1b[31mrobot policy (me@wiki-reader.org)"
    s = source(wiki, clock, contact="me@wiki-reader.org")
    if not early:
        await s.open()
    wiki.script = [acts.text(403, text)]
    with pytest.raises(WikiRefused, match="respect our") as caught:
        await read(s)
    assert caught.value.exit_code == 6
    assert "me@wiki-reader.org" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("answer", ["html", "no address", "other json", "404", "refused"])
async def test_no_wiki_there(wiki: Any, clock: Any, acts: Any, answer: str) -> None:
    act = {
        "html": acts.text(200, "<html>It works!", "text/html"),
        "other json": acts.json({"query": {"general": {"generator": "Other"}}}),
        "404": acts.text(404, "not found"),
    }.get(answer)
    wiki.script = [act] * 100 if act else []
    url = {
        "no address": "http://no.such.host.invalid/w/api.php",
        "refused": "http://127.0.0.1:9/w/api.php",
    }.get(answer)
    s = ApiSource(url or wiki.url, version="0", clock=clock)
    before = clock.now
    with pytest.raises(WikiUnreachable) as caught:
        await s.open()
    await s.close()
    assert caught.value.exit_code == 3
    assert clock.now - before <= 31
    assert "\n" not in str(caught.value)


async def test_a_wiki_that_starts_late_is_found(wiki: Any, clock: Any, acts: Any) -> None:
    wiki.script = [acts.text(502, "starting")] * 3
    s = ApiSource(wiki.url.removesuffix("w/api.php"), version="0", clock=clock)
    await s.open()
    await s.close()
    assert str(s.wiki.api) == wiki.url


async def test_gone_for_an_hour_and_back(wiki: Any, clock: Any, acts: Any) -> None:
    s = source(wiki, clock)
    await s.open()
    began = clock.now

    async def cut_while_away(request: web.Request) -> web.StreamResponse:
        if clock.now - began < 3600:
            wiki.script.insert(0, cut_while_away)
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        return web.json_response(wiki.reply(dict(request.query)))

    wiki.script = [cut_while_away]
    assert ids(await read(s)) == [1, 2, 3, 4, 5, 6, 7]
    assert 3600 <= clock.now - began < 3700
    assert len(wiki.requests) < 200
    assert len(s.activity.errors) <= 20


async def test_a_wiki_that_lists_nothing_for_ever(wiki: Any, clock: Any) -> None:
    def nothing(query: dict[str, str]) -> Any:
        here = int(query.get("grncontinue", "0.05|0.1|1000|0").split("|")[2]) + 1
        return {"batchcomplete": True, "continue": {"grncontinue": f"0.05|0.1{here}|{here}|0"}}

    s = source(wiki, clock)
    await s.open()
    wiki.reply = nothing
    with pytest.raises(CrawlerError, match="without listing"):
        await read(s)


@pytest.mark.parametrize("begun", [0, 1])
async def test_cut_at_every_byte(wiki: Any, clock: Any, begun: int) -> None:
    """A server that closes the connection after n bytes of a good reply, for every n."""
    good = json.dumps(wiki.reply({"meta": "siteinfo"})).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(good)
    left = list(range(begun, len(head + good), 2))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write((head + good)[: left.pop() if left else None])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    activity = Activity()
    client = Client(Manners(rpm=None), activity, version="0", clock=clock)
    client._last_answer = clock.now  # as in the midst of a run
    url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/w/api.php")
    tries = len(left)
    assert (await client.api(url, {}))["batchcomplete"] is True
    assert activity.retries == tries
    await client.close()
    server.close()
    await server.wait_closed()


async def test_dns_that_comes_and_goes(wiki: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = [True] * 3
    port = URL(wiki.url).port

    async def resolve(self: Any, host: str, port: int = 0, family: Any = 0) -> list[dict[str, Any]]:
        if fails:
            fails.pop()
            raise OSError("Temporary failure in name resolution")
        where = {"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}
        return [where]

    monkeypatch.setattr(aiohttp.DefaultResolver, "resolve", resolve)
    s = ApiSource(f"http://wiki.invalid:{port}/w/api.php", version="0", clock=clock)
    await s.open()
    fails += [True] * 3
    await s.client.close()  # forgets the address
    assert ids(await read(s)) == [1, 2, 3, 4, 5, 6, 7]
    assert s.activity.retries == 6
    assert "DNS" in s.activity.errors[0]


async def test_no_tls_where_https_is_asked_for(wiki: Any, clock: Any) -> None:
    s = ApiSource(wiki.url.replace("http://", "https://"), version="0", clock=clock)
    with pytest.raises(WikiUnreachable, match="TLS"):
        await s.open()
    await s.close()


async def test_a_redirect_takes_its_own_turn_and_only_once(wiki: Any, clock: Any, acts: Any) -> None:
    moments: list[float] = []

    async def move(request: web.Request) -> web.StreamResponse:
        moments.append(clock.now)
        return web.Response(status=301, headers={"Location": wiki.url + "?" + request.query_string})

    wiki.script = [move]
    s = source(wiki, clock, manners=Manners(rpm=6))
    await s.open()
    assert clock.now - moments[0] >= 10
    await read(s)
    assert s.activity.requests == len(wiki.requests) == 5


async def test_gone_for_good(wiki: Any, clock: Any, acts: Any) -> None:
    s = source(wiki, clock)
    await s.open()
    began = clock.now
    wiki.script = [acts.text(502, "bad gateway")] * 10_000
    with pytest.raises(WikiUnreachable):
        await read(s)
    assert 24 * 3600 <= clock.now - began < 25 * 3600


async def test_a_request_refused_for_good(wiki: Any, clock: Any, acts: Any) -> None:
    wiki.script = [acts.json(acts.siteinfo(3)), acts.json({"error": {"code": "badcontinue", "info": "x"}})]
    with pytest.raises(CrawlerError, match="badcontinue"):
        await read(source(wiki, clock))


async def test_endless_and_stalling_bodies(wiki: Any, clock: Any) -> None:
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
        await asyncio.sleep(1)
        return response

    s = source(wiki, clock, limits=WireLimits(most_bytes=1 << 20, stall_seconds=0.2, total_seconds=2))
    await s.open()
    wiki.script = [endless, bomb, stalls]
    assert ids(await read(s)) == [1, 2, 3, 4, 5, 6, 7]
    assert s.activity.retries == 3


async def test_truncated_batches_are_put_together(wiki: Any, clock: Any, acts: Any) -> None:
    pages = wiki.pages

    def part(texts: list[int], go_on: dict[str, str] | None) -> Any:
        listed = [wiki.entry(p, p["pageid"] in texts) for p in pages[:4]]
        for entry in listed:
            entry.setdefault("revisions", []) if entry["pageid"] == 4 else None
        end = {"batchcomplete": True} if go_on is None else {}
        return acts.json({**end, "continue": go_on or wiki.cursor(4), "query": {"pages": listed}})

    here = {"grncontinue": "0.05|0.05|1|0", "continue": "||pageprops", "xyz": "kept"}
    s = source(wiki, clock, batch_pages=4)
    await s.open()
    wiki.script = [
        part([1], {**here, "rvcontinue": "2|102"}),
        part([3, 2], {**here, "rvcontinue": "4|104"}),
        part([4], None),
    ]
    batches = await read(s)
    assert [len(b.pages) for b in batches] == [4, 3]
    assert wiki.requests[2].query["xyz"] == "kept"
    assert wiki.requests[3].query["rvcontinue"] == "4|104"


async def test_a_text_that_never_comes_is_skipped(wiki: Any, clock: Any, acts: Any) -> None:
    listed = [wiki.entry(p, p["pageid"] == 1) for p in wiki.pages[:3]]
    go_on = {"rvcontinue": "2|102", "grncontinue": "0.05|0.05|1|0", "continue": "||"}
    stuck = acts.json({"continue": go_on, "query": {"pages": listed}})
    s = source(wiki, clock)
    await s.open()
    wiki.script = [stuck, stuck]
    batches = await read(s)
    assert ids(batches) == [1, 3, 4, 5, 6, 7]
    assert sum(b.skipped for b in batches) == 1
    assert len(wiki.requests) < 10


async def test_pages_that_are_no_articles(wiki: Any, clock: Any, acts: Any) -> None:
    big = (1 << 62) + 1
    entries: list[Any] = [
        {"pageid": 1, "ns": 0, "title": "Deleted", "missing": True},
        {
            "pageid": 2,
            "ns": 0,
            "title": "Fork",
            "pageprops": {"disambiguation": ""},
            "revisions": [acts.revision(9, "x")],
        },
        {"pageid": 3, "ns": 0, "title": "No text", "revisions": []},
        {
            "pageid": 4,
            "ns": 0,
            "title": "Hidden",
            "revisions": [{"revid": 5, "slots": {"main": {"texthidden": True}}}],
        },
        {"pageid": big, "ns": 0, "title": "Large \ud800 id", "revisions": [acts.revision(big, "t\udfffext")]},
        {"pageid": big, "ns": 0, "title": "Twice", "revisions": [acts.revision(1, "again")]},
        {"pageid": 1 << 70, "ns": 0, "title": "Too large", "revisions": [acts.revision(1, "x")]},
        {"pageid": "7", "ns": 0, "title": "Text id", "revisions": [acts.revision(1, "x")]},
        {"pageid": True, "ns": 0, "title": "Bool id", "revisions": [acts.revision(1, "x")]},
        {"pageid": 8, "ns": 0, "title": ["list"]},
        {"pageid": 9, "ns": 1, "title": "Talk:X", "revisions": [acts.revision(1, "x")]},
        {"pageid": 10, "ns": 0, "title": "List text", "revisions": [acts.revision(1, ["x"])]},
        "no page",
        None,
    ]
    s = source(wiki, clock)
    await s.open()
    wiki.script = [acts.json({"batchcomplete": True, "query": {"pages": entries}})]
    (batch,) = await read(s)
    assert [(p.page_id, p.title, p.text, p.revision_id) for p in batch.pages] == [
        (big, "Large ? id", "t?ext", big)
    ]
    assert batch.skipped == 5


async def test_an_empty_wiki(wiki: Any, clock: Any) -> None:
    wiki.pages = []
    (batch,) = await read(source(wiki, clock))
    assert batch.pages == ()
    assert batch.lap == 1.0


async def test_requests_a_minute(wiki: Any, clock: Any) -> None:
    moments: list[float] = []
    answer = wiki.reply

    def timed(query: dict[str, str]) -> Any:
        moments.append(clock.now)
        return answer(query)

    wiki.reply = timed
    s = source(wiki, clock, batch_pages=1, manners=Manners(rpm=6))
    await read(s)
    assert all(b - a >= 10 for a, b in itertools.pairwise(moments))
    assert s.activity.allowed_per_minute == 6
    assert s.activity.requests_last_minute <= 6


async def test_rest_after_a_slow_reply(wiki: Any, clock: Any, acts: Any) -> None:
    began: list[float] = []
    answer = wiki.reply

    def slow(query: dict[str, str]) -> Any:
        began.append(clock.now)
        clock.now += 1.5
        return answer(query)

    wiki.reply = slow
    s = source(wiki, clock, manners=wikimedia_manners(), contact="me@wiki-reader.org")
    await read(s)
    assert all(b - a >= 6.5 for a, b in itertools.pairwise(began))


def test_wikimedia_needs_a_contact() -> None:
    for contact in (None, "", "me@example.com"):
        with pytest.raises(ContactMissing) as caught:
            ApiSource("https://en.wikipedia.org/w/api.php", version="0", contact=contact)
        assert caught.value.exit_code == 2


async def test_a_clock_of_day_that_jumps_does_no_harm(wiki: Any, clock: Any, acts: Any) -> None:
    s = source(wiki, clock)
    await s.open()

    async def jump(request: web.Request) -> web.StreamResponse:
        clock.wall_offset -= 10**8
        return web.Response(status=429, headers={"Retry-After": "10"})

    wiki.script = [jump]
    before = clock.now
    await read(s)
    assert 10 <= clock.now - before <= 11.1


@pytest.mark.parametrize(
    ("cursor", "share"),
    [
        (None, 1.0),
        ({"grncontinue": "0.25|0.75|9|0"}, 0.5),
        ({"grncontinue": "0.25|0.15|9|1"}, 0.9),
        ({"grncontinue": "nan|x|9|1"}, None),
        ({"grncontinue": "nan|0.5|9|1"}, None),
        ({}, None),
    ],
)
def test_lap_share(cursor: dict[str, str] | None, share: float | None) -> None:
    assert lap_share(cursor) == (pytest.approx(share) if share is not None else None)

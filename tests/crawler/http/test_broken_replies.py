"""Replies that are no answer: what can pass is asked for again, what cannot ends the run."""

import asyncio
import gzip
import json

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused, WikiUnreachable
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.mediawiki.replies import read_api
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
    "fault",
    [*BODIES, *PACKED, 500, 502, 503, 504, 408, 404, 410, "redirect away", "redirect circle"],
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
        target = away if fault == "redirect away" else wiki.url
        return web.Response(status=302, headers={"Location": target})

    position = {"cursor": STILL} if fault == "cursor stands still" else None
    n_times = 6 if fault == "redirect circle" else 3  # a request follows several redirects
    batches, source = await crawled(*[act] * n_times, position=position)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert source.activity.retries >= 2
    assert source.activity.errors
    for error in source.activity.errors:
        assert "\n" not in error.text
        assert len(error.text) <= 300
    assert source.activity.waiting_for is None


def replied(body):
    """A reply of a wiki with this body."""
    no_headers = CIMultiDictProxy[str](CIMultiDict())
    return Reply(200, URL("http://wiki.org/w/api.php"), no_headers, body)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b" <!DOCTYPE html><p>", "an HTML page instead of the API's JSON"),
        (
            b"<title>Log in - Old Wiki</title>",
            "an HTML page instead of the API's JSON (Log in - Old Wiki)",
        ),
        (
            b'<script>x = {"query": 1}</script><title>Just a moment...</title>',
            "an HTML page instead of the API's JSON (Just a moment...)",
        ),
        (b"hello \x1b[31m", "text instead of the API's JSON (hello [31m)"),
        (b"[1, 2]", "text instead of the API's JSON ([1, 2])"),
        (
            b"Fatal error: {closure}() in x",
            "text instead of the API's JSON (Fatal error: {closure}() in x)",
        ),
        (b" \n", "nothing instead of the API's JSON"),
        (b"", "nothing instead of the API's JSON"),
    ],
)
def test_what_came_instead_of_json_is_told(body, what):
    with pytest.raises(TransientError) as caught:
        read_api(replied(body))
    assert caught.value.text == f"wiki.org sends {what}: is this a MediaWiki?"


def test_what_came_instead_of_json_is_told_in_bounds():
    with pytest.raises(TransientError) as caught:
        read_api(replied(b"x" * 10_000))
    assert len(caught.value.text) < 300


ANSWER = {"batchcomplete": True, "query": {"pages": [{"title": 'Caf\u00e9 {"x"}'}]}}
ANSWER_JSON = json.dumps(ANSWER, ensure_ascii=False).encode()
PHP = "<br />\n<b>Deprecated</b>:  Use of each() in <b>/var/www/X.php</b> on line <b>76</b><br />\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\ufeff", ""),
        ("", "\ufeff"),
        ("\ufeff\n\ufeff", ""),
        ("\n\n", "\r\n"),
        (PHP, ""),
        (PHP * 1000, ""),
        ("", PHP),
        ("\nNotice: Undefined index: x in /var/www/LocalSettings.php on line 3\n", ""),
        ('Warning: Closure::{closure}() expects { and {"a": 1}, not {"\n', ""),
        ("<!-- cached -->", "\n<!-- served by cache 7 -->"),
    ],
)
@pytest.mark.parametrize("coding", ["utf-8", "latin-1"])
def test_what_stands_around_the_json_is_read_through(before, after, coding):
    """A message of PHP or a comment may end with a letter that is not in UTF-8."""

    def encoded(text):
        is_a_message = text.isascii() and text.strip()
        return f"{text} \u00e9".encode(coding) if is_a_message else text.encode()

    body = encoded(before) + ANSWER_JSON + encoded(after)
    assert read_api(replied(body)) == ANSWER


@pytest.mark.parametrize(
    "body",
    [
        b'{"batchcomplete":true,}' + ANSWER_JSON,
        PHP.encode() + ANSWER_JSON[:-3],
        PHP.encode() + b'{"wgTitle": "Main"}',
        b'<html>{"a": ' * 1000,
        b'notice\n{"batchcomplete":' + b"[" * 200_000,
        PHP.encode() + '{"batchcomplete": "\u00e9"}'.encode("latin-1"),
    ],
)
def test_no_part_of_a_reply_is_taken_for_the_whole(body):
    with pytest.raises(TransientError):
        read_api(replied(body))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            {"error": {"code": "readapidenied", "info": "You need read permission."}},
            "need read permission",
        ),
        ({"error": {"code": "badaccess-groups", "info": "Only members."}}, "Only members"),
        ({"error": {"code": "mustbeloggedin", "*": "Please log in."}}, "Please log in"),
        (
            {"errors": [{"code": "readapidenied", "text": "No \x1b[31mreading."}]},
            r"No \[31mreading",
        ),
        ({"errors": [{"code": "permissiondenied", "html": "<b>No</b> reading."}]}, "No reading"),
        (
            {"errors": [{"code": "blocked", "key": "apierror-blocked", "params": []}]},
            "apierror-blocked",
        ),
    ],
)
async def test_a_wiki_that_refuses_is_left_at_once_with_its_words(
    wiki,
    acts,
    source,
    read,
    error,
    words,
):
    wiki.script = [acts.json(error)] * 9
    with pytest.raises(WikiRefused, match=words) as caught:
        await read(source())
    assert caught.value.exit_code == 6
    assert len(wiki.requests) == 1


async def test_an_api_that_is_switched_off_is_no_wiki(wiki, acts, source, clock, read):
    page = (
        "<title>MediaWiki API</title>MediaWiki API is not enabled for this site. Add the following "
        "line to your LocalSettings.php<pre><b>x</b></pre>"
    )
    wiki.script = [acts.text(200, page, "text/html")] * 9
    before = clock.now
    message = r"says: MediaWiki API is not enabled for this site\.$"
    with pytest.raises(WikiUnreachable, match=message):
        await read(source())
    assert clock.now == before


@pytest.mark.parametrize("code", ["internal_api_error_DBQueryError", "closed", "unknownerror"])
async def test_errors_alone_are_no_answer_at_the_start(wiki, acts, source, clock, read, code):
    """They are retried for half a minute, not for a day, and quoted."""
    wiki.script = [acts.json({"error": {"code": code, "info": "This wiki is closed."}})] * 99
    before = clock.now
    with pytest.raises(WikiUnreachable, match=rf"within 30 s: .*\({code}\): This wiki is closed"):
        await read(source())
    assert clock.now - before <= 31


async def test_a_locked_database_is_waited_for(wiki, acts, source, clock, read):
    locked = {"errors": [{"code": "readonly", "text": "The database is locked."}]}
    wiki.script = [acts.json(locked, Retry_After="50")] * 3
    before = clock.now
    assert ids(await read(source())) == [1, 2, 3, 4, 5, 6, 7]
    assert clock.now - before >= 150


@pytest.mark.parametrize("status", [503, 502])
async def test_an_error_page_is_quoted(wiki, acts, source, read, status):
    wiki.script = [acts.text(status, "<title>Just a moment...</title>", "text/html")] * 99
    with pytest.raises(WikiUnreachable, match=rf"answers {status} \(Just a moment\.\.\.\)"):
        await read(source())


@pytest.mark.parametrize("shortest", [0, 1])
async def test_a_reply_that_is_cut_at_any_byte_is_asked_for_again(wiki, clock, shortest):
    """The server closes the connection after every even, or odd, number of bytes of a reply."""
    body = json.dumps(wiki.reply({"meta": "siteinfo"})).encode()
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    whole = head + body
    cuts = list(range(shortest, len(whole), 2))
    # The very first reply is whole, as in the midst of a run, and so is the one after all cuts.
    lengths = [len(whole), *reversed(cuts), len(whole)]

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        length = lengths.pop(0)
        writer.write(whole[:length])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    activity = Activity()
    client = Client(RateLimits(rpm=None), activity, version="0", clock=clock)
    url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/w/api.php")
    for retries in (0, len(cuts)):
        answered = await client.fetch(url, read_api)
        assert answered["batchcomplete"] is True
        assert activity.retries == retries
    await client.close()
    server.close()
    await server.wait_closed()


async def test_a_body_that_unpacks_to_too_much_is_asked_for_again(wiki, crawled):
    """Bodies that never end, or stall, are tested as faults of the embedded wiki."""

    async def bomb(request):
        packed = gzip.compress(b" " * (64 << 20), 1)
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    batches, source = await crawled(bomb, bounds=RequestBounds(most_bytes=1 << 20))
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert wiki.script == []
    assert source.activity.retries == 1


async def test_a_request_refused_for_good_ends_the_run(acts, crawled):
    with pytest.raises(CrawlerError, match="badcontinue"):
        await crawled(acts.json({"error": {"code": "badcontinue", "info": "x"}}))


@pytest.mark.parametrize("early", [True, False])
async def test_403_stops(wiki, source, acts, early, read):
    text = "Please set a user-agent\n and respect our \x1b[31mrobot policy (me@wiki-reader.org)"
    opened = source(contact="me@wiki-reader.org")
    if not early:
        await opened.open()
    wiki.script = [acts.text(403, text)]
    with pytest.raises(WikiRefused, match="respect our") as caught:
        await read(opened)
    assert caught.value.exit_code == 6
    message = str(caught.value)
    assert "me@wiki-reader.org" not in message
    assert "\n" not in message
    assert "\x1b" not in message

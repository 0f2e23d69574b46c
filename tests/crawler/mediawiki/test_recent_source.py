"""RecentSource against a stream of changes in the test and the embedded wiki; Wikimedia's rules for
it."""

import asyncio
import json
import zlib
from contextlib import aclosing
from itertools import pairwise
from types import SimpleNamespace

import pytest
from aiohttp import web
from yarl import URL

from tests.corpora import synthetic_corpus
from tests.crawler.dumps import ids, in_pieces, skips
from tests.wiki import FaultyApi
from wikitopics.crawler.embedded.corpus import SampleArticles
from wikitopics.crawler.errors import BadPosition, BadSource, WikiRefused, WikiUnreachable
from wikitopics.crawler.http.rules import wikimedia_limits, wikimedia_service_limits
from wikitopics.crawler.http.wire import split_lines
from wikitopics.crawler.mediawiki import gathering, recent
from wikitopics.crawler.mediawiki.recent import PageChange, RecentSource, changes
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.source import Activity

ID = (
    '[{"topic":"eqiad.mediawiki.recentchange","partition":0,"timestamp":1756449917002},'
    '{"topic":"codfw.mediawiki.recentchange","partition":0,"offset":-1}]'
)


def edit(title="Water", **fields):
    """The data of an event with some of the fields of its schema (mediawiki/recentchange/1.0.0)."""
    change = {
        "$schema": "/mediawiki/recentchange/1.0.0",
        "meta": {
            "domain": "en.wikipedia.org",
            "stream": "mediawiki.recentchange",
            "partition": 0,
        },
        "id": 68147964,
        "type": "edit",
        "namespace": 0,
        "title": title,
        "bot": False,
        "server_name": "en.wikipedia.org",
    }
    return json.dumps(change | fields)


async def heard(sent, size=1 << 16):
    """The changes of en.wikipedia.org in this text or these bytes, which come ``size`` bytes at a
    time."""
    body = sent if isinstance(sent, bytes) else sent.encode()

    async def parts():
        for part in in_pieces(body, size):
            yield part

    lines = split_lines(parts(), 1 << 20)
    return [change async for change in changes(lines, "en.wikipedia.org")]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_an_edit(size, line_end):
    sent = f":ok\n\nevent: message\nid: {ID}\ndata: {edit()}\n\n".replace("\n", line_end)
    assert await heard(sent, size) == [PageChange(ID, "Water")]


ON_SEVERAL_LINES = json.dumps(json.loads(edit()), indent=1).replace("\n", "\ndata: ")


@pytest.mark.parametrize(
    "sent",
    [
        f"event:message\nid:{ID}\ndata:{edit()}\n\n",
        f"id: {ID}\ndata: {ON_SEVERAL_LINES}\n\n",
        f"event: error\ndata: {{}}\n\nid: {ID}\ndata: {edit()}\n\n",
    ],
    ids=["no space after the colon", "data on several lines", "behind an error"],
)
async def test_what_is_an_event(sent):
    assert await heard(sent) == [PageChange(ID, "Water")]


@pytest.mark.parametrize(
    "sent",
    [
        f"id: {ID}\ndata: {edit()}\n",
        f":\n\n: still here\n\nretry: 1000\nid: {ID}\n\n:\ndata\n\n",
        'event: error\nid: []\ndata: {"message":"Local"}\n\n',
    ],
    ids=["cut off", "comments", "an error"],
)
async def test_what_is_no_event(sent):
    assert await heard(sent) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"meta": {"domain": "canary"}},
        {"meta": {"domain": "de.wikipedia.org"}},
        {"meta": None},
        {"namespace": 1},
        {"type": "categorize", "namespace": 14},
        {"type": "log", "log_type": "delete"},
        {"type": "external"},
        {"title": ""},
        {"title": "a|b"},
        {"title": "\ud800"},
        {"title": "x" * 256},
    ],
)
async def test_of_what_is_no_edited_article_only_the_place_is_kept(fields):
    assert await heard(f"id: {ID}\ndata: {edit(**fields)}\n\n") == [PageChange(ID, None)]


@pytest.mark.parametrize("event_id", [b"a\x00b", "caf\u00e9".encode(), b"x" * 9000])
async def test_ids_that_no_header_can_carry_are_left_out(event_id):
    sent = b"id: " + event_id + b"\ndata: " + edit().encode() + b"\n\n"
    assert await heard(sent) == [PageChange("", "Water")]


ARTICLES = SampleArticles(synthetic_corpus(60), 100)
POLITE = {"limits": wikimedia_limits(), "contact": "me@wiki-reader.org"}
"""The options of a wiki that is treated as one of Wikimedia's."""


def position_behind(number):
    """The id of the event about this article, as a stream sends it and is asked for it again."""
    return f'[{{"offset":{number}}}]'


def event(number, **fields):
    """The bytes of an event about an article, by its number in ARTICLES."""
    change = {
        "meta": {"domain": "127.0.0.1"},
        "namespace": 0,
        "type": "edit",
        "title": ARTICLES.title(number),
    }
    data = json.dumps(change | fields)
    return f"event: message\nid: {position_behind(number)}\ndata: {data}\n\n".encode()


def events(numbers):
    return b"".join(map(event, numbers))


class Stream:
    """Plays one script a connection: bytes, a status, or a function; then keeps the connection
    open."""

    def __init__(self, *scripts, encoding="identity"):
        self.scripts = list(scripts)
        self.encoding = encoding
        self.asked = []

    async def __call__(self, request):
        if request.path != "/w/stream":
            return None
        self.asked.append(request.headers.get("Last-Event-ID"))
        script = self.scripts.pop(0) if self.scripts else b":ok\n\n"
        if isinstance(script, int):
            return web.Response(status=script, headers={"Retry-After": "3"}, text="no")
        headers = {"Content-Type": "text/event-stream", "Content-Encoding": self.encoding}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        if callable(script):
            await script(request, response)
        else:
            for part in in_pieces(script, max(100, len(script) // 100)):
                await response.write(part)
        if not self.scripts:
            await asyncio.sleep(3600)
        return response


def numbers_of(batches):
    """The numbers in ARTICLES of the articles in batches."""
    return [page_id - 1 for page_id in ids(batches)]


@pytest.fixture
def hear(serve, clock, monkeypatch):
    """Serves a stream beside its wiki, and reads batches until there are so many articles and
    skipped ones: ``batches, source = await hear(stream, articles, position)``."""
    monkeypatch.setattr(recent, "_GATHER_SECONDS", 0.2)

    async def heard(stream, articles, position=None, **options):
        url = await serve(FaultyApi(ARTICLES), override=stream)
        wiki = Wiki(url, version="0", clock=clock, **options)
        source = RecentSource(wiki, url.replace("api.php", "stream"))
        batches = []
        try:
            async with aclosing(source.batches(position)) as coming:
                async for batch in coming:
                    batches.append(batch)
                    if len(ids(batches)) + skips(batches).total() >= articles:
                        break
        finally:
            await source.close()
        return batches, source

    return heard


async def test_changed_articles_in_batches(hear):
    script = [
        b":ok\n\n",
        event(1),
        event(2, meta={"domain": "canary"}),
        event(4, namespace=1),
        event(1),
        event(6, type="new"),
        event(8, title=7),
        b"data: not json\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        event(9, title="No such article"),
        event(10),
    ]
    batches, source = await hear(Stream(b"".join(script)), 4)
    assert sorted(numbers_of(batches)) == [1, 6, 10]
    assert skips(batches) == {"deleted or hidden": 1}
    assert batches[-1].position == {"last_event_id": position_behind(10)}
    assert all(batch.lap is None for batch in batches)
    assert source.activity.waiting_for is None


async def test_goes_on_behind_the_last_event(hear):
    stream = Stream(events([1, 2]), event(3), 429, 503, event(4))
    batches, source = await hear(stream, 4, {"last_event_id": position_behind(0)})
    assert sorted(numbers_of(batches)) == [1, 2, 3, 4]
    assert stream.asked == [position_behind(number) for number in (0, 2, 3, 3, 3)]
    assert source.activity.throttled == 2


async def test_a_burst_comes_in_full_batches(hear, monkeypatch):
    monkeypatch.setattr(recent, "_GATHER_SECONDS", 20.0)
    batches, _ = await hear(Stream(events(range(100))), 100)
    assert sorted(numbers_of(batches)) == list(range(100))
    assert max(len(batch.pages) for batch in batches) == 50


async def test_on_wikimedia_the_stream_and_the_api_have_a_budget_each(hear, tmp_path):
    stream = Stream(events(range(70)))
    batches, _ = await hear(stream, 70, budget_folder=tmp_path, **POLITE)
    assert sorted(numbers_of(batches)) == list(range(70))
    assert {path.name for path in tmp_path.iterdir()} == {"127.0.0.1.lock", "wikimedia.lock"}


async def test_403_stops(hear):
    with pytest.raises(WikiRefused):
        await hear(Stream(403), 1)


def test_only_wikimedia_has_a_stream():
    with pytest.raises(BadSource, match="Wikimedia"):
        RecentSource(Wiki("https://wiki.someone.net/", version="0"))


async def test_the_position_of_another_source_is_refused(clock):
    wiki = Wiki("http://127.0.0.1:9/", version="0", clock=clock)
    source = RecentSource(wiki, "http://127.0.0.1:9/x")
    with pytest.raises(BadPosition):
        await anext(source.batches({"cursor": {}}))
    await source.close()


async def test_a_connection_cut_after_a_while_is_no_fault(hear):
    """Wikimedia cuts every connection after 15 minutes, in the midst of whatever it sends."""

    async def cut(request, response):
        cut_event = event(2)[:-30]
        await response.write(event(1) + cut_event)
        await asyncio.sleep(0.05)
        request.transport.close()

    stream = Stream(cut, cut, event(2))
    batches, source = await hear(stream, 2)
    assert sorted(numbers_of(batches)) == [1, 2]
    assert stream.asked == [None, position_behind(1), position_behind(1)]
    assert source.activity.errors == []
    assert source.activity.retries == 0


async def test_a_compressed_stream_is_read_as_it_comes(hear):
    async def packed(request, response):
        packer = zlib.compressobj(wbits=31)
        for number in (1, 2):
            await response.write(packer.compress(event(number)) + packer.flush(zlib.Z_SYNC_FLUSH))

    batches, _ = await hear(Stream(packed, encoding="gzip"), 2)
    assert sorted(numbers_of(batches)) == [1, 2]


OTHER_WIKI = {"domain": "de.wikipedia.org"}


async def test_other_wikis_events_move_the_place(hear):
    """Otherwise a wiki with few edits would hear the same hours of all others again and again."""
    of_others = event(2, meta=OTHER_WIKI) + event(3, meta={"domain": "canary"})
    stream = Stream(event(1) + of_others, event(4))
    await hear(stream, 2)
    assert stream.asked == [None, position_behind(3)]


async def test_other_wikis_events_around_an_article_are_not_heard_again(hear):
    async def at_once(request, response):
        await response.write(event(0, meta=OTHER_WIKI) + event(1) + event(2, meta=OTHER_WIKI))

    batches, _ = await hear(Stream(at_once), 1)
    assert numbers_of(batches) == [1]
    assert batches[0].position == {"last_event_id": position_behind(2)}


@pytest.mark.parametrize("status", [400, 404])
async def test_a_place_that_the_stream_has_forgotten(hear, status):
    """A stream keeps its events for some time only; a session that slept longer goes on from
    now."""
    stream = Stream(status, event(1))
    batches, source = await hear(stream, 1, {"last_event_id": position_behind(0)})
    assert numbers_of(batches) == [1]
    assert stream.asked == [position_behind(0), None]
    assert "no longer knows this place" in source.activity.errors[0].text


async def test_a_stream_that_ends_at_once_is_left_alone_longer_and_longer(hear, clock):
    failure = b':ok\n\nevent: error\ndata: {"message":"no broker"}\n\n'
    stream = Stream(*[failure] * 6, event(1))
    before = clock.now
    _, source = await hear(stream, 1)
    assert clock.now - before >= 1 + 2 + 4 + 8 + 16 + 32
    assert source.activity.retries == 6


async def test_comments_keep_a_quiet_stream_open(hear, monkeypatch):
    monkeypatch.setattr(recent, "_STALL_SECONDS", 2.0)

    async def quiet(request, response):
        for _ in range(12):
            await response.write(b":\n\n")
            await asyncio.sleep(0.2)
        await response.write(event(1))

    async def silent(request, response):
        await response.write(event(2))
        await asyncio.sleep(3600)

    stream = Stream(quiet, silent, event(3))
    batches, _ = await hear(stream, 3)
    assert sorted(numbers_of(batches)) == [1, 2, 3]
    assert stream.asked == [None, position_behind(1), position_behind(2)]


async def test_an_event_that_is_too_long_is_left_out(hear):
    too_long = event(2, comment="x" * (3 << 20))
    stream = Stream(event(1) + too_long + event(3))
    batches, _ = await hear(stream, 2)
    assert sorted(numbers_of(batches)) == [1, 3]
    assert len(stream.asked) == 1


async def test_long_titles_are_asked_for_in_several_requests(hear):
    """Servers refuse addresses above 8 kB, and a Cyrillic title takes six characters a letter."""
    long_titles = [event(number, title=f"{number:03} " + "ж" * 120) for number in range(50)]
    batches, source = await hear(Stream(b"".join(long_titles)), 50)
    assert skips(batches).total() == 50
    assert source.activity.retries == 0


async def test_an_id_that_holds_the_contact_is_not_kept(hear):
    with_contact = event(1).replace(b'"offset"', b'"me%40wiki-reader.org"')
    stream = Stream(event(0) + with_contact)
    batches, _ = await hear(stream, 2, contact="me@wiki-reader.org")
    assert numbers_of(batches) == [0, 1]
    assert batches[-1].position == {"last_event_id": ""}


@pytest.mark.parametrize("flood", [b"\n", b"data:\n", b"data: x\n", b":\n"])
async def test_a_compressed_flood_lets_other_tasks_go_on(flood, serve, clock):
    """A few kB unpack to a million lines, of which no more than 65,536 are read between two turns
    of another task."""
    n_lines = 1 << 20

    async def floods(request, response):
        packer = zlib.compressobj(wbits=31)
        packed = packer.compress(flood * n_lines + b"\n" + event(1)) + packer.flush()
        await response.write(packed)
        await response.write_eof()

    lines_read = 0
    read_at_turns = [0]

    async def take_turns():
        while True:
            read_at_turns.append(lines_read)
            await asyncio.sleep(0)

    url = await serve(FaultyApi(ARTICLES), override=Stream(floods, b"", encoding="gzip"))
    stream = url.replace("api.php", "stream")
    source = RecentSource(Wiki(url, version="0", clock=clock), stream)
    await source.open()
    taking = asyncio.create_task(take_turns())
    async for _ in source.wiki.client.lines(URL(stream), {}, 60.0, source.wiki.limits):
        lines_read += 1
    taking.cancel()
    await source.close()
    assert lines_read > n_lines
    read_at_turns.append(lines_read)
    between_turns = [later - earlier for earlier, later in pairwise(read_at_turns)]
    assert max(between_turns) <= 1 << 16


async def test_large_articles_come_in_smaller_batches(hear, monkeypatch):
    """What is too much for one batch comes in several, each with the place behind its last
    change."""
    monkeypatch.setattr(gathering, "_MOST_CHARACTERS", 20_000)
    batches, _ = await hear(Stream(events(range(40))), 40)
    assert numbers_of(batches) == list(range(40))
    assert len(batches) > 1
    for batch in batches:
        *_, last = numbers_of([batch])
        assert batch.position == {"last_event_id": position_behind(last)}


@pytest.mark.parametrize("reason", [None, "no address"])
async def test_a_source_that_no_longer_waits_for_changes_does_not_say_so(reason):
    activity = Activity(waiting_for=reason)
    wiki = SimpleNamespace(activity=activity, limits=wikimedia_limits(), host="host")
    source = RecentSource(wiki, "http://host/stream")
    no_changes = asyncio.Queue()
    assert await source._next(no_changes, 0) is None
    assert activity.waiting_for == reason


async def test_on_wikimedia_the_stream_is_left_alone_after_an_error(hear, clock, tmp_path):
    stream = Stream(event(1), 500, event(2))
    before = clock.now
    batches, source = await hear(stream, 2, budget_folder=tmp_path, **POLITE)
    assert sorted(numbers_of(batches)) == [1, 2]
    assert clock.now - before >= 900
    assert [error.text for error in source.activity.errors] == ["127.0.0.1 answers 500 (no)"]


async def test_a_start_does_not_wait_for_the_stream(hear, clock, tmp_path):
    """It ends with an error, whether the stream refused this trainer or before it another one."""
    stream = Stream(503)
    before = clock.now
    message = r"try again after \d\d:\d\d:\d\d, in 15 minutes$"
    for _ in range(2):
        with pytest.raises(WikiUnreachable, match=message):
            await hear(stream, 1, budget_folder=tmp_path, **POLITE)
    assert len(stream.asked) == 1
    assert clock.now - before < 60


async def test_only_the_opening_of_a_stream_keeps_others_waiting(serve, clock, tmp_path):
    """Two trainers listen at the same time."""
    url = await serve(FaultyApi(ARTICLES), override=Stream())
    stream = url.replace("api.php", "stream")
    wiki = {"version": "0", "clock": clock, "budget_folder": tmp_path, **POLITE}
    sources = [RecentSource(Wiki(url, **wiki), stream) for _ in range(2)]
    limits = wikimedia_service_limits("127.0.0.1", "the stream of changes")
    heard = [source.wiki.client.lines(URL(stream), {}, 60.0, limits) for source in sources]
    began = clock.now
    assert [await anext(lines) for lines in heard] == [b":ok", b":ok"]
    assert clock.now - began >= 1.0
    for lines, source in zip(heard, sources, strict=True):
        await lines.aclose()
        await source.close()

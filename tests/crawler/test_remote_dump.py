"""A dump read from its server: the stream of the file, whatever the server does, and nothing asked twice."""

import asyncio
import gzip
import lzma
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest
from aiohttp import web
from yarl import URL

from crawler.errors import (
    BadSource,
    ContactMissing,
    CrawlerError,
    SourceChanged,
    Unconfirmed,
    WikiUnreachable,
)
from crawler.kind import Asked
from crawler.kinds.dump import DUMP, VERSIONS, Dump
from crawler.limits import dump_manners
from crawler.range_server import FileFacts
from crawler.remote_shelf import RemoteShelf
from crawler.shelf import LocalShelf
from crawler.sources.shuffled import ShuffledDump
from crawler.wire import WireLimits
from session.training.intake.count_pages import start_worker
from session.training.intake.parted import PartedBlocks
from session.training.intake.pool import CountingPool
from tests.crawler.dump_server import etag_of, part, range_of, says, serving
from tests.crawler.dumps import dump, multistream

WORDS = ("article", "r")
NUMBERS = range(1, 401)
PATH = "/enwiki/latest/dump.bz2"
DATA = multistream(NUMBERS, every=3)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Sizes that a small dump can fill."""
    for name, value in {
        "remote_files.BLOCK": 2000,
        "remote_files.MOST": 40_000,
        "range_server.FIRST": 500,
        "range_server.SMALLEST": 1000,
        "range_server.LARGEST": 8000,
        "read_ahead.BEHIND": 500,
        "read_ahead.FIRST": 300,
        "read_ahead.STEP": 4000,
    }.items():
        monkeypatch.setattr(f"crawler.{name}", value)


class Here(Executor):
    """Counts in this process: starting others takes longer than the rest."""

    def __init__(self, pool):
        start_worker(*pool._initial)

    def submit(self, fn, /, *args, **kwargs):
        done = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(CountingPool, "_new_executor", lambda pool: Here(pool))


@pytest.fixture
async def server():
    async with serving({PATH: DATA}) as made:
        yield made


def remote(urls, clock, kept=None, agreed=True, contact=None, **more):
    known = None
    if kept is not None:
        known = [FileFacts(*each) for each in zip(kept["order"]["sizes"], kept[VERSIONS], strict=True)]
    shelf = RemoteShelf(
        [URL(url) for url in urls],
        known,
        version="1",
        contact=contact,
        budget_folder=None,
        agreed=agreed,
        clock=clock,
        **more,
    )
    return ShuffledDump(shelf, kept and kept["order"], seed=5, held_out=30)


async def read(source, position=None, blocks=None):
    """(page ids, the last position, what was told) of a source, which is then closed."""
    feed = None
    found, told = [], []
    try:
        info = await source.open()
        feed = PartedBlocks(source, info, WORDS, workers=1)
        feed.start(position)
        while blocks is None or blocks > 0:
            block = await feed.next()
            if block is None:
                break
            found += block.documents.page_ids.tolist()
            told += block.warnings
            position = block.position
            blocks = blocks and blocks - 1
    finally:
        await (feed or source).close()
    return found, position, told


async def of_files(tmp_path, *datas):
    paths = []
    for number, data in enumerate(datas):
        paths.append(str(tmp_path / f"{number}.dump"))
        Path(paths[-1]).write_bytes(data)
    return (await read(ShuffledDump(LocalShelf(paths), None, seed=5, held_out=30)))[0]


@pytest.mark.parametrize(
    "datas",
    [
        [DATA],
        [dump(NUMBERS)],
        [multistream(range(1, 201)), multistream(range(201, 401), every=5)],
        [multistream(NUMBERS, gzip.compress)],
        [multistream(NUMBERS, lzma.compress)],
    ],
    ids=["bz2", "plain", "two files", "gz", "xz"],
)
async def test_the_stream_is_that_of_the_file(tmp_path, clock, datas):
    async with serving({f"/{number}.dump": data for number, data in enumerate(datas)}) as server:
        urls = [f"{server.url}/{number}.dump" for number in range(len(datas))]
        found, _, told = await read(remote(urls, clock, contact="me@host.org"))
    assert found == await of_files(tmp_path, *datas)
    assert sorted(found) == list(NUMBERS)
    assert told == []
    assert server.most_under_way == 1
    assert {request.headers["User-Agent"].split(" aio")[0] for request in server.asked} == {
        "wikitopics/1 (me@host.org)"
    }
    assert len({request.transport for request in server.asked}) == 1


async def test_a_dump_that_fits_into_memory_is_asked_for_once(server, clock, monkeypatch):
    monkeypatch.setattr("crawler.remote_files.MOST", 1 << 20)
    await read(remote([server.url + PATH], clock))
    assert server.sent == 500 + len(DATA)


async def test_only_a_few_places_are_looked_at_first(clock):
    data = multistream(range(1, 3001), every=3)
    async with serving({PATH: data}) as server:
        source = remote([server.url + PATH], clock)
        await source.open()
        await source.close()
    assert server.sent < len(data)


async def test_a_session_goes_on_where_it_was(server, clock, monkeypatch):
    monkeypatch.setattr("session.training.intake.parted.BLOCK", 20)
    source = remote([server.url + PATH], clock)
    kept = dict((await source.open()).identity)
    await source.close()
    assert kept[DUMP.name] == [server.url + PATH]
    assert kept[VERSIONS] == [etag_of(DATA)]
    whole, _, _ = await read(remote([server.url + PATH], clock, kept))
    for blocks in (1, 9):
        first, position, _ = await read(remote([server.url + PATH], clock, kept), blocks=blocks)
        rest, _, _ = await read(remote([server.url + PATH], clock, kept), position)
        assert first + rest == whole


@pytest.mark.parametrize("status", [429, 503])
async def test_what_the_server_asks_for_is_waited_for(server, clock, status, tmp_path):
    server.acts = [None, None, says(status, Retry_After="77"), None, None, says(500)]
    found, _, _ = await read(remote([server.url + PATH], clock))
    assert found == await of_files(tmp_path, DATA)
    assert sum(clock.slept) >= 77


async def _cut(request, data):
    response = web.StreamResponse(status=206, headers={"Content-Range": "bytes 0-1/2", "Content-Length": "9"})
    await response.prepare(request)
    request.transport.close()
    return response


async def _another_range(request, data):
    start, stop = range_of(request)
    return part(data, start, stop, Content_Range=f"bytes {start + 1}-{stop}/{len(data)}")


async def _too_short(request, data):
    start, stop = range_of(request)
    response = part(data, start, stop)
    response.body = data[start : stop - 1]
    return response


async def _endless(request, data):
    start, stop = range_of(request)
    response = web.StreamResponse(
        status=206, headers={"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}", "ETag": etag_of(data)}
    )
    await response.prepare(request)
    while True:
        await response.write(bytes(10_000))


async def _too_much(request, data):
    start, stop = range_of(request)
    return part(
        data, start, min(stop + 5000, len(data)), Content_Range=f"bytes {start}-{stop - 1}/{len(data)}"
    )


async def _slow(request, data):
    await asyncio.sleep(3600)


async def _damaged(request, data):
    start, stop = range_of(request)
    middle = (start + stop) // 2
    return part(data[:middle] + bytes(40) + data[middle + 40 :], start, stop, ETag=etag_of(data))


async def _whole(request, data):
    return web.Response(body=data, headers={"ETag": etag_of(data)})


@pytest.mark.parametrize(
    "fault", [_cut, _another_range, _too_short, _endless, _too_much, _slow, _damaged, _whole]
)
async def test_a_reply_that_is_not_the_range_is_asked_for_once_more(server, clock, tmp_path, fault):
    server.acts = [None, None, None, fault, None, None, fault, fault]
    limits = WireLimits(stall_seconds=0.3)
    found, _, told = await read(remote([server.url + PATH], clock, limits=limits))
    assert found == await of_files(tmp_path, DATA)
    assert told == []


async def test_what_stays_damaged_is_left_out_alone(clock):
    damaged = bytearray(DATA)
    damaged[len(DATA) // 2 :][:40] = bytes(40)
    damaged[len(DATA) // 2 : len(DATA) // 2 + 40] = bytes(40)
    async with serving({PATH: bytes(damaged)}) as server:
        found, _, told = await read(remote([server.url + PATH], clock))
    assert 0 < len(set(NUMBERS) - set(found)) < 30
    assert "damaged" in told[0]
    assert server.url + PATH not in told[0]


async def test_bytes_that_are_never_the_same_twice_are_given_up(server, clock):
    async def noise(request, data):
        start, stop = range_of(request)
        if start == 0:
            return None
        return part(bytes([len(server.asked) % 256]) * len(data), start, stop, ETag=etag_of(data))

    source = remote([server.url + PATH], clock)
    info = await source.open()
    server.always = noise
    feed = PartedBlocks(source, info, WORDS, workers=1)
    feed.start(None)
    block = await feed.next()
    assert block.warnings
    await feed.close()


@pytest.mark.parametrize("change", [b"x", DATA[:-9], b""])
async def test_another_file_in_its_place_ends_the_run_where_it_stood(server, clock, change):
    source = remote([server.url + PATH], clock)
    kept = dict((await source.open()).identity)
    await source.close()
    if change == b"x":
        server.files[PATH] = DATA.replace(b"B", b"C")  # as large as before
    else:
        server.files[PATH] = change or DATA + DATA
    with pytest.raises(SourceChanged, match="has changed since this session"):
        await read(remote([server.url + PATH], clock, kept))
    del server.files[PATH]
    with pytest.raises(CrawlerError, match="no longer there"):
        await read(remote([server.url + PATH], clock, kept))


async def test_a_change_is_seen_without_a_version_too(server, clock):
    async def nameless(request, data):
        response = server.usual(request)
        response.headers.popall("ETag", None)
        return response

    server.always = nameless
    source = remote([server.url + PATH], clock)
    kept = dict((await source.open()).identity)
    await source.close()
    assert kept[VERSIONS] == [""]
    server.files[PATH] = DATA + DATA
    with pytest.raises(SourceChanged):
        await read(remote([server.url + PATH], clock, kept))


async def _compressed(request, data):
    return part(data, *range_of(request), Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (_whole, "serves no ranges; download it: curl -A"),
        (says(404), "no such file"),
        (says(416), "it is empty"),
        (_compressed, "compresses what it sends"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_a_line(server, clock, act, told):
    server.always = act
    with pytest.raises(BadSource, match=told):
        await read(remote([server.url + PATH], clock))
    assert len(server.asked) == 1


async def test_a_large_file_of_one_frame_is_refused(clock, monkeypatch):
    monkeypatch.setattr("crawler.sources.shuffled.LARGEST", 1000)
    async with serving({PATH: gzip.compress(dump(NUMBERS))}) as server:
        with pytest.raises(BadSource, match="at its start only"):
            await read(remote([server.url + PATH], clock))


async def test_a_redirect_elsewhere_needs_agreement(server, clock, tmp_path):
    async with serving({}) as first:
        first.always = says(302, Location=server.url + PATH)
        with pytest.raises(Unconfirmed, match="sends us on to"):
            await read(remote([first.url + PATH], clock, agreed=False))
        assert server.asked == []
        found, _, _ = await read(remote([first.url + PATH], clock))
        assert found == await of_files(tmp_path, DATA)
        assert len(first.asked) == 2  # from then on it is asked for where it is


async def test_a_redirect_on_the_same_server_is_followed(server, clock, tmp_path):
    async def moved(request, data):
        return None if request.path == PATH else web.Response(status=301, headers={"Location": PATH})

    server.always = moved
    found, _, _ = await read(remote([server.url + "/old"], clock, agreed=False))
    assert found == await of_files(tmp_path, DATA)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "/loop", "http://[", "ftp://127.0.0.1/x"])
async def test_redirects_to_nowhere_are_not_followed(server, clock, target):
    server.always = says(302, Location=target)
    with pytest.raises(WikiUnreachable, match="redirect"):
        await read(remote([server.url + PATH], clock))


async def test_the_contact_goes_to_no_other_server_unasked(server, clock):
    with pytest.raises(Unconfirmed, match="your contact goes there"):
        remote([server.url + PATH], clock, agreed=False, contact="me@host.org")
    with pytest.raises(ContactMissing):
        remote(["https://dumps.wikimedia.org/x.bz2"], clock)
    await remote(["https://dumps.wikimedia.org/x.bz2"], clock, agreed=False, contact="me@host.org").close()
    assert server.asked == []


async def test_the_contact_is_kept_nowhere_whoever_repeats_it(server, clock):
    async def repeats(request, data):
        return part(data, *range_of(request), ETag='"me@host.org"')

    server.always = repeats
    source = remote([server.url + PATH], clock, contact="me@host.org")
    info = await source.open()
    await source.close()
    assert "host.org" not in str(info)


def test_one_connection_and_no_haste():
    manners = dump_manners("dumps.wikimedia.org")
    assert (manners.at_once, manners.wikimedia, manners.slow_reply) == (1, True, None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["https://me:secret@host.org/x.bz2"], "no user name and password"),
        (["ftp://host.org/x.bz2"], "http:// or https://"),
        (["https://host.org/x.bz2", "/x.bz2"], "not both"),
        (["https://host.org/x.bz2", "https://other.org/y.bz2"], "one server"),
    ],
)
def test_addresses_that_are_refused(given, told):
    with pytest.raises(BadSource, match=told) as caught:
        Dump().identity(Asked({DUMP.name: tuple(given)}))
    assert "secret" not in str(caught.value)


def test_a_damaged_identity_is_told():
    kind = Dump()
    kept = dict(kind.identity(Asked({DUMP.name: ("https://host.org/x.bz2",)})))
    assert kind.fault(kept) == ""
    for wrong in ({VERSIONS: 1}, {VERSIONS: []}, {VERSIONS: ["a\r\nb"]}, {"home": 1}, {"api_url": None}):
        assert kind.fault(kept | wrong)

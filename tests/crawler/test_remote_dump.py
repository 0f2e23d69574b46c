"""A dump read from its server: the same stream as from the file; faults, what is refused or asked
first."""

import asyncio
import gzip
import itertools
import lzma

import pytest
from aiohttp import web

from tests.crawler.dump_server import etag_of, part, range_of, says, serving
from tests.crawler.dumps import dump, multistream
from tests.crawler.remote import DATA, NUMBERS, PATH, kept_by, of_files, read, remote
from wikitopics.crawler.dumps import VERSIONS
from wikitopics.crawler.dumps.kind import DUMP, Dump
from wikitopics.crawler.dumps.remote import LIMITS
from wikitopics.crawler.errors import (
    BadSource,
    ContactMissing,
    CrawlerError,
    Unconfirmed,
    WikiUnreachable,
)
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.source import Asked

pytestmark = pytest.mark.usefixtures("in_small_pieces", "counted_here")


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
    agents = {request.headers["User-Agent"].split(" aio")[0] for request in server.asked}
    assert agents == {"wikitopics/1 (me@host.org)"}
    assert len({request.transport for request in server.asked}) == 1


async def test_a_dump_that_fits_into_memory_is_asked_for_once(clock, monkeypatch):
    """And one request is enough to look at each file, for its size and its format."""
    monkeypatch.setattr("wikitopics.crawler.dumps.remote.MOST_CACHED", 1 << 20)
    async with serving({f"/{number}.dump": DATA for number in range(3)}) as server:
        source = remote([f"{server.url}/{number}.dump" for number in range(3)], clock)
        await read(source)
    assert source.name == "0.dump and 2 more"
    assert server.sent == 3 * len(DATA)


async def test_a_session_goes_on_where_it_was(server, clock, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled.BLOCK", 20)
    kept = await kept_by(server.url + PATH, clock)
    assert kept[DUMP.name] == [server.url + PATH]
    assert kept[VERSIONS] == [etag_of(DATA)]
    whole, _, _ = await read(remote([server.url + PATH], clock, kept))
    ends = []
    for blocks in (1, 4, 5):
        first, position, _ = await read(remote([server.url + PATH], clock, kept), blocks=blocks)
        rest, _, _ = await read(remote([server.url + PATH], clock, kept), position)
        assert first + rest == whole
        ends.append(position["done"])
    assert 0 in ends, "one of them between two rounds"


@pytest.mark.parametrize("status", [429, 503])
async def test_what_the_server_asks_for_is_waited_for(server, clock, status, tmp_path):
    server.acts = [None, None, says(status, Retry_After="77"), None, None, says(500)]
    found, _, _ = await read(remote([server.url + PATH], clock))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert 77 <= sum(clock.slept) < 120  # and no such rest as Wikimedia wants


async def _cut(request, data):
    response = web.StreamResponse(
        status=206, headers={"Content-Range": "bytes 0-1/2", "Content-Length": "9"}
    )
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
    headers = part(data, *range_of(request)).headers
    response = web.StreamResponse(
        status=206, headers={k: headers[k] for k in ("Content-Range", "ETag")}
    )
    await response.prepare(request)
    while True:
        await response.write(bytes(10_000))


async def _too_much(request, data):
    start, stop = range_of(request)
    of = f"bytes {start}-{stop - 1}/{len(data)}"
    return part(data, start, min(stop + 5000, len(data)), Content_Range=of)


async def _slow(request, data):
    await asyncio.sleep(3600)


async def _damaged(request, data, number=itertools.count()):  # noqa: B008 (never the same damage twice)
    start, stop = range_of(request)
    middle = (start + stop) // 2
    damage = bytes([next(number) % 256]) * 40
    return part(data[:middle] + damage + data[middle + 40 :], start, stop, ETag=etag_of(data))


async def _whole(request, data):
    return web.Response(body=data, headers={"ETag": etag_of(data)})


@pytest.mark.parametrize(
    "fault", [_cut, _another_range, _too_short, _endless, _too_much, _slow, _damaged, _whole]
)
async def test_a_reply_that_is_not_the_range_is_asked_for_once_more(server, clock, tmp_path, fault):
    server.acts = [None, None, None, fault, None, None, fault, fault]
    bounds = RequestBounds(stall_seconds=0.3) if fault is _slow else LIMITS
    found, _, told = await read(remote([server.url + PATH], clock, bounds=bounds))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert told == []


async def test_a_part_that_came_damaged_is_read_again(server, clock, tmp_path):
    """In the middle of training too, when the damaged bytes may have been dropped before anybody
    notices."""
    kept = await kept_by(server.url + PATH, clock)
    server.acts = [None, None, _damaged]
    found, _, told = await read(remote([server.url + PATH], clock, kept))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert told == []


async def test_what_stays_damaged_is_left_out_alone(clock):
    damaged = bytearray(DATA)
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

    kept = await kept_by(server.url + PATH, clock)
    server.always = noise
    _, _, told = await read(remote([server.url + PATH], clock, kept))
    assert "damaged" in told[0]


@pytest.mark.parametrize("change", [b"x", DATA[:-9], b""])
async def test_another_file_in_its_place_ends_the_run_where_it_stood(server, clock, change):
    kept = await kept_by(server.url + PATH, clock)
    if change == b"x":
        server.files[PATH] = DATA.replace(b"B", b"C")  # as large as before
    else:
        server.files[PATH] = change or DATA + DATA
    with pytest.raises(CrawlerError, match="has changed since this session") as changed:
        await read(remote([server.url + PATH], clock, kept))
    assert changed.value.exit_code == 1
    del server.files[PATH]
    with pytest.raises(CrawlerError, match="no longer there"):
        await read(remote([server.url + PATH], clock, kept))


async def test_a_change_is_seen_without_a_version_too(server, clock):
    async def nameless(request, data):
        response = server.usual(request)
        response.headers.popall("ETag", None)
        return response

    server.always = nameless
    kept = await kept_by(server.url + PATH, clock)
    assert kept[VERSIONS] == [""]
    server.files[PATH] = DATA + DATA
    with pytest.raises(CrawlerError, match="has changed since this session"):
        await read(remote([server.url + PATH], clock, kept))


async def _compressed(request, data):
    return part(data, *range_of(request), Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (_whole, "does not support ranges; download it: curl -A"),
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


@pytest.mark.parametrize("files", [1, 2])
async def test_a_size_that_no_dump_has_is_not_believed(server, clock, files):
    async def vast(request, data):
        size = (1 << 44) // files + 1
        return part(data, *range_of(request), Content_Range=f"bytes 0-499/{size}")

    server.always = vast
    with pytest.raises((BadSource, WikiUnreachable), match=r"over 17,592|a different range"):
        await read(remote([server.url + PATH] * files, clock))


async def test_a_large_file_of_one_frame_is_refused(clock, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled.LARGEST", 1000)
    async with serving({PATH: gzip.compress(dump(NUMBERS))}) as server:
        with pytest.raises(BadSource, match="only be read from its start"):
            await read(remote([server.url + PATH], clock))


async def test_a_redirect_elsewhere_needs_agreement(server, clock, tmp_path):
    async with serving({}) as first:
        first.always = says(302, Location=server.url + PATH)
        with pytest.raises(Unconfirmed, match=r"redirects to .* contact .* whatever its size"):
            await read(remote([first.url + PATH], clock, agreed=False))
        assert server.asked == []
        found, _, _ = await read(remote([first.url + PATH], clock))
        assert found == await of_files(tmp_path, DATA)
        assert len(first.asked) == 2  # from then on it is asked for where it is


async def test_a_redirect_on_the_same_server_is_followed(server, clock, tmp_path):
    async def moved(request, data):
        return (
            None if request.path == PATH else web.Response(status=301, headers={"Location": PATH})
        )

    server.always = moved
    found, _, _ = await read(remote([server.url + "/old"], clock, agreed=False))
    assert found == await of_files(tmp_path, DATA)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "/loop", "http://[", "ftp://127.0.0.1/x"])
async def test_redirects_to_nowhere_are_not_followed(server, clock, target):
    server.always = says(302, Location=target)
    with pytest.raises(WikiUnreachable, match="redirect"):
        await read(remote([server.url + PATH], clock))


async def test_the_contact_goes_to_no_other_server_unasked(server, clock):
    with pytest.raises(Unconfirmed, match=r"your contact is sent there, and .* whatever its size"):
        remote([server.url + PATH], clock, agreed=False, contact="me@host.org")
    with pytest.raises(ContactMissing):
        remote(["https://dumps.wikimedia.org/x.bz2"], clock)
    await remote(
        ["https://dumps.wikimedia.org/x.bz2"],
        clock,
        agreed=False,
        contact="me@host.org",
    ).close()
    assert server.asked == []


async def test_the_contact_is_kept_nowhere_whoever_repeats_it(server, clock):
    async def repeats(request, data):
        return part(data, *range_of(request), ETag='"me@host.org"')

    server.always = repeats
    source = remote([server.url + PATH], clock, contact="me@host.org")
    info = await source.open()
    await source.close()
    assert "host.org" not in str(info)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["https://me:secret@host.org/x.bz2"], "not contain a user name"),
        (["ftp://host.org/x.bz2"], "http:// or https://"),
        (["https://host.org/x.bz2", "/x.bz2"], "not both"),
        (["https://host.org/x.bz2", "https://other.org/y.bz2"], "one server"),
    ],
)
def test_addresses_that_are_refused(given, told):
    with pytest.raises(BadSource, match=told) as caught:
        Dump().identity(Asked({DUMP.name: tuple(given)}))
    assert "secret" not in str(caught.value)


FILE = {DUMP.name: ["https://host.org/x.bz2"]}
FOLDER = {"home": "https://host.org/", "api_url": "https://de.wikipedia.org/w/api.php"}


@pytest.mark.parametrize(
    ("kept", "wrong", "told"),
    [
        (FILE, {VERSIONS: 1}, "versions is not a list of versions"),
        (FILE, {VERSIONS: []}, "versions is not a list of versions"),
        (FILE, {VERSIONS: ["a\r\nb"]}, "versions is not a list of versions"),
        (FILE, {"home": 1}, "home is not text"),
        (FILE, {"api_url": None}, "api_url is not text"),
        (FOLDER, {"home": "here"}, "'here' is not an address of a dump"),
        (FOLDER, {DUMP.name: None}, "dump is not a list of files"),
        (
            FOLDER,
            {DUMP.name: ["/x.bz2", "https://host.org/y.bz2"]},
            "files and addresses are mixed",
        ),
    ],
)
def test_a_damaged_identity_is_told(kept, wrong, told):
    assert Dump().fault(kept) == ""
    assert Dump().fault(kept | wrong).startswith(told)

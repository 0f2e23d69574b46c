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
from wikitopics.crawler.dumps.kinds import DUMP, Dump
from wikitopics.crawler.errors import (
    BadSource,
    ContactMissing,
    CrawlerError,
    Unconfirmed,
    WikiUnreachable,
)
from wikitopics.crawler.http.ranges import LIMITS
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
    files = {f"/{number}.dump": data for number, data in enumerate(datas)}
    async with serving(files) as server:
        urls = [server.url + path for path in files]
        found, _, messages = await read(remote(urls, clock, contact="me@host.org"))
    assert found == await of_files(tmp_path, *datas)
    assert sorted(found) == list(NUMBERS)
    assert messages == []
    assert server.most_under_way == 1
    for request in server.asked:
        assert request.headers["User-Agent"].startswith("wikitopics/1 (me@host.org) aio")
    connections = {request.transport for request in server.asked}
    assert len(connections) == 1


async def test_a_dump_that_fits_into_memory_is_asked_for_once(clock, monkeypatch):
    """One request is enough to learn the size and the format of a file, and its bytes are kept."""
    monkeypatch.setattr("wikitopics.crawler.http.ranges.MOST_CACHED", 1 << 20)
    files = {"/0.dump": DATA, "/1.dump": DATA, "/2.dump": DATA}
    async with serving(files) as server:
        source = remote([server.url + path for path in files], clock)
        await read(source)
    assert source.name == "0.dump and 2 more"
    assert server.sent == 3 * len(DATA)


async def test_a_session_goes_on_where_it_was(server, clock, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.rounds.BLOCK", 20)
    url = server.url + PATH
    kept = await kept_by(url, clock)
    assert kept[DUMP.name] == [url]
    assert kept[VERSIONS] == [etag_of(DATA)]
    whole, _, _ = await read(remote([url], clock, kept))
    articles_done_of_a_round = []
    for blocks in (1, 4, 5):
        first, position, _ = await read(remote([url], clock, kept), blocks=blocks)
        rest, _, _ = await read(remote([url], clock, kept), position)
        assert first + rest == whole
        articles_done_of_a_round.append(position["done"])
    assert 0 in articles_done_of_a_round, "one of the positions is between two rounds"


@pytest.mark.parametrize("status", [429, 503])
async def test_what_the_server_asks_for_is_waited_for(server, clock, status, tmp_path):
    server.acts = [None, None, says(status, Retry_After="77"), None, None, says(500)]
    found, _, _ = await read(remote([server.url + PATH], clock))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert 77 <= sum(clock.slept) < 120, "only Wikimedia's servers are left alone for longer"


# Replies that are not the range that was asked for: acts of the server.


async def _cut(request, data):
    headers = {"Content-Range": "bytes 0-1/2", "Content-Length": "9"}
    response = web.StreamResponse(status=206, headers=headers)
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
    right = part(data, *range_of(request)).headers
    headers = {"Content-Range": right["Content-Range"], "ETag": right["ETag"]}
    response = web.StreamResponse(status=206, headers=headers)
    await response.prepare(request)
    while True:
        await response.write(bytes(10_000))


async def _too_much(request, data):
    start, stop = range_of(request)
    sent_to = min(stop + 5000, len(data))
    return part(data, start, sent_to, Content_Range=f"bytes {start}-{stop - 1}/{len(data)}")


async def _slow(request, data):
    await asyncio.sleep(3600)


NUMBERS_OF_DAMAGE = itertools.count()


async def _damaged(request, data):
    """The range with other bytes in the middle, which are never the same twice."""
    start, stop = range_of(request)
    middle = (start + stop) // 2
    damage = bytes([next(NUMBERS_OF_DAMAGE) % 256]) * 40
    return part(data[:middle] + damage + data[middle + 40 :], start, stop, ETag=etag_of(data))


async def _whole(request, data):
    return web.Response(body=data, headers={"ETag": etag_of(data)})


@pytest.mark.parametrize(
    "fault", [_cut, _another_range, _too_short, _endless, _too_much, _slow, _damaged, _whole]
)
async def test_a_reply_that_is_not_the_range_is_asked_for_once_more(server, clock, tmp_path, fault):
    server.acts = [None, None, None, fault, None, None, fault, fault]
    bounds = RequestBounds(stall_seconds=0.3) if fault is _slow else LIMITS
    found, _, messages = await read(remote([server.url + PATH], clock, bounds=bounds))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert messages == []


async def test_a_part_that_came_damaged_is_read_again(server, clock, tmp_path):
    """So it is in the middle of training, where the damaged bytes may have been dropped before
    anybody notices."""
    kept = await kept_by(server.url + PATH, clock)
    server.acts = [None, None, _damaged]
    found, _, messages = await read(remote([server.url + PATH], clock, kept))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert messages == []


async def test_what_stays_damaged_is_left_out_alone(clock):
    middle = len(DATA) // 2
    damaged = DATA[:middle] + bytes(40) + DATA[middle + 40 :]
    async with serving({PATH: damaged}) as server:
        found, _, messages = await read(remote([server.url + PATH], clock))
    missing = set(NUMBERS) - set(found)
    assert 0 < len(missing) < 30
    assert "damaged" in messages[0]
    assert server.url + PATH not in messages[0]


async def test_bytes_that_are_never_the_same_twice_are_given_up(server, clock):
    async def noise(request, data):
        start, stop = range_of(request)
        if start == 0:
            return None
        other_bytes = bytes([len(server.asked) % 256]) * len(data)
        return part(other_bytes, start, stop, ETag=etag_of(data))

    kept = await kept_by(server.url + PATH, clock)
    server.always = noise
    _, _, messages = await read(remote([server.url + PATH], clock, kept))
    assert "damaged" in messages[0]


@pytest.mark.parametrize(
    "other",
    [DATA.replace(b"B", b"C"), DATA[:-9], DATA + DATA],
    ids=["of the same size", "smaller", "larger"],
)
async def test_another_file_in_its_place_ends_the_run(server, clock, other):
    kept = await kept_by(server.url + PATH, clock)
    server.files[PATH] = other
    with pytest.raises(CrawlerError, match="has changed since this session") as changed:
        await read(remote([server.url + PATH], clock, kept))
    assert changed.value.exit_code == 1


async def test_a_file_that_is_no_longer_there_ends_the_run(server, clock):
    kept = await kept_by(server.url + PATH, clock)
    del server.files[PATH]
    with pytest.raises(CrawlerError, match="no longer there"):
        await read(remote([server.url + PATH], clock, kept))


async def test_a_change_is_seen_without_a_version_too(server, clock):
    async def without_version(request, data):
        response = server.usual(request)
        response.headers.popall("ETag", None)
        return response

    server.always = without_version
    kept = await kept_by(server.url + PATH, clock)
    assert kept[VERSIONS] == [""]
    server.files[PATH] = DATA + DATA
    with pytest.raises(CrawlerError, match="has changed since this session"):
        await read(remote([server.url + PATH], clock, kept))


async def _compressed(request, data):
    return part(data, *range_of(request), Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (_whole, "does not support ranges; download it: curl -A"),
        (says(404), "no such file"),
        (says(416), "it is empty"),
        (_compressed, "compresses what it sends"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_a_line(server, clock, act, message):
    server.always = act
    with pytest.raises(BadSource, match=message):
        await read(remote([server.url + PATH], clock))
    assert len(server.asked) == 1


@pytest.mark.parametrize("n_files", [1, 2])
async def test_a_size_that_no_dump_has_is_not_believed(server, clock, n_files):
    largest = 1 << 44  # bytes of all files of a dump: 17,592 GB

    async def too_large(request, data):
        size = largest // n_files + 1
        return part(data, *range_of(request), Content_Range=f"bytes 0-499/{size}")

    server.always = too_large
    with pytest.raises((BadSource, WikiUnreachable), match=r"over 17,592|a different range"):
        await read(remote([server.url + PATH] * n_files, clock))


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
        assert len(first.asked) == 2, "after the redirect the other server is asked at once"


async def test_a_redirect_on_the_same_server_is_followed(server, clock, tmp_path):
    async def moved(request, data):
        if request.path == PATH:
            return None
        return web.Response(status=301, headers={"Location": PATH})

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
    assert server.asked == []


async def test_wikimedia_wants_a_contact_and_gets_it_unasked(clock):
    url = "https://dumps.wikimedia.org/x.bz2"
    with pytest.raises(ContactMissing):
        remote([url], clock)
    source = remote([url], clock, agreed=False, contact="me@host.org")
    await source.close()


async def test_a_contact_that_the_server_repeats_is_kept_nowhere(server, clock):
    async def repeats(request, data):
        return part(data, *range_of(request), ETag='"me@host.org"')

    server.always = repeats
    source = remote([server.url + PATH], clock, contact="me@host.org")
    info = await source.open()
    await source.close()
    assert "host.org" not in str(info)


@pytest.mark.parametrize(
    ("addresses", "message"),
    [
        (["https://me:secret@host.org/x.bz2"], "not contain a user name"),
        (["ftp://host.org/x.bz2"], "http:// or https://"),
        (["https://host.org/x.bz2", "/x.bz2"], "not both"),
        (["https://host.org/x.bz2", "https://other.org/y.bz2"], "one server"),
    ],
)
def test_addresses_that_are_refused(addresses, message):
    asked = Asked({DUMP.name: tuple(addresses)})
    with pytest.raises(BadSource, match=message) as caught:
        Dump().identity(asked)
    assert "secret" not in str(caught.value)


FILE = {DUMP.name: ["https://host.org/x.bz2"]}
FOLDER = {"home": "https://host.org/", "api_url": "https://de.wikipedia.org/w/api.php"}


@pytest.mark.parametrize(
    ("kept", "wrong", "message"),
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
def test_a_damaged_identity_is_told(kept, wrong, message):
    assert Dump().fault(kept) == ""
    assert Dump().fault(kept | wrong).startswith(message)

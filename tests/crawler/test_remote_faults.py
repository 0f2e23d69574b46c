"""A dump server that is busy, broken or lying: waited for, asked again, or given up with one line."""

import asyncio
import itertools

import pytest
from aiohttp import web

from tests.crawler.dump_server import etag_of, part, range_of, says, serving
from tests.crawler.remote import DATA, NUMBERS, PATH, kept_by, of_files, read, remote
from wikitopics.crawler.dumps import VERSIONS
from wikitopics.crawler.dumps.remote import LIMITS
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.source import CrawlerError

pytestmark = pytest.mark.usefixtures("in_small_pieces", "counted_here")


@pytest.mark.parametrize("status", [429, 503])
async def test_what_the_server_asks_for_is_waited_for(server, clock, status, tmp_path):
    server.acts = [None, None, says(status, Retry_After="77"), None, None, says(500)]
    found, _, _ = await read(remote([server.url + PATH], clock))
    assert server.acts == []
    assert found == await of_files(tmp_path, DATA)
    assert 77 <= sum(clock.slept) < 120  # and no such rest as Wikimedia wants


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
    headers = part(data, *range_of(request)).headers
    response = web.StreamResponse(status=206, headers={k: headers[k] for k in ("Content-Range", "ETag")})
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
    """In the middle of training too, when the damaged bytes may have been dropped before anybody notices."""
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

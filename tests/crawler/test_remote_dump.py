"""A dump read from its server: the same stream as from the file, and nothing requested twice."""

import gzip
import lzma

import pytest

from tests.crawler.dump_server import etag_of, serving
from tests.crawler.dumps import dump, multistream
from tests.crawler.remote import DATA, NUMBERS, PATH, kept_by, of_files, read, remote
from wikitopics.crawler.dumps import VERSIONS
from wikitopics.crawler.dumps.source import DUMP

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


async def test_only_a_few_places_are_looked_at_first(clock):
    data = multistream(range(1, 3001), every=3)
    async with serving({PATH: data}) as server:
        source = remote([server.url + PATH], clock)
        await source.open()
        await source.close()
    assert server.sent < len(data)


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

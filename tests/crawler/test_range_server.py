"""How many bytes of a file are requested at a time, and from where."""

from functools import partial

import pytest
from yarl import URL

from tests.crawler.dump_server import range_of, says, serving
from wikitopics.crawler.dumps import remote
from wikitopics.crawler.dumps.remote import RangeServer
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import dump_limits
from wikitopics.crawler.source import Activity

KB = 1 << 10
DATA = bytes(range(256)) * (16 << 12)


@pytest.fixture
async def ranges(clock, monkeypatch):
    """Ranges of DATA, the largest of as many bytes as said: ``server, read = await ranges(largest)``."""
    async with serving({"/dump": DATA}) as server:
        client = Client(dump_limits("127.0.0.1"), Activity(), version="1", clock=clock)

        async def looked(largest):
            monkeypatch.setattr(remote, "LARGEST", largest)
            ranges = RangeServer(client)
            file, first = await ranges.look(URL(f"{server.url}/dump"), 1000)
            assert first == DATA[:1000]
            return server, partial(ranges.read, file, 0)

        yield looked
        await client.close()


def asked(server, begin):
    """How many kB each of the requests from this one on is for."""
    return [(stop - start) // KB for start, stop in map(range_of, server.asked[begin:])]


async def test_ranges_are_halved_down_to_256_kb_and_grow_again(ranges):
    """A server that is merely busy gets the same requests as before."""
    server, read = await ranges(4096 * KB)
    server.acts = [says(429), *[says(500)] * 5, says(503)]
    assert await read(len(DATA)) == DATA
    falling = [4096, 4096, 2048, 1024, 512, 256, 256]
    growing = [256, 512, 1024, 2048, 4096, 4096, 4096]
    assert asked(server, 1)[:-1] == falling + growing
    assert sum(asked(server, 8)) == len(DATA) // KB


async def test_over_a_slow_line_ranges_do_not_grow(ranges, clock):
    """Larger ones would again be too late, and what came of them lost."""

    async def slow(request, data):
        clock.now += 100

    server, read = await ranges(1024 * KB)
    server.acts, server.always = [says(500)], slow
    assert await read(2048 * KB) == DATA[: 2048 * KB]
    assert asked(server, 2) == [512] * 4

"""How many bytes of a file are requested at a time, and from where."""

from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from tests.crawler.dump_server import range_of, says, serving
from wikitopics.crawler.dumps import range_server
from wikitopics.crawler.dumps.range_server import RangeServer
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.limits import dump_limits
from wikitopics.crawler.source import Activity

KB = 1 << 10
DATA = bytes(range(256)) * (16 << 12)


async def test_ranges_are_halved_down_to_256_kb_and_grow_again(
    clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is merely busy gets the same requests as before."""
    monkeypatch.setattr(range_server, "LARGEST", 4096 * KB)
    async with serving({"/dump": DATA}) as server:
        client = Client(dump_limits("127.0.0.1"), Activity(), version="1", clock=clock)
        ranges, url = RangeServer(client), URL(f"{server.url}/dump")
        file, first = await ranges.look(url, 1000)
        assert first == DATA[:1000]
        server.acts = [says(429), *[says(500)] * 5, says(503)]
        assert await ranges.read(file, 0, len(DATA)) == DATA
        await client.close()
    asked = [stop - start for start, stop in map(range_of, server.asked[1:])]
    falling = [4096, 4096, 2048, 1024, 512, 256, 256]
    growing = [256, 512, 1024, 2048, 4096, 4096, 4096]
    assert [size // KB for size in asked[:-1]] == falling + growing
    assert sum(asked[7:]) == len(DATA)


async def test_over_a_slow_line_ranges_do_not_grow(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger ones would again be too late, and what came of them lost."""

    async def slow(request: web.Request, data: bytes) -> None:
        clock.now += 100

    monkeypatch.setattr(range_server, "LARGEST", 1024 * KB)
    async with serving({"/dump": DATA}) as server:
        client = Client(dump_limits("127.0.0.1"), Activity(), version="1", clock=clock)
        ranges, url = RangeServer(client), URL(f"{server.url}/dump")
        file, _ = await ranges.look(url, 1000)
        server.acts, server.always = [says(500)], slow
        assert await ranges.read(file, 0, 2048 * KB) == DATA[: 2048 * KB]
        await client.close()
    asked = [stop - start for start, stop in map(range_of, server.asked[2:])]
    assert asked == [512 * KB] * 4

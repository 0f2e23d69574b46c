"""How many bytes of a file are requested at a time, and from where."""

from typing import Any

from yarl import URL

from crawler.client import Client
from crawler.limits import dump_manners
from crawler.range_server import RangeServer
from crawler.source import Activity
from tests.crawler.dump_server import range_of, says, serving

KB = 1 << 10
DATA = bytes(range(256)) * (16 << 12)


async def test_ranges_are_halved_down_to_256_kb_and_grow_again(clock: Any) -> None:
    """A server that is merely busy gets the same requests as before."""
    async with serving({"/dump": DATA}) as server:
        client = Client(dump_manners("127.0.0.1"), Activity(), version="1", clock=clock)
        ranges, url = RangeServer(client), URL(f"{server.url}/dump")
        facts = await ranges.look(url)
        server.acts = [says(429), *[says(500)] * 5, says(503)]
        assert await ranges.read(url, facts, 0, len(DATA)) == DATA
        await client.close()
    asked = [stop - start for start, stop in map(range_of, server.asked[1:])]
    falling = [4096, 4096, 2048, 1024, 512, 256, 256]
    growing = [256, 512, 1024, 2048, 4096, 4096, 4096]
    assert [size // KB for size in asked[:-1]] == falling + growing
    assert sum(asked[7:]) == len(DATA)

"""How much of a dump is requested from its server, from where, and how much of it is in memory."""

import asyncio
from functools import partial

import pytest
from yarl import URL

from tests.crawler.dump_server import range_of, says, serving
from tests.crawler.dumps import dump
from tests.crawler.remote import WORDS
from tests.session.memory import blocks_of
from wikitopics.crawler import unpacking
from wikitopics.crawler.dumps import bzip2, containers, parts, remote, schedule, shuffled
from wikitopics.crawler.dumps.remote import RemoteDump, Segment
from wikitopics.crawler.http import ranges as server_ranges
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.ranges import RangeServer, RemoteFile
from wikitopics.crawler.http.rules import file_limits
from wikitopics.crawler.source import Activity, Asked
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.jobs import counting_workers

SMALLER = 1 << 9
SIZES = [
    (parts, ("BEYOND",)),
    (schedule, ("CHUNK", "PART")),
    (shuffled, ("_COUNTED", "_SMALL")),
    (unpacking, ("_READ",)),
    (bzip2, ("_READ",)),
    (containers, ("_READ", "_LITTLE")),
    (remote, ("BEYOND",)),
    (server_ranges, ("FIRST", "MOST_CACHED")),
]

pytestmark = pytest.mark.usefixtures("counted_here")


class Server:
    """Answers from memory."""

    def __init__(self, data):
        self.data = data
        self.sent = 0
        self.requests = 0
        self.room = server_ranges.MOST_CACHED

    async def new_file(self, url, first):
        return RemoteFile(url, len(self.data), "v1", self), await self.read(None, 0, first)

    async def read(self, file, start, stop):
        found = self.data[start:stop]
        self.sent += len(found)
        self.requests += 1
        return found


@pytest.fixture
def source_of(monkeypatch):
    """Makes the source of a dump on a server, all sizes of which are a 512th of the real ones."""
    for module, names in SIZES:
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name) // SMALLER)

    def make(server, files=1):
        monkeypatch.setattr(server_ranges, "RangeServer", lambda client: server)
        urls = [URL(f"http://h/dump{number}") for number in range(files)]
        return RemoteDump(urls, {}, Asked({}, seed=1), contact=None, agreed=True)

    return make


async def numbers_of(source):
    info = await source.open()
    blocks = await blocks_of(Intake(source, counting_workers(WORDS, info, 1)))
    return sorted(number for block in blocks for number in block.page_ids.tolist())


PLACES = schedule.PLACES
LANES = schedule.LANES
BYTES_A_PAGE = 350


@pytest.mark.parametrize(
    ("megabytes", "requests"),
    [
        (50, 3),  # cached as a whole
        (300, PLACES + 54 + LANES * 2),
        (1600, PLACES + 100 + LANES * 2),
    ],
)
async def test_hardly_anything_is_requested_twice(source_of, monkeypatch, megabytes, requests):
    """One request for each place, one for each chunk, and for those of the first round another."""
    size = int(megabytes * 1e6) // SMALLER
    numbers = range(1, size // BYTES_A_PAGE)
    server = Server(dump(numbers))
    most = 0
    made = Segment.__init__

    def count(segment, *arguments):
        nonlocal most
        made(segment, *arguments)
        most = max(most, len(set(source._segments.values())))

    monkeypatch.setattr(Segment, "__init__", count)
    source = source_of(server)
    assert await numbers_of(source) == list(numbers)
    assert 1 <= server.sent / len(server.data) < 1.06
    assert server.requests <= requests
    if megabytes > 50:  # a smaller one is cached
        assert most <= LANES * 2  # the chunks of a round, each in two pieces at first


async def test_the_head_of_each_of_many_files_is_requested_once(source_of):
    server = Server(dump(range(1, 60)))
    source = source_of(server, files=100)
    info = await source.open()
    requests_before = server.requests
    await blocks_of(Intake(source, counting_workers(WORDS, info, 1)))
    assert 100 * len(server.data) > 2 * server_ranges.MOST_CACHED
    assert len(source.schedule.chunks) == 100
    assert server.requests - requests_before <= 100 + LANES * 2


async def test_a_dump_that_is_closed_requests_nothing_more(source_of, monkeypatch):
    """Even for a part that was waiting for its bytes."""
    requests = []
    made = Segment.__init__

    def record(segment, *arguments):
        made(segment, *arguments)
        requests.append(segment.request)

    monkeypatch.setattr(Segment, "__init__", record)
    server = Server(dump(range(1, 14_000)))
    source = source_of(server)
    await source.open()
    schedule = source.schedule
    (chunk, part), *_ = schedule.parts_of(0)

    async def read(*_):
        await asyncio.Event().wait()

    server.read = read
    waiting = asyncio.create_task(source.part(schedule, 0, chunk, part))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await source.close()
    assert requests
    assert all(request.cancelled() for request in requests)


KB = 1 << 10
DATA = bytes(range(256)) * (16 << 12)


@pytest.fixture
async def ranges(clock, monkeypatch):
    """Ranges of DATA, the largest of as many bytes as said: ``server, read = await
    ranges(largest)``."""
    async with serving({"/dump": DATA}) as server:
        client = Client(file_limits("127.0.0.1"), Activity(), version="1", clock=clock)

        async def described(largest):
            monkeypatch.setattr(server_ranges, "LARGEST", largest)
            ranges = RangeServer(client)
            file, first = await ranges.new_file(URL(f"{server.url}/dump"), 1000)
            assert first == DATA[:1000]
            return server, partial(ranges.read, file, 0)

        yield described
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
    server.acts = [says(500)]
    server.always = slow
    assert await read(2048 * KB) == DATA[: 2048 * KB]
    assert asked(server, 2) == [512] * 4

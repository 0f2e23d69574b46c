"""How much of a dump is requested, however fast its server and the workers are."""

import asyncio
from concurrent.futures import Executor, Future

import pytest
from yarl import URL

from tests.session.memory import INFO, blocks_of
from wikitopics.crawler.dumps import parts, remote
from wikitopics.crawler.dumps.parts import DumpPart, Order, Window, windows_and_lanes
from wikitopics.crawler.dumps.remote import RemoteDump
from wikitopics.crawler.source import Asked
from wikitopics.session.training.intake.crawl import PartedBlocks
from wikitopics.session.training.intake.pool import EMPTY, CountedPart, CountingPool

SMALLER = 1 << 9
SIZES = [(remote, "BLOCK"), (remote, "MOST")] + [
    (parts, name) for name in ("BEHIND", "FIRST", "FIRST_OF_ALL")
]
MB = PART = (1 << 20) // SMALLER


class Zeros:
    """A server whose replies come after so many turns of the event loop."""

    def __init__(self, turns):
        self.turns, self.sent, self.requests = turns, 0, 0

    async def read(self, file, start, stop):
        self.sent += stop - start
        self.requests += 1
        await turn(self.turns)
        return bytes(stop - start)


class Pool(CountingPool):
    """Workers of which each takes so many turns to count a part."""

    def __init__(self, workers, turns):
        super().__init__(Executor(), lambda: workers)
        self._turns, self._free = turns, asyncio.Semaphore(workers)

    def submit(self, fn, /, *args, **kwargs):
        return Future()

    async def result(self, job):
        async with self._free:
            await turn(self._turns)
        return CountedPart(EMPTY)


async def turn(times):
    for _ in range(times):
        await asyncio.sleep(0)


def lengths(steps):
    """The rounds and numbers of parts of the steps of each window, by the place where it begins."""
    found = {}
    for step in steps:
        found.setdefault(step.parts[0].start // 1000, []).append((step.round, len(step.parts)))
    return found


def side_by_side(windows, parts, begin=0):
    return [
        Window(
            begin, [DumpPart("a file", at, at + 100) for at in range(1000 * w, 1000 * w + 100 * parts, 100)]
        )
        for w in range(windows)
    ]


def test_first_a_little_then_a_few_large_requests(monkeypatch):
    windows = side_by_side(4, 9)
    for share, groups in (
        (1.0, [[8], [8], [8], [8]]),
        (0.75, [[2, 6], [7, 1], [8], [8]]),
        (0.4, [[1, 7], [3, 5], [4, 4], [6, 2]]),
    ):
        monkeypatch.setattr(parts, "FIRST_OF_ALL", share * 4 * 900)
        found = parts.steps(windows, 0)
        assert [[parts for _, parts in each] for each in lengths(found).values()] == [[1, *g] for g in groups]
        assert [step.round for step in found] == sorted(step.round for step in found)
        assert sum(len(step.parts) for step in found) == 36
    later = parts.steps(side_by_side(1, 9, begin=1), 0)
    assert lengths(later) == {0: [(1, 1), (2, 8)]}
    resumed = parts.steps(side_by_side(1, 9), 4)
    assert lengths(resumed) == {0: [(4, 1), (5, 4)]}


def test_a_byte_is_needed_until_the_last_part_that_holds_it():
    step = Window(7, [DumpPart("a file", at, at + 100) for at in (1000, 1100, 1200)])
    assert [step.last_round(at) for at in (900, 1000, 1099, 1100, 1299, 5000)] == [7, 7, 7, 8, 9, 9]


@pytest.mark.parametrize(("gigabytes", "most"), [(0.8, 1.07), (1.6, 1.04)])
@pytest.mark.parametrize("workers", [2, 16])
@pytest.mark.parametrize(("reply", "count"), [(1, 50), (10, 10), (50, 1)], ids=["fast", "even", "slow"])
async def test_hardly_anything_is_requested_twice(monkeypatch, gigabytes, most, workers, reply, count):
    size = int(gigabytes * 1e9) // SMALLER
    for module, name in SIZES:
        monkeypatch.setattr(module, name, getattr(module, name) // SMALLER)
    server = Zeros(reply)
    monkeypatch.setattr("wikitopics.crawler.dumps.remote.RangeServer", lambda client: server)
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled.look", lambda file, name: INFO)
    kept = Order(1, PART, [size], 50, 20, 1000, *windows_and_lanes(size // PART))
    urls = [URL("http://h/dump")]
    source = RemoteDump(urls, {"order": vars(kept)}, Asked({}, version="1"), contact=None, agreed=True)
    await source.open()
    await blocks_of(PartedBlocks(source, Pool(workers, count)))
    assert 1 <= server.sent / size < most
    # 50 requests for the articles held out, and 16 for the first parts, bring little.
    assert size / (server.requests - 66) > 8 * MB

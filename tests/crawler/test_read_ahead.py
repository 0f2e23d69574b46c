"""How much of a dump is requested, however fast its server and the workers are."""

import asyncio
from concurrent.futures import Executor, Future

import pytest
from yarl import URL

from crawler import read_ahead, remote_files
from crawler.dump_order import Order, rounds, windows_and_lanes
from crawler.dump_parts import DumpPart
from crawler.range_server import FileFacts
from crawler.remote_shelf import RemoteShelf
from crawler.source import Round
from session.training.intake.count_pages import NOTHING
from session.training.intake.parted import PartedBlocks
from session.training.intake.pool import CountingPool
from tests.session.memory import INFO

SMALLER = 1 << 9
SIZES = [(remote_files, "BLOCK"), (remote_files, "MOST")] + [
    (read_ahead, name) for name in ("BEHIND", "FIRST", "STEP")
]
PART = (1 << 20) // SMALLER


class Zeros:
    """A server whose replies come after so many turns of the event loop."""

    def __init__(self, turns):
        self.turns, self.sent = turns, 0

    async def read(self, url, facts, start, stop):
        self.sent += stop - start
        await turn(self.turns)
        return bytes(stop - start)


class Pool(CountingPool):
    """Workers of which each takes so many turns to count a part."""

    def __init__(self, workers, turns):
        super().__init__((), INFO, workers)
        self._turns, self._free = turns, asyncio.Semaphore(workers)

    def _new_executor(self):
        return Executor()

    def submit(self, fn, /, *args, **kwargs):
        return Future()

    async def result(self, job):
        async with self._free:
            await turn(self._turns)
        return NOTHING


class Source:
    """The parts of a dump on a shelf, in their order."""

    def __init__(self, shelf, file, size):
        self.activity, self.bring, self.close = shelf.activity, shelf.bring, shelf.close
        order = Order(1, PART, (size,), 50, 20, 1000, *windows_and_lanes(size // PART))
        self.rounds = lambda: rounds(order, [file])
        shelf.plan(self.rounds())


async def turn(times):
    for _ in range(times):
        await asyncio.sleep(0)


def test_first_a_little_then_more_at_once():
    parts = [DumpPart("a file", at, at + 100) for at in (0, 100, 200, 300)]
    found = read_ahead.steps([Round([part], list) for part in parts], 0)
    behind = read_ahead.BEHIND
    assert [(step.round, step.part, step.stop) for step in found] == [
        (0, parts[0], 100 + behind),
        (1, parts[1], 300 + behind),
        (3, parts[3], 400 + behind),
    ]


@pytest.mark.parametrize(("gigabytes", "most"), [(0.8, 1.07), (1.6, 1.04)])
@pytest.mark.parametrize("workers", [2, 16])
@pytest.mark.parametrize(("reply", "count"), [(1, 50), (10, 10), (50, 1)], ids=["fast", "even", "slow"])
async def test_hardly_anything_is_requested_twice(monkeypatch, gigabytes, most, workers, reply, count):
    size = int(gigabytes * 1e9) // SMALLER
    for module, name in SIZES:
        monkeypatch.setattr(module, name, getattr(module, name) // SMALLER)
    facts, server = [FileFacts(size, "")], Zeros(reply)
    monkeypatch.setattr("crawler.remote_shelf.RangeServer", lambda client: server)
    shelf = RemoteShelf(
        [URL("http://h/dump")], facts, version="1", contact=None, budget_folder=None, agreed=True
    )
    ((file, _),) = await shelf.open()
    feed = PartedBlocks(Source(shelf, file, size), INFO, (), pool=Pool(workers, count))
    feed.start(None)
    while await feed.next() is not None:
        pass
    await feed.close()
    assert 1 <= server.sent / size < most

import asyncio
import contextlib
import random
import sys
from itertools import pairwise

import pytest

from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.rules import (
    RateLimits,
    wikimedia_limits,
    wikimedia_page_limits,
    wikimedia_service_limits,
)
from wikitopics.crawler.http.wire import Clock, OwnPace, SharedPace, interval
from wikitopics.crawler.mediawiki.api import BatchSizer

SERVICE = wikimedia_service_limits("dumps.wikimedia.org", "the dump server")


async def wait_until(clock, moment):
    while clock.monotonic() < moment:
        await clock.sleep(moment - clock.monotonic())


class Log:
    """Requests through one or several paces, each taking ``latency``."""

    def __init__(self, clock):
        self.clock = clock
        self.starts = []
        self.ends = []
        self.running = 0
        self.most_running = 0

    async def request(self, pace, latency, told=0.0):
        async with pace.turn(lambda moment, _: wait_until(self.clock, moment)) as turn:
            self.starts.append(self.clock.monotonic())
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            await self.clock.sleep(latency)
            turn.latency = latency
            turn.told_to_wait = told
            self.running -= 1
            self.ends.append(self.clock.monotonic())

    def most_in(self, seconds):
        starts = sorted(self.starts)
        return max(sum(begin <= s < begin + seconds for s in starts) for begin in starts)


async def busy(limits, trainers, clock, folder, slowest, each=1):
    """Requests for two minutes by several trainers, ``each`` of which makes so many at once."""
    log = Log(clock)
    rng = random.Random(0)
    end = clock.now + 120

    async def requests(pace):
        while clock.now < end:
            await log.request(pace, rng.uniform(0.05, slowest))

    paces = [SharedPace(limits, clock, folder) for _ in range(trainers)]
    await asyncio.gather(*(requests(pace) for pace in paces for _ in range(each)))
    return log


@pytest.mark.parametrize("trainers", [1, 3])
async def test_the_shared_budget_holds(trainers, clock, tmp_path):
    log = await busy(wikimedia_limits(), trainers, clock, tmp_path, slowest=0.4)
    assert log.most_running == 1
    assert log.most_in(60) <= 200
    assert log.most_in(60) > 130
    assert all(b - a >= interval(wikimedia_limits()) - 1e-4 for a, b in pairwise(log.starts))


@pytest.mark.parametrize("slowest", [0.3, 8.0])
@pytest.mark.parametrize("trainers", [1, 3])
async def test_pages_have_a_limit_of_their_own_for_all_trainers(trainers, slowest, clock, tmp_path):
    log = await busy(wikimedia_page_limits(), trainers, clock, tmp_path, slowest=slowest, each=6)
    assert log.most_running == 4 if slowest > 1 else log.most_running <= 4
    assert log.most_in(1) <= 8
    assert log.most_in(60) <= 480
    assert all(b - a >= 0.125 for a, b in pairwise(sorted(log.starts)))


ODD = [
    "",
    "x",
    "7",
    "\xff\xfe",
    "0 nan",
    "nan 2000",
    "0 inf",
    "-inf inf",
    "0 1e300",
    "-5 -6",
    "1 2000 3",
]


@pytest.mark.parametrize("left", ODD)
async def test_an_odd_file_harms_nobody(left, clock, tmp_path):
    (tmp_path / "wikimedia.lock").write_text(left, encoding="latin-1")
    log = Log(clock)
    await log.request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert log.starts == [1000.0]


async def test_the_budget_file_is_private_and_no_link(clock, tmp_path):
    await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path / "new"), 0.1)
    assert (tmp_path / "new" / "wikimedia.lock").stat().st_mode & 0o777 == 0o600
    (tmp_path / "mine").touch()
    (tmp_path / "wikimedia.lock").symlink_to(tmp_path / "mine")
    with pytest.raises(CrawlerError, match="symbolic link"):
        await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert not (tmp_path / "mine").read_text()


@pytest.mark.parametrize("place", ["a file", "a file/folder"])
async def test_a_folder_that_cannot_be_written(place, clock, tmp_path):
    """The folder cannot exist, since root could write into any other."""
    (tmp_path / "a file").touch()
    log = Log(clock)
    with pytest.raises(CrawlerError, match=r"budget cannot be kept in .*a file") as caught:
        await log.request(SharedPace(wikimedia_limits(), clock, tmp_path / place), 0.1)
    assert "\n" not in str(caught.value)
    assert log.starts == []


async def test_several_at_once_keep_the_rate(clock):
    log = Log(clock)
    pace = OwnPace(RateLimits(rpm=60, at_once=4), clock)
    await asyncio.gather(*(log.request(pace, 10.0) for _ in range(12)))
    assert log.most_running == 4
    assert all(b - a >= 1.0 for a, b in pairwise(sorted(log.starts)))


def articles_a_second(a, b, spread):
    """What the sizer gets out of replies of a + b * pages seconds, and what the best size would."""
    limits = wikimedia_limits()
    rng = random.Random(1)
    sizer = BatchSizer(limits, 50)

    def request(pages):
        """(latency, seconds to the next request) of one for so many pages."""
        latency = max(0.01, a + b * pages + rng.gauss(0, spread))
        rest = 5.0 if latency > 1 else 0.0
        return latency, max(latency, interval(limits)) + rest

    best = 0.0
    for pages in range(1, 51):
        time = sum(request(pages)[1] for _ in range(500))
        best = max(best, pages * 500 / time)
    pages_got = 0
    time = 0.0
    for _ in range(400):
        pages = sizer.pages
        latency, seconds = request(pages)
        sizer.seen(pages, latency)
        pages_got += pages
        time += seconds
    return pages_got / time, best


@pytest.mark.parametrize(
    ("a", "b", "spread", "share"),
    [
        (0.25, 0.0, 0.0, 0.99),
        (1.5, 0.0, 0.05, 0.9),
        (0.2, 0.026, 0.05, 0.85),
        (0.05, 0.018, 0.05, 0.85),
        (0.1, 0.1, 0.02, 0.8),
        (0.3, 0.012, 0.15, 0.75),
    ],
)
def test_the_batch_size_follows_the_latency(a, b, spread, share):
    got, best = articles_a_second(a, b, spread)
    assert got >= share * best


def test_the_batch_size_is_halved_by_late_replies_and_recovers():
    sizer = BatchSizer(RateLimits(rpm=None), 50)
    asked = []
    for _ in range(7):
        sizer.timed_out()
        asked.append(sizer.pages)
    assert asked == [25, 12, 6, 3, 1, 1, 1]
    for _ in range(100):
        sizer.seen(sizer.pages, 0.1)
    assert sizer.pages == 50
    sizer = BatchSizer(wikimedia_limits(), 50)
    for _ in range(100):
        sizer.seen(sizer.pages, 0.2 + 0.1 * sizer.pages)
    assert sizer.pages <= 8
    for _ in range(150):
        sizer.seen(sizer.pages, 0.1 + 0.001 * sizer.pages)
    assert sizer.pages == 50


async def test_what_one_of_several_is_told_holds_for_those_in_line(clock):
    pace = OwnPace(RateLimits(rpm=60, at_once=2), clock)
    told = asyncio.Event()

    async def wait(moment, _):
        await told.wait()
        await wait_until(clock, moment)

    async def second():
        async with pace.turn(wait):
            return clock.now

    async with pace.turn(wait) as first:
        in_line = asyncio.create_task(second())
        await asyncio.sleep(0)
        first.told_to_wait = 40.0
    told.set()
    assert await in_line >= 1040.0


@pytest.mark.parametrize("uptime", [10.0, 4000.0])
async def test_a_restart_of_the_machine_keeps_nobody_waiting(uptime, clock, tmp_path):
    """The clock begins anew then, and what was written before it lies in the future."""
    clock.now = 5000.0
    await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    clock.now = uptime
    log = Log(clock)
    await log.request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert log.starts == [uptime]


async def test_a_long_wait_is_explained_and_outlives_its_trainer(clock, tmp_path):
    reasons = []

    async def wait(moment, reason):
        reasons.append((round(moment - clock.now), reason))
        await wait_until(clock, moment)

    for told in (900.0, 0.0, 0.0):
        async with SharedPace(SERVICE, clock, tmp_path).turn(wait) as turn:
            turn.told_to_wait = told
    usual = (1, "the next request (60 a minute)")
    assert reasons == [(900, "the dump server, after an error or a request to wait"), usual]


async def test_a_trainer_killed_in_its_turn_leaves_it_to_others(tmp_path):
    """Four of them, each with a page under way."""
    code = f"""if 1:
        import asyncio
        from pathlib import Path
        from wikitopics.crawler.http.rules import wikimedia_page_limits
        from wikitopics.crawler.http.wire import Clock, SharedPace
        async def hold():
            async def wait(moment, reason):
                await asyncio.sleep(0.01)
            async with SharedPace(wikimedia_page_limits(), Clock(), Path({str(tmp_path)!r})).turn(wait):
                print("held", flush=True)
                await asyncio.sleep(3600)
        asyncio.run(hold())
    """
    start = asyncio.create_subprocess_exec
    others = [
        await start(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE) for _ in range(4)
    ]
    for other in others:
        assert await other.stdout.readline() == b"held\n"
    waiting = []

    async def wait(moment, reason):
        waiting.append(reason)
        await asyncio.sleep(0.01)

    async def mine():
        async with SharedPace(wikimedia_page_limits(), Clock(), tmp_path).turn(wait):
            pass

    asking = asyncio.create_task(mine())
    while not waiting:
        await asyncio.sleep(0.01)
    assert set(waiting) == {"another trainer's request"}
    others[2].kill()
    await asking
    for other in others:
        with contextlib.suppress(ProcessLookupError):
            other.kill()
        await other.wait()

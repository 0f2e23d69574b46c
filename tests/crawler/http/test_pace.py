import asyncio
import contextlib
import random
import sys
from itertools import pairwise

import pytest

from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.pace import Clock, OwnPace, SharedPace, interval
from wikitopics.crawler.http.rules import (
    RateLimits,
    wikimedia_limits,
    wikimedia_page_limits,
    wikimedia_service_limits,
)
from wikitopics.crawler.mediawiki.batch_size import BatchSizer

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

    async def request(self, pace, latency):
        async with pace.turn(lambda moment, _: wait_until(self.clock, moment)) as turn:
            self.starts.append(self.clock.monotonic())
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            await self.clock.sleep(latency)
            turn.latency = latency
            self.running -= 1
            self.ends.append(self.clock.monotonic())

    def most_in(self, seconds):
        """The most requests that began within so many seconds."""
        starts = sorted(self.starts)
        most = 0
        for begin in starts:
            most = max(most, len([start for start in starts if begin <= start < begin + seconds]))
        return most

    def gaps(self):
        """The seconds between a request's beginning and the next one's."""
        return [later - earlier for earlier, later in pairwise(sorted(self.starts))]


async def busy(limits, trainers, clock, folder, slowest, at_once=1):
    """Requests for two minutes by several trainers, each of which makes so many at once."""
    log = Log(clock)
    latencies = random.Random(0)
    end = clock.now + 120

    async def requests(pace):
        while clock.now < end:
            await log.request(pace, latencies.uniform(0.05, slowest))

    of_all_trainers = []
    for _ in range(trainers):
        pace = SharedPace(limits, clock, folder)
        of_all_trainers += [requests(pace) for _ in range(at_once)]
    await asyncio.gather(*of_all_trainers)
    return log


@pytest.mark.parametrize("trainers", [1, 3])
async def test_the_shared_budget_holds(trainers, clock, tmp_path):
    log = await busy(wikimedia_limits(), trainers, clock, tmp_path, slowest=0.4)
    assert log.most_running == 1
    assert log.most_in(60) <= 200
    assert log.most_in(60) > 130
    assert min(log.gaps()) >= interval(wikimedia_limits()) - 1e-4


@pytest.mark.parametrize(("slowest", "least_running"), [(0.3, 1), (8.0, 4)])
@pytest.mark.parametrize("trainers", [1, 3])
async def test_pages_have_a_limit_of_their_own_for_all_trainers(
    trainers, slowest, least_running, clock, tmp_path
):
    limits = wikimedia_page_limits()
    log = await busy(limits, trainers, clock, tmp_path, slowest=slowest, at_once=6)
    assert least_running <= log.most_running <= 4
    assert log.most_in(1) <= 8
    assert log.most_in(60) <= 480
    assert min(log.gaps()) >= 0.125


@pytest.mark.parametrize(
    "content",
    [
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
    ],
)
async def test_an_odd_budget_file_harms_nobody(content, clock, tmp_path):
    (tmp_path / "wikimedia.lock").write_text(content, encoding="latin-1")
    log = Log(clock)
    await log.request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert log.starts == [1000.0]


async def test_the_budget_file_is_private(clock, tmp_path):
    await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path / "new"), 0.1)
    mode = (tmp_path / "new" / "wikimedia.lock").stat().st_mode
    assert mode & 0o777 == 0o600


async def test_a_link_in_place_of_the_budget_file_is_not_followed(clock, tmp_path):
    (tmp_path / "mine").touch()
    (tmp_path / "wikimedia.lock").symlink_to(tmp_path / "mine")
    with pytest.raises(CrawlerError, match="symbolic link"):
        await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert not (tmp_path / "mine").read_text()


@pytest.mark.parametrize("place", ["a file", "a file/folder"])
async def test_a_folder_that_cannot_be_written_is_told(place, clock, tmp_path):
    """A file stands in the folder's place, since root may write into every folder."""
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
    assert min(log.gaps()) >= 1.0


class Replies:
    """Replies of a wiki of Wikimedia's: each takes ``a + b * pages`` seconds, more or less."""

    def __init__(self, a, b, spread):
        self.a = a
        self.b = b
        self.spread = spread
        self.random = random.Random(1)

    def seconds(self, pages):
        """(latency, until the next request) of a reply with so many pages."""
        latency = max(0.01, self.a + self.b * pages + self.random.gauss(0, self.spread))
        until_next = max(latency, interval(wikimedia_limits()))
        if latency > 1:
            until_next += 5.0
        return latency, until_next

    def pages_a_second(self, pages):
        """How many pages come a second if all replies have so many."""
        n_replies = 500
        time = 0.0
        for _ in range(n_replies):
            _, until_next = self.seconds(pages)
            time += until_next
        return pages * n_replies / time

    def pages_a_second_by(self, sizer):
        """How many pages come a second if a sizer chooses how many are asked for."""
        all_pages = 0
        time = 0.0
        for _ in range(400):
            pages = sizer.pages
            latency, until_next = self.seconds(pages)
            sizer.seen(pages, latency)
            all_pages += pages
            time += until_next
        return all_pages / time


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
    """It gets at least this share of the pages that come with the best size."""
    replies = Replies(a, b, spread)
    best = max(replies.pages_a_second(pages) for pages in range(1, 51))
    sizer = BatchSizer(wikimedia_limits(), 50)
    assert replies.pages_a_second_by(sizer) >= share * best


def test_the_batch_size_is_halved_by_replies_that_never_come_and_recovers():
    sizer = BatchSizer(RateLimits(rpm=None), 50)
    sizes = []
    for _ in range(7):
        sizer.timed_out()
        sizes.append(sizer.pages)
    assert sizes == [25, 12, 6, 3, 1, 1, 1]
    for _ in range(100):
        sizer.seen(sizer.pages, 0.1)
    assert sizer.pages == 50


def test_the_batch_size_falls_with_slow_replies_and_recovers():
    sizer = BatchSizer(wikimedia_limits(), 50)
    for _ in range(100):
        sizer.seen(sizer.pages, 0.2 + 0.1 * sizer.pages)
    assert sizer.pages <= 8
    for _ in range(150):
        sizer.seen(sizer.pages, 0.1 + 0.001 * sizer.pages)
    assert sizer.pages == 50


async def test_what_one_of_several_is_told_holds_for_those_in_line(clock):
    pace = OwnPace(RateLimits(rpm=60, at_once=2), clock)
    first_is_told = asyncio.Event()

    async def wait(moment, _):
        await first_is_told.wait()
        await wait_until(clock, moment)

    async def second():
        async with pace.turn(wait):
            return clock.now

    async with pace.turn(wait) as first:
        in_line = asyncio.create_task(second())
        await asyncio.sleep(0)
        first.told_to_wait = 40.0
    first_is_told.set()
    began = 1000.0
    assert await in_line >= began + 40.0


@pytest.mark.parametrize("uptime", [10.0, 4000.0])
async def test_a_restart_of_the_machine_keeps_nobody_waiting(uptime, clock, tmp_path):
    """The clock begins anew then, and moments that were written before lie in its future."""
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
    """Four trainers have a page under way each, which is as many as may be."""
    code = f"""if 1:
        import asyncio
        from pathlib import Path
        from wikitopics.crawler.http.pace import Clock, SharedPace
        from wikitopics.crawler.http.rules import wikimedia_page_limits
        async def hold():
            async def wait(moment, reason):
                await asyncio.sleep(0.01)
            async with SharedPace(wikimedia_page_limits(), Clock(), Path({str(tmp_path)!r})).turn(wait):
                print("held", flush=True)
                await asyncio.sleep(3600)
        asyncio.run(hold())
    """
    others = []
    for _ in range(4):
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
        )
        others.append(other)
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

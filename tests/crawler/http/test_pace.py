import asyncio
import contextlib
import random
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.limits import (
    RateLimits,
    wikimedia_limits,
    wikimedia_page_limits,
    wikimedia_service_limits,
)
from wikitopics.crawler.http.pace import Clock, OwnPace, SharedPace, interval
from wikitopics.crawler.mediawiki.sizing import BatchSizer

SERVICE = wikimedia_service_limits("dumps.wikimedia.org", "the dump server")


async def wait_until(clock: Any, moment: float) -> None:
    while clock.monotonic() < moment:
        await clock.sleep(moment - clock.monotonic())


def quietly(clock: Any) -> Any:
    """Waits without saying why."""
    return lambda moment, _: wait_until(clock, moment)


class Log:
    """Requests through one or several paces, each taking ``latency``."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.starts: list[float] = []
        self.ends: list[float] = []
        self.running = 0
        self.most_running = 0

    async def request(self, pace: Any, latency: float, told: float = 0.0) -> None:
        async with pace.turn(quietly(self.clock)) as turn:
            self.starts.append(self.clock.monotonic())
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            await self.clock.sleep(latency)
            turn.latency, turn.told_to_wait = latency, told
            self.running -= 1
            self.ends.append(self.clock.monotonic())

    def most_in(self, seconds: float) -> int:
        starts = sorted(self.starts)
        return max(sum(begin <= s < begin + seconds for s in starts) for begin in starts)


async def busy(
    limits: RateLimits, trainers: int, clock: Any, folder: Path, slowest: float, each: int = 1
) -> Log:
    """Requests for two minutes by several trainers, ``each`` of which makes so many at once."""
    log, rng, end = Log(clock), random.Random(0), clock.now + 120

    async def requests(pace: SharedPace) -> None:
        while clock.now < end:
            await log.request(pace, rng.uniform(0.05, slowest))

    paces = [SharedPace(limits, clock, folder) for _ in range(trainers)]
    await asyncio.gather(*(requests(pace) for pace in paces for _ in range(each)))
    return log


@pytest.mark.parametrize("trainers", [1, 3])
async def test_the_shared_budget_holds(trainers: int, clock: Any, tmp_path: Path) -> None:
    log = await busy(wikimedia_limits(), trainers, clock, tmp_path, slowest=0.4)
    assert log.most_running == 1
    assert log.most_in(60) <= 200
    assert log.most_in(60) > 130
    assert all(b - a >= interval(wikimedia_limits()) - 1e-4 for a, b in pairwise(log.starts))


@pytest.mark.parametrize("trainers", [1, 3])
async def test_pages_have_a_limit_of_their_own_for_all_trainers(
    trainers: int, clock: Any, tmp_path: Path
) -> None:
    log = await busy(wikimedia_page_limits(), trainers, clock, tmp_path, slowest=0.3, each=6)
    assert log.most_running <= 4
    assert log.most_in(1) <= 8
    assert log.most_in(60) <= 480
    assert all(b - a >= 0.125 for a, b in pairwise(sorted(log.starts)))


@pytest.mark.parametrize("trainers", [1, 3])
async def test_a_second_passes_between_two_requests_to_a_server_of_dumps(
    trainers: int, clock: Any, tmp_path: Path
) -> None:
    log = await busy(SERVICE, trainers, clock, tmp_path, slowest=6.0)
    assert log.most_running == 1
    assert all(start - end >= 1.0 for end, start in zip(log.ends, log.starts[1:], strict=False))


async def test_what_one_is_told_holds_for_all(clock: Any, tmp_path: Path) -> None:
    log = Log(clock)
    one, two = (SharedPace(wikimedia_limits(), clock, tmp_path) for _ in range(2))
    await log.request(one, 0.1, told=40.0)
    await log.request(two, 1.2)
    await log.request(one, 0.1)
    assert log.starts[1] - log.starts[0] == pytest.approx(40.1, abs=0.01)
    assert log.starts[2] - log.starts[1] == pytest.approx(6.2, abs=0.01)


@pytest.mark.parametrize(
    "left",
    [
        "",
        "garbage",
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
async def test_an_odd_file_harms_nobody(left: str, clock: Any, tmp_path: Path) -> None:
    (tmp_path / "wikimedia.lock").write_text(left, encoding="latin-1")
    log = Log(clock)
    await log.request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert log.starts == [1000.0]


async def test_the_budget_file_is_private(clock: Any, tmp_path: Path) -> None:
    await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path / "new"), 0.1)
    assert (tmp_path / "new" / "wikimedia.lock").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("place", ["a file", "a file/folder"])
async def test_a_folder_that_cannot_be_written(place: str, clock: Any, tmp_path: Path) -> None:
    """Whoever runs it: root writes into every folder."""
    (tmp_path / "a file").touch()
    log = Log(clock)
    with pytest.raises(CrawlerError, match=r"budget cannot be kept in .*a file") as caught:
        await log.request(SharedPace(wikimedia_limits(), clock, tmp_path / place), 0.1)
    assert "\n" not in str(caught.value)
    assert log.starts == []


async def test_several_at_once_keep_the_rate(clock: Any) -> None:
    log, pace = Log(clock), OwnPace(RateLimits(rpm=60, at_once=4), clock)
    await asyncio.gather(*(log.request(pace, 10.0) for _ in range(12)))
    assert log.most_running == 4
    assert all(b - a >= 1.0 for a, b in pairwise(sorted(log.starts)))


def articles_a_second(a: float, b: float, spread: float) -> tuple[float, float]:
    """What the sizer gets out of replies of a + b * pages seconds, and what the best size would."""
    limits, rng = wikimedia_limits(), random.Random(1)
    sizer = BatchSizer(limits, 50)

    def seconds(pages: int) -> tuple[float, float]:
        latency = max(0.01, a + b * pages + rng.gauss(0, spread))
        return latency, max(latency, interval(limits)) + (5.0 if latency > 1 else 0.0)

    best = max(n * 500 / sum(seconds(n)[1] for _ in range(500)) for n in range(1, 51))
    pages, time = 0, 0.0
    for _ in range(400):
        n = sizer.pages
        latency, passed = seconds(n)
        sizer.seen(n, latency)
        pages, time = pages + n, time + passed
    return pages / time, best


@pytest.mark.parametrize(
    ("a", "b", "spread", "share"),
    [
        (0.25, 0.0, 0.0, 0.99),
        (0.6, 0.0, 0.05, 0.99),
        (1.5, 0.0, 0.05, 0.9),
        (0.2, 0.026, 0.0, 0.85),
        (0.2, 0.026, 0.05, 0.85),
        (0.05, 0.018, 0.05, 0.85),
        (0.9, 0.02, 0.05, 0.85),
        (0.1, 0.1, 0.02, 0.8),
        (0.3, 0.012, 0.15, 0.75),
    ],
)
def test_the_batch_size_follows_the_latency(a: float, b: float, spread: float, share: float) -> None:
    got, best = articles_a_second(a, b, spread)
    assert got >= share * best


def test_a_reply_that_does_not_come_in_time_halves_the_next() -> None:
    sizer, asked = BatchSizer(RateLimits(rpm=None), 50), []
    for _ in range(7):
        sizer.timed_out()
        asked.append(sizer.pages)
    assert asked == [25, 12, 6, 3, 1, 1, 1]
    for _ in range(100):
        sizer.seen(sizer.pages, 0.1)
    assert sizer.pages == 50


def test_the_batch_size_recovers_when_the_wiki_does() -> None:
    sizer = BatchSizer(wikimedia_limits(), 50)
    for _ in range(100):
        sizer.seen(sizer.pages, 0.2 + 0.1 * sizer.pages)
    assert sizer.pages <= 8
    for _ in range(150):
        sizer.seen(sizer.pages, 0.1 + 0.001 * sizer.pages)
    assert sizer.pages == 50


async def test_what_one_of_several_is_told_holds_for_those_in_line(clock: Any) -> None:
    pace, told = OwnPace(RateLimits(rpm=60, at_once=2), clock), asyncio.Event()

    async def wait(moment: float, _: str) -> None:
        await told.wait()
        await wait_until(clock, moment)

    async def second() -> float:
        async with pace.turn(wait):
            return clock.now

    async with pace.turn(wait) as first:
        in_line = asyncio.create_task(second())
        await asyncio.sleep(0)
        first.told_to_wait = 40.0
    told.set()
    assert await in_line >= 1040.0


@pytest.mark.parametrize("uptime", [10.0, 4000.0])
async def test_a_restart_of_the_machine_keeps_nobody_waiting(
    uptime: float, clock: Any, tmp_path: Path
) -> None:
    """The clock begins anew then, and what was written before it lies in the future."""
    clock.now = 5000.0
    await Log(clock).request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    clock.now = uptime
    log = Log(clock)
    await log.request(SharedPace(wikimedia_limits(), clock, tmp_path), 0.1)
    assert log.starts == [uptime]


@pytest.mark.parametrize("trainers", [1, 3])
async def test_at_most_four_slow_pages_at_a_time(trainers: int, clock: Any, tmp_path: Path) -> None:
    """Replies here take until all that may be sent have been sent."""
    running, most, go_on = 0, 0, asyncio.Event()

    async def page(pace: SharedPace) -> None:
        nonlocal running, most
        async with pace.turn(quietly(clock)):
            running += 1
            most = max(most, running)
            await go_on.wait()
            running -= 1

    paces = [SharedPace(wikimedia_page_limits(), clock, tmp_path) for _ in range(trainers)]
    pages = [asyncio.create_task(page(pace)) for pace in paces for _ in range(6)]
    until = clock.now + 100
    while clock.now < until:
        await clock.sleep(0.1)
    assert most == running == 4
    go_on.set()
    await asyncio.gather(*pages)
    assert most == 4


async def test_what_one_page_is_told_holds_for_all_pages(clock: Any, tmp_path: Path) -> None:
    """Also if others are under way, and end later."""
    one, two = (SharedPace(wikimedia_page_limits(), clock, tmp_path) for _ in range(2))
    told, ended = asyncio.Event(), asyncio.Event()

    async def throttled() -> None:
        async with one.turn(quietly(clock)) as turn:
            turn.told_to_wait = 40.0
            await told.wait()

    async def usual() -> None:
        async with two.turn(quietly(clock)):
            await told.wait()
            await first
        ended.set()

    first = asyncio.create_task(throttled())
    second = asyncio.create_task(usual())
    await clock.sleep(1)
    told.set()
    await asyncio.gather(first, second)
    now = clock.now
    async with two.turn(quietly(clock)):
        assert clock.now >= now + 39.9


async def test_an_api_request_and_a_page_do_not_wait_for_each_other(clock: Any, tmp_path: Path) -> None:
    pages, api = (
        SharedPace(limits, clock, tmp_path) for limits in (wikimedia_page_limits(), wikimedia_limits())
    )
    before = clock.now
    async with pages.turn(quietly(clock)) as turn:
        turn.told_to_wait = 300.0
        async with api.turn(quietly(clock)):
            pass
    async with api.turn(quietly(clock)):
        assert clock.now < before + 1


async def test_a_long_wait_is_explained_and_outlives_its_trainer(clock: Any, tmp_path: Path) -> None:
    reasons = []

    async def wait(moment: float, reason: str) -> None:
        reasons.append((round(moment - clock.now), reason))
        await wait_until(clock, moment)

    for told in (900.0, 0.0, 0.0):
        async with SharedPace(SERVICE, clock, tmp_path).turn(wait) as turn:
            turn.told_to_wait = told
    assert reasons == [
        (900, "the dump server, after an error or a request to wait"),
        (1, "the next request (60 a minute)"),
    ]


async def test_a_trainer_killed_in_its_turn_leaves_it_to_others(clock: Any, tmp_path: Path) -> None:
    """Four of them, each with a page under way."""
    code = f"""if 1:
        import asyncio
        from pathlib import Path
        from wikitopics.crawler.http.limits import wikimedia_page_limits
        from wikitopics.crawler.http.pace import Clock, SharedPace
        async def hold():
            async def wait(moment, reason):
                await asyncio.sleep(0.01)
            async with SharedPace(wikimedia_page_limits(), Clock(), Path({str(tmp_path)!r})).turn(wait):
                print("held", flush=True)
                await asyncio.sleep(3600)
        asyncio.run(hold())
    """
    others = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
        for _ in range(4)
    ]
    for other in others:
        assert other.stdout is not None
        assert await other.stdout.readline() == b"held\n"
    waiting: list[str] = []

    async def wait(moment: float, reason: str) -> None:
        waiting.append(reason)
        await asyncio.sleep(0.01)

    async def mine() -> None:
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

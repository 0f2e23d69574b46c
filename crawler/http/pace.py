"""The request rate: no request is sent before its turn, within this process or among several."""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.rules import RateLimits
from wikitopics.crawler.http.wire import LONGEST_TOLD_WAIT
from wikitopics.own_files import open_own

WaitUntil = Callable[[float, str], Awaitable[None]]
"""Waits until a moment of the monotonic clock, reporting the reason meanwhile."""
_MARGIN = 1.01
"""Requests leave evenly but arrive with jitter: this margin keeps within the budget at the server
too."""
_POLL_SECONDS = 0.02
_OTHER_TRAINER = "another trainer's request"
"""The reason for a wait."""
_FILE_BYTES = 80


class Clock:
    """The machine's clock.

    Waits are measured with the monotonic clock, which is unaffected by corrections of the time of
    day. The wall clock is used only for display and Retry-After dates.
    """

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def interval(limits: RateLimits) -> float:
    """Seconds between the starts of two requests."""
    even = 60.0 / limits.rpm * _MARGIN if limits.rpm else 0.0
    return max(even, limits.shortest_gap)


@dataclass(slots=True)
class Turn:
    """One request's turn, and what later turns need to know about it."""

    latency: float = 0.0
    """Seconds from the request to the end of its reply."""
    told_to_wait: float = 0.0
    """The seconds that the wiki asked us to wait."""

    def rest(self, limits: RateLimits) -> float:
        """Seconds to leave the wiki alone after this turn."""
        is_slow = limits.slow_reply is not None and self.latency > limits.slow_reply
        own_rest = limits.slow_wait if is_slow else limits.pause
        return max(self.told_to_wait, own_rest)


class OwnPace:
    """A budget of this process only, for hosts outside Wikimedia.

    It hands out turns; a turn lasts from the request to the end of its reply.
    """

    def __init__(self, limits: RateLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._next = float("-inf")
        self._places = asyncio.Semaphore(limits.at_once)
        """One place for each turn that this process may have at a time."""

    @asynccontextmanager
    async def turn(self, wait_until: WaitUntil) -> AsyncGenerator[Turn]:
        async with self._places:
            # Checked again after the wait: another turn may have been told to wait meanwhile.
            while self._clock.monotonic() < self._next:
                left = self._next - self._clock.monotonic()
                await wait_until(self._next, _reason(self._limits, left))
            self._next = self._clock.monotonic() + interval(self._limits)
            turn = Turn()
            try:
                yield turn
            finally:
                # Another turn may have put it off for longer meanwhile.
                self._next = max(self._next, self._clock.monotonic() + turn.rest(self._limits))


class SharedPace(OwnPace):
    """A budget shared by all of this user's trainers on this machine.

    Files in ``folder`` carry kernel locks, which are released if a process is killed. The *budget
    file* holds the time of writing, then the earliest time of the next request (both monotonic, by
    the clock that all share). If only one turn is allowed at a time, a turn holds the lock of the
    budget file until it ends. If turns may overlap, a turn holds that lock only while it reads or
    writes the budget file; there are as many *slot files* as turns at a time, and until it ends,
    each turn holds the lock of one of them. Raises `CrawlerError` if the files cannot be written.
    """

    def __init__(self, limits: RateLimits, clock: Clock, folder: Path) -> None:
        super().__init__(limits, clock)
        self._path = folder / limits.lock
        self._overlap = limits.at_once > 1

    @asynccontextmanager
    async def turn(self, wait_until: WaitUntil) -> AsyncGenerator[Turn]:
        async with self._places:
            with ExitStack() as files:
                if self._overlap:
                    await self._take_slot(files, wait_until)
                file = self._open(files, self._path)
                await self._acquire(file, wait_until)
                start = self._clock.monotonic()
                # Written ahead: a process killed in its turn must not free the budget.
                _write_moment(file, start, start + interval(self._limits))
                if self._overlap:
                    fcntl.flock(file, fcntl.LOCK_UN)
                turn = Turn()
                try:
                    yield turn
                finally:
                    if self._overlap:
                        # This waits, but nobody holds this lock for more than a moment.
                        fcntl.flock(file, fcntl.LOCK_EX)
                    now = self._clock.monotonic()
                    rested = now + turn.rest(self._limits)
                    # Another turn may have put it off for longer meanwhile.
                    _write_moment(file, now, max(_read_moment(file, now), rested))

    async def _take_slot(self, files: ExitStack, wait_until: WaitUntil) -> None:
        """Lock one of the slot files, as soon as one is free."""
        suffix = self._path.suffix
        slots = [
            self._open(files, self._path.with_suffix(f".{number}{suffix}"))
            for number in range(self._limits.at_once)
        ]
        while True:
            for slot in slots:
                if _lock(slot):
                    return
            await wait_until(self._clock.monotonic() + _POLL_SECONDS, _OTHER_TRAINER)

    def _open(self, files: ExitStack, path: Path) -> int:
        """The file at ``path``; leaving ``files`` closes it, and with that releases its lock."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open_own(path, os.O_RDWR)
        except OSError as error:
            raise CrawlerError(
                f"the shared request budget cannot be kept in {path}: {error.strerror}"
            ) from None
        files.callback(os.close, file)
        return file

    async def _acquire(self, file: int, wait_until: WaitUntil) -> None:
        """Hold the lock at a moment when a request may be sent."""
        while True:
            now = self._clock.monotonic()
            if not _lock(file):
                await wait_until(now + _POLL_SECONDS, _OTHER_TRAINER)
                continue
            moment = _read_moment(file, now)
            if moment <= now:
                return
            fcntl.flock(file, fcntl.LOCK_UN)
            await wait_until(moment, _reason(self._limits, moment - now))


def _lock(file: int) -> bool:
    """Lock the file, if nobody else holds its lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise CrawlerError(f"the shared request budget cannot be kept: {error.strerror}") from None
    return True


def _read_moment(file: int, now: float) -> float:
    """The moment to wait for; a past one if the file has none, or one from before the machine
    restarted."""
    try:
        content = os.pread(file, _FILE_BYTES, 0).decode("ascii")
        written, moment = map(float, content.split())
    except ValueError:  # it is empty, or damaged
        return float("-inf")
    # The monotonic clock restarts with the machine: a time of writing in the future is from before
    # that.
    is_sound = written <= now and moment <= written + LONGEST_TOLD_WAIT
    return moment if is_sound else float("-inf")


def _write_moment(file: int, now: float, moment: float) -> None:
    os.pwrite(file, f"{now!r} {moment!r}".ljust(_FILE_BYTES).encode("ascii"), 0)


def is_usual_wait(limits: RateLimits, seconds: float) -> bool:
    """Whether a request may wait this many seconds even if nothing has gone wrong."""
    return seconds <= max(interval(limits), limits.slow_wait, limits.pause)


def _reason(limits: RateLimits, seconds: float) -> str:
    """The reason for a wait of this many seconds."""
    if not is_usual_wait(limits, seconds):
        return f"{limits.server}, after an error or a request to wait"
    if limits.rpm:
        return f"the next request ({limits.rpm} a minute)"
    return "the next request"

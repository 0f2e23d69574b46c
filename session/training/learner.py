"""The learning thread: orders from outside, and the work between two saves."""

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

from wikitopics.session.records import State
from wikitopics.session.storage.trainer import ControlRequest
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.creation import VocabularyBuild
from wikitopics.session.training.intake.blocks import Rate
from wikitopics.session.training.stream import Stream, Work

# Orders to a run from outside: by signals, by other processes, by its own limits.

T = TypeVar("T")


class Orders:
    """Orders to stop (and why), to pause, and to save at once; only the first order to stop counts."""

    def __init__(self) -> None:
        self.reason = "stopped"
        """Why the run ends, in words."""
        self.save = False
        """Whether a commit is wanted now; committing clears it."""
        self._stop = asyncio.Event()
        self._go_on = asyncio.Event()
        self._go_on.set()

    @property
    def stopped(self) -> bool:
        """Whether the run should end, or is ending."""
        return self._stop.is_set()

    @property
    def paused(self) -> bool:
        """Whether training should pause."""
        return not self._go_on.is_set()

    @property
    def state(self) -> State:
        """What the run should be doing."""
        if self.stopped:
            return "stopping"
        return "paused" if self.paused else "running"

    def stop(self, reason: str) -> None:
        """Order the run to end."""
        if not self.stopped:
            self.reason = reason
            self.end()

    def end(self) -> None:
        """Note that the run ends, for the reason already known."""
        self._stop.set()
        self._go_on.set()

    def obey(self, request: ControlRequest) -> None:
        """Take the requests of other processes."""
        if request.stop:
            self.stop("stopped by `wikitopics stop`")
        self.save = self.save or request.save
        if request.paused and not self.stopped:
            self._go_on.clear()
        else:
            self._go_on.set()

    async def until_stop(self, seconds: float) -> None:
        """Wait for the order to stop, at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def wait_while_paused(self, seconds: float) -> None:
        """Wait for the end of a pause, at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._go_on.wait(), seconds)

    async def or_stop(self, future: asyncio.Future[T], seconds: float | None = None) -> None:
        """Wait until ``future`` is done or the run should stop, at most ``seconds``."""
        stop = asyncio.ensure_future(self._stop.wait())
        first: set[asyncio.Future[T] | asyncio.Future[Literal[True]]] = {future, stop}
        await asyncio.wait(first, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()


COMMIT_SECONDS = 1.0
"""Seconds: a commit follows a minibatch at once, unless the last commit is younger than this."""
LATEST_SECONDS = 1.5
"""Seconds: commit first if the next step is likely to end later than this after the last commit."""
SUSPENDED_SECONDS = 5.0
"""Seconds between two looks at the clock in which the process stood still; it looks every second."""


class Saving:
    """Knows the age of the last commit, and how long a step is likely to take: as long as the last of its
    kind.

    There are two kinds, since a step that also measures may take as long as many others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._saved = clock()
        self._took: dict[bool, float] = {}

    def saved(self) -> None:
        """Note that a commit is done."""
        self._saved = self._clock()

    def stepped(self, seconds: float, *, measured: bool) -> None:
        """Note that a step is done, and how long it took."""
        if not self._took:  # the first step of a run is saved at once, so that people see it resume
            self._saved = -math.inf
        self._took[measured] = seconds

    def due(self, measures: bool | None = None) -> bool:
        """Whether to commit now; ``measures``: whether the next step will measure, None if no step is
        ready."""
        age = self._clock() - self._saved
        likely = 0.0 if measures is None else self._took.get(measures, 0.0)
        return age >= COMMIT_SECONDS or age + likely > LATEST_SECONDS


class RunningTime:
    """Seconds since it was made, without those in which the process was suspended, as after Ctrl+Z."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._at, self._seconds = clock(), 0.0

    def __call__(self) -> float:
        with self._lock:
            now = self._clock()
            passed, self._at = now - self._at, now
            self._seconds += passed if passed < SUSPENDED_SECONDS else 0.0
            return self._seconds


class Learner:
    """Has its thread train, measure and commit, and records the time this takes."""

    def __init__(self, stream: Stream | VocabularyBuild, store: SessionWriter, orders: Orders) -> None:
        self.stream = stream
        """The thread; replaced after a step was abandoned."""
        self.saving = Saving()
        self._store = store
        self._orders = orders
        self._thread = _new_thread()
        self._under_way: asyncio.Future[object] | None = None
        """A step in progress or failed: until it is resolved, models and counters are out of step."""
        self._saves_since: float | None = None
        self._learnt = Rate()
        self._awake = RunningTime()
        self._before = stream.progress.elapsed_seconds, stream.progress.bytes_read

    @property
    def busy(self) -> bool:
        """Whether a step is under way."""
        return self._under_way is not None

    def saving_seconds(self) -> float:
        """Seconds that the commit in progress has taken so far; 0 if there is none."""
        return 0.0 if self._saves_since is None else time.monotonic() - self._saves_since

    def elapsed(self) -> float:
        """Seconds of running time over all runs."""
        return self._before[0] + self.ran()

    def ran(self) -> float:
        """Seconds of running time in this run."""
        return self._awake()

    async def tick(self) -> None:
        """Watch the running time, until cancelled."""
        while True:
            self.ran()
            await asyncio.sleep(1.0)

    def rate(self) -> float:
        """Articles per second that are learnt; 0 while none are."""
        return self._learnt.of_steps()

    def rested(self) -> None:
        """Leave the time until now, a pause, out of the rate."""
        self._learnt = Rate()

    async def do(self, work: Work) -> bool:
        """Do what the stream has to do next; False if a stop comes before it is done."""
        stream, began = self.stream, time.monotonic()
        trained_before = stream.progress.articles
        if not await self.attempt(lambda: work.do(self.elapsed)):
            return False
        if trained := stream.progress.articles - trained_before:
            self.saving.stepped(time.monotonic() - began, measured=work.measures)
            self._learnt.add(trained)
        return True

    async def attempt(self, work: Callable[[], object]) -> bool:
        """Do work that changes the models; False if a stop comes before it is done."""
        self._under_way = asyncio.ensure_future(self._call(work))
        await self._orders.or_stop(self._under_way)
        if not self._under_way.done():
            return False
        self._under_way.result()
        self._under_way = None
        return True

    async def settle(self, seconds: float) -> None:
        """Wait this long for a step in progress; if it continues or has failed, return to the last commit."""
        if self._under_way is None:
            return
        await asyncio.wait({self._under_way}, timeout=seconds)
        if not self._under_way.done() or self._under_way.exception() is not None:
            self._thread.shutdown(wait=False)  # the step is left to its thread
            self._thread = _new_thread()
            self.stream = await self._call(self.stream.as_committed)
        self._under_way = None

    async def commit(self, bytes_read: int) -> None:
        """Save; ``bytes_read``: those of this run. Raises `SessionError`."""
        stream, bytes_before = self.stream, self._before[1]
        self._saves_since = time.monotonic()
        try:
            await self._call(lambda: stream.commit(self.elapsed(), bytes_before + bytes_read))
        finally:
            self._saves_since = None
        self.saving.saved()

    async def close(self) -> None:
        """Close the session."""
        await self._call(self._store.close)
        self._thread.shutdown()

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="trainer")

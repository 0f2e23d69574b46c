"""Rates at which articles come in and are learnt, over the last seconds."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 10.0
"""Older events are forgotten."""


class Rate:
    """Events per second over the last ten seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int]] = deque()
        self._begun = clock()

    def add(self, number: int) -> None:
        """Note that ``number`` events happen now."""
        self._events.append((self._clock(), number))

    def __call__(self) -> float:
        now = self._clock()
        while self._events and self._events[0][0] < now - SECONDS:
            self._events.popleft()
        span = min(SECONDS, max(1.0, now - self._begun))
        return sum(number for _, number in self._events) / span


class Speed:
    """Events per second of working time, over the work of the last ten seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._work: deque[tuple[float, int, float]] = deque()

    def add(self, number: int, seconds: float) -> None:
        """Note that work on ``number`` events has just ended and took ``seconds``."""
        self._work.append((self._clock(), number, seconds))

    def __call__(self, *, busy: bool) -> float:
        """``busy``: whether more work is in progress, so that the newest entry counts however old it is."""
        last = self._clock() - SECONDS
        while len(self._work) > busy and self._work[0][0] < last:
            self._work.popleft()
        seconds = sum(spent for _, _, spent in self._work)
        return sum(number for _, number, _ in self._work) / seconds if seconds else 0.0

"""How fast articles come in and are learnt: rates of the last seconds, which fade to nothing."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 10.0
"""What is longer ago says nothing about now."""


class Rate:
    """Events a second over the last ten seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int]] = deque()
        self._begun = clock()

    def add(self, number: int) -> None:
        """``number`` events happen now."""
        self._events.append((self._clock(), number))

    def __call__(self) -> float:
        now = self._clock()
        while self._events and self._events[0][0] < now - SECONDS:
            self._events.popleft()
        span = min(SECONDS, max(1.0, now - self._begun))
        return sum(number for _, number in self._events) / span


class Speed:
    """Events a second of the time that was spent on them, by the work of the last ten seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._work: deque[tuple[float, int, float]] = deque()

    def add(self, number: int, seconds: float) -> None:
        """Work that took so long and has just been done."""
        self._work.append((self._clock(), number, seconds))

    def __call__(self, *, busy: bool) -> float:
        """``busy``: more work is under way, so that the last one done counts however long ago it was."""
        last = self._clock() - SECONDS
        while len(self._work) > busy and self._work[0][0] < last:
            self._work.popleft()
        seconds = sum(spent for _, _, spent in self._work)
        return sum(number for _, number, _ in self._work) / seconds if seconds else 0.0

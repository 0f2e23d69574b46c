"""Rates at which articles come in and are learnt, over the last seconds."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 10.0
"""Events older than this are forgotten."""
FEW = 4
"""The fewest steps from which a rate is computed, however old they are."""


class RateMeter:
    """Events per second, over the last seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int]] = deque()
        self._begun = clock()
        """The time of the start, or of the newest forgotten event."""

    def add(self, number: int) -> None:
        """Record ``number`` events as of now."""
        self._events.append((self._clock(), number))

    def __call__(self) -> float:
        """The rate over the last ten seconds."""
        number = self._recent()
        return number / min(SECONDS, max(1.0, self._clock() - self._begun))

    def of_steps(self) -> float:
        """The rate between the last steps, for large and rare steps; 0 if the next is long
        overdue."""
        number = self._recent(keep=FEW)
        if not self._events:
            return 0.0
        newest = self._events[-1][0]
        span = max(newest - self._begun, 1e-3)
        usual = span / len(self._events)
        overdue = self._clock() - newest - usual
        return 0.0 if overdue > max(SECONDS, usual) else number / (span + max(0.0, overdue))

    def _recent(self, keep: int = 0) -> int:
        last = self._clock() - SECONDS
        while len(self._events) > keep and self._events[0][0] < last:
            self._begun, _ = self._events.popleft()
        return sum(number for _, number in self._events)

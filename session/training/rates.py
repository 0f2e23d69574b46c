"""Rates at which articles come in and are learnt, over the last seconds."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 10.0
"""Older events are forgotten."""
FEW = 4
"""The fewest steps that tell a rate, however old they are."""


class Rate:
    """Events per second that has passed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int]] = deque()
        self._begun = clock()
        """The start, or the newest event that is forgotten."""

    def add(self, number: int) -> None:
        """Note that ``number`` events happen now."""
        self._events.append((self._clock(), number))

    def __call__(self) -> float:
        """Over the last ten seconds."""
        number = self._recent()
        return number / min(SECONDS, max(1.0, self._clock() - self._begun))

    def of_steps(self) -> float:
        """From step to step, where these are large and rare; 0 once the next one is long overdue."""
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

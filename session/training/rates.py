"""Rates at which articles come in and are learnt, and the requests of the last minute."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 10.0
"""Events that are more seconds old are forgotten."""
MINUTE = 60.0
FEW = 4
"""The fewest steps from which a rate is computed, however old they are."""


class RateMeter:
    """Events per second, over the last seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int]] = deque()
        self._begun = clock()
        """The time from which events are counted: the time of the newest event that has been
        forgotten; before any has been, the time of the start."""

    def add(self, number: int) -> None:
        """Record ``number`` events as of now."""
        self._events.append((self._clock(), number))

    def __call__(self) -> float:
        """The rate over the last ten seconds."""
        number = self._recent()
        span = max(1.0, self._clock() - self._begun)
        return number / min(SECONDS, span)

    def of_steps(self) -> float:
        """The rate between the last steps, for large and rare steps; 0 if the next is long
        overdue."""
        number = self._recent(keep=FEW)
        if not self._events:
            return 0.0
        newest, _ = self._events[-1]
        span = max(newest - self._begun, 1e-3)
        usual_step = span / len(self._events)
        overdue = self._clock() - (newest + usual_step)
        if overdue > max(SECONDS, usual_step):
            return 0.0
        return number / (span + max(0.0, overdue))

    def _recent(self, keep: int = 0) -> int:
        """The number of events in the last seconds, and in the ``keep`` newest steps however old
        they are; all others are forgotten."""
        oldest_kept = self._clock() - SECONDS
        while len(self._events) > keep:
            at, _ = self._events[0]
            if at >= oldest_kept:
                break
            self._begun = at
            self._events.popleft()
        return sum(number for _, number in self._events)


class LastMinute:
    """How much a total has grown within the last minute; in the first minute, since the start."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._totals: deque[tuple[float, int]] = deque([(clock(), 0)])
        """The total at moments of the last minute, and at the one just before."""
        self.number = 0
        """As of the last `note`, like `seconds`."""
        self.seconds = 0.0
        """The seconds over which ``number`` is counted, at most a minute."""

    def note(self, total: int) -> None:
        """Record the total as of now."""
        now = self._clock()
        self._totals.append((now, total))
        while self._totals[1][0] <= now - MINUTE:
            self._totals.popleft()
        began, before = self._totals[0]
        self.number = total - before
        self.seconds = min(MINUTE, now - began)

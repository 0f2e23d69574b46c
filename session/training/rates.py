"""Rates at which articles come in and are learnt, over the last seconds."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 10.0
"""Older events are forgotten."""


class Rate:
    """Events per second over the last ten seconds: of all this time, or of the work in it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events: deque[tuple[float, int, float]] = deque()
        self._begun = clock()

    def add(self, number: int, seconds: float = 0.0) -> None:
        """Note that ``number`` events happen now, after work of ``seconds``."""
        self._events.append((self._clock(), number, seconds))

    def __call__(self) -> float:
        """Per second that has passed."""
        span = min(SECONDS, max(1.0, self._clock() - self._begun))
        return self._recent()[0] / span

    def of_work(self, *, busy: bool) -> float:
        """Per second of work; ``busy``: whether more is in progress, so that the newest counts however old it
        is."""
        number, seconds = self._recent(keep=int(busy))
        return number / seconds if seconds else 0.0

    def _recent(self, keep: int = 0) -> tuple[int, float]:
        last = self._clock() - SECONDS
        while len(self._events) > keep and self._events[0][0] < last:
            self._events.popleft()
        return sum(number for _, number, _ in self._events), sum(spent for *_, spent in self._events)

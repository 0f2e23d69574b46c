"""How many pages to ask for in one request."""

import math

from wikitopics.crawler.http.limits import RateLimits
from wikitopics.crawler.http.pace import interval

_FORGET = 0.95
"""The weight of an observation relative to the next newer one: about twenty replies count."""
_PRIOR_WEIGHT = 0.3
_PRIOR_LATENCY = 0.15
"""The latency of a reply without pages, assumed until replies of several sizes were seen."""
_PRIOR = tuple(_PRIOR_WEIGHT * value for value in (1.0, 0.0, _PRIOR_LATENCY, 0.0, 0.0, _PRIOR_LATENCY**2))
"""As sums of observations, see `BatchSizer`."""
_PRIOR_SPREAD = 0.08
_PROBE_EVERY = 60


class BatchSizer:
    """Chooses the batch size that gives most pages per second under ``limits``.

    If no reply is too slow, that is ``most``. Wikimedia asks for a rest of 5 s after each reply slower than 1
    s. There a line ``latency = a + b * pages`` is fitted to the replies, with less weight for older ones. The
    chosen size has the most pages per expected second, including the rest with the probability that follows
    from the spread about the line.
    """

    def __init__(self, limits: RateLimits, most: int) -> None:
        self._limits = limits
        self._most = most
        self._ceiling = most
        # Weighted sums over (pages n, latency y): 1, n, y, n², ny, y².
        self._sums = list(_PRIOR)
        self._replies = 0
        self._pages = most

    @property
    def pages(self) -> int:
        """The number of pages to request now."""
        return self._pages

    def seen(self, pages: int, latency: float) -> None:
        """Record that a reply with ``pages`` pages took ``latency`` seconds."""
        values = (1.0, pages, latency, pages * pages, pages * latency, latency * latency)
        self._sums = [
            keep + _FORGET * (s - keep) + v for s, keep, v in zip(self._sums, _PRIOR, values, strict=True)
        ]
        self._replies += 1
        if self._ceiling < self._most:
            self._ceiling = min(self._most, self._ceiling + max(1, self._ceiling // 10))
        self._pages = self._best()
        if self._replies % _PROBE_EVERY == 0 and self._pages < self._ceiling:
            self._pages = min(self._ceiling, self._pages + max(1, self._pages // 5))

    def timed_out(self) -> None:
        """Record that the wiki did not reply in time: request half as many, and grow again slowly."""
        self._ceiling = max(1, min(self._pages, self._ceiling) // 2)
        self._pages = min(self._pages, self._ceiling)

    def _best(self) -> int:
        if self._limits.slow_reply is None:
            return self._ceiling
        a, b, spread = self._line()
        return max(range(1, self._ceiling + 1), key=lambda n: (n / self._seconds(a + b * n, spread), n))

    def _line(self) -> tuple[float, float, float]:
        """Intercept, slope (both never negative) and spread of the latency over the pages."""
        w, n, y, nn, ny, yy = self._sums
        variance = nn - n * n / w
        slope = max(0.0, (ny - n * y / w) / variance) if variance > 1e-9 else 0.0
        intercept = max(0.0, (y - slope * n) / w)
        squares = yy - 2 * (slope * ny + intercept * y) + slope**2 * nn + 2 * slope * intercept * n
        left = max(0.0, (squares + intercept**2 * w) / w)
        return intercept, slope, math.sqrt(left + _PRIOR_SPREAD**2 / (1 + self._replies))

    def _seconds(self, latency: float, spread: float) -> float:
        """Expected seconds from one request to the next."""
        slow = self._limits.slow_reply or math.inf
        too_slow = 0.5 * math.erfc((slow - latency) / (spread * math.sqrt(2)))
        return max(latency, interval(self._limits)) + self._limits.slow_wait * too_slow

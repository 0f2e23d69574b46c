"""How many pages to ask a wiki for in one request."""

import math

from wikitopics.crawler.http.pace import interval
from wikitopics.crawler.http.rules import RateLimits

_FORGET = 0.95
"""The weight of an observation relative to the next newer one: about twenty replies count."""
_PRIOR_WEIGHT = 0.3
_PRIOR_LATENCY = 0.15
"""The latency assumed for a reply without pages, until replies of several sizes have been seen."""
_PRIOR_SPREAD = 0.08
"""The spread of latencies assumed before the first reply, in seconds."""
_PROBE_EVERY = 60
"""After so many replies, a larger batch is tried."""


def _observation(pages: float, latency: float) -> tuple[float, ...]:
    """What is summed of one reply of n pages after y seconds, to fit a line: 1, n, y, n², ny,
    y²."""
    return (1.0, pages, latency, pages * pages, pages * latency, latency * latency)


_PRIOR = tuple(_PRIOR_WEIGHT * value for value in _observation(0.0, _PRIOR_LATENCY))


class BatchSizer:
    """Chooses the batch size that gives the most pages per second under ``limits``.

    If no reply is too slow, that is ``most``. Wikimedia asks for 5 s of rest after a reply slower
    than 1 s. There, a line ``latency = a + b * pages`` is fitted to the replies, with less weight
    for older ones. The chosen size has the most pages per expected second, which includes the rest
    with the probability that follows from the spread about the line.
    """

    def __init__(self, limits: RateLimits, most: int) -> None:
        self._limits = limits
        self._most = most
        self._ceiling = most
        self.pages = most
        """The number of pages to request now."""
        self._sums = list(_PRIOR)
        """The weighted sums of all observations, in which the prior keeps its weight."""
        self._replies = 0

    def seen(self, pages: int, latency: float) -> None:
        """Record that a reply with ``pages`` pages took ``latency`` seconds."""
        terms = zip(self._sums, _PRIOR, _observation(pages, latency), strict=True)
        self._sums = [prior + _FORGET * (total - prior) + new for total, prior, new in terms]
        self._replies += 1
        if self._ceiling < self._most:
            self._ceiling = min(self._most, self._ceiling + max(1, self._ceiling // 10))
        self.pages = self._best()
        if self._replies % _PROBE_EVERY == 0:
            self.pages = min(self._ceiling, self.pages + max(1, self.pages // 5))

    def timed_out(self) -> None:
        """Record that the wiki did not reply in time: halve the size, and let it grow again
        slowly."""
        self._ceiling = max(1, min(self.pages, self._ceiling) // 2)
        self.pages = min(self.pages, self._ceiling)

    def _best(self) -> int:
        """The number of pages with the most pages per expected second."""
        slow = self._limits.slow_reply
        if slow is None:
            return self._ceiling
        intercept, slope, spread = self._line()

        def rate(pages: int) -> float:
            """Expected pages a second, from one request to the next."""
            latency = intercept + slope * pages
            # The probability that a normally distributed latency is above `slow`.
            too_slow = 0.5 * math.erfc((slow - latency) / (spread * math.sqrt(2)))
            rest = self._limits.slow_wait * too_slow
            return pages / (max(latency, interval(self._limits)) + rest)

        return max(range(1, self._ceiling + 1), key=lambda pages: (rate(pages), pages))

    def _line(self) -> tuple[float, float, float]:
        """Intercept, slope (both never negative) and spread of the latency over the pages."""
        w, n, y, nn, ny, yy = self._sums
        # Least squares: the slope is the covariance over the variance of the pages.
        variance = nn - n * n / w
        slope = max(0.0, (ny - n * y / w) / variance) if variance > 1e-9 else 0.0
        intercept = max(0.0, (y - slope * n) / w)
        # The sum of (y - slope n - intercept)², multiplied out.
        squares = yy - 2 * (slope * ny + intercept * y) + slope**2 * nn + 2 * slope * intercept * n
        left = max(0.0, (squares + intercept**2 * w) / w)
        prior = _PRIOR_SPREAD**2 / (1 + self._replies)
        return intercept, slope, math.sqrt(left + prior)

"""The requests a minute: no request goes out before its turn."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from crawler.clock import Clock
from crawler.limits import Manners

WaitUntil = Callable[[float, str], Awaitable[None]]
"""Waits until a moment of the monotonic clock and says meanwhile what for."""
_MARGIN = 1.01
"""Requests leave here evenly but arrive with the line's jitter: keep the budget there as well."""


def interval(manners: Manners) -> float:
    """Seconds between the starts of two requests."""
    even = 60.0 / manners.rpm * _MARGIN if manners.rpm else 0.0
    return max(even, manners.shortest_gap)


def rest_after(manners: Manners, latency: float) -> float:
    """Seconds to leave the wiki alone after a reply that took ``latency`` seconds."""
    slow = manners.slow_reply is not None and latency > manners.slow_reply
    return manners.slow_wait if slow else 0.0


class Turn:
    """What one turn learnt; the request's latency decides on the rest after it."""

    latency: float = 0.0


class Pace(Protocol):
    """Hands out turns. A turn lasts from the request to the end of its reply."""

    def turn(self, wait_until: WaitUntil) -> AbstractAsyncContextManager[Turn]:
        """Enter it to send one request."""


class OwnPace:
    """A budget of this process alone, for hosts outside Wikimedia."""

    def __init__(self, manners: Manners, clock: Clock, at_once: int = 1) -> None:
        self._manners = manners
        self._clock = clock
        self._next = float("-inf")
        self._slots = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self, wait_until: WaitUntil) -> AsyncIterator[Turn]:
        async with self._slots:
            start = max(self._clock.monotonic(), self._next)
            self._next = start + interval(self._manners)
            await wait_until(start, pace_reason(self._manners))
            turn = Turn()
            try:
                yield turn
            finally:
                rest = rest_after(self._manners, turn.latency)
                if rest:
                    self._next = max(self._next, self._clock.monotonic() + rest)


def pace_reason(manners: Manners) -> str:
    """What a wait for the next turn is called on the screen."""
    return f"the next request ({manners.rpm} a minute)" if manners.rpm else "the next request"

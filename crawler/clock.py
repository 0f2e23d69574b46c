"""Time as the crawler sees it, so that tests can put another clock in its place."""

import asyncio
import time


class Clock:
    """The machine's clock.

    Waits are measured with the monotonic clock, which no correction of the time of day moves;
    the wall clock serves display and Retry-After dates only.
    """

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

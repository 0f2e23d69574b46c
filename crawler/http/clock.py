"""The crawler's clock, which tests can replace."""

import asyncio
import time


class Clock:
    """The machine's clock.

    Waits are measured with the monotonic clock, which is unaffected by corrections of the time of day. The
    wall clock is used only for display and Retry-After dates.
    """

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

"""Orders to a run from outside: by signals, by other processes, by its own limits."""

import asyncio
import contextlib
from typing import Literal, TypeVar

from wikitopics.session.records import State
from wikitopics.session.storage.tables.trainer import ControlRequest

T = TypeVar("T")


class Orders:
    """Orders to stop (and why), to pause, and to save at once; only the first order to stop counts."""

    def __init__(self) -> None:
        self.reason = "stopped"
        """Why the run ends, in words."""
        self.save = False
        """Whether a commit is wanted now; committing clears it."""
        self._stop = asyncio.Event()
        self._go_on = asyncio.Event()
        self._go_on.set()

    @property
    def stopped(self) -> bool:
        """Whether the run should end, or is ending."""
        return self._stop.is_set()

    @property
    def paused(self) -> bool:
        """Whether training should pause."""
        return not self._go_on.is_set()

    @property
    def state(self) -> State:
        """What the run should be doing."""
        if self.stopped:
            return "stopping"
        return "paused" if self.paused else "running"

    def stop(self, reason: str) -> None:
        """Order the run to end."""
        if not self.stopped:
            self.reason = reason
            self.end()

    def end(self) -> None:
        """Note that the run ends, for the reason already known."""
        self._stop.set()
        self._go_on.set()

    def obey(self, request: ControlRequest) -> None:
        """Take the requests of other processes."""
        if request.stop:
            self.stop("stopped by `wikitopics stop`")
        self.save = self.save or request.save
        if request.paused and not self.stopped:
            self._go_on.clear()
        else:
            self._go_on.set()

    async def until_stop(self, seconds: float) -> None:
        """Wait for the order to stop, at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def until_going_on(self, seconds: float) -> None:
        """Wait for the end of a pause, at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._go_on.wait(), seconds)

    async def or_stop(self, future: asyncio.Future[T], seconds: float | None = None) -> None:
        """Wait until ``future`` is done or the run should stop, at most ``seconds``."""
        stop = asyncio.ensure_future(self._stop.wait())
        first: set[asyncio.Future[T] | asyncio.Future[Literal[True]]] = {future, stop}
        await asyncio.wait(first, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()

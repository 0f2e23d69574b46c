"""The heartbeat: tells other processes twice a second what goes on, and brings what they ask for."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from session.errors import NotNow, SessionError
from session.records import State
from session.storage.coordination.heartbeat import HeartbeatWriter
from session.training.running.monitor import Monitor, Report
from session.training.running.news import Line
from session.training.running.orders import Orders

BEAT_SECONDS = 0.5
FLOW_EVERY = 4
"""Every so many beats the rates are kept for the screen's graphs."""

T = TypeVar("T")


class Heart:
    """Beats in a task and a thread of its own, beside the training.

    A disk that is full or busy is waited for. Anything else kills it, and then the run is told to stop at
    once: nobody else could see any more that it lives, or tell it anything.
    """

    def __init__(
        self,
        path: Path,
        monitor: Monitor,
        orders: Orders,
        report: Callable[[Report], None],
        tell: Callable[[str], None],
    ) -> None:
        """``report`` is called with every beat, ``tell`` with what should not wait for that."""
        self._path, self._monitor, self._orders = path, monitor, orders
        self._report, self._tell = report, tell
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="heartbeat")
        self._over = asyncio.Event()

    async def begin(self, first_article: int) -> None:
        """A run begins. Raises :class:`SessionError` where that cannot be written."""
        try:
            self._writer, self._run = await self._call(lambda: _begun(self._path, first_article))
        except BaseException:
            self._thread.shutdown()
            raise
        self._beating = asyncio.create_task(self._beat())
        self._beating.add_done_callback(self._is_over)

    async def end(self, reason: str) -> BaseException | None:
        """The run has ended: say why, where that can be said. Returns what killed the heart, if it died."""
        self._over.set()  # not cancelled: what it is about to log would be lost
        await asyncio.wait({self._beating})
        death = _death(self._beating)
        self._tell_progress()
        last_words: Sequence[Callable[[], Awaitable[object]]] = (
            lambda: self._say("stopped"),
            lambda: self._note(self._monitor.last_news()),
            lambda: self._log("info", f"the trainer ended: {reason}"),
            lambda: self._call(lambda: self._writer.end(self._run, reason)),
        )
        for word in last_words:
            # What killed the heart may keep it from saying so, but not from closing.
            with contextlib.suppress(SessionError if death is None else Exception):
                await word()
        await self._call(self._writer.close)
        self._thread.shutdown()
        return death

    def _is_over(self, beating: asyncio.Task[None]) -> None:
        if (death := _death(beating)) is not None:
            self._orders.stop(f"the heartbeat failed: {str(death) or type(death).__name__}")

    async def _beat(self) -> None:
        number = 0
        await self._note([("info", f"a trainer began (pid {os.getpid()})")])
        while not self._over.is_set():
            self._monitor.sample()
            with contextlib.suppress(NotNow):  # the next beat tries again, and the commit says what is wrong
                await self._say(self._orders.state, keep_flow=number % FLOW_EVERY == 0)
            await self._note(self._monitor.news())
            self._tell_progress()
            number += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), BEAT_SECONDS)

    async def _say(self, state: State, *, keep_flow: bool = False) -> None:
        activity = self._monitor.report().activity
        self._orders.obey(await self._call(lambda: self._writer.beat(state, activity, keep_flow=keep_flow)))

    async def _note(self, news: Sequence[Line]) -> None:
        for level, message in news:
            if level != "info":
                self._tell(message)
            with contextlib.suppress(NotNow):
                await self._log(level, message)

    async def _log(self, level: str, message: str) -> None:
        await self._call(lambda: self._writer.event(level, message))

    def _tell_progress(self) -> None:
        try:
            self._report(self._monitor.report())
        except BrokenPipeError:
            self._orders.stop("nothing reads the progress any more")
        except OSError:
            pass  # written to a full disk, say: training goes on without it

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _begun(path: Path, first_article: int) -> tuple[HeartbeatWriter, int]:
    writer = HeartbeatWriter(path)
    try:
        return writer, writer.begin(first_article)
    except BaseException:
        writer.close()
        raise


def _death(beating: asyncio.Task[None]) -> BaseException | None:
    return asyncio.CancelledError() if beating.cancelled() else beating.exception()

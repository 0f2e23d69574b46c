"""The heartbeat: reports to other processes twice a second, and receives their requests."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from wikitopics.session.errors import NotNow, SessionError
from wikitopics.session.records import State
from wikitopics.session.storage.tables.trainer import HeartbeatWriter
from wikitopics.session.training.monitor import Line, Monitor, Outside
from wikitopics.session.training.orders import Orders

BEAT_SECONDS = 0.5
FLOW_EVERY = 4
"""Beats between two stored rates for the screen's graphs."""

T = TypeVar("T")


class Heart:
    """Beats in a separate task and thread, beside the training.

    If the disk is full or busy, it waits. Any other error kills it, and the run is then told to stop at once,
    since no other process could see that it is alive or send it requests.
    """

    def __init__(self, path: Path, monitor: Monitor, orders: Orders, outside: Outside) -> None:
        self._path, self._monitor, self._orders, self._outside = path, monitor, orders, outside
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="heartbeat")
        self._over = asyncio.Event()

    async def begin(self, first_article: int) -> None:
        """Begin a run. Raises `SessionError` if that cannot be written."""
        try:
            await self._call(lambda: self._open(first_article))
        except BaseException:
            self._thread.shutdown()
            raise
        self._beating = asyncio.create_task(self._beat())
        self._beating.add_done_callback(self._is_over)

    def _open(self, first_article: int) -> None:
        self._writer = HeartbeatWriter(self._path)
        try:
            self._run = self._writer.begin(first_article)
        except BaseException:
            self._writer.close()
            raise

    async def end(self, reason: str) -> BaseException | None:
        """End the run and say why, if possible. Returns the error that killed the heart, if it died."""
        self._over.set()  # not cancelled, since its current log lines would be lost
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
            # The error that killed the heart may keep it from writing, but not from closing.
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
            with contextlib.suppress(NotNow):  # the next beat tries again, and the commit reports the error
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
                self._outside.say(message)
            with contextlib.suppress(NotNow):
                await self._log(level, message)

    async def _log(self, level: str, message: str) -> None:
        await self._call(lambda: self._writer.event(level, message))

    def _tell_progress(self) -> None:
        try:
            self._outside.report(self._monitor.report())
        except BrokenPipeError:
            self._orders.stop("nothing reads the progress any more")
        except OSError:
            pass  # such as a full disk: training continues without it

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _death(beating: asyncio.Task[None]) -> BaseException | None:
    return asyncio.CancelledError() if beating.cancelled() else beating.exception()

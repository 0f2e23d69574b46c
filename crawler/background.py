"""A blocking iterator in a separate thread, whose items are awaited one by one."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
END_SECONDS = 10.0
"""The most seconds to wait for a thread to end: a read of a broken disk may block for ever."""


class Background(Generic[T]):
    """Iterates ``items()`` in a daemon thread, at most ``ahead`` items before they are asked for.

    A daemon thread, because a read from standard input can block for ever and must not keep the
    program alive.
    """

    def __init__(self, items: Callable[[], Iterator[T]], ahead: int = 2) -> None:
        self._items = items
        self._room = threading.Semaphore(ahead)
        self._stopped = threading.Event()
        self._queue: asyncio.Queue[tuple[T] | Exception | None] = asyncio.Queue()
        """Items in tuples; then None, or the iterator's exception."""
        self._thread: threading.Thread | None = None

    def stop(self) -> None:
        """Ask the thread to end after the current item."""
        self._stopped.set()
        self._room.release()

    async def end(self) -> None:
        """Stop, and wait until the thread has ended, as it does after the current item."""
        self.stop()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, END_SECONDS)

    async def result(self) -> T:
        """The only item."""
        return await anext(self.run())

    async def run(self) -> AsyncGenerator[T]:
        """The items in order; an exception of the iterator is raised here."""
        self._thread = threading.Thread(
            target=self._work, args=(asyncio.get_running_loop(),), daemon=True
        )
        self._thread.start()
        try:
            while True:
                item = await self._queue.get()
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                self._room.release()
                yield item[0]
        finally:
            self.stop()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        end = None
        try:
            for item in self._items():
                self._room.acquire()
                if self._stopped.is_set():
                    break
                self._put(loop, (item,))
        except Exception as error:  # noqa: BLE001 (raised in the awaiting task)
            end = error
        self._put(loop, end)

    def _put(self, loop: asyncio.AbstractEventLoop, item: tuple[T] | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is waiting any more
            loop.call_soon_threadsafe(self._queue.put_nowait, item)


def in_thread(work: Callable[[], T]) -> Background[T]:
    """Does ``work`` in such a thread; its only item is the result."""
    return Background(lambda: iter((work(),)))

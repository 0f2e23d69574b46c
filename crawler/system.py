"""The operating system: a thread for blocking work, child processes, and the program's own
files."""

import asyncio
import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Generic, TypeVar

# A blocking iterator in a separate thread, whose items are awaited one by one.

T = TypeVar("T")


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

    def stop(self) -> None:
        """Ask the thread to end after the current item."""
        self._stopped.set()
        self._room.release()

    async def run(self) -> AsyncGenerator[T]:
        """The items in order; an exception of the iterator is raised here."""
        thread = threading.Thread(
            target=self._work, args=(asyncio.get_running_loop(),), daemon=True
        )
        thread.start()
        try:
            while isinstance(item := await self._queue.get(), tuple):
                self._room.release()
                yield item[0]
            if item is not None:
                raise item
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


# Python child processes: all are started in the same way, and end with the process that started
# them.

_PR_SET_PDEATHSIG = 1

Stream = int | IO[bytes]


def start_python(
    module: str,
    arguments: Sequence[str] = (),
    *,
    stdin: Stream,
    stdout: Stream,
    stderr: Stream | None = None,
    keeps: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Run ``python -m MODULE ARGUMENTS``, whatever the working directory contains.

    ``keeps``: descriptors that remain open in it until its end, and with them their locks.

    ``-P``, which no environment variable can undo, keeps the working directory off the module
    search path: a folder `model` or a file `json.py` there is not run instead of ours. The child
    has its own terminal session, so that Ctrl+C reaches only its parent.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        pass_fds=keeps,
    )


def end_with_parent() -> None:
    """Let the kernel kill this process when the thread that started it ends (on Linux; elsewhere do
    nothing).

    This ends even a suspended process. The end of standard input, which a child should watch for on
    every system, does not.
    """
    if sys.platform == "linux":
        import ctypes  # only children need it

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


# This program's own files under predictable names: locks, logs, the request budget.


def open_own(path: Path, flags: int, *, mode: int = 0o600) -> int:
    """A descriptor of the regular file ``path``, which is created if missing.

    Anybody who can write to the folder could have put a link to one of the user's files there, or a
    pipe that blocks. So links are not followed, and nothing is truncated. Raises `OSError`, whose
    message says what to do.
    """
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link, not a regular file; remove it") from None
        raise
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    what = (
        "a file with more than one hard link"
        if stat.S_ISREG(status.st_mode)
        else "not a regular file"
    )
    raise OSError(errno.EINVAL, f"{what}; remove it")

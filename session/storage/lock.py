"""One trainer per session: a lock that the kernel frees when its owner dies, however it dies.

The lock is taken on a file beside the session, never on the session itself: closing any other
descriptor of the database file would drop SQLite's own locks (POSIX).
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path

from wikitopics.crawler.system import open_own
from wikitopics.session.errors import SessionError, SessionInUse
from wikitopics.session.paths import LOCK, beside, command, is_at
from wikitopics.session.system import Process

TRIES = 20
_MOST_BYTES = 400


def lock_path(path: Path) -> Path:
    """The lock file of the session at ``path``, the same through any links."""
    return beside(path, LOCK)


class TrainerLock(contextlib.AbstractContextManager["TrainerLock"]):
    """Hold the session at ``path`` for this process, to the end of the block.

    Raises `SessionInUse` with the owner's pid.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = _locked(path)
        self._sign()

    def renew(self) -> None:
        """Take the lock again if its file was deleted, so that others see who holds the session."""
        if is_at(lock_path(self._path), os.fstat(self._descriptor)):
            return
        try:
            descriptor, _ = try_lock(lock_path(self._path))
        except OSError:
            return
        if descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = descriptor
            self._sign()

    def __exit__(self, *_: object) -> None:
        """Release the lock; leaves no lock file behind if no session was created."""
        try:
            os.ftruncate(self._descriptor, 0)
            file = lock_path(self._path)
            if not self._path.exists() and is_at(file, os.fstat(self._descriptor)):
                file.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)

    def _sign(self) -> None:
        with contextlib.suppress(OSError):  # such as a full disk: the lock holds even without a pid in it
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, Process.own().as_text().encode(), 0)


def in_use(path: Path, pid: int) -> SessionInUse:
    """The error naming the trainer that holds the session at ``path``; 0: an unknown one."""
    return SessionInUse(
        f"the session is in use by another trainer (pid {pid or 'unknown'}); "
        f"watch it with `{command('watch', path)}`, end it with `{command('stop', path)}`"
    )


def _locked(path: Path) -> int:
    """A descriptor that holds the lock."""
    # A reader checking for a trainer holds a shared lock for microseconds, so try for a moment.
    pid = 0
    for _ in range(TRIES):
        try:
            descriptor, pid = try_lock(lock_path(path))
        except OSError as error:
            raise SessionError(f"cannot write {lock_path(path)}: {error.strerror}") from None
        if descriptor is not None:
            return descriptor
        time.sleep(0.02)
    raise in_use(path, pid)


def try_lock(file: Path) -> tuple[int | None, int]:
    """A descriptor that holds the lock on a file, which is created if missing, or None and the pid of the
    holder, as far as the file names it. Raises OSError."""
    pid = 0
    descriptor = open_own(file, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(file, os.fstat(descriptor)):  # and not a file that its owner has just unlinked
            return descriptor, pid
    except BlockingIOError:
        pid = _read_process(descriptor).pid
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None, pid


def owner(path: Path) -> Process | None:
    """The trainer that holds the session, or None. Never blocks, changes nothing.

    `UNKNOWN` if the holder does not identify itself.
    """
    try:
        descriptor = os.open(lock_path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError as error:
        return _read_process(descriptor) if isinstance(error, BlockingIOError) else None
    finally:
        os.close(descriptor)


def owner_pid(path: Path) -> int | None:
    """The pid of the trainer that holds the session; None if there is none or its pid is unknown."""
    process = owner(path)
    return process.pid or None if process is not None else None


def _read_process(descriptor: int) -> Process:
    return Process.from_text(os.pread(descriptor, _MOST_BYTES, 0).decode("ascii", "replace"))

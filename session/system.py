"""Processes: how one is told from another, the user's commands, and the lock that a session's one
trainer holds."""

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wikitopics.own_files import open_own
from wikitopics.session.errors import SessionInUse, os_error_as
from wikitopics.session.file_systems import unfit
from wikitopics.session.paths import LOCK, beside, command, is_at
from wikitopics.session.signals import acting_later

# How a process is identified. Its number is not enough: by now it may belong to another program, or
# to a process in another container.

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be mistaken for another one; its text lets others check that it is
    running."""

    pid: int
    """0: nothing is known of it."""
    place: str
    """Where the number is valid: on Linux this boot of this machine, and the pid namespace in
    it."""
    start: str
    """Its start time, as the system states it."""

    @classmethod
    def own(cls) -> "Process":
        """The calling process."""
        pid = os.getpid()
        _, start = _state_and_start("self" if sys.platform == "linux" else str(pid))
        return cls(pid, _place(), start)

    @classmethod
    def from_text(cls, text: str) -> "Process":
        """The inverse of `as_text`; any other text gives an unknown process."""
        lines = [*text.split("\n"), "", "", ""]
        pid, place, start = lines[:3]
        is_number = pid.isascii() and pid.isdigit() and len(pid) <= _MOST_DIGITS
        return cls(int(pid), place, start) if is_number else UNKNOWN

    def as_text(self) -> str:
        """One line for each field."""
        return f"{self.pid}\n{self.place}\n{self.start}\n"

    def lives(self) -> bool | None:
        """Whether it is still running; None if that cannot be known from here."""
        if not self.start or not self.place or self.place != _place():
            return None
        _, start = _state_and_start(str(self.pid))
        return start == self.start

    def is_suspended(self) -> bool:
        """Whether it is known to do nothing until it is continued, as after Ctrl+Z."""
        if not self.lives():
            return False
        state, _ = _state_and_start(str(self.pid))
        return state in ("T", "t")


UNKNOWN = Process(0, "", "")


def _place() -> str:
    """The place, or "" if the system does not report it."""
    if sys.platform != "linux":
        return f"{sys.platform} {os.uname().nodename}"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _state_and_start(pid: str) -> tuple[str, str]:
    """(state, start time) of a process; both "" if it has ended or the system does not report
    them."""
    try:
        if sys.platform == "linux":
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            _, _, after_name = stat.rpartition(")")
            fields = after_name.split()
            state = fields[0]
            start = fields[19]  # in clock ticks since boot
        else:
            with acting_later():
                listed = subprocess.run(
                    ["ps", "-o", "state=,lstart=", "-p", pid],
                    capture_output=True,
                    text=True,
                    env={**os.environ, "LC_ALL": "C"},
                )
            state, _, start = listed.stdout.strip().partition(" ")
    except (OSError, ValueError, IndexError):
        return "", ""
    state = state[:1]
    if state in ("Z", "X"):  # it has ended, but its parent has not asked for its exit code
        return "", ""
    return state, start.strip()


# The user's commands, each in a process group of its own.


def start_command(
    command: str,
    session: Path,
    *,
    stdin: int | IO[bytes],
    stdout: int | IO[bytes],
    **variables: str,
) -> subprocess.Popen[bytes]:
    """Start a command of the user with their shell. Raises OSError, and ValueError for a NUL in it.

    ``variables`` are added to its environment, where no shell interprets them, with
    ``WIKITOPICS_SESSION``.
    """
    return subprocess.Popen(
        command,
        shell=True,
        env={**os.environ, **variables, "WIKITOPICS_SESSION": str(session.absolute())},
        stdin=stdin,
        stdout=stdout,
        start_new_session=True,  # so that the whole group can be killed
    )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and everything that it has started in its group."""
    with contextlib.suppress(ProcessLookupError):  # no process of its group is left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# One trainer per session: a lock that the kernel frees when its owner dies, however it dies.
#
# The lock is taken on a file beside the session, never on the session itself: closing any other
# descriptor of the database file would drop SQLite's own locks (POSIX).

TRIES = 20
"""How often a trainer tries to get the lock, 50 times a second."""
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_LONGEST = 400
"""The most bytes that are read of a lock file: the process that holds the lock."""


def lock_path(path: Path) -> Path:
    """The lock file of the session at ``path``, the same through any links."""
    return beside(path, LOCK)


class TrainerLock(contextlib.AbstractContextManager["TrainerLock"]):
    """Hold the session at ``path`` for this process until the end of the block.

    Raises `SessionInUse` with the owner's pid.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        pid = 0
        # A reader checking for a trainer holds a shared lock for microseconds, so try for a moment.
        for _ in range(TRIES):
            with os_error_as(f"cannot write {lock_path(path)}"):
                try:
                    descriptor, pid = try_lock(lock_path(path))
                except OSError as error:
                    if error.errno not in _NO_LOCKS:
                        raise
                    if not path.exists():
                        lock_path(path).unlink(missing_ok=True)
                    raise unfit(path, f"lock files ({error.strerror})") from None
            if descriptor is not None:
                self._descriptor = descriptor
                # On a full disk, for example, the lock holds without a pid, too.
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, Process.own().as_text().encode(), 0)
                return
            time.sleep(0.02)
        raise in_use(path, pid)

    def __exit__(self, *_: object) -> None:
        """Release the lock; leaves no lock file behind if no session was created."""
        try:
            os.ftruncate(self._descriptor, 0)
            file = lock_path(self._path)
            if not self._path.exists() and is_at(file, os.fstat(self._descriptor)):
                file.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)


def in_use(path: Path, pid: int) -> SessionInUse:
    """The error that names the trainer holding the session at ``path``; ``pid`` 0: an unknown
    one."""
    return SessionInUse(
        f"the session is in use by another trainer (pid {pid or 'unknown'}); "
        f"watch it with `{command('watch', path)}`, end it with `{command('stop', path)}`"
    )


def try_lock(file: Path) -> tuple[int | None, int]:
    """A descriptor that holds the lock on a file, which is created if missing; or None, and the pid
    of the holder if the file names it (otherwise 0). Raises OSError."""
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
        descriptor = os.open(
            lock_path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
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
    """The pid of the trainer that holds the session; None if there is none or its pid is
    unknown."""
    process = owner(path)
    if process is None or process.pid == UNKNOWN.pid:
        return None
    return process.pid


def _read_process(descriptor: int) -> Process:
    return Process.from_text(os.pread(descriptor, _LONGEST, 0).decode("ascii", "replace"))

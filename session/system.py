"""Processes: how one is told from another, how a program is asked to end, and the lock that a
session's one trainer holds."""

import asyncio
import contextlib
import errno
import fcntl
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wikitopics.own_files import open_own
from wikitopics.session.errors import SessionError, SessionInUse, os_error_as
from wikitopics.session.paths import LOCK, beside, command, is_at

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


# Signals that ask a program to end: recorded, and acted on when the program is ready.

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.01
"""Seconds after which `Signals.wait` notices that a process has ended, or a signal has come."""
WAKE_SECONDS = 0.2
"""Seconds after which an event loop that waits notices a signal at the latest."""


class Signals(contextlib.AbstractContextManager["Signals"]):
    """Within the block, signals are recorded, and passed to the callback once `tell` has set one.

    No signal is lost while one part of the program hands over to another. One that arrives while a
    trainer is starting still stops that trainer. Only the main thread hears signals: in others
    nothing is recorded.
    """

    def __init__(self) -> None:
        self.noted: list[signal.Signals] = []
        self.at_once: Callable[[signal.Signals], object] = lambda _: None
        """Called for each signal from within its handler, even while the event loop is blocked."""
        self._call: Callable[[signal.Signals], object] = lambda _: None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> "Signals":
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in ENDING:
            # Under nohup SIGHUP stays ignored. None means a handler that was not installed from
            # Python.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, lambda number, _: self._note(number))
        return self

    def __exit__(self, *_: object) -> None:
        # In reverse: Ctrl+C, whose handler may raise here, comes last.
        for number, handler in reversed(self._before.items()):
            signal.signal(number, handler)

    def wait(
        self,
        process: subprocess.Popen[bytes],
        seconds: float,
        until: Collection[signal.Signals] = ENDING,
    ) -> int | None:
        """The exit code of a process; None if it still runs after ``seconds``, or when one of the
        signals ``until`` is recorded.

        An exception from a signal handler can leave `Popen`'s own lock locked for ever, so that
        every later `wait` hangs. So processes are polled and waited for only where signals are
        recorded.
        """
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            if not set(until).isdisjoint(self.noted):
                break
            time.sleep(POLL_SECONDS)
        return process.returncode

    def tell(self, call: Callable[[signal.Signals], object]) -> None:
        """Have the running event loop call ``call``, and only that, for each signal recorded so far
        and from now on."""
        loop = asyncio.get_running_loop()

        def pass_on(number: signal.Signals) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call, number)

        def stay_awake() -> None:
            if self._call is pass_on:
                loop.call_later(WAKE_SECONDS, stay_awake)

        self._call = pass_on
        # A signal that comes just before the loop waits, or in another thread, does not wake it.
        stay_awake()
        for number in self.noted.copy():
            pass_on(number)

    def hang_up(self) -> None:
        """Record that the terminal is gone, although no signal said so."""
        self._note(signal.SIGHUP)

    def _note(self, number: int) -> None:
        noted = signal.Signals(number)
        self.noted.append(noted)
        self.at_once(noted)
        self._call(noted)


@contextlib.contextmanager
def acting_later() -> Iterator[Signals]:
    """Record the signals that arrive within the block, and let them take effect at its end."""
    signals = Signals()
    try:
        with signals:
            yield signals
    finally:
        with contextlib.ExitStack() as stack:  # if one raises, the next ones still take effect
            for number in reversed(signals.noted):
                stack.callback(signal.raise_signal, number)


# What a session needs of its file system; some network shares and FUSE file systems lack it.


def unfit(path: Path, lack: str) -> SessionError:
    """The error for a session whose file system has this `lack_of`."""
    cure = "copy the session to a local disk, or set WIKITOPICS_HOME to a folder on one"
    return SessionError(f"{path} is on a file system that cannot {lack}: {cure}")


def is_read_only(folder: Path) -> bool:
    """Whether the folder's file system is mounted read-only."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def lack_of(folder: Path) -> str:
    """What SQLite and a trainer need and the folder's file system cannot do, such as "lock files
    (No locks available)"; "" if it can do everything.

    Each is tried on a file that is deleted again. Raises OSError if no file can be made there.
    """
    with tempfile.TemporaryDirectory(prefix=".wikitopics-", suffix=".new", dir=folder) as empty:
        path = Path(empty, "tried")
        path.write_bytes(bytes(_MAPPED))
        for need, attempt in _NEEDS.items():
            try:
                attempt(path)
            except OSError as error:
                return f"{need} ({error.strerror or error})"
    return ""


def _lock_bytes(path: Path) -> None:
    """As SQLite locks."""
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)


def _lock_file(path: Path) -> None:
    """As trainers and drafts are locked."""
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _share_memory(path: Path) -> None:
    """As SQLite shares the index of its write-ahead log."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), _MAPPED) as shared:
        shared[0] = 1
    if path.read_bytes()[:1] != b"\1":
        raise OSError(None, "what one program writes there, others do not see")


def _flush(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"")
    path.replace(other)


_MAPPED = 32 << 10
"""The bytes that SQLite maps at a time."""
_NEEDS = {
    "lock parts of files": _lock_bytes,
    "lock files": _lock_file,
    "share memory between programs": _share_memory,
    "flush files to the disk": _flush,
    "replace a file by another one": _replace,  # last: the file is gone then
}


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

"""Processes and signals: who is who, and how a program is asked to end."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Identifies a process: its number alone may belong to another program by now, or one in another
# container.

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be mistaken for another, as text that others can check."""

    pid: int
    """0: nothing is known of it."""
    place: str
    """Where the number is valid: on Linux this boot of this machine, and the pid namespace in it."""
    start: str
    """Its start time, as the system states it."""

    @classmethod
    def own(cls) -> "Process":
        """The calling process."""
        return cls(os.getpid(), _place(), _look("self" if sys.platform == "linux" else str(os.getpid()))[1])

    @classmethod
    def from_text(cls, text: str) -> "Process":
        """The inverse of `as_text`; any other text gives an unknown process."""
        pid, place, start, *_ = [*text.split("\n"), "", "", ""]
        plausible = pid.isascii() and pid.isdigit() and len(pid) <= _MOST_DIGITS
        return cls(int(pid), place, start) if plausible else UNKNOWN

    def as_text(self) -> str:
        """One line for each field."""
        return f"{self.pid}\n{self.place}\n{self.start}\n"

    def lives(self) -> bool | None:
        """Whether it is still running; None if that cannot be known from here."""
        if not self.start or not self.place or self.place != _place():
            return None
        return _look(str(self.pid))[1] == self.start

    def is_suspended(self) -> bool:
        """Whether it is known to do nothing until it is continued, as after Ctrl+Z."""
        return bool(self.lives()) and _look(str(self.pid))[0] in ("T", "t")


UNKNOWN = Process(0, "", "")


def _place() -> str:
    """The place, or "" if the system does not tell."""
    if sys.platform != "linux":
        return f"{sys.platform} {os.uname().nodename}"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _look(pid: str) -> tuple[str, str]:
    """(state, start time) of a process; both "" if it has ended or the system does not tell."""
    try:
        if sys.platform == "linux":
            state, *fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            start = fields[18]  # in clock ticks since boot
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
    return ("", "") if state[:1] in ("Z", "X") else (state[:1], start.strip())


# The user's commands, each in a process group of its own.


def start_command(
    command: str, session: Path, *, stdin: int | IO[bytes], stdout: int | IO[bytes], **variables: str
) -> subprocess.Popen[bytes]:
    """Start a command of the user's with their shell. Raises OSError, and ValueError for a NUL in it.

    ``variables`` are in its environment, where no shell can interpret them, beside ``WIKITOPICS_SESSION``.
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
    """Kill a process and all that it has started in its group."""
    with contextlib.suppress(ProcessLookupError):  # nobody of its group is left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# Signals that ask a program to end: recorded, and acted on when the program is ready.

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_SECONDS = 0.01
"""Seconds after which `Signals.wait` notices that a process has ended, or a signal has come."""


class Signals(contextlib.AbstractContextManager["Signals"]):
    """Within the block, signals are recorded, and passed to the callback once `tell` has set one.

    No signal is lost while one part of the program hands over to another. One that arrives while a trainer is
    starting still stops that trainer. Only the main thread hears signals: in others nothing is recorded.
    """

    def __init__(self) -> None:
        self.noted: list[signal.Signals] = []
        self.at_once: Callable[[signal.Signals], object] = lambda _: None
        """Called for each signal from within its handler, even while the event loop is blocked."""
        self._call: Callable[[signal.Signals], object] = lambda _: None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> "Signals":
        for number in ENDING if threading.current_thread() is threading.main_thread() else ():
            # Under nohup SIGHUP stays ignored; None is a handler that is not Python's.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, lambda number, _: self._note(number))
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in reversed(self._before.items()):  # Ctrl+C, which may raise here, comes last
            signal.signal(number, handler)

    def wait(
        self, process: subprocess.Popen[bytes], seconds: float, until: Collection[signal.Signals] = ENDING
    ) -> int | None:
        """The exit code of a process; None if it still runs after ``seconds``, or when one of the signals
        ``until`` is recorded.

        An exception from a signal handler can leave `Popen`'s own lock locked for ever, and every later
        `wait` hanging. So processes are waited for, and looked at, only where signals are recorded.
        """
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end and not set(until) & set(self.noted):
            time.sleep(LOOK_SECONDS)
        return process.returncode

    def tell(self, call: Callable[[signal.Signals], object]) -> None:
        """Have the running event loop call ``call``, and only that, for each signal recorded so far and
        from now on."""
        loop = asyncio.get_running_loop()

        def pass_on(number: signal.Signals) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call, number)

        self._call = pass_on
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
    """Signals that arrive within the block are recorded, and act as they otherwise would at its end."""
    signals = Signals()
    try:
        with signals:
            yield signals
    finally:
        with contextlib.ExitStack() as each:  # the next one also acts if one raises
            for number in reversed(signals.noted):
                each.callback(signal.raise_signal, number)

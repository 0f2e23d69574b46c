"""Other processes: their CPU and memory by Linux's /proc, and `wikitopics watch` on a terminal of
its own."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
MB_PER_KIB = 1.024e-3
PROGRAM = (sys.executable, "-m", "wikitopics")


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for parent in found:  # which grows meanwhile
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # the process has ended meanwhile
                found += [int(child) for child in children.read_text().split()]
    return found


def memory_mb(pids: list[int]) -> float:
    """Proportional set size of these processes together. Raises OSError where one has ended."""
    total_kib = 0
    for pid in pids:
        size = _size_kib(Path(f"/proc/{pid}/smaps_rollup"), "Pss")
        assert size is not None
        total_kib += size
    return total_kib / 1024


def status_mb(pid: int, key: str) -> float:
    """A size of /proc/PID/status, such as VmRSS. Raises OSError where the process has ended."""
    size = _size_kib(Path(f"/proc/{pid}/status"), key)
    return (size or 0) * MB_PER_KIB


def _size_kib(path: Path, key: str) -> int | None:
    """The size that a file of /proc gives in a line such as `VmRSS:    1234 kB`, if it has one."""
    match = re.search(rf"^{key}:\s*(\d+)", path.read_text(), re.MULTILINE)
    return int(match[1]) if match else None


@dataclass(frozen=True)
class Stat:
    """Some fields of /proc/PID/stat."""

    state: str
    ticks: int
    """User and system time so far."""
    started: str
    """In ticks since the machine was."""


def stat(pid: int) -> Stat | None:
    """None where the process has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The program's name, in parentheses, may hold spaces.
    fields = text.rpartition(")")[2].split()
    return Stat(state=fields[0], ticks=int(fields[11]) + int(fields[12]), started=fields[19])


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of these processes so far, without those that have ended."""
    ticks = 0
    for pid in pids:
        process = stat(pid)
        if process is not None:
            ticks += process.ticks
    return ticks / TICKS_PER_SECOND


def birth(pid: int) -> str | None:
    """When a process was started, since pids are used again; None where it has ended."""
    process = stat(pid)
    if process is None or process.state == "Z":
        return None
    return process.started


class Screen:
    """`wikitopics watch` as a person uses it; what it writes has to be read, or `drain`ed."""

    def __init__(self, session: Path, columns: int = 120, rows: int = 40) -> None:
        self.began = time.perf_counter()
        self._fd, theirs = pty.openpty()
        window_size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, window_size)
        environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        # The terminal is the screen's controlling one: the screen is told to hang up when we end,
        # however we do.
        self.process = subprocess.Popen(
            [*PROGRAM, "watch", "--session", str(session)],
            preexec_fn=lambda: os.login_tty(theirs),
            env=environment,
        )
        os.close(theirs)
        self._written = b""

    def drain(self) -> None:
        """Throw away all that it writes from now on."""

        def swallow() -> None:
            with contextlib.suppress(OSError):  # the screen has closed its end
                while os.read(self._fd, 65536):
                    pass

        threading.Thread(target=swallow, daemon=True).start()

    def read(self, seconds: float) -> bytes:
        """What it writes within this many seconds, at least until it stops writing."""
        got = b""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if self._has_written(left):
                try:
                    got += os.read(self._fd, 65536)
                except OSError:  # how Linux says that the other side has closed
                    break
        self._written += got
        return got

    def _has_written(self, patience: float) -> bool:
        """Wait until there is something to read, for so many seconds at most."""
        readable, _, _ = select.select([self._fd], [], [], patience)
        return bool(readable)

    def wait_for(self, words: bytes, patience: float = 30.0) -> float:
        """Seconds from `began` until it has written ``words``."""
        end = time.perf_counter() + patience
        while words not in self._written:
            if time.perf_counter() > end:
                raise TimeoutError(words)
            if self._has_written(0.05):
                self._written += os.read(self._fd, 65536)
        return time.perf_counter() - self.began

    def answer_time(self, key: bytes, shows: bytes) -> float:
        """Seconds from a key to the arrival of what it makes appear."""
        self._written = b""
        self.began = time.perf_counter()
        os.write(self._fd, key)
        return self.wait_for(shows, 10)

    def cpu_seconds(self) -> float:
        """User and system time so far, by the process's CPU clock."""
        # Linux's number of that clock, as clock_getcpuclockid(3) makes it; 2 stands for the
        # scheduler's clock
        clock = (~self.process.pid << 3) | 2
        return time.clock_gettime(clock)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._fd, b"q")
        self.read(1.0)
        self.process.terminate()
        self.process.wait()
        os.close(self._fd)

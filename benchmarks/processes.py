"""Other processes: their CPU and memory by Linux's /proc, and `wikitopics watch` on a terminal of
its own."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

from benchmarks.harness import ROOT

TICKS = os.sysconf("SC_CLK_TCK")
PROGRAM = (sys.executable, "-m", "wikitopics")


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # ended meanwhile
                found += map(int, children.read_text().split())
    return found


def _kilobytes(file: Path, key: str) -> int | None:
    """The number in a file's line that begins with this key; None if there is no such line."""
    for line in file.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    return None


def memory_mb(pids: list[int]) -> float:
    """Proportional set size of these processes together. Raises OSError where one has ended."""
    total = 0
    for pid in pids:
        total += _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss") or 0
    return total / 1024


def status_mb(pid: int, key: str) -> float:
    """A size of /proc/PID/status, such as VmRSS. Raises OSError where the process has ended."""
    kilobytes = _kilobytes(Path(f"/proc/{pid}/status"), key) or 0
    return kilobytes * 1.024e-3


def stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name; None where the process has ended."""
    with contextlib.suppress(OSError):
        _, _, behind_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        return behind_name.split()
    return None


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of these processes so far, without those that have ended."""
    ticks = 0
    for fields in map(stat, pids):
        if fields:
            user, system = fields[11:13]
            ticks += int(user) + int(system)
    return ticks / TICKS


def birth(pid: int) -> str | None:
    """When a process was started, since pids are used again; None where it has ended."""
    fields = stat(pid)
    if not fields or fields[0] == "Z":  # a zombie
        return None
    return fields[19]


class Screen:
    """`wikitopics watch` as a person uses it; what it writes has to be read, or `drain`ed."""

    def __init__(self, session: Path, columns: int = 120, rows: int = 40) -> None:
        self.began = time.perf_counter()
        self._fd, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        # The process gets a controlling terminal, so that it is hung up on when this one ends.
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
        while time.perf_counter() < end:
            left = max(0.0, end - time.perf_counter())
            readable, _, _ = select.select([self._fd], [], [], left)
            if readable:
                try:
                    got += os.read(self._fd, 65536)
                except OSError:  # how Linux says that the other side has closed
                    break
        self._written += got
        return got

    def wait_for(self, words: bytes, patience: float = 30.0) -> float:
        """Seconds from the start until it has written ``words``."""
        end = time.perf_counter() + patience
        while words not in self._written:
            if time.perf_counter() > end:
                raise TimeoutError(words)
            readable, _, _ = select.select([self._fd], [], [], 0.05)
            if readable:
                self._written += os.read(self._fd, 65536)
        return time.perf_counter() - self.began

    def answer_time(self, key: bytes, shows: bytes) -> float:
        """Seconds from a key to the arrival of what it makes appear."""
        self._written = b""
        self.began = time.perf_counter()
        os.write(self._fd, key)
        return self.wait_for(shows, 10)

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        clock = (~self.process.pid << 3) | 2  # as clock_getcpuclockid(3) of Linux makes it
        return time.clock_gettime(clock)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._fd, b"q")
        self.read(1.0)
        self.process.terminate()
        self.process.wait()
        os.close(self._fd)

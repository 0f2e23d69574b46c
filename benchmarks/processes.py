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


def memory_mb(pids: list[int]) -> float:
    """Proportional set size of these processes together. Raises OSError where one has ended."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def status_mb(pid: int, key: str) -> float:
    """A size of /proc/PID/status, such as VmRSS. Raises OSError where the process has ended."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return (
        next((int(line.split()[1]) for line in lines if line.startswith(f"{key}:")), 0) * 1.024e-3
    )


def stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name; None where the process has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return None


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of these processes so far, without those that have ended."""
    return sum(int(fields[11]) + int(fields[12]) for pid in pids if (fields := stat(pid))) / TICKS


def birth(pid: int) -> str | None:
    """When a process was started, since pids are used again; None where it has ended."""
    fields = stat(pid)
    return fields[19] if fields and fields[0] != "Z" else None


class Screen:
    """`wikitopics watch` as a person uses it; what it writes has to be read, or `drain`ed."""

    def __init__(self, session: Path, columns: int = 120, rows: int = 40) -> None:
        self.began = time.perf_counter()
        self._fd, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        # Its controlling terminal, so that it hangs up when we end, however we do.
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
            if select.select([self._fd], [], [], left)[0]:
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
            if select.select([self._fd], [], [], 0.05)[0]:
                self._written += os.read(self._fd, 65536)
        return time.perf_counter() - self.began

    def answer_time(self, key: bytes, shows: bytes) -> float:
        """Seconds from a key to the arrival of what it makes appear."""
        self._written = b""
        self.began = time.perf_counter()
        os.write(self._fd, key)
        return self.wait_for(shows, 10)

    def cpu_seconds(self) -> float:
        """User and system time so far, by its CPU clock (Linux: clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._fd, b"q")
        self.read(1.0)
        self.process.terminate()
        self.process.wait()
        os.close(self._fd)

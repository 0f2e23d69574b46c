"""Other processes observed through Linux's /proc, and screens on terminals of their own."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


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


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of these processes so far, without those that have ended."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def open_screen(command: list[str], columns: int, rows: int) -> subprocess.Popen[bytes]:
    """A command on a terminal of its own, whose output is read and thrown away."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color"}
    # Its controlling terminal, so that it hangs up when we end, however we do.
    screen = subprocess.Popen(command, preexec_fn=lambda: os.login_tty(theirs), env=environment)
    os.close(theirs)

    def swallow() -> None:
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass  # the screen has closed its end
        finally:
            os.close(ours)

    threading.Thread(target=swallow, daemon=True).start()
    return screen

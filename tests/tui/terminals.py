"""A program in a terminal of its own (a pty), as a person would run it."""

import os
import pty
import select
import signal
import sys
import termios
import time
from collections.abc import Callable

from tests.commands import ROOT

ENTER = b"\x1b[?1049h"
LEAVE = b"\x1b[?1049l"
"""The alternate screen, and back from it."""


class Terminal:
    """A program in a terminal of 100x30; what it wrote is kept."""

    def __init__(self, code: str) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # Until the program begins, Ctrl+C is not for this copy of the test runner.
            os.environ.update(
                TERM="xterm-256color",
                COLUMNS="100",
                LINES="30",
                PYTHONPATH=str(ROOT),
            )
            os.chdir(ROOT)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            os.execv(sys.executable, [sys.executable, "-c", code])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        self.before = termios.tcgetattr(self.fd)
        self.written = b""
        self.code: int | None = None

    def read(self, until: Callable[[bytes], bool], patience: float = 300.0) -> None:
        end = time.monotonic() + patience
        while not until(self.written):
            assert time.monotonic() < end, self.written[-2000:]
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    chunk = os.read(self.fd, 65536)
                except OSError:  # how Linux says that the other side is closed
                    chunk = b""
                if not chunk:
                    return
                self.written += chunk

    def wait_for(self, words: bytes) -> None:
        self.read(lambda written: words in written)
        assert words in self.written, self.written[-2000:]

    def type(self, keys: bytes, *, shows: bytes = b"") -> None:
        """Press these keys; return once it has written ``shows``."""
        os.write(self.fd, keys)
        self.wait_for(shows)

    def end(self) -> int:
        """Its exit code once it has ended."""
        if self.code is None:
            self.read(lambda _: False)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def close(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

"""Waiting for what another process, thread or task does."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path


def until(condition: Callable[[], object], seconds: float = 600.0) -> None:
    """Returns once the condition is true, which takes long on a busy machine; fails if it does not
    become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:.0f} s"
        time.sleep(0.02)


async def until_true(condition: Callable[[], object], seconds: float = 600.0) -> None:
    """The same for a test that runs in the event loop, which must not be blocked."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether the process has ended with all its threads, which hold its files and locks for as
    long as one of them lives; a process that nobody has waited for counts as ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    # The program's name, in parentheses, may hold spaces.
    _, _, behind_name = stat.rpartition(")")
    fields = behind_name.split()
    state = fields[0]
    threads = int(fields[17])
    return state in "ZX" and threads <= 1

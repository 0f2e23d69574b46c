"""Asking a running trainer for something, from another process."""

import os
import signal
import sqlite3
import time
from pathlib import Path

from session.database import as_session_error, connect
from session.errors import NotRunning, SessionError
from session.lock import owner_pid

PATIENCE_SECONDS = 30.0


def pause(path: Path) -> None:
    """Training and crawling stand still until :func:`resume`. Raises :class:`NotRunning`."""
    _ask(path, "UPDATE control SET paused = 1")


def resume(path: Path) -> None:
    """Go on after :func:`pause`. Raises :class:`NotRunning`."""
    _ask(path, "UPDATE control SET paused = 0")


def save(path: Path) -> None:
    """Commit now rather than within the next seconds. Raises :class:`NotRunning`."""
    _ask(path, "UPDATE control SET save = 1")


def stop(path: Path, *, wait: bool = True) -> None:
    """Have the trainer commit and exit; with ``wait`` return when it has.

    Raises :class:`NotRunning`, and :class:`SessionError` if it does not end in time.
    """
    pid = _running(path)
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while wait and owner_pid(path) == pid:
        if time.monotonic() > deadline:
            raise SessionError(f"the trainer (pid {pid}) has not ended within {PATIENCE_SECONDS:.0f} s")
        time.sleep(0.05)


def _running(path: Path) -> int:
    pid = owner_pid(path)
    if pid is None:
        raise NotRunning(f"no trainer runs on {path}")
    return pid


def _ask(path: Path, sql: str) -> None:
    _running(path)
    db = connect(path)
    try:
        db.execute(sql)
    except sqlite3.Error as error:
        raise as_session_error(error, path) from None
    finally:
        db.close()

"""Asking a running trainer for something, from another process: always through the session's file."""

import os
import signal
import sqlite3
import time
from pathlib import Path

from session.database import as_session_error, connect
from session.errors import NotRunning, SessionError
from session.lock import in_use, owner
from session.process import Process
from session.reader import STALE_SECONDS, SessionReader

OBEY_SECONDS = 3.0
"""A trainer at work looks twice a second at what it is asked for; one that is still starting does not."""
PATIENCE_SECONDS = 30.0
BEATS_SECONDS = 2.0
"""A trainer's heart beats several times in so many seconds."""


def pause(path: Path) -> None:
    """Training and crawling stand still until :func:`resume`. Raises :class:`NotRunning`."""
    _running(path)
    _write(path, "UPDATE control SET paused = 1")


def resume(path: Path) -> None:
    """Go on after :func:`pause`. Raises :class:`NotRunning`."""
    _running(path)
    _write(path, "UPDATE control SET paused = 0")


def save(path: Path) -> None:
    """Commit now rather than within the next seconds. Raises :class:`NotRunning`."""
    _running(path)
    _write(path, "UPDATE control SET save = 1")


def stop(path: Path) -> None:
    """Have the trainer commit and exit; returns when it has.

    Where it does not obey, it is sent SIGTERM, but only if it is certain which process it is.
    Raises :class:`NotRunning`, and :class:`SessionError` if it does not end in time.
    """
    trainer = _running(path)
    try:
        _write(path, "UPDATE control SET stop = 1")
    except SessionError as error:  # there is no file yet, or it cannot be written
        if not trainer.lives():
            raise SessionError(f"{error}; {_elsewhere(trainer)}") from None
    else:
        if _ended(path, trainer, OBEY_SECONDS):
            return
    if trainer.lives():
        _signal(trainer)
    if not _ended(path, trainer, PATIENCE_SECONDS):
        raise SessionError(
            f"the trainer has not ended within {PATIENCE_SECONDS:.0f} s; {_elsewhere(trainer)}"
        )


def forget_wishes(path: Path) -> None:
    """Nothing is asked of the trainer that has just taken the session's lock: what there is, is old."""
    _write(path, "UPDATE control SET paused = 0, save = 0, stop = 0")


def check_alone(path: Path) -> None:
    """Raises :class:`SessionInUse` where the heartbeat of another trainer goes on, though the lock was free.

    So it is where somebody has deleted the lock file under it.
    """
    with SessionReader(path) as reader:
        beat = reader.heartbeat()
        if beat is None or beat.state == "stopped" or abs(time.time() - beat.at) > STALE_SECONDS:
            return
        alive = beat.process.lives()
        deadline = time.monotonic() + BEATS_SECONDS
        while alive is None and time.monotonic() < deadline:  # in a container, say
            time.sleep(0.1)
            alive = reader.heartbeat() != beat or None
    if alive:
        raise in_use(path, beat.process.pid)


def _running(path: Path) -> Process:
    trainer = owner(path)
    if trainer is None:
        raise NotRunning(f"no trainer runs on {path}")
    return trainer


def _ended(path: Path, trainer: Process, seconds: float) -> bool:
    """Whether the trainer lets go of the session within ``seconds``."""
    deadline = time.monotonic() + seconds
    while owner(path) == trainer:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _signal(trainer: Process) -> None:
    try:
        os.kill(trainer.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except OSError as error:
        raise SessionError(f"the trainer (pid {trainer.pid}) cannot be told: {error.strerror}") from None


def _elsewhere(trainer: Process) -> str:
    number = f"pid {trainer.pid}" if trainer.pid else "its pid is unknown"
    return f"end it where it runs ({number})"


def _write(path: Path, sql: str) -> None:
    db = connect(path)
    try:
        db.execute(sql)
    except sqlite3.Error as error:
        raise as_session_error(error, path) from None
    finally:
        db.close()

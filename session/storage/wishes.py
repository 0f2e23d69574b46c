"""What is asked of a session's trainer: one row of the file, which others write and the trainer reads."""

import sqlite3
import time
from pathlib import Path

from session.storage.database import as_session_error, connect
from session.storage.lock import in_use
from session.storage.reader import STALE_SECONDS, SessionReader

BEATS_SECONDS = 2.0
"""A trainer's heart beats several times in so many seconds."""


def wish(path: Path, columns: str) -> None:
    """Set columns of the row, as in "stop = 1". Raises :class:`SessionError`."""
    db = connect(path)
    try:
        db.execute(f"UPDATE control SET {columns}")
    except sqlite3.Error as error:
        raise as_session_error(error, path) from None
    finally:
        db.close()


def forget_wishes(path: Path) -> None:
    """Nothing is asked of the trainer that has just taken the session's lock: what there is, is old."""
    wish(path, "paused = 0, save = 0, stop = 0")


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

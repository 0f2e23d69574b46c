"""Upgrading files of earlier formats. Code that reads such files unconverted is with the other
readers.
"""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from wikitopics.session.storage.articles import LARGEST_RELEASED
from wikitopics.session.storage.database import (
    FIRST_RELEASED,
    VERSION,
    connect,
    name_of_order,
    order_by_topic,
    script,
    session_errors,
    writing,
)
from wikitopics.session.storage.models import state_room
from wikitopics.session.storage.reader import SessionReader


def upgrade(path: Path) -> None:
    """Upgrade a session of an earlier format to this one in one transaction. If it raises
    `SessionError`, nothing has changed.

    The caller holds the session's lock. From 1.0.0, a million articles take about ten seconds.
    """
    with contextlib.closing(connect(path)) as db, session_errors(path):
        session = SessionReader(path, db)
        models = session.settings().models
        n_words = len(session.vocabulary())
        largest = max(state_room(spec.topics, n_words) for spec in models)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(largest, 2**31 - 1))
        db.create_function("big_endian", 1, _swapped, deterministic=True)
        (before,) = db.execute("PRAGMA user_version").fetchone()
        statements: list[str] = []
        for version in range(before, VERSION):
            statements += script(f"upgrade-{version}").split(";")
        for model in range(len(models)):
            if before != FIRST_RELEASED:  # that had a table instead
                statements.append(f"DROP INDEX IF EXISTS {name_of_order(model)}")
            statements.append(order_by_topic(model))
        with writing(db, path):
            for statement in statements:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        # All is committed. On a full disk it stays in the log, from where it is read as well.
        with contextlib.suppress(sqlite3.Error):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _swapped(topics: Any) -> Any:
    """`articles.topics` as big-endian numbers. Any other value stays as it is, and is refused when
    read."""
    if not isinstance(topics, bytes) or len(topics) % LARGEST_RELEASED.itemsize:
        return topics
    return np.frombuffer(topics, LARGEST_RELEASED).byteswap().tobytes()

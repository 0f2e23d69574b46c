"""Files of 1.0.0: what is read differently in them, and how they are brought to this format."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from wikitopics.session.storage.database import (
    MODELS,
    RELEASED,
    VERSION,
    connect,
    order_by_topic,
    read_rows,
    session_errors,
    writing,
)
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.session.storage.topics import state_room

LARGEST = np.dtype("<u2")
"""`articles.topics`, which later formats have big-endian."""
ABOUT_TOPIC = (
    "JOIN article_topics t USING (seq) WHERE t.model = ? AND t.topic = ?"
    " ORDER BY t.proportion DESC, t.seq DESC LIMIT ?"
)
"""The articles with a model's topic as their largest, for a model's number, a topic and a limit."""

_RENEWED = f"""
DROP TABLE article_topics;
ALTER TABLE models RENAME TO old_models;
{MODELS};
INSERT INTO models SELECT id, topics_in_use, updates, rho, scalars, arrays FROM old_models;
DROP TABLE old_models;
ALTER TABLE progress ADD COLUMN again INTEGER;
UPDATE progress SET again = 0;
ALTER TABLE topic_names ADD COLUMN lasting TEXT;
DELETE FROM metrics WHERE metric = 'perplexity';
UPDATE articles SET topics = big_endian(topics) WHERE topics IS NOT NULL;
DROP TABLE IF EXISTS _sqlite_migrations
"""


def is_released(path: Path) -> bool:
    """Whether a session is of the format of 1.0.0."""
    with closing(connect(path)) as db, session_errors(path):
        return bool(read_rows(db.conn, "PRAGMA user_version")[0][0] == RELEASED)


def upgrade_from_1_0(path: Path) -> None:
    """Bring a session of 1.0.0 to this format in one transaction. Raises `SessionError`; then nothing is
    changed.

    The caller holds the session's lock. Takes some ten seconds for a million articles.
    """
    with closing(connect(path)) as db, session_errors(path):
        opened = OpenedSession(path, db.conn)
        models, n_words = opened.settings().models, len(opened.vocabulary())
        largest = max(state_room(spec.topics, n_words) for spec in models)
        db.conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(largest, 2**31 - 1))
        db.conn.create_function("big_endian", 1, _swapped, deterministic=True)
        with writing(db):
            for statement in (*_RENEWED.split(";"), *map(order_by_topic, range(len(models)))):
                db.conn.execute(statement)
            db.conn.execute(f"PRAGMA user_version = {VERSION}")
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _swapped(topics: Any) -> Any:
    """`articles.topics` as big-endian numbers; what holds none is refused when it is read."""
    if not isinstance(topics, bytes) or len(topics) % LARGEST.itemsize:
        return topics
    return np.frombuffer(topics, LARGEST).byteswap().tobytes()

"""Names given to topics: written by whoever gives one, beside a trainer if there is one."""

from collections.abc import Sequence
from pathlib import Path

from wikitopics.session.storage.database import connect, session_errors


def give_name(path: Path, model: int, topic: int, name: str) -> None:
    """Name a topic of the model of this number ``name``. Raises `SessionError`."""
    _write(path, "INSERT OR REPLACE INTO given_names VALUES (?, ?, ?)", [model, topic, name])


def take_back(path: Path, model: int, topic: int) -> None:
    """Restore the name made of a topic's words. Raises `SessionError`."""
    _write(path, "DELETE FROM given_names WHERE model = ? AND topic = ?", [model, topic])


def _write(path: Path, sql: str, values: Sequence[object]) -> None:
    db = connect(path)
    try:
        with session_errors(path):
            db.execute(sql, values)
    finally:
        db.close()

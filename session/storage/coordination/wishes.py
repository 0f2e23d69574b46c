"""Requests to a session's trainer: one row of the file, which others write and the trainer reads."""

from pathlib import Path

from wikitopics.session.storage.database import connect, session_errors


def wish(path: Path, **columns: bool) -> None:
    """Set `paused`, `save` or `stop`. Raises `SessionError`."""
    db = connect(path)
    try:
        with session_errors(path):
            db.execute(f"UPDATE control SET {', '.join(f'{name} = :{name}' for name in columns)}", columns)
    finally:
        db.close()


def forget_wishes(path: Path) -> None:
    """Clear the requests left from an earlier trainer; the caller holds the session's lock."""
    wish(path, paused=False, save=False, stop=False)

"""A copy of a session that is whole, whatever the trainer does meanwhile."""

import os
import sqlite3
from pathlib import Path

from session.errors import SessionError
from session.storage.database import as_session_error, check_session
from session.storage.files import draft_of
from session.storage.reader import SessionReader


def backup(path: Path, target: Path) -> None:
    """Copy the session at ``path`` to the new file ``target``, readable by its owner only.

    Raises :class:`SessionError` where ``target`` exists or cannot be written; then nothing is left of it.
    """
    if os.path.lexists(target):
        raise SessionError(f"{target} exists already: name a new file")
    try:
        # The reader leaves last: of what SQLite keeps beside a session nothing stays.
        with SessionReader(path), draft_of(target, mode=0o600) as draft:
            connection = sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, timeout=30.0)
            try:
                check_session(connection, path)
                connection.execute("VACUUM INTO ?", [str(draft)])
            finally:
                connection.close()
            _at_rest(draft)
    except sqlite3.Error as error:
        raise as_session_error(error, target) from None


def _at_rest(copy: Path) -> None:
    """No trainer has run on a copy: where one runs on the original, none is to seem to have died here."""
    connection = sqlite3.connect(copy)
    try:
        with connection:
            connection.execute("UPDATE heartbeat SET state = 'stopped'")
    finally:
        connection.close()

"""A consistent copy of a session, whatever the trainer does meanwhile."""

import os
import sqlite3
from pathlib import Path

from wikitopics.session.errors import SessionError
from wikitopics.session.storage.database import as_session_error
from wikitopics.session.storage.files import draft_of
from wikitopics.session.storage.reader import SessionReader


def backup(path: Path, target: Path) -> None:
    """Copy the session at ``path`` to the new file ``target``, readable by its owner only.

    Raises `SessionError` if ``target`` exists or cannot be written; then nothing is left behind.
    """
    if os.path.lexists(target):
        raise SessionError(f"{target} already exists: name a new file")
    try:
        with SessionReader(path) as reader, draft_of(target, mode=0o600) as draft:
            reader.copy_to(draft)
            _at_rest(draft)
    except sqlite3.Error as error:
        raise as_session_error(error, target) from None


def _at_rest(copy: Path) -> None:
    """Remove traces of a running trainer: on the copy, none must seem to have died."""
    connection = sqlite3.connect(copy)
    try:
        with connection:
            connection.execute("UPDATE heartbeat SET state = 'stopped'")
    finally:
        connection.close()

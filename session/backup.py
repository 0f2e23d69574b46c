"""A copy of a session that is whole, whatever the trainer does meanwhile."""

import os
import sqlite3
from pathlib import Path

from session.database import as_session_error, remove_database, sync
from session.errors import SessionError
from session.reader import SessionReader


def backup(path: Path, target: Path) -> None:
    """Copy the session at ``path`` to the new file ``target``, readable by its owner only.

    Raises :class:`SessionError` where ``target`` exists or cannot be written; then nothing is left of it.
    """
    if target.exists():
        raise SessionError(f"{target} exists already: name a new file")
    SessionReader(path).close()
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        remove_database(draft)  # of a process that had our number before a restart
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, timeout=30.0)
        try:
            connection.execute("VACUUM INTO ?", [str(draft)])
        finally:
            connection.close()
        _at_rest(draft)
        sync(draft)  # VACUUM INTO leaves that to us
        draft.replace(target)
        sync(target.parent)
    except sqlite3.Error as error:
        raise as_session_error(error, target) from None
    except OSError as error:
        raise SessionError(f"cannot write {target}: {error.strerror}") from None
    finally:
        remove_database(draft)


def _at_rest(copy: Path) -> None:
    """No trainer has run on a copy: where one runs on the original, none is to seem to have died here."""
    connection = sqlite3.connect(copy)
    try:
        with connection:
            connection.execute("UPDATE heartbeat SET state = 'stopped'")
    finally:
        connection.close()

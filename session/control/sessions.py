"""The sessions of this user: listing them, and deleting one with all that belongs to it, and nothing else."""

import contextlib
import os
from pathlib import Path

from wikitopics.session.control.given import Given
from wikitopics.session.errors import NotASession, SessionError
from wikitopics.session.paths import log_file, no_session, session_folder
from wikitopics.session.records import Status
from wikitopics.session.storage.database import is_ours, remove_database
from wikitopics.session.storage.lock import TrainerLock
from wikitopics.session.storage.reader import SessionReader, check_alone


def list_sessions() -> list[tuple[str, Path, Status | str]]:
    """(name, file, status) of every session in the session folder, by name; a message instead of the
    status if the file cannot be read."""
    found: list[tuple[str, Path, Status | str]] = []
    for path in sorted(session_folder().glob("[!.]*.db")):
        try:
            with SessionReader(path) as reader:
                found.append((path.stem, path, reader.status()))
        except SessionError as error:
            found.append((path.stem, path, str(error)))
    return found


def check_removable(path: Path) -> None:
    """Raise now the errors with which `remove` would refuse, except for a running trainer."""
    if is_ours(path):
        return
    if not os.path.exists(path):  # checked last: another process may be deleting it
        raise no_session(path)
    if not os.access(path, os.R_OK):
        raise SessionError(f"{path}: Permission denied: nothing was deleted")
    raise NotASession(f"{path} is not a wikitopics session: nothing was deleted")


def remove(path: Path) -> None:
    """Delete the session at ``path``, its log, SQLite's files beside it, and texts given in Python.

    No trainer can begin meanwhile. If ``path`` is a symbolic link, only the link is deleted. A damaged
    session is deleted too. Raises `NoSession`, `NotASession` for another file, `SessionInUse` while a trainer
    runs.
    """
    check_removable(path)
    with TrainerLock(path):
        check_removable(path)  # another process may have deleted it just now
        with contextlib.suppress(NotASession):  # damaged: then it has no heartbeat
            check_alone(path)
        try:
            if path.is_symlink():
                path.unlink()
            else:
                remove_database(path)
                Given.of(path).remove()
            log_file(path).unlink(missing_ok=True)
        except OSError as error:
            raise SessionError(f"cannot delete {error.filename}: {error.strerror}") from None

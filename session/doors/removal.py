"""Deleting a session with everything that belongs to it, and nothing else."""

import contextlib
import os
from pathlib import Path

from wikitopics.session.errors import NotASession, SessionError
from wikitopics.session.paths import log_file, no_session
from wikitopics.session.storage.coordination.heartbeat import check_alone
from wikitopics.session.storage.coordination.lock import trainer_lock
from wikitopics.session.storage.database import is_ours, remove_database


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
    """Delete the session at ``path``, its log and SQLite's files beside it.

    No trainer can begin meanwhile. If ``path`` is a symbolic link, only the link is deleted. A damaged
    session is deleted too. Raises `NoSession`, `NotASession` for another file, `SessionInUse` while a trainer
    runs.
    """
    check_removable(path)
    with trainer_lock(path):
        check_removable(path)  # another process may have deleted it just now
        with contextlib.suppress(NotASession):  # damaged: then it has no heartbeat
            check_alone(path)
        try:
            if path.is_symlink():
                path.unlink()
            else:
                remove_database(path)
            log_file(path).unlink(missing_ok=True)
        except OSError as error:
            raise SessionError(f"cannot delete {error.filename}: {error.strerror}") from None

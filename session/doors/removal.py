"""Deleting a session with all that belongs to it, and nothing else."""

import contextlib
import os
from pathlib import Path

from session.errors import NotASession, SessionError
from session.paths import log_file, no_session
from session.storage.coordination.heartbeat import check_alone
from session.storage.coordination.lock import trainer_lock
from session.storage.database import is_ours, remove_database


def check_removable(path: Path) -> None:
    """Say now why :func:`remove` would refuse: the errors that it raises, but for a trainer that runs."""
    if is_ours(path):
        return
    if not os.path.exists(path):  # asked last: somebody else may be deleting it
        raise no_session(path)
    raise NotASession(f"{path} is not a wikitopics session: nothing was deleted")


def remove(path: Path) -> None:
    """Delete the session at ``path``, its log and whatever SQLite keeps beside it.

    No trainer can begin meanwhile. Of a session reached by a symbolic link only the link goes. A session
    that nobody can read any more goes too. Raises :class:`NoSession`, :class:`NotASession` for another
    file, :class:`session.errors.SessionInUse` while a trainer runs.
    """
    check_removable(path)
    with trainer_lock(path):
        check_removable(path)  # somebody else may have deleted it just now
        with contextlib.suppress(NotASession):  # damaged: then it has no heart that beats
            check_alone(path)
        try:
            if path.is_symlink():
                path.unlink()
            else:
                remove_database(path)
            log_file(path).unlink(missing_ok=True)
        except OSError as error:
            raise SessionError(f"cannot delete {error.filename}: {error.strerror}") from None

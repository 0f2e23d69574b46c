"""This program's own files under predictable names: locks, logs, the request budget."""

import errno
import os
import stat
from pathlib import Path


def open_own(path: Path, flags: int, *, mode: int = 0o600) -> int:
    """A descriptor of the regular file ``path``, which is created if missing.

    Anybody who can write to the folder could have put a link to one of the user's files there, or a
    pipe that blocks. So links are not followed, and nothing is truncated. Raises `OSError`, whose
    message says what to do.
    """
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link, not a regular file; remove it") from None
        raise
    status = os.fstat(descriptor)
    is_regular = stat.S_ISREG(status.st_mode)
    if is_regular and status.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    what = "a file with more than one hard link" if is_regular else "not a regular file"
    raise OSError(errno.EINVAL, f"{what}; remove it")

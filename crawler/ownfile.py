"""Files of this program's own under names that anybody can foresee: locks, logs, the request budget."""

import errno
import os
import stat
from pathlib import Path


def open_own(path: Path, flags: int, *, mode: int = 0o600) -> int:
    """A descriptor of the regular file ``path``, made where it is missing.

    Who may write to the folder could have put a link there to any file of the user's, or a pipe that blocks:
    links are not followed, and nothing is emptied here. Raises :class:`OSError`, whose words say what to do.
    """
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link, not a regular file; remove it") from None
        raise
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    what = "a file with more than one hard link" if stat.S_ISREG(found.st_mode) else "not a regular file"
    raise OSError(errno.EINVAL, f"{what}; remove it")

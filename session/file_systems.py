"""What a session needs of its file system; some network shares and FUSE file systems lack it."""

import fcntl
import mmap
import os
import tempfile
from pathlib import Path

from wikitopics.session.errors import SessionError


def unfit(path: Path, lack: str) -> SessionError:
    """The error for a session whose file system has this `lack_of`."""
    cure = "copy the session to a local disk, or set WIKITOPICS_HOME to a folder on one"
    return SessionError(f"{path} is on a file system that cannot {lack}: {cure}")


def is_read_only(folder: Path) -> bool:
    """Whether the folder's file system is mounted read-only."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def lack_of(folder: Path) -> str:
    """What SQLite and a trainer need and the folder's file system cannot do, such as "lock files
    (No locks available)"; "" if it can do everything.

    Each is tried on a file that is deleted again. Raises OSError if no file can be made there.
    """
    with tempfile.TemporaryDirectory(prefix=".wikitopics-", suffix=".new", dir=folder) as empty:
        path = Path(empty, "tried")
        path.write_bytes(bytes(_MAPPED))
        for need, attempt in _NEEDS.items():
            try:
                attempt(path)
            except OSError as error:
                return f"{need} ({error.strerror or error})"
    return ""


def _lock_bytes(path: Path) -> None:
    """As SQLite locks."""
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)


def _lock_file(path: Path) -> None:
    """As trainers and drafts are locked."""
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _share_memory(path: Path) -> None:
    """As SQLite shares the index of its write-ahead log."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), _MAPPED) as shared:
        shared[0] = 1
    if path.read_bytes()[:1] != b"\1":
        raise OSError(None, "what one program writes there, others do not see")


def _flush(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"")
    path.replace(other)


_MAPPED = 32 << 10
"""The bytes that SQLite maps at a time."""
_NEEDS = {
    "lock parts of files": _lock_bytes,
    "lock files": _lock_file,
    "share memory between programs": _share_memory,
    "flush files to the disk": _flush,
    "replace a file by another one": _replace,  # last: the file is gone then
}

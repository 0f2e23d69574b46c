"""Files named by the user: opened for reading, or written whole or not at all."""

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from wikitopics.own_files import open_own
from wikitopics.session.errors import os_error_as
from wikitopics.session.paths import is_at
from wikitopics.session.storage.database import (
    closed_on_error,
    keep_sessions,
    remove_database,
    sync,
)

_DRAFT = ".wikitopics-"
"""The beginning of a draft's name: a file or folder that replaces another one once it is
complete."""
_DRAFTS = (f"{_DRAFT}*.new", ".*.db.new")
"""Patterns of the names of drafts: ours, and those of version 1.0.0."""
_OLD = ".old"
"""The ending of the name of a folder that is being replaced."""


def open_input(path: str | Path, *, pipes: bool = False) -> BinaryIO:
    """Open a regular file for reading, or with ``pipes`` also a pipe.

    Raises OSError for anything else, without opening it: a device may never end, and opening a pipe
    waits for its other end.
    """
    mode = os.stat(path).st_mode
    _check_kind(path, mode, pipes=pipes)
    more_flags = os.O_NOCTTY
    if stat.S_ISREG(mode):
        more_flags |= os.O_NONBLOCK  # by now it may be a pipe, whose opening would wait

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | more_flags)

    file = open(path, "rb", opener=opener)  # noqa: SIM115
    with closed_on_error(file):
        _check_kind(path, os.fstat(file.fileno()).st_mode, pipes=pipes)
    return file


def read_bounded(file: BinaryIO, most: int) -> bytes:
    """All of ``file``. Raises OSError if that is more than ``most`` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes")
    return data


def read_input(path: str | Path, most: int, *, pipes: bool = False) -> bytes:
    """All of a file of at most ``most`` bytes. Raises OSError."""
    with open_input(path, pipes=pipes) as file:
        return read_bounded(file, most)


def last_line(log: Path) -> str:
    """The last non-empty line of a file; "" if there is none."""
    with contextlib.suppress(OSError), open_input(log) as file:
        file.seek(max(os.path.getsize(log) - 4096, 0))
        end = file.read(4096).decode(errors="replace")
        for line in reversed(end.splitlines()):
            if line.strip():
                return line.strip()
    return ""


def make_folder(folder: Path) -> None:
    """Create a folder that does not exist yet, and those above it. Raises `SessionError`."""
    with os_error_as(f"cannot create the folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)


def check_target(target: Path) -> None:
    """Raise now the errors that `replacing` would raise at the end.

    Raises `BadUsage` if a session or a part of one would be replaced, and `SessionError` for a
    folder, a pipe or a device.
    """
    keep_sessions(target)
    with os_error_as(f"cannot write {target}"):
        _check_place(target)


@contextlib.contextmanager
def draft_of(target: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """An empty new file that replaces ``target`` if the block succeeds, and is deleted otherwise.

    ``mode``: its permissions, less those that the umask takes away. A symbolic link is replaced,
    never followed. Raises the errors of `check_target`, and `SessionError` for an OSError in the
    block.
    """
    check_target(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    make = partial(os.open, flags=flags, mode=mode)
    with os_error_as(f"cannot write {target}"), _draft_in(target.parent, make) as draft:
        yield draft
        sync(draft)
        draft.replace(target)
        with contextlib.suppress(OSError):  # it has been renamed either way
            sync(target.parent)


@contextlib.contextmanager
def replacing(target: Path, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """The file of `draft_of`, open for writing; if the target is the null device, the device
    itself."""
    if is_at(target, os.stat(os.devnull)):
        with target.open("wb") as file:
            yield file
        return
    with draft_of(target, mode=mode) as draft, draft.open("wb") as file:
        yield file


@contextlib.contextmanager
def replacing_folder(target: Path, stem: str) -> Iterator[Path]:
    """An empty new folder that replaces ``target`` if the block succeeds, and is deleted otherwise.

    All files written into it must be named ``stem``, with or without an ending: only a folder
    without other files is replaced. The old folder is deleted last: a process killed before that
    leaves it, perhaps under another name, which the next call for ``target`` puts right. Raises the
    errors of `replacing`.
    """
    keep_sessions(target)
    with os_error_as(f"cannot write {target}"):
        old = _aside(target)
        if os.path.lexists(old) and not os.path.lexists(target):
            old.rename(target)
        _check_folder(target, stem)
        with _draft_in(target.parent, _new_folder) as draft:
            yield draft
            for path in (*draft.iterdir(), draft):
                sync(path)
            _swap(draft, target, old)
            with contextlib.suppress(OSError):
                sync(target.parent)


def _aside(target: Path) -> Path:
    """The name that a folder has while another one takes its name."""
    return target.with_name(f"{_DRAFT}{_digest(os.fsencode(target.name))}{_OLD}")


def _swap(draft: Path, target: Path, old: Path) -> None:
    """Give a new folder the name ``target``; one that has it is called ``old`` first, and then
    deleted."""
    if not os.path.lexists(target):
        draft.rename(target)
        return
    _remove(old)  # of a process that was killed here: the folder that replaced it has its name
    target.rename(old)
    try:
        draft.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def set_aside(folder: Path) -> Iterator[Path]:
    """The folders that processes killed in `replacing_folder` have left in a folder under another
    name."""
    yield from sorted(folder.glob(f"{_DRAFT}*{_OLD}"))


@contextlib.contextmanager
def _draft_in(folder: Path, make: Callable[[Path], int]) -> Iterator[Path]:
    """A new file or folder that is deleted at the end, unless it has another name by then.

    ``make`` creates and opens it. It has a unique name, so that two writers never mix, and is
    locked. The kernel frees the lock if this process dies, however it dies, and the next one that
    writes to the folder deletes the draft. Raises OSError.
    """
    for old in left_behind(folder):
        if old.name.startswith(f"{_DRAFT}{_machine()}-"):
            with contextlib.suppress(OSError):
                _remove(old)
    while True:
        # absolute, since SQLite would take a relative path that begins with "file:" for an address
        draft = folder.absolute() / f"{_DRAFT}{_machine()}-{secrets.token_hex(8)}.new"
        descriptor = make(draft)
        # On a file system without locks, nobody will delete an abandoned draft.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if is_at(draft, os.fstat(descriptor)):
            break
        # Before it was locked, another process took it for abandoned and deleted it.
        os.close(descriptor)
    try:
        yield draft
    finally:
        _remove(draft)
        os.close(descriptor)


def _new_folder(path: Path) -> int:
    path.mkdir()
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _machine() -> str:
    """Identifies this machine: on a shared file system, locks of other machines may not be
    visible."""
    return _digest(os.uname().nodename.encode(), 4)


def _digest(data: bytes, size: int = 8) -> str:
    return hashlib.blake2b(data, digest_size=size).hexdigest()


def left_behind(folder: Path) -> Iterator[Path]:
    """This user's drafts in a folder that no process holds, including those of version 1.0.0.

    A draft is locked until the next one is requested.
    """
    drafts = [draft for pattern in _DRAFTS for draft in folder.glob(pattern)]
    for draft in sorted(drafts):
        with contextlib.suppress(OSError), _locked(draft):
            yield draft


@contextlib.contextmanager
def _locked(draft: Path) -> Iterator[None]:
    """Hold the lock of a draft. Raises OSError if a live process holds it, and for another user's
    draft."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _check_folder(path: Path, stem: str) -> None:
    """Raise OSError unless ``path`` is free, a link, or a folder such as `replacing_folder`
    leaves."""
    if path.is_symlink() or not path.exists():
        return
    if not path.is_dir():
        raise OSError(errno.ENOTDIR, "not a folder", str(path))
    for entry in path.iterdir():
        name, _, _ = entry.name.partition(".")
        if name != stem or entry.is_dir():
            raise OSError(
                errno.ENOTEMPTY, "this folder holds other files; name a new one", str(path)
            )


def _remove(path: Path) -> None:
    """Delete a folder, or a file or link, with what SQLite may have left beside it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        remove_database(path)


def open_to_append(path: Path) -> BinaryIO:
    """Open or create a regular file for appending. Raises OSError; no link is followed."""
    _check_place(path)
    return os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND, mode=0o666), "ab")


def _check_place(path: Path) -> None:
    """Raise OSError unless ``path`` is free, a regular file, or a link to one, to a folder or to
    nothing."""
    try:
        is_link = path.is_symlink()
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if is_link and stat.S_ISDIR(mode):
        return
    _check_kind(path, mode)  # also of a link: `/dev/stdout` is one to a pipe or a terminal


def _check_kind(path: str | Path, mode: int, *, pipes: bool = False) -> None:
    """Raise OSError unless ``mode`` is that of a regular file, or with ``pipes`` of a pipe."""
    if stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode)):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    raise OSError(errno.EINVAL, f"{kind}, not a regular file", str(path))

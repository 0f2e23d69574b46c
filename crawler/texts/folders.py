"""The files of the user's own documents: the named ones, and the .txt files of named folders."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import PurePath

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.texts.lines import PACKED, is_packed

GIVEN = ".given.jsonl"
"""The ending of the file in which a Python program leaves its texts, beside the session."""
GIVEN_NAME = "texts given in Python"
PLAIN = ".txt"
TABLES = (".csv", ".tsv")
JSON_LINES = ".jsonl"
_TAKEN = f".jsonl, .csv, .tsv, .txt, each also compressed ({' '.join(PACKED)}), or a folder of .txt files"
MOST_FILES = 1_000_000
"""The most files: their names are kept in memory, about 200 bytes each."""
_KERNEL = {
    *("binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs"),
    *("fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "securityfs", "selinuxfs", "sysfs"),
    *("tracefs",),
}
"""The types of file systems that show the kernel's state: no texts, and links from there to everywhere."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to read documents from."""

    path: str
    label: str
    """Its name, relative to the named folder if it is in one."""
    ending: str
    """.jsonl, .csv, .tsv or .txt, without the ending of a compression."""
    size: int
    modified: int
    """Nanoseconds since the epoch; like the size, 0 if the file cannot be inspected."""
    in_folder: bool
    """Whether a folder was named, and not the file itself."""


def printable(path: str) -> str:
    """A path for people, as text that UTF-8 can encode: file names are bytes. The file in which a Python
    program leaves its texts is not one that they know."""
    return GIVEN_NAME if path.endswith(GIVEN) else os.fsencode(path).decode("utf-8", "replace")


def ending(name: str) -> str | None:
    """The ending that says how a file holds documents; None if it is not one of ours."""
    suffix = PurePath(PurePath(name).stem if is_packed(name) else name).suffix.lower()
    if suffix == ".ndjson":
        return JSON_LINES
    return suffix if suffix in (JSON_LINES, *TABLES, PLAIN) else None


def check_paths(paths: Sequence[str]) -> None:
    """Raise BadSource for a path from which no documents can be read."""
    for number, path in enumerate(paths):
        name = printable(path)
        if path == "-":
            raise BadSource("--texts -: texts are read twice, which standard input cannot be: name a file")
        if path in paths[:number]:
            raise BadSource(f"--texts {name} is given twice")
        if not os.path.exists(path):
            raise BadSource(f"{name}: no such file or folder")
        if os.path.isdir(path):
            continue
        if not os.path.isfile(path):
            raise BadSource(f"{name}: a pipe or a device; texts are read twice: write them to a file")
        if ending(path) is None:
            raise BadSource(f"{name}: not a kind of file that holds texts: {_TAKEN}")


def text_files(paths: Sequence[str], tell: Callable[[str], None]) -> tuple[TextFile, ...]:
    """All files of ``paths``, in their order; those of a folder by name.

    Hidden files and other endings in a folder are left out. ``tell`` is called for parts of it that cannot be
    read, and for links to folders already read, which may form a loop, or into the kernel's file systems.
    Raises BadSource.
    """
    found: list[TextFile] = []
    for path in paths:
        before = len(found)
        for file in _folder(path, tell) if os.path.isdir(path) else (_file(path),):
            found.append(file)
            if len(found) > MOST_FILES:
                raise BadSource(f"{printable(path)}: over {MOST_FILES:,} files: join them into a .jsonl")
        if len(found) == before:
            raise BadSource(
                f"{printable(path)}: no .txt file in this folder; name .jsonl and .csv files one by one"
            )
    return tuple(found)


def _folder(root: str, tell: Callable[[str], None]) -> Iterator[TextFile]:
    seen: set[tuple[int, int]] = set()
    kernel = _kernel_devices()
    waiting = [root]  # the next one last; no recursion, since folders may be nested thousands deep
    while waiting:
        path = waiting.pop()
        if _device(path) in kernel:
            if path == root:
                raise BadSource(f"{printable(path)}: a kernel file system, which holds no texts")
            tell(f"{printable(path)}: a link into a kernel file system; skipped")
            continue
        if ending(path) == PLAIN and not os.path.isdir(path):
            yield _file(path, root)
            continue
        try:
            found = os.stat(path)
            if (found.st_dev, found.st_ino) in seen:
                tell(f"{printable(path)}: a link to a folder already read; left out")
                continue
            seen.add((found.st_dev, found.st_ino))
            with os.scandir(path) as entries:
                names = [entry.name for entry in entries if _is_wanted(entry)]
        except OSError as error:
            if path == root:
                raise BadSource(f"{printable(path)}: {error.strerror}") from None
            tell(f"{printable(path)}: {error.strerror}; this folder is left out")
            continue
        waiting += [os.path.join(path, name) for name in sorted(names, reverse=True)]


def _kernel_devices() -> set[int | None]:
    """The device numbers of /proc, /sys, /dev and, on Linux, of all file systems of such types."""
    found = {_device(path) for path in ("/proc", "/sys", "/dev")}
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", errors="replace") as mounts:
        for mount in mounts:
            _, _, device, _, place, *_, kind, _, _ = mount.split(" ")
            if kind in _KERNEL or (kind == "tmpfs" and place.startswith(("/proc/", "/sys/"))):
                found.add(os.makedev(*map(int, device.split(":"))))
    return found - {_device("/"), None}


def _device(path: str) -> int | None:
    try:
        return os.stat(path).st_dev
    except OSError:  # reported when it is read
        return None


def _is_wanted(entry: "os.DirEntry[str]") -> bool:
    if entry.name.startswith("."):
        return False
    return ending(entry.name) == PLAIN or os.path.isdir(entry)  # False for a link to itself


def _file(path: str, root: str | None = None) -> TextFile:
    """A file that was named, or one below the named folder ``root``."""
    kind, label = ending(path), printable(os.path.relpath(path, root) if root else PurePath(path).name)
    assert kind is not None
    try:
        found = os.stat(path)
    except OSError:  # a broken link, or one to itself: reported when the file is read
        return TextFile(path, label, kind, 0, 0, root is not None)
    return TextFile(path, label, kind, found.st_size, found.st_mtime_ns, root is not None)


def fingerprint(files: Sequence[TextFile]) -> int:
    """A number below 2**63 that changes whenever a file is added, removed or written to."""
    digest = blake2b(digest_size=8)
    for file in files:
        digest.update(f"{file.label}\0{file.size}\0{file.modified}\0".encode())
    return number_of(digest.digest())


def number_of(digest: bytes) -> int:
    """8 bytes as a number below 2**63."""
    return int.from_bytes(digest, "big") >> 1

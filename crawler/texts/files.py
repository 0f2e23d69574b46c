"""The files of the user's own documents: those named, and the .txt files of named folders."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import PurePath

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.addresses import is_address
from wikitopics.crawler.texts.contents import PACKED, is_packed, other_format

GIVEN = ".given.jsonl"
"""The ending of the file, beside the session, in which a Python program leaves its texts."""
GIVEN_NAME = "texts from a Python program"
_GONE = "only that program can give them again; `--session NAME` makes another session"
"""What is said if the file with the texts of a Python program is missing."""
PLAIN = ".txt"
TABLES = (".csv", ".tsv")
JSON_LINES = ".jsonl"
PARQUET = ".parquet"
_TAKEN = (
    f".jsonl, .csv, .tsv, .txt, each also compressed ({' '.join(PACKED)}), .parquet, or a "
    "folder of .txt or .parquet files"
)
_RENAME = "rename it, so that its name ends with .parquet"
_CONVERT = "write it as .parquet: pandas.read_feather(FILE).to_parquet(…)"
_ADVICE = {
    ".json": "write one object a line into a .jsonl: jq -c '.[]' FILE > FILE.jsonl",
    ".pq": _RENAME,
    ".parq": _RENAME,
    ".arrow": _CONVERT,
    ".feather": _CONVERT,
}
"""What to do with files of other endings."""
_PATTERN = re.compile(r"[*?]")
MOST_FILES = 1_000_000
"""The most files; names are kept in memory, at about 200 bytes each."""
_KERNEL = re.compile("/(proc|sys|dev(?!/shm))(/|$)")
"""Paths in which Linux shows its own state. They hold no texts; they hold links to all other
folders, so that a walk through them would find the whole machine."""


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
    """A path for people, as text that UTF-8 can encode (file names are bytes). Users do not know
    the file in which a Python program leaves its texts, so it has another name."""
    return GIVEN_NAME if path.endswith(GIVEN) else os.fsencode(path).decode("utf-8", "replace")


def ending(name: str) -> str | None:
    """The ending that tells how a file holds documents; None if it is not a supported one."""
    suffix = _suffix_unpacked(name)
    if suffix == ".ndjson":
        return JSON_LINES
    if is_packed_parquet(name):
        return None
    return suffix if suffix in (JSON_LINES, *TABLES, PLAIN, PARQUET) else None


def is_packed_parquet(name: str) -> bool:
    """Whether this is a Parquet file that is compressed as a whole, which is not supported."""
    return is_packed(name) and _suffix_unpacked(name) == PARQUET


def _suffix_unpacked(name: str) -> str:
    """The file's suffix in small letters, without that of a compression."""
    path = PurePath(name)
    if is_packed(name):
        path = PurePath(path.stem)
    return path.suffix.lower()


def check_paths(paths: Sequence[str]) -> None:
    """Raise BadSource for a path from which no documents can be read."""
    for number, path in enumerate(paths):
        name = printable(path)
        if path == "-":
            raise BadSource(
                "--texts -: texts are read twice, but standard input only once: name a file"
            )
        if path in paths[:number]:
            raise BadSource(f"--texts {name} is given twice")
        if not os.path.exists(path):
            why = _GONE if path.endswith(GIVEN) else "no such file or folder"
            hint = ""
            if _PATTERN.search(path):
                hint = "; instead of a pattern, give the folder, or each file"
            raise BadSource(f"{name}: {why}{hint}")
        if os.path.isdir(path):
            continue
        if not os.path.isfile(path):
            raise BadSource(
                f"{name}: a pipe or a device; texts are read twice: write them to a file"
            )
        if ending(path) is None:
            usual = f"not a supported kind of file: give {_TAKEN}"
            raise BadSource(f"{name}: {_ADVICE.get(_suffix_unpacked(path), usual)}")
        if not is_packed(path) and ending(path) != PARQUET:
            wrong_format = other_format(path)
            if wrong_format:
                raise BadSource(f"{name}: {wrong_format}")


def are_parquet(paths: Sequence[str]) -> bool:
    """Whether the paths, which may be addresses, are of Parquet files: all of them, or none; also
    the files in a folder. Raises BadSource for different kinds, and as `check_paths` does."""
    addresses = [path for path in paths if is_address(path)]
    if addresses:
        if len(addresses) < len(paths):
            raise BadSource("--texts: give files or addresses, not both")
        return True
    check_paths(paths)
    of_parquet = [is_parquet(path) for path in paths]
    if any(of_parquet) and not all(of_parquet):
        raise BadSource("--texts: Parquet files cannot be mixed with other files: name one kind")
    return any(of_parquet)


def is_parquet(path: str) -> bool:
    """Whether this is a Parquet file or a folder of such files. Raises BadSource for a folder with
    .txt files, too."""
    if not os.path.isdir(path):
        return ending(path) == PARQUET
    endings = {file.ending for file in _files_in_folder(path, lambda _: None, (PLAIN, PARQUET))}
    if len(endings) > 1:
        raise BadSource(
            f"{printable(path)}: this folder has .parquet and .txt files: name the files, or "
            "another folder"
        )
    return endings == {PARQUET}


def text_files(
    paths: Sequence[str], say: Callable[[str], None], wanted: str = PLAIN
) -> tuple[TextFile, ...]:
    """All files of ``paths``, in order; those of a folder by name, with the ending ``wanted``.

    Hidden files and other endings in a folder are left out. ``say`` is called for parts of it that
    cannot be read, for links to folders already read, which may form a loop, and for links into
    kernel file systems. Raises BadSource.
    """
    files: list[TextFile] = []
    for path in paths:
        number_before = len(files)
        is_folder = os.path.isdir(path)
        found = _files_in_folder(path, say, (wanted,)) if is_folder else iter([_file(path)])
        for file in found:
            files.append(file)
            if len(files) > MOST_FILES:
                raise BadSource(
                    f"{printable(path)}: over {MOST_FILES:,} files: join them into a .jsonl"
                )
        if len(files) == number_before:
            raise BadSource(
                f"{printable(path)}: no {wanted} file in this folder; name .jsonl and .csv files "
                "one by one"
            )
    return tuple(files)


def _files_in_folder(
    root: str, say: Callable[[str], None], endings: Collection[str]
) -> Iterator[TextFile]:
    """The files with these endings in a folder and the folders in it, by name; see `text_files`."""
    seen_folders: set[tuple[int, int]] = set()  # (device, inode)
    # A stack of paths instead of recursion, since folders may be nested thousands deep.
    waiting = [root]
    while waiting:
        path = waiting.pop()
        if _KERNEL.match(os.path.realpath(path)):
            if path == root:
                raise BadSource(f"{printable(path)}: a kernel file system, which holds no texts")
            say(f"{printable(path)}: a link into a kernel file system; skipped")
            continue
        if ending(path) in endings and not os.path.isdir(path):
            yield _file(path, root)
            continue
        try:
            status = os.stat(path)
            folder = (status.st_dev, status.st_ino)
            if folder in seen_folders:
                say(f"{printable(path)}: a link to a folder already read; skipped")
                continue
            seen_folders.add(folder)
            with os.scandir(path) as entries:
                names = [entry.name for entry in entries if _is_wanted(entry, endings)]
        except OSError as error:
            if path == root:
                raise BadSource(f"{printable(path)}: {error.strerror}") from None
            say(f"{printable(path)}: {error.strerror}; this folder is skipped")
            continue
        waiting += [os.path.join(path, name) for name in sorted(names, reverse=True)]


def _is_wanted(entry: "os.DirEntry[str]", endings: Collection[str]) -> bool:
    """Whether an entry of a folder is a text, or a folder that may have some."""
    if entry.name.startswith("."):
        return False
    # For a link to itself, `isdir` returns False, where the entry's own method would raise.
    return ending(entry.name) in endings or os.path.isdir(entry)


def _file(path: str, root: str | None = None) -> TextFile:
    """A file that was named, or one below the named folder ``root``."""
    name = PurePath(path).name if root is None else os.path.relpath(path, root)
    file_ending = ending(path)
    assert file_ending is not None
    size = 0
    modified = 0
    try:
        status = os.stat(path)
    except OSError:
        pass  # a broken link, or one to itself: reported when the file is read
    else:
        size = status.st_size
        modified = status.st_mtime_ns
    return TextFile(
        path=path,
        label=printable(name),
        ending=file_ending,
        size=size,
        modified=modified,
        in_folder=root is not None,
    )


def check_same(file: TextFile, now: os.stat_result) -> None:
    """Raise BadSource if the file, as it is ``now``, was written to since it was listed."""
    if (now.st_size, now.st_mtime_ns) != (file.size, file.modified):
        raise BadSource(
            f"{printable(file.path)} changed while it was read: start again when it is complete"
        )


def fingerprint(files: Sequence[TextFile]) -> int:
    """A number below 2**63 that changes whenever a file is added, removed or written to."""
    digest = blake2b(digest_size=8)
    for file in files:
        digest.update(f"{file.label}\0{file.size}\0{file.modified}\0".encode())
    return int.from_bytes(digest.digest(), "big") >> 1

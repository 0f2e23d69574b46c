"""The user's own documents: JSON lines, tables and plain texts, one file after another."""

import contextlib
import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import PurePath
from typing import BinaryIO

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import START, Found, PageFiles, Place, Say, silently
from wikitopics.crawler.markup.texts import noticing
from wikitopics.crawler.page import Markup, Page
from wikitopics.crawler.texts import records
from wikitopics.crawler.texts.tables import Table, table_rows

# The files of the user's own documents: the named ones, and the .txt files of named folders.

GIVEN = ".given.jsonl"
"""The ending of the file, beside the session, in which a Python program leaves its texts."""
GIVEN_NAME = "texts from a Python program"
_GONE = "only that program can give them again; `--session NAME` makes another session"
PLAIN = ".txt"
TABLES = (".csv", ".tsv")
JSON_LINES = ".jsonl"
_TAKEN = (
    f".jsonl, .csv, .tsv, .txt, each also compressed ({' '.join(records.PACKED)}), or a folder of "
    ".txt files"
)
MOST_FILES = 1_000_000
"""The most files; names are kept in memory, at about 200 bytes each."""
_KERNEL = re.compile("/(proc|sys|dev(?!/shm))(/|$)")
"""Paths that show the kernel's state: they hold no texts, but links to everywhere."""


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
    suffix = PurePath(PurePath(name).stem if records.is_packed(name) else name).suffix.lower()
    if suffix == ".ndjson":
        return JSON_LINES
    return suffix if suffix in (JSON_LINES, *TABLES, PLAIN) else None


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
            raise BadSource(f"{name}: {why}")
        if os.path.isdir(path):
            continue
        if not os.path.isfile(path):
            raise BadSource(
                f"{name}: a pipe or a device; texts are read twice: write them to a file"
            )
        if (
            PurePath(PurePath(path).stem if records.is_packed(path) else path).suffix.lower()
            == ".json"
        ):
            raise BadSource(
                f"{name}: write one object a line into a .jsonl: jq -c '.[]' FILE > FILE.jsonl"
            )
        if ending(path) is None:
            raise BadSource(f"{name}: not a supported kind of file: give {_TAKEN}")
        other = "" if records.is_packed(path) else records.other_format(path)
        if other:
            raise BadSource(f"{name}: {other}")


def text_files(paths: Sequence[str], say: Callable[[str], None]) -> tuple[TextFile, ...]:
    """All files of ``paths``, in order; those of a folder by name.

    Hidden files and other endings in a folder are left out. ``say`` is called for parts of it that
    cannot be read, for links to folders already read, which may form a loop, and for links into
    kernel file systems. Raises BadSource.
    """
    files: list[TextFile] = []
    for path in paths:
        before = len(files)
        for file in _folder(path, say) if os.path.isdir(path) else (_file(path),):
            files.append(file)
            if len(files) > MOST_FILES:
                raise BadSource(
                    f"{printable(path)}: over {MOST_FILES:,} files: join them into a .jsonl"
                )
        if len(files) == before:
            raise BadSource(
                f"{printable(path)}: no .txt file in this folder; name .jsonl and .csv files one "
                "by one"
            )
    return tuple(files)


def _folder(root: str, say: Callable[[str], None]) -> Iterator[TextFile]:
    seen: set[tuple[int, int]] = set()
    waiting = [root]  # the next one last; no recursion, since folders may be nested thousands deep
    while waiting:
        path = waiting.pop()
        if _KERNEL.match(os.path.realpath(path)):
            if path == root:
                raise BadSource(f"{printable(path)}: a kernel file system, which holds no texts")
            say(f"{printable(path)}: a link into a kernel file system; skipped")
            continue
        if ending(path) == PLAIN and not os.path.isdir(path):
            yield _file(path, root)
            continue
        try:
            status = os.stat(path)
            if (status.st_dev, status.st_ino) in seen:
                say(f"{printable(path)}: a link to a folder already read; skipped")
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                names = [
                    entry.name
                    for entry in entries
                    if not entry.name.startswith(".")
                    and (
                        ending(entry.name) == PLAIN or os.path.isdir(entry)
                    )  # a link to itself is no folder
                ]
        except OSError as error:
            if path == root:
                raise BadSource(f"{printable(path)}: {error.strerror}") from None
            say(f"{printable(path)}: {error.strerror}; this folder is skipped")
            continue
        waiting += [os.path.join(path, name) for name in sorted(names, reverse=True)]


def _file(path: str, root: str | None = None) -> TextFile:
    """A file that was named, or one below the named folder ``root``."""
    kind, label = (
        ending(path),
        printable(os.path.relpath(path, root) if root else PurePath(path).name),
    )
    assert kind is not None
    size = modified = 0
    with contextlib.suppress(
        OSError
    ):  # a broken link, or one to itself: reported when the file is read
        status = os.stat(path)
        size, modified = status.st_size, status.st_mtime_ns
    return TextFile(path, label, kind, size, modified, root is not None)


def fingerprint(files: Sequence[TextFile]) -> int:
    """A number below 2**63 that changes whenever a file is added, removed or written to."""
    digest = blake2b(digest_size=8)
    for file in files:
        digest.update(f"{file.label}\0{file.size}\0{file.modified}\0".encode())
    return int.from_bytes(digest.digest(), "big") >> 1


# Documents whose id has occurred before.

MOST_IDS = 1 << 25
"""The most ids compared, 33 million, in a few hundred megabytes."""


class SeenIds:
    """The ids so far: 64 bits of each, in 8 to 32 bytes per id.

    Among 33 million ids, the probability of mistaking any two different ids for the same is 3 in
    100,000.
    """

    def __init__(self) -> None:
        self._old = array("Q")
        """Most of them, in ascending order."""
        self._new: set[int] = set()

    def add(self, external_id: str) -> bool:
        """Add an id; returns whether it is new."""
        key = int.from_bytes(blake2b(external_id.encode(), digest_size=8).digest(), "big")
        if key in self._new or is_in(self._old, key):
            return False
        if len(self._old) + len(self._new) < MOST_IDS:
            self._new.add(key)
        if len(self._new) > max(1000, len(self._old) // 8):
            import numpy as np  # which `--help` must not load

            merged = np.concatenate((np.asarray(self._old), np.fromiter(self._new, np.uint64)))
            merged.sort(kind="stable")
            self._old = array("Q", merged.tobytes())
            self._new.clear()
        return True


def is_in(numbers: "array[int]", number: int) -> bool:
    """Whether a number is among these, which are in ascending order."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


MOST_NAMED = 10
"""The number of bad records that are named; further ones are only counted."""
_TITLE = 60
"""The most characters of a title taken from the beginning of the text."""
_END_OF_ONE: Place = {"offset": 1, "line": 1}
"""The place after a file that is a single document."""


class TextFiles(PageFiles):
    """The documents of ``paths``, numbered in order from 1, or from the number after ``before``: a
    document's number is its page id.

    Records that cannot be read as documents have numbers too. ``column`` is the text column of
    tables and the text key of JSON lines, ``title`` and ``id`` those of titles and ids, ``markup``
    that of the texts; plain texts that seem to contain markup are reported. ``lines``: whether
    every line of a plain text is a document, instead of whatever is between blank lines (or, in a
    folder, the file); None: as up to 1.1.0, a plain text is one document, JSON lines have no
    ``column``, and texts passed from Python are
    skipped if they are empty or repeat an id. ``header``: whether the first row of a table names
    its columns, which are called 1, 2, 3 … otherwise. ``by_id``: whether documents have ids, and
    one that repeats an id is skipped.

    Raises BadSource for paths from which no documents can be read, and later for files that change.
    """

    def __init__(
        self,
        paths: Sequence[str],
        column: str | None = None,
        say: Say = silently,
        markup: Markup = "text",
        lines: bool | None = False,
        *,
        title: str | None = None,
        id: str | None = None,
        before: int = 0,
        header: bool = True,
        by_id: bool = True,
    ) -> None:
        check_paths(paths)
        super().__init__(
            [printable(os.path.basename(os.path.normpath(path))) for path in paths], say
        )
        self._paths = tuple(paths)
        self._column = column
        self._markup: Markup = markup
        self._lines = lines
        self._before = before
        has_tables = any(ending(path) in TABLES for path in paths)  # whose column may be meant
        key, otherwise = (
            "text" if lines is None else column or "text",
            "text" if has_tables else None,
        )
        self._names = records.Names(key, otherwise, title, id, reads_ids=by_id)
        self._header = header
        self._content: int | None = None
        """Hash of all bytes, below 2**63, once all files have been read."""
        self._repeats = array("q")
        """The numbers of the documents that repeat an id."""

    @cached_property
    def files(self) -> tuple[TextFile, ...]:
        """All files, as first listed."""
        return text_files(self._paths, self.say)

    @property
    def count(self) -> int:
        return len(self.files)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def look(self) -> None:
        """List the files. Raises BadSource for a folder without texts; other errors come later."""
        _ = self.files

    def mark(self, before: Place = START) -> dict[str, int]:
        """See `PageFiles`. The message for changed files names one of them.

        Files that differ only in their times, such as copies, are read completely and compared.
        """
        newest = max(self.files, key=lambda file: file.modified)
        now = {"files": self.count, "size": self.size, "newest": newest.modified}
        now["listing"] = fingerprint(self.files)
        is_same = now.items() <= before.items() and not before.get("repeated")
        is_changed = bool(before) and any(now[key] != before.get(key) for key in ("files", "size"))
        if self._content is None and not is_same and not is_changed:
            for _ in self.first_reading():
                pass
            if self._content is None:
                raise BadSource(f"{self.name} was not read to its end")
        if not before:
            return now | {"content": self._content or 0, "repeated": len(self._repeats)}
        if is_changed or self._content not in (None, before.get("content")):
            since = "since this session began: restore it, or start another --session"
            what = f"{self.name}: one of the files has"
            if self.count != before.get("files"):
                what = f"{self.name}: {self.count:,} files, no longer {before.get('files', 0):,}:"
            elif self.count == 1 or newest.modified > before.get("newest", 0):
                what = f"{printable(newest.path)} has"
            raise BadSource(f"{what} changed {since}")
        return now

    def first_reading(self, say: Say = silently) -> Iterator[Found]:
        """All documents from the start. Raises BadSource if there are none."""
        repeats, digest = array("q"), blake2b(digest_size=8)
        messages: list[str] = []

        def tell_bad(message: str) -> None:
            messages.append(message)
            say(message)

        some = False
        number = 0
        reading = self._read(START, tell_bad, repeats, SeenIds(), digest.update)
        if self._markup == "text":
            reading = noticing(
                reading, lambda r: r[0].text if isinstance(r[0], Page) else "", self.say
            )
        for page, place in reading:
            some = some or isinstance(page, Page)
            number += 1
            yield page, place
        if self.closed:
            return
        named = None if self._lines is None else self._column
        there = self._names.others
        if there and self._names.has_text is False and (named or not some):
            raise BadSource(f"{self.name}: {records.lacks('key', named, there)}")
        if not some:
            raise BadSource(
                f"there are no documents in {self.name}" + (f" ({messages[0]})" if messages else "")
            )
        if self._names.missing:
            flag, name = next(iter(self._names.missing.items()))
            raise BadSource(f"{self.name}: {records.lacks('column or key', name, there, flag)}")
        if 2 * len(repeats) > number:
            self.say(
                f"{self.name}: {len(repeats):,} of {number:,} documents repeat an id and are "
                "skipped; name another column or key with --id-column"
            )
        self._content, self._repeats = int.from_bytes(digest.digest(), "big") >> 1, repeats

    def read(self, place: Place = START) -> Iterator[Found]:
        """The documents after ``place``, once the first reading is over or `mark` has found no
        change."""
        return self._read(place, self.say, self._repeats)

    def _read(
        self,
        place: Place,
        say: Say,
        repeats: "array[int]",
        new_ids: SeenIds | None = None,
        digest: Callable[[bytes], object] = lambda _: None,
    ) -> Iterator[Found]:
        """The documents after ``place``. With ``new_ids``, ``repeats`` is not known yet, and is
        filled."""
        named = 0
        tell = silently if new_ids is None else self.say  # of odd rows, in the first reading only
        number = place.get("number", 0)
        first = place.get("file", 0)
        for index, file in enumerate(self.files[first:], first):
            if self.closed:
                return
            begin = place if index == first else START
            for (record, line), after in self._records(file, begin, digest, say, tell):
                number += 1
                if isinstance(record, records.Document) and record.id and not self._takes_all(file):
                    if new_ids is not None and not new_ids.add(record.id):
                        repeats.append(number)
                    if is_in(repeats, number):
                        record = records.BadRecord(
                            "repeated", f"the id {record.id[:100]!r} is a duplicate"
                        )
                here = {"file": index, **after, "number": number}
                if isinstance(record, records.Document):
                    yield self._page(file, line, self._before + number, record), here
                    continue
                named += 1
                if named <= MOST_NAMED:
                    where = "" if self._is_one(file) else f", line {line:,}"
                    say(f"{printable(file.path)}{where}: {record.why}; skipped")
                elif named == MOST_NAMED + 1:
                    say("further skipped documents are counted, but not named here")
                yield record.skip, here

    def _records(
        self,
        file: TextFile,
        begin: Place,
        digest: Callable[[bytes], object],
        say: Say,
        tell: Say,
    ) -> Iterator[tuple[records.Record, Place]]:
        """Each record with the place after it: unpacked bytes and lines of the file."""
        is_one, name = self._is_one(file), printable(file.path)
        offset, line = begin.get("offset", 0), begin.get("line", 0)
        if is_one and offset:
            return

        def seen(data: bytes) -> None:
            self.bytes_read += len(data)
            digest(data)

        try:
            with _opened(file) as opened:
                contents = records.Contents(
                    opened,
                    name,
                    offset,
                    line,
                    seen,
                    lambda: self.closed,
                    say,
                )
                if is_one:
                    yield (records.whole_file(contents), 1), _END_OF_ONE
                else:
                    for record in self._parts(file, contents, tell):
                        if isinstance(record[0], records.Document):
                            contents.without = 0
                        yield record, {"offset": contents.offset, "line": contents.number}
                while data := opened.read(1 << 20):  # bytes not parsed belong to the file too
                    seen(data)
        except records.Stopped:
            return
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
            if not is_one:
                raise BadSource(f"{name}: {why}") from None
            yield (records.BadRecord("damaged", why), 1), _END_OF_ONE

    def _is_one(self, file: TextFile) -> bool:
        """Whether the file is one document."""
        return file.ending == PLAIN and (
            self._lines is None or (file.in_folder and not self._lines)
        )

    def _takes_all(self, file: TextFile) -> bool:
        """Whether the file has the texts of a Python program, each of which is a document."""
        return file.path.endswith(GIVEN) and self._lines is not None

    def _parts(
        self,
        file: TextFile,
        contents: records.Contents,
        tell: Say,
    ) -> Iterator[records.Record]:
        """The records of a file with several; ``tell`` is told of odd rows of a table."""
        if file.ending == PLAIN:
            return records.plain_texts(contents, bool(self._lines))
        if file.ending == JSON_LINES:
            return records.json_lines(contents, self._names, may_be_empty=self._takes_all(file))
        with _opened(file) as opened:
            beginning = records.Contents(opened, contents.name, stopped=contents.stopped)
            table = Table.of(beginning, file.ending, self._column, self._names, self._header)
        return table_rows(contents, table, tell)

    def _page(self, file: TextFile, line: int, number: int, document: records.Document) -> Page:
        title = document.title or document.id
        if not title and self._is_one(file):
            title = file.label
        elif not title and file.ending == PLAIN and self._markup == "text":
            title = _beginning(document.text)
        return Page(
            number,
            title or f"{file.label}:{line}",
            0,
            document.text,
            self._markup,
            document.id,
        )


def _beginning(text: str) -> str:
    """The first words of a text, by which people recognise it."""
    line = " ".join(text[: 8 * _TITLE].split())
    if len(line) <= _TITLE:
        return line
    cut = line[:_TITLE]
    # Cut a word longer than that, and texts without blanks between words.
    return (cut if line[_TITLE] == " " else cut.rpartition(" ")[0] or cut).rstrip() + "…"


@contextmanager
def _opened(file: TextFile) -> Iterator[BinaryIO]:
    with records.open_regular(file.path) as opened:
        _check_same(file, opened)
        yield opened
        _check_same(file, opened)


def _check_same(file: TextFile, opened: BinaryIO) -> None:
    """Raise BadSource if the file has been written to since it was listed."""
    now = os.fstat(opened.fileno())
    if (now.st_size, now.st_mtime_ns) != (file.size, file.modified):
        raise BadSource(
            f"{printable(file.path)} changed while it was read: start again when it is complete"
        )

"""The user's own documents: JSON lines, tables and plain texts, one file after another."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import BinaryIO

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import START, Found, PageFiles, Place, Tell, silently
from wikitopics.crawler.source import Page
from wikitopics.crawler.texts.folders import (
    ONE_DOCUMENT,
    TABLES,
    TextFile,
    check_paths,
    fingerprint,
    number_of,
    printable,
    text_files,
)
from wikitopics.crawler.texts.ids import Repeats, SeenIds
from wikitopics.crawler.texts.lines import Contents, Lines, Stopped, open_regular
from wikitopics.crawler.texts.records import Bad, Document, Record, Table, json_lines, whole_file

MOST_NAMED = 10
"""The number of bad records that are named; further ones are only counted."""


class TextFiles(PageFiles):
    """The documents of ``paths``, numbered from 1 in order: a document's number is its page id.

    Records that cannot be read as documents have numbers too. ``column`` is the text column of tables.
    Raises BadSource for paths from which no documents can be read, and later for files that change.
    """

    def __init__(self, paths: Sequence[str], column: str | None = None, tell: Tell = silently) -> None:
        check_paths(paths)
        super().__init__([printable(os.path.basename(os.path.normpath(path))) for path in paths], tell)
        self._paths = tuple(paths)
        self._column = column
        self._content: int | None = None
        """Hash of all bytes, below 2**63, once all files have been read."""
        self._repeats = Repeats()

    @cached_property
    def files(self) -> tuple[TextFile, ...]:
        """All files, as they are when first listed."""
        return text_files(self._paths, self.tell)

    @property
    def count(self) -> int:
        return len(self.files)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def look(self) -> None:
        """List the files. Raises BadSource for a folder without texts; others come later."""
        _ = self.files

    def mark(self) -> dict[str, int]:
        """A mark that shows later whether a file has changed."""
        if self._content is None:
            self._read_through()
        return self._listing() | {"content": self._content or 0, "repeated": len(self._repeats)}

    def check(self, mark: Mapping[str, int]) -> dict[str, int]:
        """The mark of the files as they are now. Raises BadSource, naming a file, if one has changed.

        Files that differ only in their times, as copies do, are read completely and compared.
        """
        listing = self._listing()
        if any(listing[key] != mark.get(key) for key in ("files", "size")):
            raise self._changed(mark)
        if (
            listing != {key: mark.get(key) for key in listing} or mark.get("repeated")
        ) and self._content is None:
            self._read_through()
        if self._content is not None and self._content != mark.get("content"):
            raise self._changed(mark)
        return listing

    def _listing(self) -> dict[str, int]:
        newest = max(file.modified for file in self.files)
        return {"files": self.count, "size": self.size, "newest": newest, "listing": fingerprint(self.files)}

    def _changed(self, mark: Mapping[str, int]) -> BadSource:
        newest = max(self.files, key=lambda file: file.modified)
        since = "since this session began: restore it, or start another --session"
        if self.count != mark.get("files"):
            return BadSource(
                f"{self.name}: {self.count:,} files, no longer {mark.get('files', 0):,}: changed {since}"
            )
        if self.count == 1 or newest.modified > mark.get("newest", 0):
            return BadSource(f"{printable(newest.path)} has changed {since}")
        return BadSource(f"{self.name}: one of the files has changed {since}")

    def _read_through(self) -> None:
        for _ in self.first_reading():
            pass
        if self._content is None:
            raise BadSource(f"{self.name} was not read to its end")

    def first_reading(self, tell: Tell = silently) -> Iterator[Found]:
        """All documents from the start. Raises BadSource if there are none."""
        seen, repeats, digest = SeenIds(), Repeats(), blake2b(digest_size=8)
        first_bad: list[str] = []

        def is_repeated(number: int, external_id: str) -> bool:
            if seen.add(external_id):
                return False
            repeats.add(number)
            return True

        def tell_bad(message: str) -> None:
            first_bad.append(message)
            tell(message)

        some = False
        for found in self._read(START, is_repeated, tell_bad, digest.update):
            some = some or isinstance(found[0], Page)
            yield found
        if self.closed:
            return
        if not some:
            raise BadSource(f"{self.name}: holds no documents" + (f" ({first_bad[0]})" if first_bad else ""))
        self._content, self._repeats = number_of(digest.digest()), repeats

    def read(self, place: Place = START) -> Iterator[Found]:
        """The documents after ``place``, once the first reading is over or `check` has succeeded."""
        return self._read(place, lambda number, _: number in self._repeats, self.tell, lambda _: None)

    def _read(
        self,
        place: Place,
        is_repeated: Callable[[int, str], bool],
        tell: Tell,
        digest: Callable[[bytes], object],
    ) -> Iterator[Found]:
        named = 0

        def name(file: TextFile, line: int, why: str) -> None:
            """Name the first bad records to people."""
            nonlocal named
            named += 1
            if named <= MOST_NAMED:
                where = "" if file.ending == ONE_DOCUMENT else f", line {line:,}"
                tell(f"{printable(file.path)}{where}: {why}; skipped")
            elif named == MOST_NAMED + 1:
                tell("more documents are skipped; they are counted, but not named here")

        number = place.get("number", 0)
        first = place.get("file", 0)
        for index, file in enumerate(self.files[first:], first):
            begin = place if index == first else START
            try:
                for (found, begun), offset, line in self._records(file, begin, digest, tell):
                    number += 1
                    if isinstance(found, Document) and found.id and is_repeated(number, found.id):
                        found = Bad("repeated", f"the id {found.id[:100]!r} is a duplicate")
                    here = {"file": index, "offset": offset, "line": line, "number": number}
                    if isinstance(found, Bad):
                        name(file, begun, found.why)
                        yield found.skip, here
                    else:
                        yield _page(file, begun, number, found), here
            except Stopped:
                return

    def _records(
        self, file: TextFile, begin: Place, digest: Callable[[bytes], object], tell: Tell
    ) -> Iterator[tuple[Record, int, int]]:
        """Each record with the place after it: unpacked bytes and lines of the file."""
        offset, line = begin.get("offset", 0), begin.get("line", 0)
        if file.ending == ONE_DOCUMENT and offset:
            return

        def seen(data: bytes) -> None:
            self.bytes_read += len(data)
            digest(data)

        try:
            with _open(file) as opened:
                contents = Contents(opened, file.path, offset, seen, lambda: self.closed)
                if file.ending == ONE_DOCUMENT:
                    yield whole_file(contents), 1, 1
                else:
                    lines = Lines(contents, tell, printable(file.path), offset, line)
                    for record in self._table(file, lines) if file.ending in TABLES else json_lines(lines):
                        if isinstance(record[0], Document):
                            contents.found()
                        yield record, lines.offset, lines.number
                while data := opened.read(1 << 20):  # bytes not looked at belong to the file too
                    seen(data)
                _check_same(file, opened)
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
            if file.ending != ONE_DOCUMENT:
                raise BadSource(f"{printable(file.path)}: {why}") from None
            yield (Bad("damaged", why), 1), 1, 1

    def _table(self, file: TextFile, lines: Lines) -> Iterator[Record]:
        name = printable(file.path)
        if not lines.offset:
            return Table(lines, file.ending, self._column, name).records(lines)
        with _open(file) as opened:
            start = Lines(Contents(opened, file.path, 0, lambda _: None, lambda: self.closed), silently, name)
            return Table(start, file.ending, self._column, name).records(lines)


def _page(file: TextFile, line: int, number: int, document: Document) -> Page:
    nameless = file.label if file.ending == ONE_DOCUMENT else f"{file.label}:{line}"
    return Page(number, document.title or document.id or nameless, 0, document.text, "text", document.id)


def _open(file: TextFile) -> BinaryIO:
    opened = open_regular(file.path)
    try:
        _check_same(file, opened)
    except BaseException:
        opened.close()
        raise
    return opened


def _check_same(file: TextFile, opened: BinaryIO) -> None:
    """Raise BadSource if the file has been written to since it was listed."""
    now = os.fstat(opened.fileno())
    if (now.st_size, now.st_mtime_ns) != (file.size, file.modified):
        raise BadSource(f"{printable(file.path)} changed while it was read: start again when it is complete")

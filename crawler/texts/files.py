"""The user's own documents: JSON lines, tables and plain texts, one file after another."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import BinaryIO

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import START, Found, PageFiles, Place, Tell, silently
from wikitopics.crawler.markup.texts import noticing
from wikitopics.crawler.source import Markup, Page
from wikitopics.crawler.texts.folders import (
    GIVEN,
    JSON_LINES,
    PLAIN,
    TABLES,
    TextFile,
    check_paths,
    ending,
    fingerprint,
    number_of,
    printable,
    text_files,
)
from wikitopics.crawler.texts.ids import Repeats, SeenIds
from wikitopics.crawler.texts.lines import Contents, Stopped, open_regular
from wikitopics.crawler.texts.records import (
    Bad,
    Columns,
    Document,
    Keys,
    Record,
    json_lines,
    no_text,
    plain_texts,
    table_rows,
    whole_file,
)

MOST_NAMED = 10
"""The number of bad records that are named; further ones are only counted."""
_TITLE = 60
"""The most characters of a title that is the beginning of the text."""
_END_OF_ONE: Place = {"offset": 1, "line": 1}
"""The place after a file that is one document."""


class TextFiles(PageFiles):
    """The documents of ``paths``, numbered from 1 in order: a document's number is its page id.

    Records that cannot be read as documents have numbers too. ``column`` is the text column of tables and
    the text key of JSON lines, ``markup`` what the texts are written in; plain texts that seem to hold markup
    are told of. ``lines``: whether every line of a plain text is a document, instead of what is between blank
    lines (or, in a folder, the file); None: as up to 1.1.0, a plain text is one document, JSON lines have no
    ``column``, and of the texts given in Python those that are empty or repeat an id are skipped.

    Raises BadSource for paths from which no documents can be read, and later for files that change.
    """

    def __init__(
        self,
        paths: Sequence[str],
        column: str | None = None,
        tell: Tell = silently,
        markup: Markup = "text",
        lines: bool | None = False,
    ) -> None:
        check_paths(paths)
        super().__init__([printable(os.path.basename(os.path.normpath(path))) for path in paths], tell)
        self._paths = tuple(paths)
        self._column = column
        self._markup: Markup = markup
        self._lines = lines
        has_tables = any(ending(path) in TABLES for path in paths)  # whose column it may be
        self._keys = Keys("text" if lines is None else column or "text", "text" if has_tables else None)
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
        repeats, digest = Repeats(), blake2b(digest_size=8)
        told: list[str] = []

        def tell_bad(message: str) -> None:
            told.append(message)
            tell(message)

        some = False
        reading = self._read(START, tell_bad, repeats, SeenIds(), digest.update)
        for found in noticing(reading, _plain_text, self.tell):
            some = some or isinstance(found[0], Page)
            yield found
        if self.closed:
            return
        named = None if self._lines is None else self._column
        if self._keys.others and not self._keys.is_there and (named or not some):
            raise BadSource(f"{self.name}: {no_text('key', named, self._keys.others)}")
        if not some:
            raise BadSource(f"there are no documents in {self.name}" + (f" ({told[0]})" if told else ""))
        self._content, self._repeats = number_of(digest.digest()), repeats

    def read(self, place: Place = START) -> Iterator[Found]:
        """The documents after ``place``, once the first reading is over or `check` has succeeded."""
        return self._read(place, self.tell, self._repeats)

    def _read(
        self,
        place: Place,
        tell: Tell,
        repeats: Repeats,
        new_ids: SeenIds | None = None,
        digest: Callable[[bytes], object] = lambda _: None,
    ) -> Iterator[Found]:
        """The documents after ``place``. With ``new_ids``, ``repeats`` is not known yet, and is filled."""
        named = 0
        number = place.get("number", 0)
        first = place.get("file", 0)
        for index, file in enumerate(self.files[first:], first):
            if self.closed:
                return
            begin = place if index == first else START
            for (found, line), after in self._records(file, begin, digest, tell):
                number += 1
                if isinstance(found, Document) and found.id and not self._takes_all(file):
                    if new_ids is not None and not new_ids.add(found.id):
                        repeats.add(number)
                    if number in repeats:
                        found = Bad("repeated", f"the id {found.id[:100]!r} is a duplicate")
                here = {"file": index, **after, "number": number}
                if isinstance(found, Document):
                    yield self._page(file, line, number, found), here
                    continue
                named += 1
                if named <= MOST_NAMED:
                    where = "" if self._is_one(file) else f", line {line:,}"
                    tell(f"{printable(file.path)}{where}: {found.why}; skipped")
                elif named == MOST_NAMED + 1:
                    tell("more documents are skipped; they are counted, but not named here")
                yield found.skip, here

    def _records(
        self, file: TextFile, begin: Place, digest: Callable[[bytes], object], tell: Tell
    ) -> Iterator[tuple[Record, Place]]:
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
                contents = Contents(opened, name, offset, line, seen, lambda: self.closed, tell)
                if is_one:
                    yield (whole_file(contents), 1), _END_OF_ONE
                else:
                    for record in self._parts(file, contents):
                        if isinstance(record[0], Document):
                            contents.found()
                        yield record, {"offset": contents.offset, "line": contents.number}
                while data := opened.read(1 << 20):  # bytes not looked at belong to the file too
                    seen(data)
        except Stopped:
            return
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
            if not is_one:
                raise BadSource(f"{name}: {why}") from None
            yield (Bad("damaged", why), 1), _END_OF_ONE

    def _is_one(self, file: TextFile) -> bool:
        """Whether the file is one document."""
        return file.ending == PLAIN and (self._lines is None or (file.in_folder and not self._lines))

    def _takes_all(self, file: TextFile) -> bool:
        """Whether a Python program left its texts in the file, each of which is a document to it."""
        return file.path.endswith(GIVEN) and self._lines is not None

    def _parts(self, file: TextFile, contents: Contents) -> Iterator[Record]:
        """The records of a file of several."""
        if file.ending == PLAIN:
            return plain_texts(contents, bool(self._lines))
        if file.ending == JSON_LINES:
            return json_lines(contents, self._keys, may_be_empty=self._takes_all(file))
        name = printable(file.path)
        if not contents.offset:
            return table_rows(contents, Columns.of(contents, file.ending, self._column, name))
        with _opened(file) as opened:
            start = Contents(opened, name, stopped=lambda: self.closed)
            return table_rows(contents, Columns.of(start, file.ending, self._column, name))

    def _page(self, file: TextFile, line: int, number: int, found: Document) -> Page:
        title = found.title or found.id
        if not title and self._is_one(file):
            title = file.label
        elif not title and file.ending == PLAIN and self._markup == "text":
            title = _beginning(found.text)
        return Page(number, title or f"{file.label}:{line}", 0, found.text, self._markup, found.id)


def _beginning(text: str) -> str:
    """The first words of a text, by which people recognise it."""
    line = " ".join(text[: 8 * _TITLE].split())
    if len(line) <= _TITLE:
        return line
    cut = line[:_TITLE]
    # A word longer than that is cut, as are texts without blanks between words.
    return (cut if line[_TITLE] == " " else cut.rpartition(" ")[0] or cut).rstrip() + "…"


def _plain_text(found: Found) -> str:
    page, _ = found
    return page.text if isinstance(page, Page) and page.markup == "text" else ""


@contextmanager
def _opened(file: TextFile) -> Iterator[BinaryIO]:
    with open_regular(file.path) as opened:
        _check_same(file, opened)
        yield opened
        _check_same(file, opened)


def _check_same(file: TextFile, opened: BinaryIO) -> None:
    """Raise BadSource if the file has been written to since it was listed."""
    now = os.fstat(opened.fileno())
    if (now.st_size, now.st_mtime_ns) != (file.size, file.modified):
        raise BadSource(f"{printable(file.path)} changed while it was read: start again when it is complete")

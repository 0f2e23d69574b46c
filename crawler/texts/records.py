"""Lines as the user's own documents: JSON lines, tables, whole files. Bad records are named, not raised."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.source import LONGEST_TITLE, Skip
from wikitopics.crawler.texts.lines import LARGEST_DOCUMENT, Contents, Lines, whole

T = TypeVar("T")

LONGEST_ID = 4096
"""The most bytes of an id. An id is never cut, since it must stay the document's own: a document with a
longer one is skipped."""
_TOO_LARGE = f"over {LARGEST_DOCUMENT >> 20} MB"
_LONGEST_HEADER = 1 << 20
_DELIMITERS = {".csv": ",;\t", ".tsv": "\t"}
"""Spreadsheets write semicolons where the comma is a decimal sign."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""JSON can contain lone surrogates, which UTF-8 cannot encode."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as stored in its file."""

    text: str
    title: str = ""
    id: str = ""


class Bad(Exception):
    """Why the contents of a record are not a document, as a kind and in words."""

    def __init__(self, skip: Skip, why: str) -> None:
        self.skip: Skip = skip
        self.why = why


Record = tuple[Document | Bad, int]
"""One entry of a file, and the number of the line in which it begins, from 1."""


def _not_utf8() -> Bad:
    return Bad("not UTF-8", "not UTF-8: save the file in that encoding")


def _attempt(read: Callable[[T], Document], what: T) -> Document | Bad:
    try:
        return read(what)
    except Bad as bad:
        return bad


def json_lines(lines: Lines) -> Iterator[Record]:
    """One JSON object per line, with `text` and optionally `title` and `id`; blank lines are not records."""
    for line in lines:
        if line is None or line.strip():
            yield _attempt(_from_json, line), lines.number


def _from_json(line: bytes | None) -> Document:
    if line is None:
        raise Bad("too large", _TOO_LARGE)
    try:
        found = json.loads(_utf8(line))
    except (ValueError, RecursionError):
        raise Bad("not JSON", "not JSON") from None
    if not isinstance(found, dict):
        raise Bad("no text", 'not an object with a "text"')
    return _document(found.get("text"), found.get("title"), found.get("id"))


class Table:
    """Reads the rows of a table; its first row names the columns.

    ``column`` is the text column; None: the one called `text`. Raises BadSource if there is none.
    """

    def __init__(self, lines: Lines, ending: str, column: str | None, name: str) -> None:
        """``lines``: those of the file from its start, read up to the first record."""
        header = _header(lines, name)
        rows = {mark: _columns(header, mark) for mark in _DELIMITERS[ending]}
        wanted = column or "text"
        self._delimiter = next((mark for mark, columns in rows.items() if wanted in columns), "")
        if not self._delimiter:
            missing = f"there is no column {column!r}." if column else "which column holds the text?"
            columns = max(rows.values(), key=len)
            has = ", ".join(columns)[:200]
            raise BadSource(f"{name}: {missing} Name one with --text-column: {has or 'the file is empty'}")
        columns = rows[self._delimiter]
        lower = [name.lower() for name in columns]
        self._text = columns.index(wanted)
        self._title, self._id = (lower.index(key) if key in lower else len(lower) for key in ("title", "id"))

    def records(self, lines: Lines) -> Iterator[Record]:
        """The records after the header, or after a later record. Quoted cells may contain line breaks."""
        csv.field_size_limit(LARGEST_DOCUMENT)  # for the whole process, in which nothing else reads tables
        while True:
            source = _RowLines(lines)
            rows = csv.reader(source, delimiter=self._delimiter)
            try:
                while True:
                    source.begin_row()
                    if row := next(rows):
                        yield _attempt(self._from_row, row), source.first
            except StopIteration:
                return
            # The reader is in the middle of that row, so a new one begins after it.
            except Bad as bad:
                yield bad, source.first
            except csv.Error as error:
                yield Bad("damaged", f"not a row of a table: {error}"), source.first

    def _from_row(self, row: Sequence[str]) -> Document:
        cells = [row[i] if i < len(row) else "" for i in (self._text, self._title, self._id)]
        if any(map(_SURROGATE.search, cells)):
            raise _not_utf8()
        return _document(*cells)


class _RowLines:
    """Lines for a reader of rows, one at a time as a row needs them."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.begin_row()

    def begin_row(self) -> None:
        self._offset = self._lines.offset
        self.first = self._lines.number + 1
        """Number of the row's first line."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            line = next(self._lines)
        except StopIteration:
            if self._lines.number >= self.first:
                raise Bad("damaged", "a quotation mark is never closed") from None
            raise
        if line is None or self._lines.offset - self._offset > LARGEST_DOCUMENT:
            raise Bad("too large", f"a row {_TOO_LARGE}: perhaps a quotation mark is not closed")
        return line.decode("utf-8", "surrogateescape")


def _header(lines: Lines, name: str) -> str:
    header: list[bytes] = []
    quotes = 0
    while not header or (quotes % 2 and lines.offset <= _LONGEST_HEADER):
        line = next(lines, None)
        if not line:
            break
        header.append(line)
        quotes += line.count(b'"')
    try:
        return b"".join(header).decode("utf-8")
    except UnicodeDecodeError:
        raise BadSource(f"{name}, line 1: not UTF-8; save the table as CSV in UTF-8") from None


def _columns(header: str, delimiter: str) -> list[str]:
    try:
        row = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in row]


def whole_file(contents: Contents) -> Record:
    """A file that is one document."""
    return _attempt(_from_file, contents), 1


def _from_file(contents: Contents) -> Document:
    try:
        data = whole(contents)
    except CutOff as error:
        raise Bad("damaged", str(error)) from None
    if data is None:
        raise Bad("too large", _TOO_LARGE)
    return _document(_utf8(data), None, None)


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _not_utf8() from None


def _document(text: object, title: object, external_id: object) -> Document:
    """A document of these fields, whatever their types."""
    if not isinstance(text, str) or not text.strip():
        raise Bad("no text", "no text")
    name = _label(external_id, "id")
    if len(name.encode()) > LONGEST_ID:
        raise Bad("too large", f"an id of over {LONGEST_ID} bytes")
    shown = " ".join(_label(title, "title").split()).encode()[:LONGEST_TITLE].decode("utf-8", "ignore")
    return Document(_sound(text), shown, name)


def _label(value: object, key: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Bad("damaged", f"its {key} is neither a text nor a whole number")
    return _sound(str(value))


def _sound(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)

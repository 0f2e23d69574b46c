"""Lines as the user's own documents: JSON lines, tables, plain texts. Bad records are named, not raised."""

import csv
import io
import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath
from typing import BinaryIO

from wikitopics.crawler.dumps.containers import data_blocks
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.file_source import Say, silently
from wikitopics.crawler.page import SURROGATE, Skip, sound_text

# Files of the user's own documents as lines: unpacked in bounded memory, with the place after each line.

LARGEST_DOCUMENT = 32 << 20
"""The most bytes of a document, or of its line; a larger one is skipped and never held in memory."""
MOST_WITHOUT = 1 << 30
"""The bytes without a document after which a file is rejected as a decompression bomb, or zeros."""
LINE_COST = 100
"""Each line counts as this many additional bytes: even an empty line takes as long to read."""
PACKED = (".gz", ".bz2", ".xz", ".zst")
_READ = 256 << 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_packed(name: str) -> bool:
    """Whether the file's name says that it is compressed."""
    return PurePath(name).suffix.lower() in PACKED


def open_regular(path: str) -> BinaryIO:
    """Open a regular file. Raises OSError for anything else; never waits for a pipe's other end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    file = os.fdopen(descriptor, "rb")  # raises for a folder
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError("a pipe or a device, not a regular file")
    return file


class Stopped(Exception):
    """The rest of the file is no longer wanted."""


@dataclass(eq=False)
class Contents:
    """One open file, unpacked if its name says that it is compressed: its lines, or all of it.

    ``offset`` and ``number`` say where to begin: a plain file is read from there, a compressed one from its
    start. Reading raises BadSource, Stopped and, for all of the file, CutOff.
    """

    file: BinaryIO
    name: str
    offset: int = 0
    """The end of the last line handed out, in unpacked bytes."""
    number: int = 0
    """The number of lines from the file's start up to there."""
    seen: Callable[[bytes], object] = lambda _: None
    """Called with the bytes as stored on disk."""
    stopped: Callable[[], bool] = lambda: False
    """Called before each block; returns whether to stop."""
    say: Say = silently
    """Takes one line for people if the file ends early."""
    without: int = 0
    """Bytes read since the last document."""
    state: str = "empty"
    """What a file without a line is: otherwise cut off, or damaged."""

    def __post_init__(self) -> None:
        self.lines = self._lines()
        """The remaining lines with their endings; None for one over ``LARGEST_DOCUMENT``."""

    def whole(self) -> bytes | None:
        """All of a file that is one document; None if it is over ``LARGEST_DOCUMENT``. Raises CutOff."""
        pieces: list[bytes] = []
        size = 0
        for block in self._blocks():
            size += len(block)
            if size > LARGEST_DOCUMENT:
                return None
            pieces.append(block)
        return b"".join(pieces).removeprefix(_BYTE_ORDER_MARK)

    def _lines(self) -> Iterator[bytes | None]:
        pieces: list[bytes] = []
        size = 0
        try:
            for block in self._blocks():
                self.without += len(block) + LINE_COST * block.count(b"\n")
                if self.without > MOST_WITHOUT:
                    bound = f"{MOST_WITHOUT // LINE_COST:,} lines, or {MOST_WITHOUT >> 30} GB"
                    raise BadSource(f"{self.name}: no document in over {bound}: leave this file out")
                begin = 0
                while begin < len(block):
                    end = block.find(b"\n", begin) + 1
                    piece = block[begin : end or len(block)]
                    begin += len(piece)
                    size += len(piece)
                    if size <= LARGEST_DOCUMENT:
                        pieces.append(piece)
                    else:
                        pieces.clear()
                    if end:
                        yield self._line(pieces, size)
                        pieces, size = [], 0
        except CutOff as error:
            self.state = str(error)
            self.say(f"{self.name}: {error}; everything after line {self.number:,} is left out")
            return
        if size:
            yield self._line(pieces, size)

    def _line(self, pieces: list[bytes], size: int) -> bytes | None:
        begins_file = self.offset == 0
        self.offset += size
        self.number += 1
        if size > LARGEST_DOCUMENT:
            return None
        line = b"".join(pieces)
        return line.removeprefix(_BYTE_ORDER_MARK) if begins_file else line

    def _blocks(self) -> Iterator[bytes]:
        skip, blocks = 0, iter(lambda: self._read(_READ), b"")
        if is_packed(self.name):
            skip, blocks = self.offset, (block.data for block in data_blocks(self._read, self.name))
        elif self.offset:  # a pipe can only be read from its beginning
            self.file.seek(self.offset)
        for block in blocks:
            if self.stopped():
                raise Stopped
            if rest := block[skip:]:
                yield rest
            skip -= len(block) - len(rest)

    def _read(self, size: int) -> bytes:
        data = self.file.read(size)
        self.seen(data)
        return data


LONGEST_ID = 4096
"""The most bytes of an id. An id is never cut, since it must remain unique: a document with a longer one
is skipped."""
_TOO_LARGE = f"over {LARGEST_DOCUMENT >> 20} MB"
_LONGEST_HEADER = 1 << 20
_SHORT = 100
"""The bytes below which a line is searched for blanks other than ASCII's."""
_MOST_KEYS = 100
"""The most keys of JSON lines remembered for messages: a hostile file may have any number."""
_DELIMITERS = {".csv": ",;\t", ".tsv": "\t"}
"""Where the comma is the decimal sign, spreadsheets write semicolons."""
csv.field_size_limit(LARGEST_DOCUMENT)  # for the whole process, in which nothing else reads tables


@dataclass(frozen=True, slots=True)
class Document:
    """A document as stored in its file."""

    text: str
    title: str = ""
    id: str = ""


class BadRecord(Exception):
    """Why a record is skipped: its kind and a message."""

    def __init__(self, skip: Skip, why: str) -> None:
        self.skip: Skip = skip
        self.why = why


Record = tuple[Document | BadRecord, int]
"""One entry of a file, and the number of the line in which it begins, from 1."""


_NOT_UTF8: tuple[Skip, str] = ("not UTF-8", "not UTF-8: save the file as UTF-8")


@dataclass
class Names:
    """The columns of tables, or keys of JSON lines, that hold the parts of a document, and the others.

    ``otherwise``: another key for the text, for JSON lines without the first. ``title``, ``id``: None if the
    user did not name them; then they are used if they exist.
    """

    text: str
    otherwise: str | None = None
    title: str | None = None
    id: str | None = None
    has_text: bool | None = None
    """Whether any JSON line has had the text's key; None before the first line."""
    others: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {"--title-column": self.title, "--id-column": self.id}
        self.missing = {flag: name for flag, name in named.items() if name is not None}
        """The named title and id that no record has had so far, by option."""

    def text_of(self, record: Mapping[str, object]) -> object:
        """The text of a JSON line; None if it has none. Remembers its keys."""
        key = self.text if self.text in record else self.otherwise
        self.has_text = bool(self.has_text) or key in record
        self.look(record, is_complete=self.has_text)
        return None if key is None else record.get(key)

    def look(self, there: Collection[str], *, is_complete: bool = True) -> None:
        """Remember the names that exist while one is missing; ``is_complete``: the text is not missing."""
        if self.missing:
            self.missing = {flag: name for flag, name in self.missing.items() if name not in there}
        if (self.missing or not is_complete) and len(self.others) < _MOST_KEYS:
            self.others |= dict.fromkeys(islice(there, _MOST_KEYS))


def lacks(noun: str, named: str | None, there: Iterable[str], flag: str = "--text-column") -> str:
    """A message: no column or key is called ``named``, or `text`, but ``there`` are these."""
    missing = f"there is no {noun} {named!r}." if named else f"which {noun} holds the text?"
    return f"{missing} Name one with {flag}: {', '.join(map(repr, there))[:200] or 'there are none'}"


def json_lines(contents: Contents, names: Names, *, may_be_empty: bool = False) -> Iterator[Record]:
    """One JSON object per line, with a text and optionally a title and an id; blank lines are not records.

    ``may_be_empty``: whether an object without a text is a document too.
    """
    for line in contents.lines:
        if line is None or line.strip():
            try:
                yield _from_json(line, names, may_be_empty), contents.number
            except BadRecord as bad:
                yield bad, contents.number


def _from_json(line: bytes | None, names: Names, may_be_empty: bool) -> Document:
    try:
        record = json.loads(_utf8(line))
    except (ValueError, RecursionError):
        raise BadRecord("not JSON", "not JSON") from None
    if not isinstance(record, dict):
        raise BadRecord("no text", f'not an object with a "{names.text}"')
    text = names.text_of(record)
    if may_be_empty and not (isinstance(text, str) and text.strip()):
        text = ""
    title, external_id = record.get(names.title or "title"), record.get(names.id or "id")
    return _document(text, title, external_id, may_be_empty)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a table hold what."""

    delimiter: str
    text: int
    title: int
    """Beyond the last column if there is none, as is ``id``."""
    id: int

    @classmethod
    def of(cls, contents: Contents, ending: str, column: str | None, names: Names) -> "Columns":
        """Read the first row, which names the columns.

        ``column`` is the text column; None: the one called `text`. Raises BadSource if there is none. Titles
        and ids are in the columns of ``names``, otherwise in those called `title` and `id`, in upper or lower
        case.
        """
        header = _header(contents)
        rows = {mark: _cells(header, mark) for mark in _DELIMITERS[ending]}
        wanted = column or "text"
        delimiter = next((mark for mark, cells in rows.items() if wanted in cells), None)
        if delimiter is None:
            columns = max(rows.values(), key=len)
            why = lacks("column", column, columns) if columns else f"the file is {contents.state}"
            raise BadSource(f"{contents.name}: {why}")
        cells = rows[delimiter]
        names.look(cells)
        lower = [cell.lower() for cell in cells]
        title, external_id = (
            among.index(name) if name in among else len(cells)
            for name, among in (
                (names.title or "title", cells if names.title else lower),
                (names.id or "id", cells if names.id else lower),
            )
        )
        return cls(delimiter, cells.index(wanted), title, external_id)


def table_rows(contents: Contents, columns: Columns) -> Iterator[Record]:
    """The records after the header, or after a later record. Quoted cells may contain line breaks."""
    offset, first = contents.offset, contents.number + 1  # where a row begins, and its first line

    def lines() -> Iterator[str]:
        """Lines, one at a time, as a row needs them."""
        for line in contents.lines:
            if line is None or contents.offset - offset > LARGEST_DOCUMENT:
                raise BadRecord("too large", f"a row {_TOO_LARGE}: perhaps a quotation mark is not closed")
            yield line.decode("utf-8", "surrogateescape")
        if contents.number >= first:
            raise BadRecord("damaged", "a quotation mark is never closed")

    rows = csv.reader(lines(), delimiter=columns.delimiter)
    while True:
        offset, first = contents.offset, contents.number + 1
        try:
            if row := next(rows):
                yield _from_row(row, columns), first
            continue
        except StopIteration:
            return
        except BadRecord as bad:
            yield bad, first
        except csv.Error as error:
            yield BadRecord("damaged", f"not a row of a table: {error}"), first
        # The reader may be in the middle of that row, so start a new reader after it.
        rows = csv.reader(lines(), delimiter=columns.delimiter)


def _from_row(row: Sequence[str], columns: Columns) -> Document:
    cells = [row[i] if i < len(row) else "" for i in (columns.text, columns.title, columns.id)]
    if any(map(SURROGATE.search, cells)):
        raise BadRecord(*_NOT_UTF8)
    text, title, external_id = cells
    return _document(text, title, external_id)


def _header(contents: Contents) -> str:
    lines: list[bytes] = []
    quotes = 0
    while not lines or (quotes % 2 and contents.offset <= _LONGEST_HEADER):
        line = next(contents.lines, b"")
        if line is None:
            raise BadSource(f"{contents.name}, line {contents.number}: {_TOO_LARGE}")
        if not line:
            break
        lines.append(line)
        quotes += line.count(b'"')
    header = b"".join(lines)
    if b"\r" in header.rstrip(b"\r\n").replace(b"\r\n", b"\n"):
        raise BadSource(
            f"{contents.name}: its lines end in carriage returns only: save it with other line endings"
        )
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        raise BadSource(f"{contents.name}, line 1: not UTF-8; save the table as CSV in UTF-8") from None


def _cells(header: str, delimiter: str) -> list[str]:
    try:
        row = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in row]


def plain_texts(contents: Contents, each_line: bool) -> Iterator[Record]:
    """The documents of a plain text: what is between blank lines, or with ``each_line`` every line that is
    not blank."""
    pieces: list[bytes] = []
    size = first = 0
    for line in contents.lines:
        # A line may look blank and not be empty: word processors write no-break spaces.
        is_blank = line is not None and not (
            line.strip() and (len(line) >= _SHORT or line.decode("utf-8", "replace").strip())
        )
        if not is_blank:
            first = first or contents.number
            size += LARGEST_DOCUMENT + 1 if line is None else len(line)
            if line is None or size > LARGEST_DOCUMENT:
                pieces.clear()
            else:
                pieces.append(line)
        if first and (is_blank or each_line):
            yield _plain(pieces), first
            pieces, size, first = [], 0, 0
    if first:
        yield _plain(pieces), first


def _plain(lines: Sequence[bytes]) -> Document | BadRecord:
    try:
        text = _utf8(b"".join(lines) or None)
        if "\0" in text:
            raise BadRecord("not UTF-8", "a binary file, or not UTF-8 text")
        return _document(text, None, None)
    except BadRecord as bad:
        return bad


def whole_file(contents: Contents) -> Document | BadRecord:
    """A file that is one document."""
    try:
        return _document(_utf8(contents.whole()), None, None)
    except CutOff as error:
        return BadRecord("damaged", str(error))
    except BadRecord as bad:
        return bad


def _utf8(data: bytes | None) -> str:
    """The text of a line or a file; None: it is too large."""
    if data is None:
        raise BadRecord("too large", _TOO_LARGE)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadRecord(*_NOT_UTF8) from None


def _document(text: object, title: object, external_id: object, may_be_empty: bool = False) -> Document:
    """A document of these fields, whatever their types."""
    if not isinstance(text, str) or not (may_be_empty or text.strip()):
        raise BadRecord("no text", "no text")
    name = _label(external_id, "id")
    if len(name.encode()) > LONGEST_ID:
        raise BadRecord("too large", f"an id of over {LONGEST_ID} bytes")
    return Document(sound_text(text), " ".join(_label(title, "title").split()), name)


def _label(value: object, key: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRecord("damaged", f"its {key} is neither a text nor a whole number")
    return sound_text(str(value))

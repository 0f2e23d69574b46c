"""Lines as the user's own documents: JSON lines and plain texts.

A record that is no document is yielded as a `BadRecord`, which says why; nothing is raised for it.
"""

import codecs
import json
import os
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import PurePath
from typing import BinaryIO

from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.file_source import Say, silently
from wikitopics.crawler.page import Skip, sound_text
from wikitopics.crawler.unpacking import data_blocks

# Files of the user's own documents as lines: unpacked in bounded memory, with the place after each
# line.

LARGEST_DOCUMENT = 32 << 20
"""The most bytes of a document, or of its line; a larger one is skipped and never held in
memory."""
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


# By their first bytes: files that are not text, although people call them .csv or .txt.
_BZIP2 = "a bzip2 file: its name must end with .bz2"
_FORMATS = {
    b"\x1f\x8b": "a gzip file: its name must end with .gz",
    **{b"BZh%d1AY&SY" % level: _BZIP2 for level in range(1, 10)},
    b"\xfd7zXZ\0": "an xz file: its name must end with .xz",
    b"\x28\xb5\x2f\xfd": "a Zstandard file: its name must end with .zst",
    b"PK\3\4": "a ZIP archive: unpack it, or if it is a spreadsheet, save that as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "a document of Excel or Word: save it as CSV or text in UTF-8",
    b"PAR1": "a Parquet file: its name must end with .parquet",
    b"%PDF-": "a PDF: convert it to text",
}


def other_format(path: str) -> str:
    """What a file is that is not text, by its first bytes, and what to do; "" if it may be text, or
    cannot be read."""
    try:
        with open_regular(path) as file:
            first = file.read(10)
    except OSError:
        return ""
    for mark, what in _FORMATS.items():
        if first.startswith(mark):
            return what
    return ""


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

    ``offset`` and ``number`` say where to begin: a plain file is read from there, a compressed one
    from its start. Reading raises BadSource, Stopped and, for all of the file, CutOff.
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
    without_document: int = 0
    """Bytes read since the last document, with the cost of their lines."""
    state: str = "empty"
    """What a file without a line is: otherwise cut off, or damaged."""

    def __post_init__(self) -> None:
        self._fresh = self._lines()
        """The lines of the file, each once."""
        self._again: deque[tuple[bytes | None, int]] = deque()
        """Lines that were put back."""
        self.lines = self._fresh
        """The remaining lines with their endings; None for one over ``LARGEST_DOCUMENT``. Take the
        next one from here each time if lines are put back."""

    def put_back(self, lines: Sequence[tuple[bytes | None, int]]) -> None:
        """Hand out again the last lines that were handed out, each with its number of bytes in the
        file."""
        self.offset -= sum(size for _, size in lines)
        self.number -= len(lines)
        self._again.extendleft(reversed(lines))
        self.lines = self._lines_again()

    def _lines_again(self) -> Iterator[bytes | None]:
        while self._again:
            line, size = self._again.popleft()
            self.offset += size
            self.number += 1
            yield line
        for fresh in self._fresh:  # noqa: UP028 (`yield from` would close the lines with this generator)
            yield fresh

    def whole(self) -> bytes | None:
        """All of a file that is one document; None if it is over ``LARGEST_DOCUMENT``. Raises
        CutOff."""
        pieces: list[bytes] = []
        size = 0
        for block in self._blocks():
            size += len(block)
            if size > LARGEST_DOCUMENT:
                return None
            pieces.append(block)
        return _without_mark(b"".join(pieces))

    def _lines(self) -> Iterator[bytes | None]:
        pieces: list[bytes] = []
        size = 0
        try:
            for block in self._blocks():
                self.without_document += len(block) + LINE_COST * block.count(b"\n")
                if self.without_document > MOST_WITHOUT:
                    bound = f"{MOST_WITHOUT // LINE_COST:,} lines, or {MOST_WITHOUT >> 30} GB"
                    raise BadSource(
                        f"{self.name}: no document in over {bound}: leave this file out"
                    )
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
                        pieces = []
                        size = 0
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
        return _without_mark(line) if begins_file else line

    def _blocks(self) -> Iterator[bytes]:
        """The rest of the file, unpacked, in UTF-8 and with line feeds."""
        to_skip = self.offset
        first: bytes | None = None
        blocks = self._plain_blocks()
        if is_packed(self.name):
            blocks = (block.data for block in data_blocks(self._read, self.name))
        elif self.offset:  # at the start, nothing is sought: the file may be a pipe
            first = self.file.read(_READ)
            # The offset counts bytes of UTF-8: those of the file, if that is its encoding.
            if encoding_of(first) == _UTF8:
                self.file.seek(self.offset)
                to_skip = 0
            else:
                self.file.seek(0)
        for block in _readable(blocks, first):
            if self.stopped():
                raise Stopped
            rest = block[to_skip:]
            if rest:
                yield rest
            to_skip -= len(block) - len(rest)

    def _plain_blocks(self) -> Iterator[bytes]:
        while block := self._read(_READ):
            yield block

    def _read(self, size: int) -> bytes:
        data = self.file.read(size)
        self.seen(data)
        return data


def _without_mark(beginning: bytes) -> bytes:
    """The beginning of a file without byte order marks: a program that does not know them adds
    another."""
    while beginning.startswith(_BYTE_ORDER_MARK):
        beginning = beginning.removeprefix(_BYTE_ORDER_MARK)
    return beginning


# What files hold that are not written as usual: UTF-16, and lines that end in a carriage return
# alone.

_UTF8 = "utf-8"
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # begins with that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_SAMPLE = 4096


def encoding_of(first: bytes) -> str:
    """The encoding of a file that begins like this: UTF-8 unless it looks like another one of
    Unicode's."""
    for mark, encoding in _MARKS.items():
        if first.startswith(mark):
            return encoding
    # In UTF-16, a character of ASCII is one byte that is zero and one that is not. The zeros of a
    # text are therefore nearly all at even places, or nearly all at odd ones.
    sample = first[:_SAMPLE]
    even_zeros = sample[::2].count(0)
    odd_zeros = sample[1::2].count(0)
    most = max(even_zeros, odd_zeros)
    least = min(even_zeros, odd_zeros)
    has_zeros = most >= max(3, len(sample) // 100)
    if not has_zeros or least * 10 > most:
        return _UTF8
    return "utf-16-be" if even_zeros > odd_zeros else "utf-16-le"


def _ends_in_carriage_returns(first: bytes) -> bool:
    """Whether lines end in a carriage return alone, as on old Macs; line feeds may be in quoted
    cells."""
    first_return = first.find(b"\r")
    first_feed = first.find(b"\n")
    if first_return < 0 or b"\r\n" in first:
        return False
    if first_feed < 0:
        return True
    is_quoted = first.count(b'"', 0, first_return) % 2 == 1
    return first_return < first_feed and not is_quoted


def _readable(blocks: Iterable[bytes], first: bytes | None) -> Iterator[bytes]:
    """The blocks of a file in UTF-8 and with line feeds.

    ``first``: the beginning of the file; None: the first of the blocks.
    """
    decoder: codecs.IncrementalDecoder | None = None
    has_returns: bool | None = None
    for block in blocks:
        if has_returns is None:
            begin = block if first is None else first
            encoding = encoding_of(begin)
            if encoding != _UTF8:
                decoder = codecs.getincrementaldecoder(encoding)("replace")
                begin = begin.decode(encoding, "replace").encode()
            has_returns = _ends_in_carriage_returns(begin)
        if decoder is not None:
            block = decoder.decode(block).encode()
        yield block.replace(b"\r", b"\n") if has_returns else block
    if decoder is not None:
        yield decoder.decode(b"", True).encode()


LONGEST_ID = 4096
"""The most bytes of an id. An id is never cut, since it must remain unique: a document with a
longer one is skipped."""
TOO_LARGE = f"over {LARGEST_DOCUMENT >> 20} MB"
_SHORT = 100
"""The bytes below which a line is searched for blanks other than ASCII's."""
_MOST_KEYS = 100
"""The most keys of JSON lines remembered for messages: a hostile file may have any number."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as stored in its file."""

    text: str
    title: str = ""
    id: str = ""


class BadRecord(Exception):
    """Why a record is skipped.

    skip: the reason by which such records are counted
    why: the message
    """

    def __init__(self, skip: Skip, why: str) -> None:
        self.skip: Skip = skip
        self.why = why


Record = tuple[Document | BadRecord, int]
"""One entry of a file, and the number of the line in which it begins, from 1."""


NOT_UTF8: tuple[Skip, str] = ("not UTF-8", "not UTF-8: save the file as UTF-8")


@dataclass
class Names:
    """The columns of tables, or keys of JSON lines, that hold the parts of a document, and the
    others."""

    text: str
    other_text: str | None = None
    """Another key for the text, for JSON lines without the first."""
    title: str | None = None
    """None if the user did not name it, as for ``id``: the one called so is used if it exists."""
    id: str | None = None
    reads_ids: bool = True
    """Whether documents have ids."""
    has_text: bool | None = None
    """Whether any JSON line has had the text's key; None before the first line."""
    others: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {"--title-column": self.title, "--id-column": self.id}
        self.missing = {flag: name for flag, name in named.items() if name is not None}
        """The named title and id that no record has had so far, by option."""

    def text_of(self, record: Mapping[str, object]) -> object:
        """The text of a JSON line; None if it has none. Remembers its keys."""
        key = self.text if self.text in record else self.other_text
        self.has_text = bool(self.has_text) or key in record
        self.note(record, has_text=self.has_text)
        return None if key is None else record.get(key)

    def note(self, existing: Collection[str], *, has_text: bool = True) -> None:
        """Take note of the names that a table or a JSON line has; messages tell them as long as one
        that is wanted is missing.

        ``has_text``: whether the text's one has occurred.
        """
        self.missing = {flag: name for flag, name in self.missing.items() if name not in existing}
        is_complete = has_text and not self.missing
        if not is_complete and len(self.others) < _MOST_KEYS:
            self.others |= dict.fromkeys(islice(existing, _MOST_KEYS))


def lacks(
    noun: str,
    named: str | None,
    existing: Iterable[str],
    flag: str = "--text-column",
    otherwise: str = "",
) -> str:
    """A message for a file in which no column or key (``noun``) is called ``named``; None: `text`.

    ``existing``: the names that there are. ``otherwise``: what else the user may do.
    """
    names = list(existing)
    missing = f"which {noun} holds the text?"
    if named:
        missing = f"there is no {noun} {named!r}."
        by_folded = {name.casefold(): name for name in names}
        near = get_close_matches(named.casefold(), by_folded, n=1)
        if near:
            missing += f" Did you mean {by_folded[near[0]]!r}?"
    return f"{missing} Name one with {flag}{otherwise}: {listed(names)}"


def misfit(named: str, needed: str, fit: Iterable[str]) -> str:
    """A message for a column that does not hold what is ``needed``; ``fit``: those that do."""
    return f"the column {named!r} does not hold {needed}. Those that do: {listed(fit)}"


def listed(names: Iterable[str]) -> str:
    """The names of columns or keys, for people."""
    return ", ".join(map(repr, names))[:200] or "there are none"


_ONE_A_LINE = ": write one object a line, as `jq -c '.[]'` does with an array"


def json_lines(contents: Contents, names: Names, *, may_be_empty: bool = False) -> Iterator[Record]:
    """One JSON object per line, with a text and optionally a title and an id. Blank lines are not
    records, nor are those that only begin or end an array.

    ``may_be_empty``: whether an object without a text is a document too.
    """
    for line in contents.lines:
        if line is not None and _is_nothing(line):
            continue
        try:
            yield _from_json(line, names, may_be_empty), contents.number
        except BadRecord as bad:
            yield bad, contents.number


_BESIDE_JSON = " \t\r\n\N{RECORD SEPARATOR}\N{BYTE ORDER MARK}\N{NO-BREAK SPACE}"
"""What may stand around the object of a line: programs mark where records or joined files begin."""


def _is_nothing(line: bytes) -> bool:
    """Whether there is nothing in a line, or only what begins or ends an array."""
    if len(line) >= _SHORT:
        return not line.strip()
    return line.decode("utf-8", "replace").strip(_BESIDE_JSON) in ("", "[", "]", ",")


def _integer(digits: str) -> int | str:
    """A whole number; its digits if they are more than Python makes a number of."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _parsed(text: str) -> object:
    """What JSON says; strings may hold control characters. Raises ValueError and RecursionError."""
    return json.loads(text, strict=False, parse_int=_integer)


def _from_json(line: bytes | None, names: Names, may_be_empty: bool) -> Document:
    text_of_line = _utf8(line).strip(_BESIDE_JSON)
    try:
        try:
            record = _parsed(text_of_line)
        except ValueError:
            # One element of an array whose elements have a line each.
            inner = text_of_line.removeprefix("[").removeprefix(",").removesuffix("]")
            record = _parsed(inner.rstrip().removesuffix(","))
    except (ValueError, RecursionError):
        is_first_of_several = text_of_line in ("{", "[{")
        hint = _ONE_A_LINE if is_first_of_several else ""
        raise BadRecord("not JSON", f"not JSON{hint}") from None
    if not isinstance(record, dict):
        hint = _ONE_A_LINE if isinstance(record, list) else ""
        raise BadRecord("no text", f'not an object with a "{names.text}"{hint}')
    text = names.text_of(record)
    if may_be_empty and not (isinstance(text, str) and text.strip()):
        text = ""
    title = record.get(names.title or "title")
    external_id = record.get(names.id or "id") if names.reads_ids else None
    return document_of(text, title, external_id, may_be_empty)


def plain_texts(contents: Contents, each_line: bool) -> Iterator[Record]:
    """The documents of a plain text: what is between blank lines, or with ``each_line`` every line
    that is not blank."""
    pieces: list[bytes] = []  # of the document; none if it is too large
    size = 0
    first: int | None = None  # the number of its first line
    for line in contents.lines:
        is_blank = line is not None and _is_blank(line)
        if not is_blank:
            if first is None:
                first = contents.number
            size += LARGEST_DOCUMENT + 1 if line is None else len(line)
            if line is None or size > LARGEST_DOCUMENT:
                pieces.clear()
            else:
                pieces.append(line)
        if first is not None and (is_blank or each_line):
            yield _plain(pieces), first
            pieces = []
            size = 0
            first = None
    if first is not None:
        yield _plain(pieces), first


def _is_blank(line: bytes) -> bool:
    """Whether a line shows nothing. It need not be empty: word processors write no-break spaces."""
    if not line.strip():
        return True
    return len(line) < _SHORT and not line.decode("utf-8", "replace").strip()


def _plain(lines: Sequence[bytes]) -> Document | BadRecord:
    try:
        text = _utf8(b"".join(lines) or None)
        if "\0" in text:
            raise BadRecord("not UTF-8", "a binary file, or not UTF-8 text")
        return document_of(text, None, None)
    except BadRecord as bad:
        return bad


def whole_file(contents: Contents) -> Document | BadRecord:
    """A file that is one document."""
    try:
        return document_of(_utf8(contents.whole()), None, None)
    except CutOff as error:
        return BadRecord("damaged", str(error))
    except BadRecord as bad:
        return bad


def _utf8(data: bytes | None) -> str:
    """The text of a line or a file; None: it is too large."""
    if data is None:
        raise BadRecord("too large", TOO_LARGE)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadRecord(*NOT_UTF8) from None


def document_of(
    text: object,
    title: object,
    external_id: object,
    may_be_empty: bool = False,
) -> Document:
    """A document of these fields, whatever their types."""
    if not isinstance(text, str):
        if _is_missing(text):
            raise BadRecord("no text", "no text")
        raise BadRecord("no text", f"no text: not a string, but {_label(text):.40}")
    if not (may_be_empty or text.strip()):
        raise BadRecord("no text", "no text")
    name = _label(external_id)
    if not (may_be_empty or name.strip()):
        name = ""
    if len(name.encode()) > LONGEST_ID:
        raise BadRecord("too large", f"an id of over {LONGEST_ID} bytes")
    return Document(sound_text(text), " ".join(_label(title).split()), name)


def _label(value: object) -> str:
    """A title or an id as text; anything that is not text is written as JSON."""
    if _is_missing(value):
        return ""
    if isinstance(value, str):
        return sound_text(value)
    return sound_text(json.dumps(value, ensure_ascii=False))


def _is_missing(value: object) -> bool:
    """Whether a value stands for none: null, or NaN, the only one that differs from itself."""
    return value is None or value != value

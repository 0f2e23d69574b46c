"""Files of the user's own documents as lines: unpacked in bounded memory, with the place after each
line."""

import codecs
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.file_source import Say, silently
from wikitopics.crawler.unpacking import data_blocks

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
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("a folder, a pipe or a device, not a regular file")
    return os.fdopen(descriptor, "rb")


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
        """The lines of the file, joined from its blocks."""
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
        if has_returns:
            block = block.replace(b"\r", b"\n")
        yield block
    if decoder is not None:
        yield decoder.decode(b"", True).encode()

"""Files of the user's own documents as lines: unpacked, in bounded memory, with the place after each line."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import BinaryIO

from wikitopics.crawler.dumps.decompression import data_blocks
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.file_source import Tell, silently

LARGEST_DOCUMENT = 32 << 20
"""The most bytes of a document, or of its line; a larger one is skipped and never held in memory."""
MOST_WITHOUT = 1 << 30
"""Bytes without a document after which a file is rejected: a decompression bomb, or zeros."""
LINE_COST = 100
"""Each line counts as this many bytes more: even an empty one takes as long to read."""
PACKED = (".gz", ".bz2", ".xz", ".zst")
_READ = 256 << 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_packed(name: str) -> bool:
    """Whether the file's name says that it is compressed."""
    return PurePath(name).suffix.lower() in PACKED


def open_regular(path: str) -> BinaryIO:
    """Open a regular file. Raises OSError for anything else; never waits for a pipe's other end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    file = os.fdopen(descriptor, "rb")  # refuses a folder
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError("a pipe or a device, not a regular file")
    return file


class Stopped(Exception):
    """The rest of the file is no longer wanted."""


class Contents:
    """One open file, unpacked if its name says that it is compressed: its lines, or all of it.

    ``offset`` and ``number`` say where to begin: a plain file is read from there on, a compressed one from
    its start. ``seen`` is called with the bytes as stored on disk; ``stopped`` is called before each block
    and says whether to end; ``tell`` takes one line for people if the file ends early. Reading raises
    BadSource, Stopped and, for all of the file, CutOff.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        offset: int = 0,
        number: int = 0,
        seen: Callable[[bytes], object] = lambda _: None,
        stopped: Callable[[], bool] = lambda: False,
        tell: Tell = silently,
    ) -> None:
        self.offset = offset
        """The end of the last line handed out, in unpacked bytes."""
        self.number = number
        """The number of lines up to there, from the file's start."""
        self.lines = self._lines()
        """The further lines with their ends; None for one over ``LARGEST_DOCUMENT``."""
        self._file = file
        self._name = name
        self._seen = seen
        self._stopped = stopped
        self._tell = tell
        self._without = 0

    def found(self) -> None:
        """Note that a document was found in the lines read."""
        self._without = 0

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
                self._check(len(block) + LINE_COST * block.count(b"\n"))
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
            self._tell(f"{self._name}: {error}; everything after line {self.number:,} is left out")
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

    def _check(self, size: int) -> None:
        """Raise BadSource if, with ``size`` bytes more, no document has been found for too long."""
        self._without += size
        if self._without > MOST_WITHOUT:
            raise BadSource(
                f"{self._name}: over {MOST_WITHOUT // LINE_COST:,} lines, or {MOST_WITHOUT >> 30} GB, "
                "without a document: leave this file out"
            )

    def _blocks(self) -> Iterator[bytes]:
        skip, blocks = 0, iter(lambda: self._read(_READ), b"")
        if is_packed(self._name):
            skip, blocks = self.offset, (block.data for block in data_blocks(self._read, self._name))
        elif self.offset:  # a pipe has only its beginning
            self._file.seek(self.offset)
        for block in blocks:
            if self._stopped():
                raise Stopped
            if rest := block[skip:]:
                yield rest
            skip -= len(block) - len(rest)

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._seen(data)
        return data

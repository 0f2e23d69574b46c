"""Stretches of dump files that can be read independently, in any process and in any order.

A part is a range of bytes of a file as stored on disk. Its pages are those whose first byte is in data whose
unpacking begins there: a block, a frame, or for a plain file the byte itself. So each page is in exactly one
part, wherever files are divided.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import SEEK_END

from wikitopics.crawler.dumps.bzip2 import bzip2_blocks, has_blocks
from wikitopics.crawler.dumps.frames import frames, has_frames, magic_of
from wikitopics.crawler.dumps.ranges import Held, Ranged, Readable, short_name
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.source import Page, Skip, SourceInfo

SMALLEST, LARGEST = 1 << 10, 1 << 20
"""The bytes of a part. Its last page may end in a further block of 900 kB, which is unpacked only for
that."""
MOST_PARTS = 1_000_000
"""The most parts of a dump; larger dumps have larger parts."""
_PARTS = 64
"""The fewest parts of a small dump, so that its articles too can be held out in many places and shuffled."""
_READ = 1 << 20
_LITTLE = 32 << 10
_MOST_UNPACKED = 256 << 20
"""The most bytes of a part's data; a dump unpacks to five or twenty times its size."""
_MOST_ARTICLES = 50_000
"""The most articles of a part; the shortest ones of a real dump, in large numbers, take a hundred bytes
each."""
_PAGE = re.compile(rb"<page[\s>]")


@dataclass(frozen=True, slots=True)
class DumpPart:
    """The pages that begin in bytes ``start`` to before ``stop`` of a file.

    Only its articles from ``first`` to before ``last`` are taken (None: all that follow).
    """

    file: Ranged
    start: int
    stop: int
    first: int = 0
    last: int | None = None

    @property
    def size(self) -> int:
        """The stored bytes; 0 for a part whose rest is read another time."""
        return self.stop - self.start if self.last is None else 0

    def __str__(self) -> str:
        return f"{short_name(self.file)}, bytes {self.start:,} to {self.stop:,}"

    def held(self, stop: int) -> "DumpPart":
        """The same part, holding the bytes of the file up to ``stop``. Raises BadSource."""
        try:
            return replace(self, file=Held.of(self.file, self.start, stop))
        except OSError as error:
            raise BadSource(f"{self.file.name}: cannot be read: {error.strerror or error}") from error

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in their order, and, unless it ends at ``last``, why others were skipped.

        Raises CutOff after the last page that can be read, Lacking, BadSource.
        """
        articles = 0
        try:
            with self.file.open() as file:
                if file.seek(0, SEEK_END) < self.stop:
                    raise BadSource(f"{self.file.name}: the file became smaller while it was read")
                file.seek(0)
                for page in _pages(file, self, info.language):
                    if isinstance(page, Page):
                        articles += 1
                        if articles > _MOST_ARTICLES:
                            raise CutOff(f"it holds over {_MOST_ARTICLES:,} articles")
                        if articles > self.first:
                            yield page
                        if articles == self.last:
                            return
                    elif self.last is None:
                        yield page
        except OSError as error:
            raise BadSource(f"{self.file.name}: cannot be read: {error.strerror or error}") from error


def can_be_parted(file: Ranged, most: int | None = None) -> bool:
    """Whether reading can begin within the file, judging by ``most`` stretches of it (None: all).

    Raises BadSource if it cannot be read.
    """
    try:
        with file.open() as opened:
            head = opened.read(6)
            opened.seek(0)
            if head.startswith(b"BZh"):
                return has_blocks(opened)
            magic = magic_of(head)
            return magic is None or has_frames(opened, magic, most)
    except OSError as error:
        raise BadSource(f"{file.name}: cannot be read: {error.strerror or error}") from error


def part_size(sizes: Sequence[int]) -> int:
    """The bytes of each part of a dump whose files have these ``sizes``."""
    size = sum(sizes)
    return max(min(LARGEST, max(SMALLEST, size // _PARTS)), -(-size // MOST_PARTS))


def parts_of(files: Sequence[Ranged], sizes: Sequence[int], size: int) -> list[DumpPart]:
    """All parts of ``size`` bytes, in the order of the files."""
    return [
        DumpPart(file, start, min(start + size, whole))
        for file, whole in zip(files, sizes, strict=True)
        for start in range(0, whole, size)
    ]


def _pages(file: Readable, part: DumpPart, language: str) -> Iterator[Page | Skip]:
    is_first = part.start == 0
    reader = DumpReader(part.file.name, language=language, continued=not is_first)
    has_begun, before, unpacked = is_first, b"", 0
    fed, inside = 0, 1  # bytes given to the reader, and how many of them are the part's own
    with reader:
        for start, pieces in _blocks(file, part):
            is_behind = start >= part.stop
            if is_behind and (not before if not has_begun else reader.between_pages or reader.has_ended):
                return
            for data in _small(pieces) if is_behind else pieces:
                unpacked += len(data)
                if unpacked > _MOST_UNPACKED:
                    raise CutOff(f"it unpacks to over {_MOST_UNPACKED >> 20} MB")
                if not has_begun:
                    first = _PAGE.search(before + data)
                    if is_behind and (first is None or first.start() >= len(before)):
                        return
                    data = before + data
                    if first is None:
                        before = data[-5:]  # a tag may be divided
                        continue
                    has_begun, data = True, data[first.start() :]
                fed += len(data)
                if not is_behind:
                    inside = fed
                for entry in reader.feed(data):
                    if entry.start >= inside:
                        return
                    if entry.page is not None:
                        yield entry.page
                    if entry.end > inside:
                        return
        if has_begun:
            reader.close()


def _small(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same data in smaller pieces: after a part, only the end of a page has to be found."""
    return (piece[i : i + _LITTLE] for piece in pieces for i in range(0, len(piece), _LITTLE))


def _blocks(file: Readable, part: DumpPart) -> Iterator[tuple[int, Iterator[bytes]]]:
    """(byte at which reading can begin, the data from there), from the part's first byte to the file's
    end."""
    head = file.read(6)
    magic = magic_of(head)
    if magic is not None:
        return frames(file, part.file.name, magic, part.start, part.stop - part.start)
    file.seek(part.start)
    if head.startswith(b"BZh"):
        return bzip2_blocks(file.read1, part.start)
    return _plain(file, part)


def _plain(file: Readable, part: DumpPart) -> Iterator[tuple[int, Iterator[bytes]]]:
    at = part.start
    while data := file.read1(min(_READ, part.stop - at) if at < part.stop else _LITTLE):
        yield at, iter((data,))
        at += len(data)

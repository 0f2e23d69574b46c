"""Stretches of dump files that can be read independently, in any process and in any order.

A part is a range of bytes of a file as stored on disk. Its pages are those whose first byte is in data whose
unpacking begins there: a block, a frame, or for a plain file the byte itself. So each page is in exactly one
part, wherever files are divided.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wikitopics.crawler.dumps.bzip2 import bzip2_blocks, has_blocks
from wikitopics.crawler.dumps.decompression import Read
from wikitopics.crawler.dumps.frames import frames, has_frames, magic_of
from wikitopics.crawler.dumps.ranges import HEAD, HeldFile, RangedFile, reading
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

    file: RangedFile
    start: int
    stop: int
    first: int = 0
    last: int | None = None

    @property
    def size(self) -> int:
        """The stored bytes; 0 for a part whose rest is read another time."""
        return self.stop - self.start if self.last is None else 0

    def __str__(self) -> str:
        return f"{Path(self.file.name).name}, bytes {self.start:,} to {self.stop:,}"

    def held(self, stop: int) -> "DumpPart":
        """The same part, holding the bytes of the file up to ``stop``. Raises a CrawlerError."""
        file, start = self.file, self.start
        held = HeldFile(file.name, file.size, file.read(0, HEAD), start, file.read(start, stop))
        return replace(self, file=held)

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in their order, and, unless it ends at ``last``, why others were skipped.

        Raises CutOff after the last page that can be read, Lacking, BadSource.
        """
        if self.file.size < self.stop:
            raise BadSource(f"{self.file.name}: the file became smaller while it was read")
        articles = 0
        for page in _pages(self, info):
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


def can_be_parted(file: RangedFile, most: int | None = None) -> bool:
    """Whether reading can begin within the file; ``most`` as for `has_frames`. Raises BadSource."""
    head = file.read(0, HEAD)
    if head.startswith(b"BZh"):
        return has_blocks(reading(file, 0))
    magic = magic_of(head)
    return magic is None or has_frames(file, magic, most)


def part_size(sizes: Sequence[int]) -> int:
    """The bytes of each part of a dump whose files have these ``sizes``."""
    size = sum(sizes)
    return max(min(LARGEST, max(SMALLEST, size // _PARTS)), -(-size // MOST_PARTS))


def parts_of(files: Sequence[RangedFile], sizes: Sequence[int], size: int) -> list[DumpPart]:
    """All parts of ``size`` bytes, in the order of the files."""
    return [
        DumpPart(file, start, min(start + size, whole))
        for file, whole in zip(files, sizes, strict=True)
        for start in range(0, whole, size)
    ]


def _pages(part: DumpPart, info: SourceInfo) -> Iterator[Page | Skip]:
    is_first = part.start == 0
    reader = DumpReader(part.file.name, info, continued=not is_first)
    has_begun, before, unpacked = is_first, b"", 0
    fed, inside = 0, 1  # bytes given to the reader, and how many of them are the part's own
    with reader:
        for start, pieces in _blocks(part):
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


def _blocks(part: DumpPart) -> Iterator[tuple[int, Iterator[bytes]]]:
    """(byte at which reading can begin, the data from there), from the part's first byte to the file's
    end."""
    head = part.file.read(0, HEAD)
    magic = magic_of(head)
    if magic is not None:
        return frames(part.file, magic, part.start, part.stop - part.start)
    read = reading(part.file, part.start)
    return bzip2_blocks(read, part.start) if head.startswith(b"BZh") else _plain(read, part)


def _plain(read: Read, part: DumpPart) -> Iterator[tuple[int, Iterator[bytes]]]:
    at = part.start
    while data := read(min(_READ, part.stop - at) if at < part.stop else _LITTLE):
        yield at, iter((data,))
        at += len(data)

"""Parts of dump files that can be read independently, in any process and in any order.

A part is a range of bytes of a file as stored on disk. Its pages are those whose first byte is in data whose
unpacking begins there: a block, a frame, or for a plain file the byte itself. So each page is in exactly one
part, wherever files are divided.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from wikitopics.crawler.dumps.containers import (
    HEAD,
    HeldFile,
    RangedFile,
    Read,
    bzip2_blocks,
    frames,
    has_blocks,
    has_frames,
    magic_of,
    reading,
)
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.source import BadSource, CutOff, Lack, Page, Skip, SourceInfo

BEYOND = 512 << 10
"""Bytes held behind the end of a part: the block of its last page hardly ever ends later."""
MOST_HELD = 64 << 20
"""The most bytes that one part is given."""
_READ = 1 << 20
_LITTLE = 32 << 10
_MOST_UNPACKED = 256 << 20
"""The most bytes of a part's data; a dump unpacks to five or twenty times its size."""
_MOST_ARTICLES = 50_000
"""The most articles of a part; the shortest ones of a real dump, in large numbers, take a hundred bytes
each."""
_PAGE = re.compile(rb"<page[\s>]")


class DumpFile(Protocol):
    """One file of a dump, on this machine or on a server."""

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def size(self) -> int:
        """In bytes."""

    async def bytes_from(self, start: int, stop: int) -> bytes:
        """Bytes ``start`` to before ``stop``, fewer only at the file's end. Raises a `CrawlerError`."""

    async def fresh_bytes(self, start: int, stop: int) -> bytes | None:
        """The same, as the place where the file is stored now gives them; None if that would not differ."""


@dataclass(frozen=True, slots=True)
class DumpPart:
    """The pages that begin in the bytes before ``stop`` of those that are ``held``.

    Of its articles, ``each`` are held out: the first, and every ``stride``-th after it.
    """

    held: HeldFile
    stop: int
    each: int = 0
    stride: int = 1
    is_place: bool = False
    """Whether it gives the articles that are held out, and nothing else, or all the others."""
    file: DumpFile | None = field(default=None, compare=False)
    """Where more of it can be read; not in another process."""

    @classmethod
    async def read(cls, file: DumpFile, start: int, stop: int) -> "DumpPart":
        """The part of ``file`` from ``start`` to ``stop``. Raises a `CrawlerError`."""
        data = await file.bytes_from(start, min(stop + BEYOND, file.size))
        if len(data) < stop - start:
            raise BadSource(f"{file.name}: the file became smaller while it was read")
        head = data[:HEAD] if start == 0 else await file.bytes_from(0, HEAD)
        return cls(HeldFile(file.name, file.size, head, start, data), stop, file=file)

    def __reduce__(self) -> tuple[Any, ...]:
        return DumpPart, (self.held, self.stop, self.each, self.stride, self.is_place)

    @property
    def articles(self) -> int:
        """Unknown."""
        return 0

    @property
    def size(self) -> int:
        return len(self.held.data)

    def __str__(self) -> str:
        return f"{Path(self.held.name).name}, bytes {self.held.start:,} to {self.stop:,}"

    async def renewed(self, lack: Lack) -> "DumpPart | None":
        """The part with three times as many bytes, or with fresh ones."""
        held, file = self.held, self.file
        assert file is not None
        if lack == "more":
            if held.stop >= held.size or len(held.data) >= MOST_HELD:
                return None
            data = await file.bytes_from(held.start, min(held.stop + 2 * len(held.data), held.size))
        else:
            fresh = await file.fresh_bytes(held.start, held.stop)
            if fresh is None or fresh == held.data:
                return None
            data = fresh
        return replace(self, held=replace(held, data=data))

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in their order, and, unless it is a place, why others were skipped.

        Raises CutOff after the last page that can be read, Lacking, BadSource.
        """
        articles, behind = 0, self.each * self.stride
        for page in self._pages(info):
            if not isinstance(page, Page):
                if not self.is_place:
                    yield page
                continue
            if articles == _MOST_ARTICLES:
                raise CutOff(f"it holds over {_MOST_ARTICLES:,} articles")
            if (articles < behind and articles % self.stride == 0) == self.is_place:
                yield page
            articles += 1
            if self.is_place and articles > behind - self.stride:
                return

    def _pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        is_first = self.held.start == 0
        reader = DumpReader(self.held.name, info, continued=not is_first)
        has_begun, before, unpacked = is_first, b"", 0
        fed, inside = 0, 1  # bytes given to the reader, and how many of them are the part's own
        with reader:
            for start, pieces in self._blocks():
                is_behind = start >= self.stop
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

    def _blocks(self) -> Iterator[tuple[int, Iterator[bytes]]]:
        """(byte at which reading can begin, the data from there), from the part's first byte to the file's
        end."""
        held = self.held
        magic = magic_of(held.head)
        if magic is not None:
            return frames(held, magic, held.start, self.stop - held.start)
        read = reading(held, held.start)
        return bzip2_blocks(read, held.start) if held.head.startswith(b"BZh") else self._plain(read)

    def _plain(self, read: Read) -> Iterator[tuple[int, Iterator[bytes]]]:
        at = self.held.start
        while data := read(min(_READ, self.stop - at) if at < self.stop else _LITTLE):
            yield at, iter((data,))
            at += len(data)


def can_be_parted(file: RangedFile, most: int | None = None) -> bool:
    """Whether reading can begin within the file; ``most`` as for `has_frames`. Raises BadSource."""
    head = file.read(0, HEAD)
    if head.startswith(b"BZh"):
        return has_blocks(reading(file, 0))
    magic = magic_of(head)
    return magic is None or has_frames(file, magic, most)


def _small(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same data in smaller pieces: after a part, only the end of a page has to be found."""
    return (piece[i : i + _LITTLE] for piece in pieces for i in range(0, len(piece), _LITTLE))

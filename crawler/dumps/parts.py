"""Parts of dump files that can be read independently, in any process and in any order.

A part is a range of bytes of a file as stored on disk. Its pages are those whose first byte is in
data that begins to be unpacked in that range: a block, a frame or, in a plain file, the byte
itself. So each page is in exactly one part, wherever files are divided.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from wikitopics.crawler.dumps.containers import (
    HEAD,
    HeldFile,
    blocks,
    reading,
    until_damage,
)
from wikitopics.crawler.dumps.pages import DumpEntry
from wikitopics.crawler.dumps.xml import LONGEST_PAGE_TAG, PAGE_TAG, DumpReader
from wikitopics.crawler.errors import REST_LEFT_OUT, BadSource, CutOff, Lacking
from wikitopics.crawler.page import Page, Skip, SourceInfo
from wikitopics.crawler.source import Lack
from wikitopics.crawler.unpacking import data_blocks

T = TypeVar("T")

BEYOND = 512 << 10
"""The bytes held after the end of a part: the block of its last page hardly ever ends later."""
MOST_HELD = 64 << 20
"""The most bytes that one part is given."""
_MOST_UNPACKED = 256 << 20
"""The most bytes of a part's data; a dump unpacks to five or twenty times its size."""
MOST_ARTICLES = 50_000
"""The most articles of a part; even the shortest articles in a real dump take a hundred bytes
each."""
_TRIES = 8
"""The most attempts to read more of one place than before."""


class DumpFile(Protocol):
    """One file of a dump, on this machine or on a server."""

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def size(self) -> int:
        """In bytes."""

    async def bytes_from(self, start: int, stop: int) -> bytes:
        """Bytes ``start`` to before ``stop``, fewer only at the file's end. Raises a
        `CrawlerError`."""

    async def fresh_bytes(self, start: int, stop: int) -> bytes | None:
        """The same bytes, requested again from where the file is stored; None if they would not
        differ."""


@dataclass(frozen=True, slots=True)
class DumpPart:
    """The pages that begin before ``stop`` in the bytes ``held``.

    The articles with the numbers ``held_out`` are held out.
    """

    held: HeldFile
    stop: int
    held_out: frozenset[int] = frozenset()
    is_place: bool = False
    """Whether it gives only the held-out articles; otherwise it gives all the others."""
    file: DumpFile | None = field(default=None, compare=False)
    """The file from which more can be read; None in another process."""
    articles: ClassVar = 0
    """Unknown, see `wikitopics.crawler.source.Job`."""

    @classmethod
    async def read(
        cls,
        file: DumpFile,
        start: int,
        stop: int,
        bytes_from: Callable[[int, int], Awaitable[bytes]] | None = None,
    ) -> "DumpPart":
        """The part of ``file`` from ``start`` to ``stop``. Raises a `CrawlerError`.

        ``bytes_from``: where its bytes come from, by default the file.
        """
        data = await (bytes_from or file.bytes_from)(start, min(stop + BEYOND, file.size))
        if len(data) < stop - start:
            raise BadSource(f"{file.name}: the file became smaller while it was read")
        head = data[:HEAD] if start == 0 else await file.bytes_from(0, HEAD)
        return cls(HeldFile(file.name, file.size, head, start, data), stop, file=file)

    def __reduce__(self) -> tuple[Any, ...]:
        return DumpPart, (self.held, self.stop, self.held_out, self.is_place)

    @property
    def size(self) -> int:
        return len(self.held.data)

    def __str__(self) -> str:
        return f"{Path(self.held.name).name}, bytes {self.held.start:,} to {self.stop:,}"

    async def renewed(self, lack: Lack) -> "DumpPart | None":
        """The part with three times as many bytes, or with fresh ones."""
        held = self.held
        file = self.file
        assert file is not None
        if lack == "more":
            stop = min(held.start + 3 * len(held.data), held.start + MOST_HELD, held.size)
            if held.stop >= stop:
                return None
            data = await file.bytes_from(held.start, stop)
        else:
            fresh = await file.fresh_bytes(held.start, held.stop)
            if fresh is None or fresh == held.data:
                return None
            data = fresh
        return replace(self, held=replace(held, data=data))

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in order and, unless only held-out articles are wanted, why others were
        skipped.

        Raises CutOff after the last page that can be read if others were lost, Lacking, BadSource.
        """
        articles = 0
        last = max(self.held_out, default=-1)
        reader = DumpReader(self.held.name, info, continued=self.held.start > 0)
        try:
            with reader:
                for page in self._pages(reader):
                    if not isinstance(page, Page):
                        if not self.is_place:
                            yield page
                        continue
                    if articles == MOST_ARTICLES:
                        raise CutOff(f"it holds over {MOST_ARTICLES:,} articles")
                    if (articles in self.held_out) == self.is_place:
                        yield page
                    articles += 1
                    if self.is_place and articles > last:
                        return
        except CutOff as error:
            reasons = filter(None, (reader.losses.told, str(error), REST_LEFT_OUT))
            raise CutOff("; ".join(reasons)) from error
        if reader.losses.told:
            raise CutOff(reader.losses.told)

    def _pages(self, reader: DumpReader) -> Iterator[Page | Skip]:
        """The articles that begin in the part, and why others are skipped."""
        for entry, inside in self._entries(reader):
            if entry.start >= inside:
                return
            if entry.page is not None:
                yield entry.page
            if entry.end > inside:
                return

    def _entries(self, reader: DumpReader) -> Iterator[tuple[DumpEntry, float]]:
        """The pages from the first one that begins in the part, each with the number of bytes of
        the reader's input that belong to the part, as far as is known by then."""
        has_begun = self.held.start == 0  # whether the reader has got the first page
        before = b""  # the end of the data before that, in which the tag of a page may begin
        unpacked = 0
        fed = 0  # bytes given to the reader
        inside = 1  # how many of these belong to the part
        for start, pieces in blocks(self.held, self.held.start, self.stop):
            is_behind = start >= self.stop
            if is_behind:
                ends_here = not before
                if has_begun:
                    ends_here = reader.between_pages or reader.has_ended
                if ends_here:
                    return
            for data in until_damage(pieces):
                if data is None:
                    before = b""
                    if is_behind and not has_begun:
                        continue  # what is damaged belongs to later parts
                    entries = reader.skip_gap("damaged")
                else:
                    unpacked += len(data)
                    if unpacked > _MOST_UNPACKED:
                        raise CutOff(f"it unpacks to over {_MOST_UNPACKED >> 20} MB")
                    if not has_begun:
                        first = PAGE_TAG.search(before + data)
                        if is_behind and (first is None or first.start() >= len(before)):
                            return
                        data = before + data
                        if first is None:
                            before = data[-LONGEST_PAGE_TAG:]  # a tag may be divided
                            continue
                        has_begun = True
                        data = data[first.start() :]
                    fed += len(data)
                    if not is_behind:
                        inside = fed
                        reader.losses.until = fed
                    entries = reader.feed(data)
                for entry in entries:
                    yield entry, inside
        if has_begun:
            for entry in reader.close():
                yield entry, math.inf


async def stated_facts(file: DumpFile, name: str) -> SourceInfo:
    """The facts that a dump beginning with ``file`` states before its first page; ``name`` is for
    people.

    Raises BadSource if it is not a dump.
    """

    def facts(part: DumpPart) -> SourceInfo:
        reader = DumpReader(file.name, SourceInfo(name, None))
        try:
            with reader:
                for block in data_blocks(reading(part.held, 0), file.name):
                    for _ in reader.feed(block.data):
                        pass
                    if reader.seen_pages:
                        break
                else:
                    reader.close()
        except CutOff:
            if not reader.seen_pages:
                raise
        return reader.info

    try:
        return await read_well(await DumpPart.read(file, 0, 0), facts)
    except (CutOff, Lacking) as error:
        raise BadSource(f"{file.name}: {error} before its first page; download it again") from None


async def read_well(part: DumpPart, work: Callable[[DumpPart], T]) -> T:
    """The result of ``work`` on a part, which gets more or fresh bytes as long as that helps.

    Raises what ``work`` raises.
    """
    for _ in range(_TRIES):
        try:
            return await asyncio.to_thread(work, part)
        except (CutOff, Lacking) as error:
            lack: Lack = "more" if isinstance(error, Lacking) else "again"
            renewed = await part.renewed(lack)
            if renewed is None:
                raise
            part = renewed
    return await asyncio.to_thread(work, part)

"""Dump files one behind the other, as a run of pages with the place behind each."""

import heapq
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import cast

from crawler.dump_blocks import CutOff, data_blocks
from crawler.dump_xml import DumpReader
from crawler.errors import BadSource
from crawler.source import Page, Skip

STANDARD_INPUT = "-"
_MOST_KEPT = 64 << 20
"""Bytes of the compressed texts that a scan holds; those of 1000 usual articles take 3 MB."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to read on: skip ``skip`` pages of any kind behind byte ``offset`` of file number ``file``."""

    file: int = 0
    offset: int = 0
    skip: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """One article, or why one had to be skipped, and the place behind it."""

    page: Page | Skip
    place: Place


class DumpFiles:
    """The articles of some dump files, in their order. Raises BadSource for a file that cannot be opened.

    ``tell`` is called with one line for people when a file is cut off. ``stopped`` is asked now and then
    whether to end early.
    """

    def __init__(
        self, paths: Sequence[str], tell: Callable[[str], None], stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.paths = tuple(paths)
        self.file_names: tuple[str, ...] = ()
        self.category_names: tuple[str, ...] = ()
        self.language = ""
        self.bytes_read = 0
        """Of all files, as they are on disk, in all readings together."""
        self._tell = tell
        self._stopped = stopped
        for path in self.paths:
            if path == STANDARD_INPUT or Path(path).is_file():
                continue
            if not Path(path).exists():
                raise BadSource(f"{path}: no such file")
            kind = "a folder" if Path(path).is_dir() else "a pipe or a device"
            raise BadSource(f"{path}: {kind}, not a regular file (a pipe is read from standard input: `-`)")

    @property
    def is_repeatable(self) -> bool:
        """Whether the files can be read more than once."""
        return not any(map(_is_stream, self.paths))

    @property
    def size(self) -> int:
        """Bytes of all files together, as they are on disk; 0 if one is a stream."""
        return sum(Path(path).stat().st_size for path in self.paths) if self.is_repeatable else 0

    def read(self, place: Place = Place()) -> Iterator[Found]:
        """The articles behind ``place``."""
        for number in range(place.file, len(self.paths)):
            begin = place if number == place.file else Place(number)
            yield from self._read_file(number, begin)

    def page(self, chosen: "Chosen") -> Page:
        """The article that a scan has chosen, with its text."""
        if chosen.text is not None:
            return replace(chosen.page, text=zlib.decompress(chosen.text).decode())
        return next(found.page for found in self.read(chosen.place) if isinstance(found.page, Page))

    def _read_file(self, number: int, begin: Place) -> Iterator[Found]:
        path = self.paths[number]
        name = "standard input" if path == STANDARD_INPUT else path
        if path == STANDARD_INPUT:
            yield from self._pages(number, name, cast("BufferedReader", sys.stdin.buffer), begin)
            return
        try:
            with open(path, "rb") as file:
                if begin.offset:
                    file.seek(begin.offset)
                yield from self._pages(number, name, file, begin)
        except OSError as error:
            raise BadSource(f"{name}: cannot be read: {error.strerror or error}") from error

    def _counted(self, file: BufferedReader) -> Callable[[int], bytes]:
        def read(size: int) -> bytes:
            data = file.read1(size)
            self.bytes_read += len(data)
            return data

        return read

    def _pages(self, number: int, name: str, file: BufferedReader, begin: Place) -> Iterator[Found]:
        can_seek = not _is_stream(self.paths[number])
        reader = DumpReader(name, language=self.language, continued=begin.offset > 0)
        restart, behind_restart, to_skip = begin.offset, 0, begin.skip
        try:
            for count, block in enumerate(data_blocks(self._counted(file), name, begin.offset)):
                if self._stopped():
                    return
                if block.start is not None and can_seek and count and reader.between_pages:
                    restart, behind_restart = block.start, 0
                for entry in reader.feed(block.data):
                    self.file_names = reader.file_names or self.file_names
                    self.category_names = reader.category_names or self.category_names
                    self.language = reader.language
                    if can_seek and block.is_plain:
                        restart, behind_restart = begin.offset + entry.end, 0
                    else:
                        behind_restart += 1
                    if to_skip:
                        to_skip -= 1
                    elif entry.page is not None:
                        yield Found(entry.page, Place(number, restart, behind_restart))
            reader.close()
        except CutOff as error:
            if not reader.seen_pages:
                raise BadSource(f"{name}: {error} before its first page; download it again") from None
            self._tell(f"{name}: {error}; what comes behind the last complete page is left out")


def _is_stream(path: str) -> bool:
    return path == STANDARD_INPUT or not Path(path).is_file()


def page_hash(page_id: int) -> int:
    """A number below 2**63 that looks random and is the same everywhere: which articles are held out."""
    return int.from_bytes(blake2b(str(page_id).encode(), digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """An article that a scan puts first."""

    hash: int
    page: Page
    """Without its text."""
    text: bytes | None
    """Compressed; None where too many were too large to keep them all: it is read again."""
    place: Place
    """From where on it is the first article."""

    def __lt__(self, other: "Chosen") -> bool:
        return self.hash > other.hash  # a heap then gives the largest hash first


@dataclass(frozen=True, slots=True)
class Scan:
    """What a first reading of a dump finds."""

    articles: int
    chosen: tuple[Chosen, ...]
    """Smallest hash first."""


def scan(files: DumpFiles, n: int, progress: Callable[[], None] = lambda: None) -> Scan:
    """Count the articles, and choose those with the ``n`` smallest hashes of the page id.

    ``progress`` is called every 1000 articles.
    """
    heap: list[Chosen] = []
    articles = kept = 0
    place = Place()
    for found in files.read():
        before, place = place, found.place
        if not isinstance(page := found.page, Page):
            continue
        articles += 1
        if articles % 1000 == 0:
            progress()
        key = page_hash(page.page_id)
        if len(heap) == n and (not n or key >= heap[0].hash):
            continue
        if len(heap) == n:
            kept -= len(heapq.heappop(heap).text or b"")
        text = zlib.compress(page.text.encode("utf-8"), 1)
        is_kept = kept + len(text) <= _MOST_KEPT
        kept += len(text) if is_kept else 0
        heapq.heappush(heap, Chosen(key, replace(page, text=""), text if is_kept else None, before))
    return Scan(articles, tuple(sorted(heap, reverse=True)))

"""Dump files one after another, as a sequence of pages with the place after each."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

from wikitopics.crawler.dumps.decompression import Read, data_blocks
from wikitopics.crawler.dumps.ranges import LocalFile
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.page_files import START, Found, Place
from wikitopics.crawler.source import SourceInfo

STANDARD_INPUT = "-"


class DumpFiles:
    """The articles of some dump files, in their order. Raises BadSource for a file that cannot be opened.

    ``tell`` is called with one line for people when a file is cut off. ``stopped`` is called now and then and
    says whether to end early.
    """

    def __init__(
        self, paths: Sequence[str], tell: Callable[[str], None], stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.paths = tuple(paths)
        self.bytes_read = 0
        """Bytes read from all files, as stored on disk, in all readings together."""
        self._tell = tell
        self._stopped = stopped
        self._reader: DumpReader | None = None
        for path in self.paths:
            if path == STANDARD_INPUT or Path(path).is_file():
                continue
            if not Path(path).exists():
                raise BadSource(f"{path}: no such file")
            kind = "a folder" if Path(path).is_dir() else "a pipe or a device"
            raise BadSource(f"{path}: {kind}, not a regular file (a pipe is read from standard input: `-`)")

    @property
    def name(self) -> str:
        """The name for people: the first file, and how many more."""
        first = "standard input" if self.paths[0] == STANDARD_INPUT else Path(self.paths[0]).name
        return first if self.count == 1 else f"{first} and {self.count - 1} more"

    @property
    def count(self) -> int:
        """How many files there are."""
        return len(self.paths)

    @property
    def is_repeatable(self) -> bool:
        """Whether the files can be read more than once."""
        return STANDARD_INPUT not in self.paths

    @property
    def size(self) -> int:
        """Bytes of all files together, as stored on disk; 0 if one is a stream."""
        return sum(LocalFile(path).size for path in self.paths) if self.is_repeatable else 0

    @property
    def info(self) -> SourceInfo:
        """The facts known about the dump; most once its first page has been read."""
        return self._reader.info if self._reader else SourceInfo(self.name, None)

    def mark(self) -> dict[str, int]:
        """The size: a dump is written once, and only ever replaced by another."""
        return {"size": self.size}

    def check(self, mark: Mapping[str, int]) -> dict[str, int]:
        """The mark of the dump as it is now. Raises BadSource if that has changed."""
        if mark.get("size", self.size) != self.size:
            raise BadSource(f"{self.name}: the dump has changed since this session began to read it")
        return self.mark()

    def first_reading(self) -> Iterator[Found]:
        """All articles."""
        return self.read()

    def read(self, place: Place = START) -> Iterator[Found]:
        """The articles after ``place``: after `skip` pages of any kind from byte `offset` of `file`."""
        first = place.get("file", 0)
        for number in range(first, self.count):
            yield from self._read_file(number, place if number == first else START)

    def _read_file(self, number: int, begin: Place) -> Iterator[Found]:
        path = self.paths[number]
        can_seek = path != STANDARD_INPUT
        name = path if can_seek else "standard input"
        offset = begin.get("offset", 0)
        try:
            with open(path, "rb") if can_seek else nullcontext(sys.stdin.buffer) as file:
                if can_seek:
                    file.seek(offset)
                yield from self._pages(number, name, self._counted(cast("BufferedReader", file)), begin)
        except OSError as error:
            raise BadSource(f"{name}: cannot be read: {error.strerror or error}") from error

    def _counted(self, file: BufferedReader) -> Read:
        def read(size: int) -> bytes:
            data = file.read1(size)
            self.bytes_read += len(data)
            return data

        return read

    def _pages(self, number: int, name: str, read: Read, begin: Place) -> Iterator[Found]:
        can_seek = self.paths[number] != STANDARD_INPUT
        offset, to_skip = begin.get("offset", 0), begin.get("skip", 0)
        reader = self._reader = DumpReader(name, self.info, continued=offset > 0)
        restart, behind_restart = offset, 0
        try:
            with reader:
                for count, block in enumerate(data_blocks(read, name, offset)):
                    if self._stopped():
                        return
                    if block.start is not None and can_seek and count and reader.between_pages:
                        restart, behind_restart = block.start, 0
                    for entry in reader.feed(block.data):
                        if can_seek and block.is_plain:
                            restart, behind_restart = offset + entry.end, 0
                        else:
                            behind_restart += 1
                        if to_skip:
                            to_skip -= 1
                        elif entry.page is not None:
                            here = {"file": number, "offset": restart, "skip": behind_restart}
                            yield Found(entry.page, here)
                reader.close()
        except CutOff as error:
            if not reader.seen_pages:
                raise BadSource(f"{name}: {error} before its first page; download it again") from None
            self._tell(f"{name}: {error}; everything after the last complete page is left out")

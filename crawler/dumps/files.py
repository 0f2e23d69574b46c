"""Dump files one after another, as a sequence of pages with the place after each."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

from wikitopics.crawler.dumps.decompression import Read, data_blocks
from wikitopics.crawler.dumps.ranges import LocalFile
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.file_source import START, Found, PageFiles, Place, Tell, silently
from wikitopics.crawler.source import SourceInfo

STANDARD_INPUT = "-"


class DumpFiles(PageFiles):
    """The articles of some dump files: namespace 0, no redirects, no disambiguation pages.

    ``tell`` is called when a file is cut off. Raises BadSource for a file that cannot be opened.
    """

    def __init__(self, paths: Sequence[str], tell: Tell = silently) -> None:
        names = ["standard input" if path == STANDARD_INPUT else Path(path).name for path in paths]
        super().__init__(names, tell)
        self.paths = tuple(paths)
        self.is_repeatable = STANDARD_INPUT not in paths
        self._reader: DumpReader | None = None
        for path in self.paths:
            if path == STANDARD_INPUT or Path(path).is_file():
                continue
            if not Path(path).exists():
                raise BadSource(f"{path}: no such file")
            kind = "a folder" if Path(path).is_dir() else "a pipe or a device"
            raise BadSource(f"{path}: {kind}, not a regular file (a pipe is read from standard input: `-`)")

    @property
    def count(self) -> int:
        return len(self.paths)

    @property
    def size(self) -> int:
        """Bytes of all files together; 0 if one is a stream."""
        return sum(LocalFile(path).size for path in self.paths) if self.is_repeatable else 0

    @property
    def info(self) -> SourceInfo:
        return self._reader.info if self._reader else SourceInfo(self.name, None)

    def mark(self) -> dict[str, int]:
        """The size: a dump is written once, and only ever replaced by another."""
        return {"size": self.size}

    def check(self, mark: Mapping[str, int]) -> dict[str, int]:
        """The mark of the dump as it is now. Raises BadSource if that has changed."""
        if mark.get("size", self.size) != self.size:
            raise BadSource(f"{self.name}: the dump has changed since this session began to read it")
        return self.mark()

    def look(self) -> None:
        """Read up to the first article. Raises BadSource if this is not a dump."""
        next(self.read(), None)

    def read(self, place: Place = START) -> Iterator[Found]:
        """The articles after ``place``: after `skip` pages of any kind from byte `offset` of `file`."""
        first = place.get("file", 0)
        for number in range(first, self.count):
            yield from self._read_file(number, place if number == first else START)

    def _read_file(self, number: int, begin: Place) -> Iterator[Found]:
        path = self.paths[number]
        can_seek = path != STANDARD_INPUT
        name = path if can_seek else "standard input"

        def read(size: int) -> bytes:
            data = file.read1(size)
            self.bytes_read += len(data)
            return data

        try:
            with (
                open(path, "rb")
                if can_seek
                else nullcontext(cast("BufferedReader", sys.stdin.buffer)) as file
            ):
                if can_seek:
                    file.seek(begin.get("offset", 0))
                yield from self._pages(number, name, read, begin, can_seek=can_seek)
        except OSError as error:
            raise BadSource(f"{name}: cannot be read: {error.strerror or error}") from error

    def _pages(self, number: int, name: str, read: Read, begin: Place, *, can_seek: bool) -> Iterator[Found]:
        offset, to_skip = begin.get("offset", 0), begin.get("skip", 0)
        reader = self._reader = DumpReader(name, self.info, continued=offset > 0)
        restart, behind_restart = offset, 0
        try:
            with reader:
                for count, block in enumerate(data_blocks(read, name, offset)):
                    if self.closed:
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
                            yield entry.page, here
                reader.close()
        except CutOff as error:
            if not reader.seen_pages:
                raise BadSource(f"{name}: {error} before its first page; download it again") from None
            self.tell(f"{name}: {error}; everything after the last complete page is left out")

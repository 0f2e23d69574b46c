"""Dump files one after another, as a sequence of pages with the place after each."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import cast

from wikitopics.crawler.dumps.containers import LocalFile, behind_damage, reading
from wikitopics.crawler.dumps.pages import DumpEntry
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import REST_LEFT_OUT, BadSource, CutOff, Damaged
from wikitopics.crawler.file_source import START, PageAndPlace, PageFiles, Place, Say, silently
from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.unpacking import DataBlock, Read, data_blocks

STANDARD_INPUT = "-"
_MOST_HEAD = 4 << 20
"""The bytes, unpacked, within which a dump's first page is expected."""


def head_facts(path: str) -> SourceInfo:
    """What a dump file on this machine states before its first page, as far as it can be read."""
    reader = DumpReader(path)
    size = 0
    try:
        with reader:
            file = LocalFile(path)
            for block in data_blocks(reading(file, 0), path):
                list(reader.feed(block.data))
                size += len(block.data)
                if reader.seen_pages or size > _MOST_HEAD:
                    break
    except (BadSource, CutOff):
        pass  # which is told when the dump is opened
    return reader.info


class DumpFiles(PageFiles):
    """The articles of some dump files: namespace 0, no redirects, no disambiguation pages.

    ``say`` is called when a file is cut off. Raises BadSource for a file that cannot be opened.
    """

    def __init__(self, paths: Sequence[str], say: Say = silently) -> None:
        super().__init__(list(map(_short_name, paths)), say)
        self.paths = tuple(paths)
        self.is_repeatable = STANDARD_INPUT not in paths
        self._reader: DumpReader | None = None
        for path in self.paths:
            if path == STANDARD_INPUT or Path(path).is_file():
                continue
            if not Path(path).exists():
                raise BadSource(f"{path}: no such file or folder")
            kind = "a folder" if Path(path).is_dir() else "a pipe or a device"
            raise BadSource(
                f"{path}: {kind}, not a regular file (a pipe is read from standard input: `-`)"
            )

    @property
    def count(self) -> int:
        return len(self.paths)

    @property
    def size(self) -> int:
        """Bytes of all files together; 0 if one is a stream."""
        if not self.is_repeatable:
            return 0
        return sum(LocalFile(path).size for path in self.paths)

    @property
    def info(self) -> SourceInfo:
        return self._reader.info if self._reader else SourceInfo(self.name, None)

    def mark(self, before: Place = START) -> dict[str, int]:
        """The size: a dump is written once, and can only be replaced by another one."""
        size = self.size
        if before.get("size", size) != size:
            raise BadSource(
                f"{self.name}: the dump has changed since this session began to read it"
            )
        return {"size": size}

    def check(self) -> None:
        """Read up to the first article. Raises BadSource if this is not a dump."""
        next(self.read(), None)

    def read(self, place: Place = START) -> Iterator[PageAndPlace]:
        """The articles after ``place``: after `skip` pages of any kind from byte `offset` of
        `file`."""
        first_file = place.get("file", 0)
        for number, path in enumerate(self.paths[first_file:], first_file):
            begin = place if number == first_file else START
            can_seek = path != STANDARD_INPUT
            name = path if can_seek else "standard input"
            try:
                with _opened(path) as file:
                    if can_seek:
                        file.seek(begin.get("offset", 0))
                    yield from self._pages(
                        number,
                        name,
                        partial(self._next, file),
                        begin,
                        can_seek=can_seek,
                    )
            except OSError as error:
                raise BadSource(f"{name}: cannot be read: {error.strerror or error}") from error

    def _next(self, file: BufferedReader, size: int) -> bytes:
        data = file.read1(size)
        self.bytes_read += len(data)
        return data

    def _pages(
        self,
        number: int,
        name: str,
        read: Read,
        begin: Place,
        *,
        can_seek: bool,
    ) -> Iterator[PageAndPlace]:
        """The articles of one file after ``begin``, each with the place after it. ``can_seek``:
        whether reading can begin in the middle of the file."""
        offset = begin.get("offset", 0)
        to_skip = begin.get("skip", 0)
        reader = DumpReader(name, self.info, continued=offset > 0)
        self._reader = reader
        restart = offset  # the last byte at which reading can begin
        behind_restart = 0  # the number of pages from there on
        cut_off = ""
        try:
            with reader:
                blocks = _entries(reader, name, read, offset, can_seek=can_seek)
                for count, (block, entries) in enumerate(blocks):
                    if self.closed:
                        return
                    start = block.start if can_seek and count > 0 else None
                    if start is not None and reader.between_pages:
                        restart = start
                        behind_restart = 0
                    for entry in entries:
                        if can_seek and block.is_plain:
                            restart = offset + entry.end
                            behind_restart = 0
                        else:
                            behind_restart += 1
                        if to_skip:
                            to_skip -= 1
                        elif entry.page is not None:
                            here = {"file": number, "offset": restart, "skip": behind_restart}
                            yield entry.page, here
        except CutOff as error:
            cut_off = f"{error}; {REST_LEFT_OUT}"
        losses = "; ".join(filter(None, (reader.losses.told, cut_off)))
        if losses:
            self.say(f"{name}: {losses}")


def _short_name(path: str) -> str:
    return "standard input" if path == STANDARD_INPUT else Path(path).name


def _opened(path: str) -> AbstractContextManager[BufferedReader]:
    """The file at a path, or standard input, which stays open."""
    if path == STANDARD_INPUT:
        return nullcontext(cast("BufferedReader", sys.stdin.buffer))
    return open(path, "rb")


_NOWHERE = DataBlock(b"", None)
"""The place of data behind damage: reading can only begin before it."""


def _entries(
    reader: DumpReader,
    name: str,
    read: Read,
    offset: int,
    *,
    can_seek: bool,
) -> Iterator[tuple[DataBlock, Iterator[DumpEntry]]]:
    """The pages of a file in the order of its blocks, and those lost by damage; ``reader`` takes a
    block only once its pages are asked for.

    Raises BadSource.
    """
    try:
        for block in data_blocks(read, name, offset):
            yield block, reader.feed(block.data)
    except CutOff as error:
        if not reader.seen_pages:
            raise BadSource(f"{name}: {error} before its first page; download it again") from None
        if isinstance(error, Damaged):
            pieces: Iterator[bytes | None] = iter((None,))  # nothing can be found again
            if can_seek:
                pieces = behind_damage(LocalFile(name), error)
            for piece in pieces:
                if piece is None:
                    yield _NOWHERE, reader.skip_gap(str(error))
                else:
                    yield _NOWHERE, reader.feed(piece)
    yield _NOWHERE, reader.close()

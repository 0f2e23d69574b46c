"""The files of a dump, read by ranges, and the places in them where reading can begin, whatever
their format."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass

from wikitopics.crawler.dumps.bzip2 import bzip2_blocks, has_blocks
from wikitopics.crawler.errors import BadSource, CutOff, Damaged, Lacking
from wikitopics.crawler.unpacking import ZSTD, Read, data_blocks

_READ = 256 * 1024
"""The bytes that are asked for at a time."""

# A file on this machine, or those bytes of a file that a job takes along to the process that reads
# them.

HEAD = 16
"""Bytes by which the format of a file is recognised."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine; its name is its path."""

    name: str

    @property
    def size(self) -> int:
        try:
            return os.path.getsize(self.name)
        except OSError as error:
            raise _unreadable(self.name, error) from error

    def read(self, start: int, stop: int) -> bytes:
        try:
            # Opened for each read, which takes microseconds.
            descriptor = os.open(self.name, os.O_RDONLY)
            try:
                return os.pread(descriptor, stop - start, start)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unreadable(self.name, error) from error

    async def bytes_from(self, start: int, stop: int) -> bytes:
        """The same as `read`, in a thread."""
        return await asyncio.to_thread(self.read, start, stop)

    async def fresh_bytes(self, start: int, stop: int) -> None:
        """Returns None: reading a disk again gives the same bytes."""


def _unreadable(path: str, error: OSError) -> BadSource:
    return BadSource(f"{path}: cannot be read: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class HeldFile:
    """Some bytes of a file stored elsewhere. It can be pickled, and is read like that file."""

    name: str
    size: int
    """The size of the whole file in bytes."""
    head: bytes
    """The first bytes of the file, by which its format is recognised."""
    start: int
    """Where ``data`` begins in the file."""
    data: bytes

    @property
    def stop(self) -> int:
        """Where ``data`` ends in the file."""
        return self.start + len(self.data)

    def read(self, start: int, stop: int) -> bytes:
        """As for the whole file; raises `Lacking` if byte ``start`` is not held."""
        stop = min(stop, self.size)
        if start >= stop:
            return b""
        if stop <= len(self.head):
            return self.head[start:stop]
        if self.start <= start < self.stop:
            return self.data[start - self.start : stop - self.start]
        raise Lacking(f"what begins in it continues after byte {self.stop:,}")


RangedFile = LocalFile | HeldFile
"""One file, wherever it is stored: ``read(start, stop)`` gives at least one of these bytes, fewer
than all only if later ones are missing, and nothing only at the file's end. Raises a `CrawlerError`
or `Lacking`."""


def reading(file: RangedFile, start: int, stop: int | None = None) -> Read:
    """Reads from byte ``start`` of the file to before ``stop`` (None: its end)."""

    def read(size: int) -> bytes:
        nonlocal start
        end = start + size if stop is None else min(start + size, stop)
        data = file.read(start, end) if start < end else b""
        start += len(data)
        return data

    return read


# gzip, xz and Zstandard files made of several frames: reading can begin with any frame.

_ZSTD = b"\x28\xb5\x2f\xfd"
MAGIC = (b"\x1f\x8b\x08", b"\xfd7zXZ\x00", _ZSTD)
"""The first bytes of a frame of gzip, of xz and of Zstandard."""
LARGEST = 16 << 20
"""The most compressed bytes of a frame that a process should unpack at a time."""
_MOST_FALSE = 1000
"""The number of false marks tried before giving up. By chance, gzip's three bytes occur once in 16
MB, the longer marks hardly ever. Testing a mark takes 0.1 ms."""


def magic_of(head: bytes) -> bytes | None:
    """The mark of the frames of the file beginning with ``head``."""
    if ZSTD.match(head):
        return _ZSTD
    for magic in MAGIC:
        if head.startswith(magic):
            return magic
    return None


def has_frames(file: RangedFile, magic: bytes, most: int | None = None) -> bool:
    """Whether there are several frames, and one begins in each LARGEST bytes of the file.

    Only the first ``most`` times LARGEST bytes are examined (None: all).
    """
    last_place = max(1, file.size - LARGEST - 1)  # at least one place, however small the file
    places = range(1, last_place + 1, LARGEST)
    try:
        for place in places[:most]:
            if _first_start(file, magic, place, LARGEST) is None:
                return False
    except CutOff:
        return False
    return True


def frames(
    file: RangedFile,
    magic: bytes,
    offset: int,
    within: int,
) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte at which it begins, its data in pieces) for every frame from ``offset`` on.

    There are none if no frame begins ``within`` so many bytes after the offset.
    """
    start = _first_start(file, magic, offset, within)
    while start is not None:
        following = _first_start(file, magic, start + 1)
        data = data_blocks(reading(file, start, following), file.name, start)
        yield start, (block.data for block in data)
        start = following


def _first_start(
    file: RangedFile,
    magic: bytes,
    offset: int,
    within: int | None = None,
) -> int | None:
    """Where the first frame from ``offset`` on begins, if one does ``within`` so many bytes (None:
    anywhere)."""
    return next(_starts(file, magic, offset, within), None)


def _starts(
    file: RangedFile,
    magic: bytes,
    offset: int,
    within: int | None = None,
) -> Iterator[int]:
    """Where frames begin. The few bytes of a mark may also occur in data, which then does not
    unpack.

    Raises CutOff if there are too many such false marks.
    """
    false_marks = 0
    stop = file.size if within is None else offset + within
    read = reading(file, offset)
    data = b""
    while offset < stop and (more := read(_READ)):
        data += more
        at = data.find(magic)
        while at >= 0 and offset + at < stop:
            if _unpacks(file, offset + at):
                yield offset + at
            else:
                false_marks += 1
                if false_marks > _MOST_FALSE:
                    raise CutOff("damaged")
            at = data.find(magic, at + 1)
        searched = max(0, len(data) - len(magic) + 1)
        data = data[searched:]
        offset += searched


def _unpacks(file: RangedFile, start: int) -> bool:
    try:
        return next(data_blocks(reading(file, start), "", start), None) is not None
    except (CutOff, BadSource):  # data may look like a frame that needs much memory
        return False


# Any file in which reading can begin in the middle, whatever its format.

_LITTLE = 32 << 10
"""The bytes of a piece behind the part of a file that is read, where only the end of the part's
last page has to be found."""


def can_be_parted(file: RangedFile, most: int | None = None) -> bool:
    """Whether reading can begin within the file; ``most`` as for `has_frames`. Raises BadSource."""
    head = file.read(0, HEAD)
    if head.startswith(b"BZh"):
        return has_blocks(reading(file, 0))
    magic = magic_of(head)
    return magic is None or has_frames(file, magic, most)


def blocks(file: RangedFile, start: int, stop: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte at which reading can begin, the data from there in pieces), from ``start`` to the
    file's end.

    There are none if none begins before ``stop``; data that begins after it comes in small pieces.
    """
    head = file.read(0, HEAD)
    magic = magic_of(head)
    if magic is not None:
        found = frames(file, magic, start, stop - start)
    elif head.startswith(b"BZh"):
        found = bzip2_blocks(reading(file, start), start)
    else:
        found = _plain_blocks(reading(file, start), start, stop)
    for at, pieces in found:
        yield at, pieces if at < stop else _cut_small(pieces)


def _cut_small(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for begin in range(0, len(piece), _LITTLE):
            yield piece[begin : begin + _LITTLE]


def _plain_blocks(read: Read, start: int, stop: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    while True:
        wanted = min(_READ, stop - start) if start < stop else _LITTLE
        data = read(wanted)
        if not data:
            return
        yield start, iter((data,))
        start += len(data)


def until_damage(pieces: Iterator[bytes]) -> Iterator[bytes | None]:
    """The pieces of a block or frame, and None behind them if the rest cannot be unpacked."""
    try:
        yield from pieces
    except CutOff:
        yield None


def behind_damage(file: RangedFile, damage: Damaged) -> Iterator[bytes | None]:
    """The data that follows what was handed out of a damaged stream, and None wherever some is
    missing."""
    known = damage.unpacked  # the bytes that are still to be passed over
    has_begun = is_cut_off = False
    try:
        for at, pieces in blocks(file, damage.start, file.size):
            if not has_begun and at > damage.start + HEAD:
                yield None  # nothing of the damaged stream is recognised
            has_begun = True
            for piece in until_damage(pieces):
                if piece is None:
                    known = 0  # a part of the damaged block may have been handed out
                    yield None
                elif known < len(piece):
                    yield piece[known:]
                    known = 0
                else:
                    known -= len(piece)
    except CutOff:
        is_cut_off = True
    if is_cut_off or not has_begun:
        yield None

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

# A file on this machine, or some bytes of a file: those that a job takes along to the process that
# reads it.

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
"""One file, wherever it is stored. ``read(start, stop)`` gives the bytes from ``start`` on, up to
``stop`` or to where the bytes that are there end. It gives none only at the end of the whole file,
and raises `Lacking` where the file goes on elsewhere, or a `CrawlerError`."""


def reading(file: RangedFile, start: int, stop: int | None = None) -> Read:
    """Reads from byte ``start`` of the file to before ``stop`` (None: its end); each call goes on
    where the last one ended."""

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
    # What follows the last whole LARGEST bytes need not have one. There is at least one place,
    # however small the file.
    last_place = max(1, file.size - LARGEST - 1)
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

    There are none if no frame begins in the ``within`` bytes from the offset on.
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
    """Where the first frame from ``offset`` on begins; None if none begins in the ``within`` bytes
    from there on (None: anywhere)."""
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
    data = b""  # begins at byte `offset` of the file
    while offset < stop and (more := read(_READ)):
        data += more
        place_in_data = data.find(magic)
        while place_in_data >= 0 and offset + place_in_data < stop:
            start = offset + place_in_data
            if _unpacks(file, start):
                yield start
            else:
                false_marks += 1
                if false_marks > _MOST_FALSE:
                    raise CutOff("damaged")
            place_in_data = data.find(magic, place_in_data + 1)
        # The last bytes are searched again with those that follow: a mark may begin in them.
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
"""The bytes of a piece of the data that follows a part of a file. A reader of the part needs only
a little of that data: the end of the part's last page."""


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

    If the file has frames, and none begins between the two, nothing is yielded. Data that begins at
    ``stop`` or later comes in small pieces.
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
        if at >= stop:
            pieces = _cut_small(pieces)
        yield at, pieces


def _cut_small(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for begin in range(0, len(piece), _LITTLE):
            yield piece[begin : begin + _LITTLE]


def _plain_blocks(read: Read, start: int, stop: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    while True:
        # No piece has bytes of both sides of ``stop``.
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
    to_pass_over = damage.unpacked  # the bytes that come again, but were already handed out
    has_begun = False
    is_cut_off = False
    try:
        for at, pieces in blocks(file, damage.start, file.size):
            if not has_begun and at > damage.start + HEAD:
                # The first data found is behind the damaged stream, all of which is missing: its
                # own would begin at its start, or behind a header shorter than HEAD.
                yield None
            has_begun = True
            for piece in until_damage(pieces):
                if piece is None:
                    # What follows was not handed out, even if not all that was has come again.
                    to_pass_over = 0
                    yield None
                elif to_pass_over < len(piece):
                    yield piece[to_pass_over:]
                    to_pass_over = 0
                else:
                    to_pass_over -= len(piece)
    except CutOff:
        is_cut_off = True
    if is_cut_off or not has_begun:
        yield None

"""Compressed files: unpacking in blocks of bounded size, and the places where reading can begin."""

import asyncio
import bz2
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from wikitopics.crawler.errors import BadSource, CutOff, Damaged, Lacking
from wikitopics.extra import ZST

# Compressed files to bytes, in blocks of bounded size, with the places where reading can begin.

Read = Callable[[int], bytes]
"""Continues reading: ``read(n)`` gives 1 to n bytes, and none only at the end of the file."""
_READ = 256 * 1024
_MOST_UNPACKED = 1024 * 1024
"""The most bytes in one block, however much a file unpacks to."""
_ZSTD_PIECE = 1024
"""The bytes given to Zstandard at a time: it unpacks all of them, to at most 32 MiB."""
_MOST_MEMORY = 128 * 1024 * 1024
"""The memory limit of a decompressor, which the file's header requests; `xz -9` needs 65 MiB.
Zstandard's own limit is the same."""
_REFUSALS = ("Memory usage limit", "too much memory")
"""How liblzma and libzstd report a file that requests more."""
ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
"""The first bytes of a frame, or of a frame without data (RFC 8878, 3.1.2), with which `pzstd`
begins."""


@dataclass(frozen=True, slots=True)
class DataBlock:
    """The next piece of a file, decompressed."""

    data: bytes
    start: int | None
    """Where reading of the file must begin to get this block first; None within a compressed
    stream."""
    is_plain: bool = False
    """Whether it is uncompressed: the byte at ``start + i`` of the file is byte i of the block."""


def data_blocks(read: Read, name: str, offset: int = 0) -> Iterator[DataBlock]:
    """The contents of a file from ``offset``, where ``read`` begins.

    An ``offset`` other than 0 must be an earlier ``start``.
    The file may be plain, or compressed by bzip2, gzip, xz or Zstandard, recognised by its first
    bytes. Raises CutOff, and BadSource for a file that cannot be unpacked here.
    """
    first = b""
    while len(first) < 6 and (more := read(_READ)):
        first += more
    if first.startswith(b"7z\xbc\xaf"):
        raise BadSource(f"{name}: 7z is not supported; take the .bz2 of the same dump")
    new: Callable[[], Any]
    if first.startswith(b"BZh"):
        new = bz2.BZ2Decompressor
    elif first.startswith(b"\x1f\x8b"):
        new = _Gzip
    elif first.startswith(b"\xfd7zXZ\x00"):
        new = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MOST_MEMORY)
    elif ZSTD.match(first):
        try:
            import zstandard
        except ImportError as error:
            raise BadSource(ZST.needed(f"{name}: reading .zst")) from error
        new = partial(_Zstandard, zstandard)
    else:
        return _plain(read, first, offset)
    return _streams(read, name, first, offset, new)


def _plain(read: Read, data: bytes, offset: int) -> Iterator[DataBlock]:
    while data:
        yield DataBlock(data, offset, is_plain=True)
        offset += len(data)
        data = read(_READ)


def _streams(
    read: Read,
    name: str,
    data: bytes,
    offset: int,
    new: Callable[[], Any],
) -> Iterator[DataBlock]:
    """Compressed streams, one after another; ``offset`` is where ``data`` begins."""
    while data:
        decompressor = new()
        begun = offset
        unpacked = 0
        start: int | None = offset
        while not decompressor.eof:
            if decompressor.needs_input and not data:
                data = read(_READ)
                if not data:
                    raise CutOff("cut off")
            try:
                out = decompressor.decompress(data, _MOST_UNPACKED)
            except (OSError, lzma.LZMAError, zlib.error) as error:
                if any(words in str(error) for words in _REFUSALS):
                    raise BadSource(
                        f"{name}: unpacking it needs over {_MOST_MEMORY >> 20} MB of memory: "
                        "compress it again without `zstd --long` or an `xz` dictionary of that size"
                    ) from error
                raise Damaged(begun, unpacked) from error
            offset += len(data)
            data = b""
            if out:
                yield DataBlock(out, start)
                unpacked += len(out)
                start = None
        data = decompressor.unused_data
        offset -= len(data)
        # Streams may be padded with zeros.
        while not (stripped := data.lstrip(b"\x00")):
            offset += len(data)
            data = read(_READ)
            if not data:
                return
        offset += len(data) - len(stripped)
        data = stripped


class _Gzip:
    """zlib's decompressor with the interface of bz2's and lzma's."""

    eof, needs_input, unused_data = False, True, b""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, most: int) -> bytes:
        inner = self._inner
        out = inner.decompress(inner.unconsumed_tail + data, most)
        self.eof, self.unused_data = inner.eof, inner.unused_data
        self.needs_input = not inner.unconsumed_tail
        return out


class _Zstandard:
    """zstandard's decompressor, for one frame, with the interface of bz2's and lzma's."""

    eof, needs_input, unused_data = False, True, b""

    def __init__(self, zstd: ModuleType) -> None:
        self._zstd = zstd
        self._inner = zstd.ZstdDecompressor().decompressobj()
        self._rest = self._out = memoryview(b"")

    def decompress(self, data: bytes, most: int) -> bytes:
        if data:
            self._rest = memoryview(bytes(self._rest) + data)
        if not self._out and not self._inner.eof:
            piece, self._rest = self._rest[:_ZSTD_PIECE], self._rest[_ZSTD_PIECE:]
            try:
                self._out = memoryview(self._inner.decompress(piece))
            except self._zstd.ZstdError as error:
                raise OSError(str(error)) from None
        out, self._out = self._out[:most], self._out[most:]
        self.needs_input = not self._rest and not self._out
        if self._inner.eof and not self._out:
            self.eof, self.unused_data = True, self._inner.unused_data + bytes(self._rest)
        return bytes(out)


# bzip2 by blocks: reading can begin anywhere in a file, however its streams are divided.
#
# A stream is a header of four bytes, blocks of at most 900 kB of data, and an end. A block begins,
# at any bit, with a mark of 48 bits and its checksum. A block placed between a header and an end is
# a valid stream.

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS, _CHECKSUM_BITS = 48, 32
_PATTERNS = [
    ((mark >> shift & (1 << 40) - 1).to_bytes(5, "big"), shift)
    for mark in (_BLOCK, _END)
    for shift in range(8)
]
"""The five bytes in the middle of a mark, by the number of bits before it in its first byte."""
_LONGEST = 2 << 20
"""The most bytes of a compressed block: even noise takes about 900 kB."""
_END_BYTES = 16
"""The bytes of a stream's end, with some padding; an end has a mark, unless reading began after
it."""
_BETWEEN_BITS = 119
"""The most bits from the mark of an end to the next mark: mark, checksum, padding, the next
header."""
_MOST_SEARCHED = 1 << 20
"""The bytes returned at a time, however much a block unpacks to."""


def bzip2_blocks(read: Read, offset: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte of the file in which it begins, its data in pieces) for every block from
    ``offset`` on.

    ``read`` begins there. Raises CutOff.
    """
    data, base = b"", offset
    begun: int | None = None  # the bit of `data` where a block begins
    ended: int | None = None  # the bit of the file where the last mark is one of an end
    searched = 0  # bytes of `data`
    seen = False
    while more := read(_READ):
        data += more
        for bit, mark in _marks(data, searched):
            if begun is not None:
                yield base + begun // 8, _unpacked(data, begun, bit)
            elif ended is not None and 8 * base + bit - ended > _BETWEEN_BITS:
                yield ended // 8, _damaged_block()  # the mark of a block in between is damaged
            begun, seen = bit if mark == _BLOCK else None, True
            ended = 8 * base + bit if mark == _END else None
        searched = max(0, len(data) - 6)
        done = searched if begun is None else begun // 8
        if len(data) - done > _LONGEST or (not seen and base + len(data) - offset > _LONGEST):
            # No block is that long, but there may be others behind the damage.
            yield base + done, _damaged_block()
            begun = None
            seen = True
            done = searched
        data, base, searched = data[done:], base + done, searched - done
        begun = None if begun is None else begun - 8 * done
    if begun is not None:
        raise CutOff("cut off")
    if not seen and base + len(data) - offset > _END_BYTES:
        raise CutOff("damaged")


def _damaged_block() -> Iterator[bytes]:
    """A block of which nothing can be unpacked."""
    yield from ()
    raise CutOff("damaged")


def has_blocks(read: Read) -> bool:
    """Whether there is more than one block, so that reading can begin in the middle."""
    data = b""
    while len(data) < 3 * _LONGEST and (more := read(_READ)):
        data += more
        if [mark for _, mark in _marks(data, 0)].count(_BLOCK) > 1:
            return True
    return False


def _marks(data: bytes, start: int) -> list[tuple[int, int]]:
    """(first bit, which mark) of all marks that begin in byte ``start`` or later."""
    marks = []
    for pattern, shift in _PATTERNS:
        at = data.find(pattern, start + 1)
        while at >= 0:
            bit = 8 * (at - 1) + shift
            if at + 6 <= len(data) and (mark := _bits(data, bit, bit + _MARK_BITS)) in (
                _BLOCK,
                _END,
            ):
                marks.append((bit, mark))
            at = data.find(pattern, at + 1)
    return sorted(marks)


def _bits(data: bytes, start: int, stop: int) -> int:
    """The bits from ``start`` to before ``stop`` as a number."""
    last = -(-stop // 8)
    number = int.from_bytes(data[start // 8 : last], "big") >> 8 * last - stop
    return number & (1 << stop - start) - 1


def _unpacked(data: bytes, start: int, stop: int) -> Iterator[bytes]:
    """The block in these bits. Raises CutOff if they are not a block."""
    length = stop - start
    block = _bits(data, start, stop)
    checksum = block >> max(0, length - _MARK_BITS - _CHECKSUM_BITS) & (1 << _CHECKSUM_BITS) - 1
    whole = (block << _MARK_BITS | _END) << _CHECKSUM_BITS | checksum
    bits = length + _MARK_BITS + _CHECKSUM_BITS
    padding = -bits % 8
    rest = b"BZh9" + (whole << padding).to_bytes((bits + padding) // 8, "big")
    decompressor = bz2.BZ2Decompressor()
    while not decompressor.eof:
        try:
            piece = decompressor.decompress(rest, _MOST_SEARCHED)
        except OSError as error:
            raise CutOff("damaged") from error
        rest = b""
        if piece:
            yield piece
        elif decompressor.needs_input:
            raise CutOff("damaged")


# The files of a dump, read by ranges: on this machine, or as part of a file, sent along with a job.

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
            descriptor = os.open(
                self.name, os.O_RDONLY
            )  # opened for each read, which takes microseconds
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
        """None: reading a disk again gives the same bytes."""


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
        if stop <= max(start, len(self.head)):
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
"""The first bytes of a frame of gzip, xz and Zstandard."""
LARGEST = 16 << 20
"""The most compressed bytes of a frame that a process should unpack at a time."""
_MOST_FALSE = 1000
"""The number of false marks tried before giving up. By chance, gzip's three bytes occur once in 16
MB, the longer marks hardly ever. Testing a mark takes 0.1 ms."""


def magic_of(head: bytes) -> bytes | None:
    """The mark of the frames of the file beginning with ``head``."""
    if ZSTD.match(head):
        return _ZSTD
    return next((magic for magic in MAGIC if head.startswith(magic)), None)


def has_frames(file: RangedFile, magic: bytes, most: int | None = None) -> bool:
    """Whether there are several frames, and one begins in each LARGEST bytes of the file.

    Only the first ``most`` times LARGEST bytes are examined (None: all).
    """
    places = range(1, max(2, file.size - LARGEST), LARGEST)
    try:
        return all(
            next(_starts(file, magic, place, LARGEST), None) is not None for place in places[:most]
        )
    except CutOff:
        return False


def frames(
    file: RangedFile,
    magic: bytes,
    offset: int,
    within: int,
) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte at which it begins, its data in pieces) for every frame from ``offset`` on.

    There are none if no frame begins ``within`` this many bytes.
    """
    start = next(_starts(file, magic, offset, within), None)
    while start is not None:
        following = next(_starts(file, magic, start + 1), None)
        yield (
            start,
            (
                block.data
                for block in data_blocks(reading(file, start, following), file.name, start)
            ),
        )
        start = following


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
    false = 0
    last = None if within is None else offset + within
    read, data = reading(file, offset), b""
    while (last is None or offset < last) and (more := read(_READ)):
        data += more
        at = data.find(magic)
        while at >= 0 and (last is None or offset + at < last):
            if _unpacks(file, offset + at):
                yield offset + at
            elif (false := false + 1) > _MOST_FALSE:
                raise CutOff("damaged")
            at = data.find(magic, at + 1)
        searched = max(0, len(data) - len(magic) + 1)
        data, offset = data[searched:], offset + searched


def _unpacks(file: RangedFile, start: int) -> bool:
    try:
        return next(data_blocks(reading(file, start), "", start), None) is not None
    except (CutOff, BadSource):  # data may look like a frame that needs much memory
        return False


# Any file in which reading can begin in the middle, whatever its format.

_LITTLE = 32 << 10
"""The bytes of a piece after the end of a part, where only the end of a page has to be found."""


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
    head, read = file.read(0, HEAD), reading(file, start)
    if (magic := magic_of(head)) is not None:
        whole = frames(file, magic, start, stop - start)
    else:
        whole = (
            bzip2_blocks(read, start)
            if head.startswith(b"BZh")
            else _plain_blocks(read, start, stop)
        )
    for at, pieces in whole:
        small = (piece[i : i + _LITTLE] for piece in pieces for i in range(0, len(piece), _LITTLE))
        yield at, pieces if at < stop else small


def _plain_blocks(read: Read, start: int, stop: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    while data := read(min(_READ, stop - start) if start < stop else _LITTLE):
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
    known = damage.unpacked
    has_begun = is_cut_off = False
    try:
        for at, pieces in blocks(file, damage.start, file.size):
            if not has_begun and at > damage.start + HEAD:
                yield None  # nothing of the damaged stream is recognised
            has_begun = True
            for piece in until_damage(pieces):
                if piece is None:
                    known = 0  # of the damaged block, a part may have been handed out
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

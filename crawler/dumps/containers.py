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
_LONGEST_MAGIC = 6
"""The first bytes that tell every supported format apart."""
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
"""The first bytes of a Zstandard frame, or of a frame without data (RFC 8878, 3.1.2): the files
that `pzstd` writes begin with one of those."""


@dataclass(frozen=True, slots=True)
class DataBlock:
    """The next piece of a file, decompressed."""

    data: bytes
    start: int | None
    """The byte of the file from which a reader gets this block first; None if there is no such
    byte, within a compressed stream."""
    is_plain: bool = False
    """Whether it is uncompressed: the byte at ``start + i`` of the file is byte i of the block."""


def data_blocks(read: Read, name: str, offset: int = 0) -> Iterator[DataBlock]:
    """The contents of a file from ``offset``, where ``read`` begins.

    An ``offset`` other than 0 must be the ``start`` of a block of an earlier reading. The file
    may be plain, or compressed by bzip2, gzip, xz or Zstandard, recognised by its first bytes.
    Raises CutOff, and BadSource for a file that cannot be unpacked here.
    """
    first = b""
    while len(first) < _LONGEST_MAGIC and (more := read(_READ)):
        first += more
    if first.startswith(b"7z\xbc\xaf"):
        raise BadSource(f"{name}: 7z is not supported; take the .bz2 of the same dump")
    new_decompressor: Callable[[], Any]
    if first.startswith(b"BZh"):
        new_decompressor = bz2.BZ2Decompressor
    elif first.startswith(b"\x1f\x8b"):
        new_decompressor = _Gzip
    elif first.startswith(b"\xfd7zXZ\x00"):
        new_decompressor = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MOST_MEMORY)
    elif ZSTD.match(first):
        try:
            import zstandard
        except ImportError as error:
            raise BadSource(ZST.needed(f"{name}: reading .zst")) from error
        new_decompressor = partial(_Zstandard, zstandard)
    else:
        return _plain(read, first, offset)
    return _streams(read, name, first, offset, new_decompressor)


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
    new_decompressor: Callable[[], Any],
) -> Iterator[DataBlock]:
    """Compressed streams, one after another; ``offset`` is where ``data`` begins in the file."""
    while data:
        decompressor = new_decompressor()
        stream_start = offset
        unpacked = 0
        start: int | None = stream_start
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
                raise Damaged(stream_start, unpacked) from error
            offset += len(data)
            data = b""
            if out:
                yield DataBlock(out, start)
                unpacked += len(out)
                start = None
        data = decompressor.unused_data
        offset -= len(data)
        # Streams may be padded with zeros.
        next_stream = data.lstrip(b"\x00")
        while not next_stream:
            offset += len(data)
            data = read(_READ)
            if not data:
                return
            next_stream = data.lstrip(b"\x00")
        offset += len(data) - len(next_stream)
        data = next_stream


class _Gzip:
    """zlib's decompressor with the interface of bz2's and lzma's."""

    def __init__(self) -> None:
        self.eof = False
        self.needs_input = True
        self.unused_data = b""
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, most: int) -> bytes:
        inner = self._inner
        out = inner.decompress(inner.unconsumed_tail + data, most)
        self.eof = inner.eof
        self.unused_data = inner.unused_data
        self.needs_input = not inner.unconsumed_tail
        return out


class _Zstandard:
    """zstandard's decompressor, for one frame, with the interface of bz2's and lzma's."""

    def __init__(self, zstd: ModuleType) -> None:
        self.eof = False
        self.needs_input = True
        self.unused_data = b""
        self._zstd = zstd
        self._inner = zstd.ZstdDecompressor().decompressobj()
        self._packed = memoryview(b"")
        """The input that is not unpacked yet."""
        self._unpacked = memoryview(b"")
        """The output that is not handed out yet."""

    def decompress(self, data: bytes, most: int) -> bytes:
        if data:
            self._packed = memoryview(bytes(self._packed) + data)
        if not self._unpacked and not self._inner.eof:
            piece = self._packed[:_ZSTD_PIECE]
            self._packed = self._packed[_ZSTD_PIECE:]
            try:
                self._unpacked = memoryview(self._inner.decompress(piece))
            except self._zstd.ZstdError as error:
                raise OSError(str(error)) from None
        out = bytes(self._unpacked[:most])
        self._unpacked = self._unpacked[most:]
        self.needs_input = not self._packed and not self._unpacked
        if self._inner.eof and not self._unpacked:
            self.eof = True
            self.unused_data = self._inner.unused_data + bytes(self._packed)
        return out


# bzip2 by blocks: reading can begin anywhere in a file, however its streams are divided.
#
# A stream is a header of four bytes, blocks of at most 900 kB of data, and an end. A block begins,
# at any bit, with a mark of 48 bits and its checksum. A block placed between a header and an end is
# a valid stream.

_BLOCK = 0x314159265359
_END = 0x177245385090
_MARK_BITS = 48
_MARK_BYTES = _MARK_BITS // 8
_CHECKSUM_BITS = 32


def _middle_of(mark: int, shift: int) -> bytes:
    """The five whole bytes of a mark that begins after ``shift`` bits of its first byte, which the
    mark fills only in part, as it does its last one."""
    after_first_byte = (mark >> shift) & ((1 << 40) - 1)
    return after_first_byte.to_bytes(5, "big")


_PATTERNS = [(_middle_of(mark, shift), shift) for mark in (_BLOCK, _END) for shift in range(8)]
"""What to search for to find a mark: bytes, and the number of bits before the mark in its first
byte."""
_LONGEST = 2 << 20
"""The most bytes of a compressed block: even noise takes about 900 kB."""
_END_BYTES = 16
"""The bytes of a stream's end, with some padding. So few bytes may lack a mark: reading may have
begun behind that of the end."""
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
    data = b""
    base = offset  # the byte of the file where `data` begins
    block_bit: int | None = None  # the bit of `data` where an unfinished block begins
    end_bit: int | None = None  # the bit of the file where the last mark is, if that is an end's
    searched = 0  # the bytes of `data` in which no further mark begins
    has_marks = False
    while more := read(_READ):
        data += more
        for bit, mark in _marks(data, searched):
            file_bit = 8 * base + bit
            if block_bit is not None:
                yield base + block_bit // 8, _unpacked(data, block_bit, bit)
            elif end_bit is not None and file_bit - end_bit > _BETWEEN_BITS:
                yield end_bit // 8, _damaged_block()  # the mark of a block in between is damaged
            has_marks = True
            if mark == _BLOCK:
                block_bit = bit
                end_bit = None
            else:
                block_bit = None
                end_bit = file_bit
        searched = max(0, len(data) - _MARK_BYTES)
        done = searched if block_bit is None else block_bit // 8
        is_block_too_long = len(data) - done > _LONGEST
        read_so_far = base + len(data) - offset
        if is_block_too_long or (not has_marks and read_so_far > _LONGEST):
            # No block is that long, but there may be others behind the damage.
            yield base + done, _damaged_block()
            block_bit = None
            has_marks = True
            done = searched
        data = data[done:]
        base += done
        searched -= done
        if block_bit is not None:
            block_bit -= 8 * done
    if block_bit is not None:
        raise CutOff("cut off")
    if not has_marks and base + len(data) - offset > _END_BYTES:
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
        marks = [mark for _, mark in _marks(data, 0)]
        if marks.count(_BLOCK) > 1:
            return True
    return False


def _marks(data: bytes, start: int) -> list[tuple[int, int]]:
    """(first bit, which mark) of all marks that begin in byte ``start`` or later."""
    marks = []
    for pattern, shift in _PATTERNS:
        second_byte = data.find(pattern, start + 1)
        while second_byte >= 0:
            is_whole = second_byte + _MARK_BYTES <= len(data)
            if is_whole:
                bit = 8 * (second_byte - 1) + shift
                mark = _bits(data, bit, bit + _MARK_BITS)
                if mark in (_BLOCK, _END):
                    marks.append((bit, mark))
            second_byte = data.find(pattern, second_byte + 1)
    return sorted(marks)


def _bits(data: bytes, start: int, stop: int) -> int:
    """The bits from ``start`` to before ``stop`` as a number."""
    first_byte = start // 8
    end_byte = (stop + 7) // 8  # rounded up
    number = int.from_bytes(data[first_byte:end_byte], "big")
    return _last_bits(number >> (8 * end_byte - stop), stop - start)


def _last_bits(number: int, count: int) -> int:
    """The last ``count`` bits of a number."""
    return number & ((1 << count) - 1)


def _unpacked(data: bytes, start: int, stop: int) -> Iterator[bytes]:
    """The block in these bits, unpacked as a stream of its own. Raises CutOff if they are not a
    block."""
    length = stop - start
    block = _bits(data, start, stop)
    # A block begins with its mark and its checksum. A stream ends with the mark of an end and the
    # checksum of the stream, which is that of its only block.
    behind_checksum = max(0, length - _MARK_BITS - _CHECKSUM_BITS)
    checksum = _last_bits(block >> behind_checksum, _CHECKSUM_BITS)
    block_and_end = (block << _MARK_BITS) | _END
    stream = (block_and_end << _CHECKSUM_BITS) | checksum
    stream_bits = length + _MARK_BITS + _CHECKSUM_BITS
    padding = -stream_bits % 8
    stream_bytes = (stream << padding).to_bytes((stream_bits + padding) // 8, "big")
    packed = b"BZh9" + stream_bytes
    decompressor = bz2.BZ2Decompressor()
    while not decompressor.eof:
        try:
            piece = decompressor.decompress(packed, _MOST_SEARCHED)
        except OSError as error:
            raise CutOff("damaged") from error
        packed = b""
        if piece:
            yield piece
        elif decompressor.needs_input:
            raise CutOff("damaged")


# The files of a dump, read by ranges: a file on this machine, or those bytes of a file that a job
# takes along to the process that reads them.

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

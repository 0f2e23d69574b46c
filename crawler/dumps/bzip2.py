"""bzip2 by blocks: reading can begin anywhere in a file, however its streams are divided.

A stream is a header of four bytes, blocks of at most 900 kB of data, and an end. A block begins, at any bit,
with a mark of 48 bits and its checksum. Put between a header and an end, it is a stream of its own.
"""

import bz2
from collections.abc import Iterator

from wikitopics.crawler.dumps.decompression import Read
from wikitopics.crawler.errors import CutOff

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS, _CHECKSUM_BITS = 48, 32
_PATTERNS = [
    ((mark >> shift & (1 << 40) - 1).to_bytes(5, "big"), shift)
    for mark in (_BLOCK, _END)
    for shift in range(8)
]
"""The five bytes in the middle of a mark, by the number of bits before it in its first byte."""
_READ = 256 << 10
_LONGEST = 2 << 20
"""The most bytes of a compressed block: even noise takes about 900 kB."""
_END_BYTES = 16
"""The bytes of a stream's end and a little padding; an end has a mark, unless reading began after it."""
_MOST = 1 << 20
"""Bytes returned at a time, however much a block unpacks to."""


def bzip2_blocks(read: Read, offset: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte of the file in which it begins, its data in pieces) for every block from ``offset`` on.

    ``read`` begins there. Raises CutOff.
    """
    data, base = b"", offset
    begun: int | None = None  # the bit of `data` where a block begins
    searched = 0  # bytes of `data`
    seen = False
    while more := read(_READ):
        data += more
        for bit, mark in _marks(data, searched):
            if begun is not None:
                yield base + begun // 8, _unpacked(data, begun, bit)
            begun, seen = bit if mark == _BLOCK else None, True
        searched = max(0, len(data) - 6)
        done = searched if begun is None else begun // 8
        if len(data) - done > _LONGEST or (not seen and base + len(data) - offset > _LONGEST):
            raise CutOff("damaged")
        data, base, searched = data[done:], base + done, searched - done
        begun = None if begun is None else begun - 8 * done
    if begun is not None:
        raise CutOff("cut off")
    if not seen and base + len(data) - offset > _END_BYTES:
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
    """(the bit where it begins, which mark) for all marks that begin in byte ``start`` or later."""
    found = []
    for pattern, shift in _PATTERNS:
        at = data.find(pattern, start + 1)
        while at >= 0:
            bit = 8 * (at - 1) + shift
            if at + 6 <= len(data) and (mark := _bits(data, bit, bit + _MARK_BITS)) in (_BLOCK, _END):
                found.append((bit, mark))
            at = data.find(pattern, at + 1)
    return sorted(found)


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
            piece = decompressor.decompress(rest, _MOST)
        except OSError as error:
            raise CutOff("damaged") from error
        rest = b""
        if piece:
            yield piece
        elif decompressor.needs_input:
            raise CutOff("damaged")

"""bzip2 by blocks: reading can begin anywhere in a file, however its streams are divided.

A stream is a header of four bytes, blocks of at most 900 kB of data, and an end. A block begins, at
any bit, with a mark of 48 bits and its checksum. A block placed between a header and an end is a
valid stream.
"""

import bz2
from collections.abc import Iterator

from wikitopics.crawler.errors import CutOff
from wikitopics.crawler.unpacking import Read

_READ = 256 * 1024
"""The bytes that are asked for at a time."""
_BLOCK = 0x314159265359
"""The mark of a block; the next one is that of a stream's end."""
_END = 0x177245385090
_MARK_BITS = 48
_MARK_BYTES = _MARK_BITS // 8
_CHECKSUM_BITS = 32


def _middle_of(mark: int, shift: int) -> bytes:
    """The second to the sixth byte of a mark that begins ``shift`` bits after the start of its
    first byte. The mark fills these five, whatever comes before and after it."""
    after_first_byte = (mark >> shift) & ((1 << 40) - 1)
    return after_first_byte.to_bytes(5, "big")


_PATTERNS = [(_middle_of(mark, shift), shift) for mark in (_BLOCK, _END) for shift in range(8)]
"""What to search for to find a mark: bytes, and the number of bits before the mark in its first
byte."""
_LONGEST = 2 << 20
"""The most bytes of a compressed block: even noise takes about 900 kB."""
_END_BYTES = 16
"""The bytes of a stream's end, with some padding. If only so few bytes are read, they may have no
mark without being damaged: reading may have begun within a stream's end, behind its mark."""
_HEADER_BITS = 32
_BETWEEN_BITS = _MARK_BITS + _CHECKSUM_BITS + 7 + _HEADER_BITS
"""The most bits from the beginning of an end's mark to that of the next mark: mark, checksum,
padding, the next header."""
_MOST_UNPACKED = 1 << 20
"""The most bytes of data returned at a time, however much a block unpacks to."""


def bzip2_blocks(read: Read, offset: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte of the file in which it begins, its data in pieces) for every block from
    ``offset`` on.

    ``read`` begins there. Raises CutOff.
    """
    data = b""
    base = offset  # the byte of the file where `data` begins
    block_bit: int | None = None  # the bit of `data` where an unfinished block begins
    end_file_bit: int | None = None  # the bit of the file where the last mark is, if it is an end's
    searched = 0  # the bytes of `data` in which no further mark begins
    has_marks = False
    while more := read(_READ):
        data += more
        for bit, mark in _marks(data, searched):
            file_bit = 8 * base + bit
            if block_bit is not None:
                yield base + block_bit // 8, _unpacked(data, block_bit, bit)
            elif end_file_bit is not None and file_bit - end_file_bit > _BETWEEN_BITS:
                # The mark of a block in between is damaged.
                yield end_file_bit // 8, _damaged_block()
            has_marks = True
            if mark == _BLOCK:
                block_bit = bit
                end_file_bit = None
            else:
                block_bit = None
                end_file_bit = file_bit
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
        # Without the bytes that are done, whatever is counted from the start of `data` shifts.
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
    yield from ()  # makes this a generator: the error is raised where the block is read
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
    bits_behind_checksum = max(0, length - _MARK_BITS - _CHECKSUM_BITS)
    checksum = _last_bits(block >> bits_behind_checksum, _CHECKSUM_BITS)
    block_and_end = (block << _MARK_BITS) | _END
    stream = (block_and_end << _CHECKSUM_BITS) | checksum
    stream_bits = length + _MARK_BITS + _CHECKSUM_BITS
    padding = -stream_bits % 8
    stream_bytes = (stream << padding).to_bytes((stream_bits + padding) // 8, "big")
    packed = b"BZh9" + stream_bytes
    decompressor = bz2.BZ2Decompressor()
    while not decompressor.eof:
        try:
            piece = decompressor.decompress(packed, _MOST_UNPACKED)
        except OSError as error:
            raise CutOff("damaged") from error
        packed = b""
        if piece:
            yield piece
        elif decompressor.needs_input:
            raise CutOff("damaged")

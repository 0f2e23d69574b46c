"""Compressed files to bytes, in blocks of bounded size, with the places where reading can begin."""

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from wikitopics.crawler.errors import BadSource, CutOff, Damaged
from wikitopics.extra import ZST

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

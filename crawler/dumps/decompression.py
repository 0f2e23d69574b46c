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

from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.extras import ZST

Read = Callable[[int], bytes]
"""Reads on: ``read(n)`` gives 1 to n bytes, none only at the end of the file."""
_READ = 256 * 1024
_MOST = 1024 * 1024
"""The most bytes in one block, however much a file unpacks to."""
_ZSTD_PIECE = 1024
"""Bytes given to Zstandard at once: it unpacks all of them, to at most 32 MiB."""
_MOST_MEMORY = 128 * 1024 * 1024
"""The memory limit of a decompressor, which the file's header requests; `xz -9` needs 65 MiB. Zstandard's
own limit is the same."""
_REFUSALS = ("Memory usage limit", "too much memory")
"""How liblzma and libzstd report a file that requests more."""
ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
"""The first bytes of a frame, also of one without data (RFC 8878, 3.1.2): `pzstd` begins with one."""


@dataclass(frozen=True, slots=True)
class DataBlock:
    """The next piece of a file, decompressed."""

    data: bytes
    start: int | None
    """Where reading of the file must begin to get this block first; None within a compressed stream."""
    is_plain: bool = False
    """Whether it is uncompressed: the byte at ``start + i`` of the file is byte i of the block."""


def data_blocks(read: Read, name: str, offset: int = 0) -> Iterator[DataBlock]:
    """The contents of a file from ``offset`` on, where ``read`` begins.

    An ``offset`` other than 0 must be an earlier ``start``.
    The file may be plain, or compressed by bzip2, gzip, xz or Zstandard, told apart by the first bytes.
    Raises CutOff, and BadSource for a file that cannot be unpacked here.
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
        new = partial(_Zstandard, _zstd_module(name))
    else:
        return _plain(read, first, offset)
    return _streams(read, name, first, offset, new)


def _plain(read: Read, data: bytes, offset: int) -> Iterator[DataBlock]:
    while data:
        yield DataBlock(data, offset, is_plain=True)
        offset += len(data)
        data = read(_READ)


def _streams(read: Read, name: str, data: bytes, offset: int, new: Callable[[], Any]) -> Iterator[DataBlock]:
    """Compressed streams, one after another; ``offset`` is where ``data`` begins."""
    while data:
        decompressor = new()
        start: int | None = offset
        while not decompressor.eof:
            if decompressor.needs_input and not data:
                data = read(_READ)
                if not data:
                    raise CutOff("cut off")
            try:
                out = decompressor.decompress(data, _MOST)
            except (OSError, lzma.LZMAError, zlib.error) as error:
                if any(words in str(error) for words in _REFUSALS):
                    raise BadSource(
                        f"{name}: unpacking it needs over {_MOST_MEMORY >> 20} MB of memory: compress it "
                        "again without `zstd --long` or an `xz` dictionary of that size"
                    ) from error
                raise CutOff("damaged") from error
            offset += len(data)
            data = b""
            if out:
                yield DataBlock(out, start)
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


def _zstd_module(name: str) -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise BadSource(ZST.needed(f"{name}: reading .zst")) from error
    return zstandard

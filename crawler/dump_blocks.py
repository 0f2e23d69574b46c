"""Compressed files to bytes, in blocks of bounded size, with the places where reading can begin anew."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from crawler.errors import BadSource, CutOff

_READ = 256 * 1024
_MOST = 1024 * 1024
"""Bytes that one block holds at most, however much a file unpacks to."""
_MOST_MEMORY = 128 * 1024 * 1024
"""Of a decompressor, which the file's head asks for; `xz -9` needs 65 MiB."""


@dataclass(frozen=True, slots=True)
class DataBlock:
    """The next piece of a file, decompressed."""

    data: bytes
    start: int | None
    """Where in the file reading can begin to get this block first; None within a compressed stream."""
    is_plain: bool = False
    """Not compressed: the byte at ``start + i`` of the file is byte i of the block."""


def data_blocks(read: Callable[[int], bytes], name: str, offset: int = 0) -> Iterator[DataBlock]:
    """The contents of a file from ``offset`` on, where ``read`` begins.

    ``read(n)`` gives 1 to n bytes, none at the end. ``offset`` other than 0 must be a ``start`` given
    earlier. The file may be plain, or compressed by bzip2, gzip, xz or Zstandard, told apart by the first
    bytes. Raises CutOff, and BadSource for what cannot be unpacked here.
    """
    first = b""
    while len(first) < 6 and (more := read(_READ)):
        first += more
    if first.startswith(b"BZh"):
        return _streams(read, first, offset, bz2.BZ2Decompressor)
    if first.startswith(b"\x1f\x8b"):
        return _streams(read, first, offset, _Gzip)
    if first.startswith(b"\xfd7zXZ\x00"):
        return _streams(read, first, offset, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MOST_MEMORY))
    if first.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstandard(read, first, name)
    if first.startswith(b"7z\xbc\xaf"):
        raise BadSource(f"{name}: 7z is not supported; take the .bz2 of the same dump")
    return _plain(read, first, offset)


def _plain(read: Callable[[int], bytes], data: bytes, offset: int) -> Iterator[DataBlock]:
    while data:
        yield DataBlock(data, offset, is_plain=True)
        offset += len(data)
        data = read(_READ)


def _streams(
    read: Callable[[int], bytes], data: bytes, offset: int, new: Callable[[], Any]
) -> Iterator[DataBlock]:
    """Compressed streams, one behind the other; ``offset`` is where ``data`` begins."""
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
    """zlib's decompressor with the manners of bz2's and lzma's."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)


def _zstandard(read: Callable[[int], bytes], first: bytes, name: str) -> Iterator[DataBlock]:
    zstd = _zstd_module(name)
    reader = zstd.ZstdDecompressor().stream_reader(_Joined(first, read), read_across_frames=True)
    start: int | None = 0
    while True:
        try:
            data = reader.read(_MOST)
        except zstd.ZstdError as error:
            raise CutOff("damaged") from error
        if not data:
            if start is not None:
                raise CutOff("cut off")
            return
        yield DataBlock(data, start)
        start = None


def _zstd_module(name: str) -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise BadSource(
            f"{name}: to read .zst, install the package zstandard (pip install 'wikitopics[zst]')"
        ) from error
    return zstandard


class _Joined:
    """A file whose first bytes have been read already."""

    def __init__(self, first: bytes, read: Callable[[int], bytes]) -> None:
        self._first = first
        self._read = read

    def read(self, size: int = -1) -> bytes:
        if self._first:
            data, self._first = self._first[:size], self._first[size:]
            return data
        return self._read(size)

"""The files of a dump, read by ranges: on this machine, or as some bytes of a file that are sent along."""

import os
from dataclasses import dataclass
from pickle import PickleBuffer
from typing import Any, Protocol, SupportsIndex

from wikitopics.crawler.dumps.decompression import Read
from wikitopics.crawler.errors import BadSource, Lacking

HEAD = 16
"""Bytes by which the format of a file is recognised."""


class RangedFile(Protocol):
    """One file, wherever it is stored."""

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def size(self) -> int:
        """In bytes."""

    def read(self, start: int, stop: int) -> bytes:
        """Bytes ``start`` to before ``stop``; at least one, fewer than all only if those behind are missing.

        None at all only at the file's end. Raises a `CrawlerError` or `Lacking`.
        """

    def renewed(self, start: int, stop: int) -> bool:
        """Whether these bytes, requested again because they are damaged, are now different."""


def reading(file: RangedFile, start: int, stop: int | None = None) -> Read:
    """Reads on from byte ``start`` of the file to before ``stop`` (None: its end)."""

    def read(size: int) -> bytes:
        nonlocal start
        end = start + size if stop is None else min(start + size, stop)
        data = file.read(start, end) if start < end else b""
        start += len(data)
        return data

    return read


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
            descriptor = os.open(self.name, os.O_RDONLY)  # opened for each read: that takes microseconds
            try:
                return os.pread(descriptor, stop - start, start)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unreadable(self.name, error) from error

    def renewed(self, start: int, stop: int) -> bool:
        return False


def _unreadable(path: str, error: OSError) -> BadSource:
    return BadSource(f"{path}: cannot be read: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class HeldFile:
    """Some bytes of a file stored elsewhere. It is sent pickled, and reads like that file."""

    name: str
    size: int
    """The size of the whole file in bytes."""
    head: bytes
    """Its first few bytes, by which its format is recognised."""
    start: int
    """Where ``data`` begins in the file."""
    data: bytes

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """With pickle protocol 5 the bytes travel out of band, without being copied."""
        data = PickleBuffer(self.data) if int(protocol) >= 5 else self.data
        return HeldFile, (self.name, self.size, self.head, self.start, data)

    @property
    def stop(self) -> int:
        """Where ``data`` ends in the file."""
        return self.start + len(self.data)

    def read(self, start: int, stop: int) -> bytes:
        """As of the whole file; where none of the bytes held begins, `Lacking` is raised."""
        stop = min(stop, self.size)
        if stop <= max(start, len(self.head)):
            return self.head[start:stop]
        if self.start <= start < self.stop:
            return self.data[start - self.start : stop - self.start]
        raise Lacking(f"what begins in it continues after byte {self.stop:,}")

    def renewed(self, start: int, stop: int) -> bool:
        return False

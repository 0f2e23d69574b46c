"""Bytes that can be read by range: from a local file, or from bytes sent along."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import SEEK_END
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, Protocol, SupportsIndex

from wikitopics.crawler.errors import Lacking

_HEAD = 16


class Readable(Protocol):
    """The part of an open binary file's interface used here."""

    def read(self, size: int, /) -> bytes:
        """Exactly this many bytes, fewer only at the end."""

    def read1(self, size: int, /) -> bytes:
        """1 to this many bytes, none only at the end."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """As for a file: returns the new position from the beginning."""


class Ranged(Protocol):
    """One file, wherever it is stored."""

    @property
    def name(self) -> str:
        """The name for people."""

    def open(self) -> AbstractContextManager[Readable]:
        """Open it for reading. Raises OSError or a `CrawlerError`, also during reading."""

    def renewed(self, start: int, stop: int) -> bool:
        """Whether these bytes, requested again because they are damaged, are now different."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine."""

    path: str

    @property
    def name(self) -> str:
        return self.path

    def open(self) -> AbstractContextManager[Readable]:
        return open(self.path, "rb")

    def renewed(self, start: int, stop: int) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Held:
    """Some bytes of a file stored elsewhere. It is sent pickled, and reads like that file."""

    name: str
    size: int
    """The size of the whole file in bytes."""
    head: bytes
    """Its first few bytes, by which its format is recognised."""
    start: int
    """Where ``data`` begins in the file."""
    data: bytes

    @classmethod
    def of(cls, file: Ranged, start: int, stop: int) -> "Held":
        """Bytes ``start`` to before ``stop`` of a file, fewer at its end. Raises the errors of opening it."""
        with file.open() as opened:
            size = opened.seek(0, SEEK_END)
            opened.seek(0)
            head = opened.read(_HEAD)
            opened.seek(start)
            return cls(file.name, size, head, start, opened.read(stop - start))

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """With pickle protocol 5 the bytes travel out of band, without being copied."""
        data = PickleBuffer(self.data) if int(protocol) >= 5 else self.data
        return Held, (self.name, self.size, self.head, self.start, data)

    @property
    def stop(self) -> int:
        """Where ``data`` ends in the file."""
        return self.start + len(self.data)

    def open(self) -> AbstractContextManager[Readable]:
        """Open it; reading beyond the bytes held raises `Lacking`."""
        return nullcontext(_HeldReader(self))

    def renewed(self, start: int, stop: int) -> bool:
        return False


class _HeldReader:
    def __init__(self, held: Held) -> None:
        self._held = held
        self._at = 0

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._at = offset + (self._held.size if whence == SEEK_END else 0)
        return self._at

    def read(self, size: int, /) -> bytes:
        return self._taken(max(0, min(size, self._held.size - self._at)))

    def read1(self, size: int, /) -> bytes:
        held = self._held
        if held.start <= self._at < held.stop:
            return self._taken(min(size, held.stop - self._at))
        return self.read(size)

    def _taken(self, size: int) -> bytes:
        held, at = self._held, self._at
        if at + size <= len(held.head):
            data = held.head[at : at + size]
        elif held.start <= at and at + size <= held.stop:
            data = held.data[at - held.start : at - held.start + size]
        else:
            raise Lacking(f"what begins in it continues after byte {held.stop:,}")
        self._at += size
        return data


def short_name(file: Ranged) -> str:
    """Its name without the folder."""
    return Path(file.name).name

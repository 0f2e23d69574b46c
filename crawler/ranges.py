"""Bytes that can be read by range, wherever they lie: in a file here, or brought along from elsewhere."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import SEEK_END
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, Protocol, SupportsIndex

from crawler.errors import Lacking

_HEAD = 16


class Readable(Protocol):
    """What of an open binary file is used here."""

    def read(self, size: int, /) -> bytes:
        """So many bytes, fewer only at the end."""

    def read1(self, size: int, /) -> bytes:
        """1 to so many bytes, none only at the end."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """As of a file: the new place, from the beginning."""


class Ranged(Protocol):
    """One file, wherever it lies."""

    @property
    def name(self) -> str:
        """For people."""

    def open(self) -> AbstractContextManager[Readable]:
        """Read it. Raises OSError or a :class:`~crawler.errors.CrawlerError`, while it is read too."""

    def renewed(self, start: int, stop: int) -> bool:
        """Whether these bytes, asked for once more because they are damaged, are others now."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine."""

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
    """Some bytes of a file that lies elsewhere. It travels pickled, and reads as that file would."""

    name: str
    size: int
    """Bytes of the whole file."""
    head: bytes
    """Its first few bytes, by which its format is known."""
    start: int
    """Where in the file ``data`` begins."""
    data: bytes

    @classmethod
    def of(cls, file: Ranged, start: int, stop: int) -> "Held":
        """Bytes ``start`` to before ``stop`` of a file, fewer at its end. Raises as opening it does."""
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
        """Where in the file ``data`` ends."""
        return self.start + len(self.data)

    def open(self) -> AbstractContextManager[Readable]:
        """Reading beyond what is held raises :class:`~crawler.errors.Lacking`."""
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

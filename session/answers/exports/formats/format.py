"""How an export is written: what every format has."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar

from session.answers.exports.subject import ExportRequest, Row, Subject
from session.errors import BadUsage

_TOGETHER = 500


class Format(ABC):
    """One way to write; most are one stream of bytes, which may go to a file."""

    name: ClassVar[str]
    """For `--format`."""
    label: ClassVar[str]
    """For people."""
    binary: ClassVar[bool] = False
    """Whether a terminal cannot show it."""
    is_folder: ClassVar[bool] = False
    """Whether it is several files, in a folder of their own."""

    @property
    def ending(self) -> str:
        """What the name of its file ends in."""
        return f".{self.name}"

    @abstractmethod
    def fits(self, subject: Subject) -> bool:
        """Whether a subject can be written so."""

    @abstractmethod
    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        """The stream; text is UTF-8. Raises :class:`session.errors.BadUsage` where it is none."""

    def with_bom(self) -> "Format":
        """The same, begun with a byte order mark. Raises :class:`BadUsage` where that makes no sense."""
        raise BadUsage(f"--bom is for spreadsheets that read csv: {self.name} has none")

    def save(self, subject: Subject, asked: ExportRequest, path: Path) -> None:
        """Write it to ``path``, whole or not at all."""
        from session.storage.files import replacing

        with replacing(path) as file:
            for piece in self.pieces(subject, asked):
                file.write(piece)


def together(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows some hundreds at a time: written one by one, millions take minutes."""
    left = iter(rows)
    while some := list(islice(left, _TOGETHER)):
        yield some


def as_utf8(text: str) -> bytes:
    """Text of a session, whatever it holds."""
    return text.encode("utf-8", "backslashreplace")

"""How an export is written: what every format has."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from session.answers.exports.subject import ExportRequest, Subject
from session.errors import BadUsage


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
        raise BadUsage(f"--bom is only for csv, not for {self.name}")

    def save(self, subject: Subject, asked: ExportRequest, path: Path) -> None:
        """Write it to ``path``, whole or not at all."""
        from session.storage.files import replacing

        with replacing(path) as file:
            for piece in self.pieces(subject, asked):
                file.write(piece)


def as_texts(column: Sequence[object], encode: Callable[[Sequence[object]], Iterable[str]]) -> Iterable[str]:
    """The values of a column as ``encode`` writes them. Most come many times over, and are encoded once."""
    kinds, distinct = set(map(type, column)), list(set(column))
    # 1, 1.0 and True would be one key, and so would 0.0 and -0.0.
    if len(kinds) > 1 or (kinds == {float} and 0.0 in distinct):
        return encode(column)
    return map(dict(zip(distinct, encode(distinct), strict=True)).__getitem__, column)


def as_utf8(text: str) -> bytes:
    """Text of a session, whatever it holds."""
    return text.encode("utf-8", "backslashreplace")

"""The base of all export formats."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from wikitopics.session.analysis.exports.subject import ExportRequest, Subject
from wikitopics.session.errors import BadUsage


class Format(ABC):
    """One export format; most are one stream of bytes, which may go to a file."""

    name: ClassVar[str]
    """Its name for `--format`."""
    label: ClassVar[str]
    """Its name for people."""
    binary: ClassVar[bool] = False
    """Whether it cannot be shown on a terminal."""
    is_folder: ClassVar[bool] = False
    """Whether it is several files, in a folder of their own."""

    @property
    def ending(self) -> str:
        """The ending of its file's name."""
        return f".{self.name}"

    @abstractmethod
    def fits(self, subject: Subject) -> bool:
        """Whether a subject can be written in this format."""

    @abstractmethod
    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        """The stream; text is UTF-8. Raises `BadUsage` if the format is not a stream."""

    def with_bom(self) -> "Format":
        """This format with a byte order mark. Raises `BadUsage` for a format that has none."""
        raise BadUsage(f"--bom is only for csv, not for {self.name}")

    def save(self, subject: Subject, asked: ExportRequest, path: Path) -> None:
        """Write it to ``path``, whole or not at all."""
        from wikitopics.session.storage.files import replacing

        with replacing(path) as file:
            for piece in self.pieces(subject, asked):
                file.write(piece)


def as_texts(column: Sequence[object], encode: Callable[[Sequence[object]], Iterable[str]]) -> Iterable[str]:
    """The values of a column as ``encode`` writes them. Most values are repeated, and are encoded only
    once."""
    kinds, distinct = set(map(type, column)), list(set(column))
    # 1, 1.0 and True would be the same key, and so would 0.0 and -0.0.
    if len(kinds) > 1 or (kinds == {float} and 0.0 in distinct):
        return encode(column)
    return map(dict(zip(distinct, encode(distinct), strict=True)).__getitem__, column)


def as_utf8(text: str) -> bytes:
    """The text of a session as bytes, whatever it contains."""
    return text.encode("utf-8", "backslashreplace")

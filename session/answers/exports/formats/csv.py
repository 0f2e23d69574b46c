"""Comma-separated values, which no spreadsheet takes for formulas."""

import csv
from collections.abc import Iterable, Iterator

from session.answers.exports.formats.format import Format, as_utf8
from session.answers.exports.subject import Asked, Subject

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class Csv(Format):
    """A header and rows; text that a spreadsheet would take for a formula gets a ``'`` before it."""

    name = "csv"
    label = "CSV"

    def fits(self, subject: Subject) -> bool:
        return subject.rows is not None

    def pieces(self, subject: Subject, asked: Asked) -> Iterator[bytes]:
        assert subject.rows is not None
        yield _line(subject.header(asked))
        for row in subject.rows(asked):
            yield _line(map(_harmless, row))


class _AsIs:
    """Gives back what it is told to write."""

    def write(self, text: str) -> str:
        return text


_WRITER = csv.writer(_AsIs())


def _line(values: Iterable[object]) -> bytes:
    # Python's writer quotes a carriage return only where it ends lines with one.
    return as_utf8(str(_WRITER.writerow(values)).removesuffix("\r\n") + "\n")


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return "" if value is None else value

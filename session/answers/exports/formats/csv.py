"""Comma-separated values, which no spreadsheet takes for formulas."""

import csv
import io
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from session.answers.exports.formats.format import Format, as_utf8, together
from session.answers.exports.subject import ExportRequest, Row, Subject

_FORMULA = tuple("=+-@＝＋－＠\t\r\n")  # spreadsheets in Chinese or Japanese take the wide ones too


@dataclass(frozen=True)
class Csv(Format):
    """A header and rows; text that a spreadsheet would take for a formula gets a ``'`` before it."""

    bom: bool = False
    """Whether it begins with the mark by which spreadsheets know UTF-8."""

    name = "csv"
    label = "CSV"

    def fits(self, subject: Subject) -> bool:
        return subject.rows is not None

    def with_bom(self) -> "Csv":
        return replace(self, bom=True)

    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        assert subject.rows is not None
        rows = subject.rows(asked)  # what is not recorded is said before anything is written
        yield (BOM_UTF8 if self.bom else b"") + as_utf8(_lines([subject.header(asked)]))
        for some in together(rows):
            yield as_utf8(_lines(some))


def _lines(rows: Sequence[Row]) -> str:
    texts = {value for row in rows for value in row if isinstance(value, str)}
    if not any(text.startswith(_FORMULA) or "\r" in text for text in texts):
        return _written(rows, "\n")
    # Python's writer quotes a carriage return only where it ends lines with one.
    return "".join(_written([tuple(map(_harmless, row))], "\r\n").removesuffix("\r\n") + "\n" for row in rows)


def _written(rows: Sequence[Row], end: str) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=end).writerows(rows)
    return buffer.getvalue()


def _harmless(value: object) -> object:
    return "'" + value if isinstance(value, str) and value.startswith(_FORMULA) else value

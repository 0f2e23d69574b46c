"""Comma-separated values, which no spreadsheet takes for formulas."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wikitopics.session.analysis.exports.formats.format import Format, as_texts, as_utf8
from wikitopics.session.analysis.exports.subject import ExportRequest, Subject

_FORMULA = tuple("=+-@＝＋－＠\t\r\n")  # Chinese and Japanese spreadsheets accept the wide signs too
_SPECIAL = re.compile('[,"\\r\\n]')


@dataclass(frozen=True)
class Csv(Format):
    """A header and rows; text that a spreadsheet would take for a formula gets a ``'`` before it."""

    bom: bool = False
    """Whether it begins with the mark by which spreadsheets recognise UTF-8."""

    name = "csv"
    label = "CSV"

    def fits(self, subject: Subject) -> bool:
        return subject.batches is not None

    def with_bom(self) -> "Csv":
        return replace(self, bom=True)

    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        assert subject.batches is not None
        batches = subject.batches(asked)  # an error about missing records comes before anything is written
        header = ",".join(_fields(subject.header(asked)))
        yield (BOM_UTF8 if self.bom else b"") + as_utf8(header + "\n")
        for columns in batches:
            lines = zip(*(as_texts(column, _fields) for column in columns), strict=True)
            yield as_utf8("\n".join(map(",".join, lines)) + "\n")


def _fields(column: Sequence[object]) -> Iterator[str]:
    return map(_field, column)


def _field(value: object) -> str:
    """The value as in RFC 4180, and so that no spreadsheet evaluates it."""
    if not isinstance(value, str):
        return "" if value is None else repr(value)
    text = "'" + value if value.startswith(_FORMULA) else value
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text

"""JSON, as other programs read it."""

import json
from collections.abc import Iterable, Iterator, Sequence

from session.answers.exports.formats.format import Format, as_utf8, together
from session.answers.exports.subject import ExportRequest, Row, Subject

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


class Json(Format):
    """One array of objects, an object a line."""

    name = "json"
    label = "JSON"

    def fits(self, subject: Subject) -> bool:
        return subject.rows is not None

    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        assert subject.rows is not None
        rows, header, before = subject.rows(asked), subject.header(asked), "[\n"
        keys = (_ENCODE(column).replace("%", "%%") for column in header)
        line = f"{{{', '.join(f'{key}: %s' for key in keys)}}}"
        for some in together(rows):
            yield as_utf8(before + ",\n".join(map(line.__mod__, _encoded(some))))
            before = ",\n"
        yield b"[]\n" if before == "[\n" else b"\n]\n"


def _encoded(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The rows, every value as JSON. A column at a time: value by value, millions of rows take minutes."""
    return zip(*map(_column, zip(*rows, strict=True)), strict=True)


def _column(values: Sequence[object]) -> Iterable[str]:
    kinds = set(map(type, values))
    if str not in kinds:  # no text: whatever stands between two commas is one value
        return _ENCODE(values)[1:-1].split(", ")
    # A title or a model comes many times over. 1, 1.0 and True would be one key, so others are not looked up.
    return map(
        {value: _ENCODE(value) for value in set(values)}.__getitem__ if kinds == {str} else _ENCODE, values
    )

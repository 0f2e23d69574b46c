"""JSON for other programs."""

import json
from collections.abc import Iterable, Iterator, Sequence

from wikitopics.session.analysis.exports.formats.format import Format, as_texts, as_utf8
from wikitopics.session.analysis.exports.subject import ExportRequest, Subject

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


class Json(Format):
    """One array of objects, one object per line."""

    name = "json"
    label = "JSON"

    def fits(self, subject: Subject) -> bool:
        return subject.batches is not None

    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        assert subject.batches is not None
        batches, header, before = subject.batches(asked), subject.header(asked), "[\n"
        keys = (_ENCODE(column).replace("%", "%%") for column in header)
        line = f"{{{', '.join(f'{key}: %s' for key in keys)}}}"
        for columns in batches:
            lines = zip(*(as_texts(column, _values) for column in columns), strict=True)
            yield as_utf8(before + ",\n".join(map(line.__mod__, lines)))
            before = ",\n"
        yield b"[]\n" if before == "[\n" else b"\n]\n"


def _values(column: Sequence[object]) -> Iterable[str]:
    """Each value as JSON."""
    if str in set(map(type, column)):
        return map(_ENCODE, column)
    return _ENCODE(column)[1:-1].split(", ")  # no text: each piece is one value

"""JSON, as other programs read it."""

import json
from collections.abc import Iterator

from session.answers.exports.formats.format import Format, as_utf8, together
from session.answers.exports.subject import Asked, Subject

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


class Json(Format):
    """One array of objects, an object a line."""

    name = "json"
    label = "JSON"

    def fits(self, subject: Subject) -> bool:
        return subject.rows is not None

    def pieces(self, subject: Subject, asked: Asked) -> Iterator[bytes]:
        assert subject.rows is not None
        rows, header, before = subject.rows(asked), subject.header(asked), "[\n"
        for some in together(rows):
            yield as_utf8(before + ",\n".join(_ENCODE(dict(zip(header, row, strict=True))) for row in some))
            before = ",\n"
        yield b"[]\n" if before == "[\n" else b"\n]\n"

"""JSON, as other programs read it."""

import json
from collections.abc import Iterator

from session.answers.exports.formats.format import Format, as_utf8
from session.answers.exports.subject import Asked, Subject


class Json(Format):
    """One array of objects, an object a line."""

    name = "json"
    label = "JSON"

    def fits(self, subject: Subject) -> bool:
        return subject.rows is not None

    def pieces(self, subject: Subject, asked: Asked) -> Iterator[bytes]:
        assert subject.rows is not None
        header, before = subject.header(asked), "[\n"
        for row in subject.rows(asked):
            yield as_utf8(before + json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False))
            before = ",\n"
        yield b"[]\n" if before == "[\n" else b"\n]\n"

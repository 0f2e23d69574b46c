"""The JSON of LDAvis."""

import json
from collections.abc import Iterator

from wikitopics.session.analysis.exports.formats.format import Format, as_utf8
from wikitopics.session.analysis.exports.subject import ExportRequest, Subject


class Ldavis(Format):
    """One object, as pyLDAvis writes it; either program can show it."""

    name = "ldavis"
    label = "LDAvis JSON"

    @property
    def ending(self) -> str:
        return ".ldavis.json"

    def fits(self, subject: Subject) -> bool:
        return subject.model is not None

    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        from wikitopics.session.analysis.ldavis import prepare

        assert subject.model is not None
        with asked.reader.one_moment():
            learnt, words = subject.model(asked), asked.reader.vocabulary()
            tokens = asked.reader.committed().progress.tokens
        prepared = prepare(learnt.topics(), learnt.topic_shares(), words, tokens)
        yield as_utf8(json.dumps(prepared, ensure_ascii=False, allow_nan=False) + "\n")

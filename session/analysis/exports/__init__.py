"""Exports of a session for other programs: every subject and every format, by name.

The command, its help and the screen's dialog are made from these two. To add a table, add a file in
``tables``; to add a format, one in ``formats``; both are named here. Importing this loads no numpy.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from wikitopics.session.analysis.exports.formats.csv import Csv
from wikitopics.session.analysis.exports.formats.format import Format
from wikitopics.session.analysis.exports.formats.gensim import Gensim
from wikitopics.session.analysis.exports.formats.json import Json
from wikitopics.session.analysis.exports.formats.ldavis import Ldavis
from wikitopics.session.analysis.exports.formats.npz import Npz
from wikitopics.session.analysis.exports.subject import Batch, ExportRequest, Subject
from wikitopics.session.analysis.exports.tables.articles import ARTICLES
from wikitopics.session.analysis.exports.tables.events import EVENTS
from wikitopics.session.analysis.exports.tables.history import HISTORY
from wikitopics.session.analysis.exports.tables.metrics import METRICS
from wikitopics.session.analysis.exports.tables.model import MODEL
from wikitopics.session.analysis.exports.tables.proportions import PROPORTIONS
from wikitopics.session.analysis.exports.tables.topics import TOPICS
from wikitopics.session.analysis.exports.tables.words import WORDS
from wikitopics.session.errors import BadUsage

__all__ = [
    "FORMATS",
    "SUBJECTS",
    "ExportRequest",
    "Format",
    "Subject",
    "format_of",
    "formats",
    "save",
]

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (TOPICS, HISTORY, EVENTS, METRICS, ARTICLES, PROPORTIONS, WORDS, MODEL)
}
FORMATS: dict[str, Format] = {form.name: form for form in (Csv(), Json(), Npz(), Gensim(), Ldavis())}


def formats(subject: Subject) -> list[Format]:
    """The formats it can be written in, the default one first."""
    return [form for form in FORMATS.values() if form.fits(subject)]


def format_of(subject: Subject, name: str | None) -> Format:
    """The format of this name, or the default one. Raises `BadUsage` for a format that does not fit."""
    fitting = {form.name: form for form in formats(subject)}
    if name is None:
        return next(iter(fitting.values()))
    if name not in fitting:
        raise BadUsage(f"{subject.name} cannot be exported as {name}: choose {' or '.join(fitting)}")
    return fitting[name]


def save(
    subject: Subject,
    form: Format,
    asked: ExportRequest,
    path: Path,
    progress: Callable[[int], None] = lambda rows: None,
) -> int | None:
    """Write an export to ``path``, whole or not at all; returns the rows written, None for formats without
    rows."""
    rows: int | None = None

    def counted(asked: ExportRequest) -> Iterator[Batch]:
        nonlocal rows
        assert subject.batches is not None
        rows = 0
        for batch in subject.batches(asked):
            yield batch
            rows += len(batch[0])
            progress(rows)

    form.save(replace(subject, batches=counted) if subject.batches else subject, asked, path)
    return rows

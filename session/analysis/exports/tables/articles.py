"""The articles, one row for each article and model, with its largest topic."""

from collections.abc import Iterator, Sequence
from itertools import chain

from wikitopics.session.analysis.exports.subject import Batch, ExportRequest, Subject, repeated


def _batches(asked: ExportRequest) -> Iterator[Batch]:
    has_ids = asked.reader.has_ids()
    for found in asked.reader.articles_by_column(trained_only=not asked.everything):
        numbers = [number for number, model in enumerate(found.models) if model in asked.models]
        names = [found.models[number] for number in numbers]
        times = [len(names) if topics else 1 for topics in found.topics]
        common = found.page_ids, found.titles, found.revision_ids, found.words
        columns: list[Sequence[object]] = [repeated(values, times) for values in common]
        columns.append([name for topics in found.topics for name in (names if topics else (None,))])
        for largest in (found.topics, found.shares):
            of_models = ([one[number] for number in numbers] if one else (None,) for one in largest)
            columns.append(list(chain.from_iterable(of_models)))
        if asked.everything:
            columns.append(repeated(found.roles, times))
        if has_ids:
            columns.append(repeated(found.ids, times))
        yield columns


def _count(asked: ExportRequest) -> int | None:
    return None if asked.everything else asked.reader.status().articles * len(asked.models)


ARTICLES = Subject(
    name="articles",
    label="Articles: each with its largest topic",
    columns=("page_id", "title", "revision_id", "words", "model", "topic", "proportion"),
    batches=_batches,
    of_texts=True,
    everything="include held-out and skipped articles, with a role column",
    columns_of_everything=("role",),
    columns_of_some=lambda asked: ("id",) if asked.reader.has_ids() else (),
    count=_count,
)

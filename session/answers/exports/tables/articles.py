"""The articles, a row for each and each model with its largest topic."""

from collections.abc import Iterator

from session.answers.exports.subject import ExportRequest, Row, Subject


def _rows(asked: ExportRequest) -> Iterator[Row]:
    has_ids = asked.reader.has_ids()
    for article in asked.reader.all_articles(trained_only=not asked.everything):
        common = article.page_id, article.title, article.revision_id, article.words
        role = (article.role,) if asked.everything else ()
        external_id = (article.id,) if has_ids else ()
        largest = [one for one in article.topics if one[0] in asked.models]
        for of_model in largest if article.topics else [(None, None, None)]:
            yield *common, *of_model, *role, *external_id


def _count(asked: ExportRequest) -> int | None:
    return None if asked.everything else asked.reader.status().articles * len(asked.models)


ARTICLES = Subject(
    name="articles",
    label="Articles: each with its largest topic",
    columns=("page_id", "title", "revision_id", "words", "model", "topic", "proportion"),
    rows=_rows,
    of_texts=True,
    everything="include held-out and skipped ones, with a column role",
    columns_of_everything=("role",),
    columns_of_some=lambda asked: ("id",) if asked.reader.has_ids() else (),
    count=_count,
)

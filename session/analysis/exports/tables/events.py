"""The events of topics: births, deaths, splits, mergers and renamings."""

from collections.abc import Iterator

from wikitopics.session.analysis.exports.subject import ExportRequest, Row, Subject, batched


def _rows(asked: ExportRequest) -> Iterator[Row]:
    for one in asked.reader.topic_events():
        if one.model in asked.models:
            yield one.model, one.articles, one.event, one.topic, one.other, one.name


EVENTS = Subject(
    name="events",
    label="Events: births, deaths, splits, mergers and renamings of topics",
    columns=("model", "articles", "event", "topic", "other", "name"),
    batches=batched(_rows),
)

"""The measurements."""

from collections.abc import Iterator

from wikitopics.session.analysis.exports.subject import ExportRequest, Row, Subject, batched


def _rows(asked: ExportRequest) -> Iterator[Row]:
    for measurement in asked.reader.all_metrics():
        if measurement[0] in asked.models:
            yield measurement


METRICS = Subject(
    name="metrics",
    label="Metrics: perplexity and all other measurements",
    columns=("model", "articles", "tokens", "seconds", "metric", "value"),
    batches=batched(_rows),
)

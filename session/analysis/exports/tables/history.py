"""The topics at every stored snapshot, one row per word."""

from collections.abc import Iterator

from wikitopics.session.analysis.exports.subject import ExportRequest, Row, Subject, batched

WORDS = 10


def _rows(asked: ExportRequest) -> Iterator[Row]:
    for model in asked.models:
        for snapshot in asked.reader.each_snapshot(model):
            for topic, words in enumerate(snapshot.words):
                probabilities = snapshot.probabilities[topic].tolist()
                for rank, word in enumerate(words[:WORDS], start=1):
                    yield model, snapshot.articles, topic, rank, word, probabilities[rank - 1]


HISTORY = Subject(
    name="history",
    label="History: the topics at every snapshot",
    columns=("model", "articles", "topic", "rank", "word", "probability"),
    batches=batched(_rows),
)

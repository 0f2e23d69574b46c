"""The topics as they are now, a row a word."""

from collections.abc import Iterator

from session.answers.exports.subject import Asked, Row, Subject

WORDS = 20


def _rows(asked: Asked) -> Iterator[Row]:
    for model in asked.models:
        for topic in asked.reader.topics(model, top=WORDS):
            for rank, (word, probability) in enumerate(topic.words, start=1):
                yield model, topic.topic, rank, word, probability, topic.share


TOPICS = Subject(
    name="topics",
    label="Topics: top words, probabilities, shares",
    columns=("model", "topic", "rank", "word", "probability", "share"),
    rows=_rows,
)

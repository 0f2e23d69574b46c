"""The topics as they are now, one row per word."""

from collections.abc import Iterator

from wikitopics.session.analysis.exports.subject import ExportRequest, Row, Subject, batched

WORDS = 20


def _rows(asked: ExportRequest) -> Iterator[Row]:
    from wikitopics.model.online import IN_USE
    from wikitopics.session.analysis.coherence import coherences
    from wikitopics.session.analysis.tree import topic_tree

    for model in asked.models:
        with asked.reader.one_moment():
            topics, tree = asked.reader.topics(model, top=WORDS), topic_tree(asked.reader, model)
            values = coherences(asked.reader, topics)
        for topic, npmi in zip(topics, values, strict=True):
            more = topic.share, topic.name, npmi, tree[topic.topic].parent, topic.share > IN_USE
            for rank, (word, probability) in enumerate(topic.words, start=1):
                yield model, topic.topic, rank, word, probability, *more


TOPICS = Subject(
    name="topics",
    label="Topics: top words, probabilities, shares, names",
    columns=("model", "topic", "rank", "word", "probability", "share", "name", "npmi", "parent", "in_use"),
    batches=batched(_rows),
)

"""How often every word was trained on."""

from collections.abc import Iterator

from wikitopics.session.analysis.exports.subject import ExportRequest, Row, Subject, batched


def _rows(asked: ExportRequest) -> Iterator[Row]:
    """The rows, the most frequent words first."""
    words, found = asked.reader.vocabulary(), asked.reader.word_counts()
    counts, articles = found.counts.tolist(), found.articles.tolist()
    order = sorted(range(len(words)), key=lambda word: -counts[word])
    return ((words[word], counts[word], articles[word]) for word in order)


WORDS = Subject(
    name="words",
    label="Words: how often each was trained on, and in how many articles",
    columns=("word", "count", "articles"),
    batches=batched(_rows),
    of_texts=True,
    count=lambda asked: len(asked.reader.vocabulary()),
)

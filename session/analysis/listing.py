"""Lists of a session's articles: those most about a topic, or the newest ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from wikitopics.model.naming import first_forms
from wikitopics.session.analysis.origin import addresses
from wikitopics.session.records import SHOWN_WORDS, ArticleRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.typical import typicality
from wikitopics.session.wording import called


@dataclass(frozen=True, slots=True)
class Article:
    """An article of the stream, with its largest topic in one model."""

    page_id: int
    title: str
    revision_id: int
    words: int
    """Its words that are in the vocabulary, repetitions included."""
    role: str
    """trained, held_out or skipped."""
    topic: int | None
    """Its largest topic; None if it was skipped, or is held out (see
    `StoredSession.proportions`)."""
    proportion: float | None
    """The proportion of `topic` in the article."""
    id: str | None = None
    """Its id in its own collection, "" if it has none; None if the source has no ids at all."""
    url: str | None = None
    """The address of the text that was read; None if it is not known."""
    snippet: str | None = None
    """The beginning of its text, at most 300 characters; None if it is not kept."""
    typicality: float | None = None
    """How typical of `topic` it is, from 0 to 1: `proportion` times n / (n + 30), with n `words`.
    Lists of articles about a topic are in this order."""
    topic_words: tuple[str, ...] = ()
    """Those of the ten words shown of `topic` that are in it in any form, in their order; only in
    lists of articles about a topic, and none if the words of the article are not kept."""

    @property
    def called(self) -> str:
        """Its title or, if that is only a number, the beginning of its text, where that is kept."""
        return called(self.title, self.snippet)


def listed_articles(
    reader: SessionReader,
    model: str,
    topic: int | None,
    limit: int,
) -> list[Article]:
    """The articles most about a topic of this model; for ``topic`` None, the newest ones, whatever
    their role."""
    if topic is None:
        return _described(reader, model, reader.recent_articles(limit), {})
    reader.check_topic(model, topic)
    return list(articles_of_each(reader, model, [topic], limit)[topic])


def articles_of_each(
    reader: SessionReader, model: str, topics: Iterable[int], limit: int
) -> Mapping[int, Sequence[Article]]:
    """The articles most about each of these topics."""
    # Of all topics at once, since articles of several ones may be in one block.
    rows_of = reader.articles_about_each(model, topics, limit)
    words_of = _topic_words(reader, model, rows_of)
    return {topic: _described(reader, model, rows, words_of) for topic, rows in rows_of.items()}


def _described(
    reader: SessionReader,
    model: str,
    rows: Sequence[ArticleRow],
    words_of: Mapping[int, tuple[str, ...]],
) -> list[Article]:
    """The articles in these rows, in their order. ``words_of``: the result of `_topic_words`."""
    address_of = addresses(reader.settings())
    articles = []
    for row in rows:
        topic, proportion = row.largest_of(model) or (None, None)
        how_typical = None
        if proportion is not None:
            how_typical = typicality(proportion, row.words)
        articles.append(
            Article(
                page_id=row.page_id,
                title=row.title,
                revision_id=row.revision_id,
                words=row.words,
                role=row.role,
                topic=topic,
                proportion=proportion,
                id=row.id,
                url=address_of(row),
                snippet=row.snippet,
                typicality=how_typical,
                topic_words=words_of.get(row.seq, ()),
            )
        )
    return articles


def _topic_words(
    reader: SessionReader, model: str, rows_of: Mapping[int, Sequence[ArticleRow]]
) -> dict[int, tuple[str, ...]]:
    """The words shown of a topic that are in each of its articles, by the article's number;
    articles whose words are not kept are missing."""
    newest = reader.newest_words(model)
    if newest is None:
        return {}
    vocabulary = reader.vocabulary()
    shown_ids, _ = newest.shown
    forms_of = {topic: _forms(shown_ids[topic].tolist(), vocabulary) for topic in rows_of}
    topic_of = {row.seq: topic for topic, rows in rows_of.items() for row in rows}
    found = {}
    for seq, (word_ids, _) in reader.words_of_each(chain.from_iterable(rows_of.values())):
        in_it = set(word_ids.tolist())
        forms = forms_of[topic_of[seq]]
        found[seq] = tuple(word for word, ids in forms.items() if not ids.isdisjoint(in_it))
    return found


def _forms(shown: Sequence[int], vocabulary: Sequence[str]) -> dict[str, set[int]]:
    """The words shown of a topic, each with the ids of its forms among the topic's words."""
    forms: dict[str, set[int]] = {}
    for word_id in shown[:SHOWN_WORDS]:
        word = vocabulary[word_id]
        others = {other for other in shown if len(first_forms([word, vocabulary[other]])) == 1}
        forms[word] = {word_id} | others
    return forms

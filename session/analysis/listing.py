"""Lists of a session's articles: those most about a topic, or the newest ones."""

from dataclasses import dataclass

from wikitopics.session.analysis.origin import addresses
from wikitopics.session.storage.reader import SessionReader


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


def listed_articles(
    reader: SessionReader,
    model: str,
    topic: int | None,
    limit: int,
) -> list[Article]:
    """The articles most about a topic of this model; for ``topic`` None, the newest ones, whatever
    their role."""
    if topic is None:
        rows = reader.recent_articles(limit)
    else:
        reader.check_topic(model, topic)
        rows = reader.articles_about(model, topic, limit)
    address_of = addresses(reader.settings())
    articles = []
    for row in rows:
        largest = {name: (topic, proportion) for name, topic, proportion in row.topics}
        largest_topic, proportion = largest.get(model, (None, None))
        articles.append(
            Article(
                page_id=row.page_id,
                title=row.title,
                revision_id=row.revision_id,
                words=row.words,
                role=row.role,
                topic=largest_topic,
                proportion=proportion,
                id=row.id,
                url=address_of(row),
            )
        )
    return articles

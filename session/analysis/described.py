"""The topics of a stored session, described: a record of each as of the newest snapshot."""

from dataclasses import dataclass

from wikitopics.extra import REPORT
from wikitopics.model.relevance import ownership
from wikitopics.session.analysis.areas import atlas, topic_tree
from wikitopics.session.analysis.quality import coherences
from wikitopics.session.records import SHOWN_WORDS, SNAPSHOT_WORDS
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import in_line, titles_shown


@dataclass(frozen=True, slots=True, repr=False)
class Topic:
    """A topic as of the newest snapshot."""

    number: int
    """Topics are numbered from 0, the same in every command and export."""
    name: str
    """The name given to it, otherwise the words that tell it apart."""
    share: float
    """Its share of the words of the corpus."""
    words: tuple[str, ...]
    """Its most probable words (20 are kept), most probable first."""
    shown: tuple[str, ...]
    """Ten words in the order in which they are shown: those first that tell it apart and go with
    one another."""
    probabilities: tuple[float, ...]
    """The probability in this topic of each of `words`."""
    npmi: float | None
    """How strongly its ten leading words occur together in articles that were learnt, -1 to 1; in a
    session of an earlier version, in held-out articles until it goes on."""
    found: float | None
    """The part of the model's replicas that have it, from 0 to 1: how likely another run with other
    random numbers is to find it; None without replicas."""
    in_use: bool
    """Whether it has more than a thousandth of the corpus."""
    parent: int | None
    """The group of topics that it belongs to, numbered as in `wikitopics topics --tree`; None for a
    lone topic, and for one that is not in use."""
    own: tuple[float, ...]
    """For each of `words`: this topic's share of its uses in all topics that have it among their
    words."""
    area: int | None
    """The number of its area, 18 if it belongs to none; None for a topic that is not in use."""
    area_name: str | None
    """The name of its area, "other" if it belongs to none; None for a topic that is not in use."""
    hidden: bool
    """Whether lists and the report leave it out (`wikitopics topics hide`)."""
    titles: tuple[str, ...]
    """The titles of its most typical articles, the most typical first: at most three, and none if
    no articles are kept."""
    called: tuple[str, ...]
    """The same as the screen has them: in place of a title that is only a number, the beginning of
    the text, where that is kept."""

    def __repr__(self) -> str:
        return f"<Topic {self.number} {self.name!r}, {self.share:.1%}: {in_line(self.shown)}>"

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import page

        heading = page.noted(f"#{self.number} {self.name}, {self.share:.1%} of all words")
        words = list(zip(self.words, self.probabilities, self.own, strict=True))
        return page.framed(heading, page.titled(self.called), page.described(words))


def described_topics(reader: SessionReader, model: str) -> list[Topic]:
    """All topics by number, as of the newest snapshot; empty before the first."""
    from wikitopics.model.online import IN_USE

    with reader.one_moment():
        rows = reader.topics(model, SNAPSHOT_WORDS)
        newest = reader.newest_words(model)
        grouping = atlas(reader, model)
        if newest is None or grouping is None:
            return []
        npmi = coherences(reader, model)
        tree = topic_tree(reader, model)
        articles_of = reader.articles_beside(model, [row.topic for row in rows])
    own = ownership(newest.leading, newest.shares).tolist()
    topics = []
    for row in rows:
        area = grouping.area_of.get(row.topic)
        articles = articles_of[row.topic]
        topics.append(
            Topic(
                number=row.topic,
                name=row.name,
                share=row.share,
                words=tuple(word for word, _ in row.words),
                shown=tuple(word for word, _ in row.shown[:SHOWN_WORDS]),
                probabilities=tuple(probability for _, probability in row.words),
                npmi=npmi[row.topic],
                found=row.found,
                in_use=row.share > IN_USE,
                parent=tree[row.topic].parent,
                own=tuple(own[row.topic]),
                area=None if area is None else area.number,
                area_name=None if area is None else area.name,
                hidden=row.hidden,
                titles=titles_shown(article.title for article in articles),
                called=titles_shown(article.called for article in articles),
            )
        )
    return topics

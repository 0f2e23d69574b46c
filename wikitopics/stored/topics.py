"""The topics of a session in Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex, overload

from wikitopics.extra import REPORT
from wikitopics.session.analysis import inference
from wikitopics.session.analysis.areas import Area, areas
from wikitopics.session.analysis.described import Topic, described_topics
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.wording import found_legend, in_line
from wikitopics.stored.arguments import whole
from wikitopics.stored.opening import SessionFile

if TYPE_CHECKING:
    from markupsafe import Markup as Html

    from wikitopics.session.records import TopicEvent


@dataclass(frozen=True, slots=True, repr=False)
class TopicThen:
    """A topic as it was at one snapshot, after `articles` articles."""

    articles: int
    share: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    def __repr__(self) -> str:
        return f"<after {self.articles:,} articles, {self.share:.1%}: {in_line(self.words[:10])}>"


MOST_SHOWN = 20
"""The maximum number of topics of a model that a notebook shows."""


class Topics(list[Topic]):
    """The topics of a model; a notebook shows the largest as a table."""

    def __init__(self, topics: Iterable[Topic], session: SessionFile, model: str) -> None:
        super().__init__(topics)
        self._session = session
        self._model = model

    @overload
    def __getitem__(self, index: SupportsIndex) -> Topic: ...
    @overload
    def __getitem__(self, index: slice) -> Topics: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Topic | Topics:
        """A topic, or a part of the list, which a notebook shows as a table, too."""
        if isinstance(index, slice):
            return Topics(super().__getitem__(index), self._session, self._model)
        return super().__getitem__(index)

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import page

        return page.framed(self._as_html(MOST_SHOWN))

    def _as_html(self, most: int) -> Html:
        """The largest topics in use as a table under a heading: a piece of a page."""
        from wikitopics.session.analysis.report import page
        from wikitopics.session.analysis.report.contents import course_of

        used = [topic for topic in self if topic.in_use and not topic.hidden]
        shown = used[:most]
        heading = f"{len(used):,} topics of {self._model}"
        if len(used) > most:
            heading += f", the {most} largest"
        with self._session._reading(self._model) as (reader, name):
            history = reader.share_history(name)
        rows = [
            (
                topic.number,
                topic.name,
                topic.found,
                topic.share,
                course_of(history, topic.number),
                topic.shown,
                topic.titles,
            )
            for topic in shown
        ]
        legend = found_legend(topic.found for topic in shown)
        return page.noted(heading) + page.noted(legend) + page.listed(rows)


class TopicMethods(SessionFile):
    """What `StoredSession` says about topics."""

    def topics(self, model: str | None = None) -> Topics:
        """All topics, most prevalent first, as of the newest snapshot; empty before the first
        minibatch."""
        with self._reading(model) as (reader, name):
            topics = described_topics(reader, name)
        return Topics(sorted(topics, key=lambda topic: -topic.share), self, name)

    def areas(self, n: int | None = None, model: str | None = None) -> list[Area]:
        """The areas of the topics in use, the largest first: topics of one area use the same words
        and occur in the same articles. Topics that belong to none come last, as the area "other".
        With `n`, the tree of the topics in areas is cut into that many; numbers and names are then
        valid only for this cut. Empty before the first minibatch.
        """
        n = None if n is None else whole("n", n, least=1)
        with self._reading(model) as (reader, name):
            return areas(reader, name, n)

    def history(self, topic: int, model: str | None = None) -> list[TopicThen]:
        """One topic at every stored snapshot, oldest first."""
        topic = whole("topic", topic)
        with self._reading(model) as (reader, name):
            reader.check_topic(name, topic)
            snapshots = reader.topic_history(name, topic, SNAPSHOT_WORDS)
        history = []
        for articles, share, leading in snapshots:
            words, probabilities = zip(*leading, strict=True)
            history.append(TopicThen(articles, share, words, probabilities))
        return history

    def events(self, model: str | None = None) -> list[TopicEvent]:
        """The events of a model's topics, oldest first."""
        with self._reading(model) as (reader, name):
            return [event for event in reader.topic_events() if event.model == name]

    def top_words(self, model: str | None = None, n: int = 10) -> list[list[str]]:
        """The n most probable words of every topic, most probable first: `top_words()[12]` are
        topic 12's."""
        n = whole("n", n, least=1)
        with self._reading(model) as (reader, name):
            rows = inference.top_words(reader, name, n, "probability")
        return [[word for word, _ in row] for row in rows]

"""The topics of a session in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, SupportsIndex, overload

from wikitopics.extra import REPORT
from wikitopics.session import given_names
from wikitopics.session.analysis import frames, inference
from wikitopics.session.analysis.areas import Area, areas
from wikitopics.session.analysis.described import Topic, described_topics
from wikitopics.session.errors import BadUsage
from wikitopics.session.naming import topic_name
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.wording import found_legend, in_line
from wikitopics.stored.arguments import whole, wrong_type
from wikitopics.stored.opening import SessionFile
from wikitopics.stored.progress_bars import following

if TYPE_CHECKING:
    from markupsafe import Markup as Html
    from pandas import DataFrame

    from wikitopics.session.records import TopicEvent, TopicRow


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
                topic.called,
            )
            for topic in shown
        ]
        legend = found_legend(topic.found for topic in shown)
        return page.noted(heading) + page.noted(legend) + page.listed(rows)


class TopicMethods(SessionFile):
    """What `StoredSession` says about topics, and their names."""

    @overload
    def topics(self, model: str | None = None, *, frame: Literal[False] = False) -> Topics: ...
    @overload
    def topics(self, model: str | None = None, *, frame: Literal[True]) -> DataFrame: ...
    def topics(self, model: str | None = None, *, frame: bool = False) -> Topics | DataFrame:
        """All topics, most prevalent first, as of the newest snapshot; empty before the first
        minibatch.

        With `frame`, a pandas table: `topic`, its number, `name`, `share`, `area`, `area_name`,
        `npmi`, `found`, `in_use`, `hidden`, `parent`, and as texts `words`, the ten most probable,
        `shown` and `titles`. The columns are the fields of a `Topic`.
        """
        with self._reading(model) as (reader, name):
            topics = described_topics(reader, name)
            topics.sort(key=lambda topic: -topic.share)
            if frame:
                return frames.topics_as_frame(topics)
        return Topics(topics, self, name)

    def rename(self, topic: int, name: str | None, model: str | None = None) -> str:
        """Give a topic a name of your own, from now on and everywhere, and return it. None, or an
        empty name, restores the one made of its words. Works while a trainer is running."""
        topic = whole("topic", topic)
        if not isinstance(name, str | None):
            raise wrong_type("name", "text", name)
        with self._open() as reader:
            of_model = reader.model_named(model)
            return given_names.rename(self.path, of_model, topic, name or "")

    def hide(self, *topics: int, model: str | None = None) -> None:
        """Leave topics out of lists, the report and the map from now on. Nothing is deleted:
        `topics()` and exports still have them, and no share changes. Works while a trainer is
        running."""
        self._hide(topics, model, hidden=True)

    def unhide(self, *topics: int, model: str | None = None) -> None:
        """List hidden topics again."""
        self._hide(topics, model, hidden=False)

    def _hide(self, topics: Iterable[int], model: str | None, *, hidden: bool) -> None:
        numbers = [whole("topics", topic) for topic in topics]
        if not numbers:
            raise ValueError("topics: give at least one number")
        with self._open() as reader:
            given_names.hide_topics(self.path, reader.model_named(model), numbers, hidden)

    def name(
        self,
        give: Callable[[Topic], str | None],
        model: str | None = None,
        *,
        all: bool = False,
        replace: bool = False,
        progress: bool = True,
    ) -> dict[int, str]:
        """Give topics the names that a function returns, such as one that asks a language model,
        and return these names by topic.

        give: is called with each `Topic` in use that has no given name and is not hidden, the
            largest first, and returns its name, at most 60 characters, or None, or an empty text,
            to leave it as it is
        all: whether topics that are not in use, and hidden ones, are named, too
        replace: whether topics that already have given names get new ones
        progress: whether to show a progress bar, if there is a terminal or a notebook, and tqdm is
            installed

        Each name is stored as soon as it is given. If the function raises an error, or returns what
        cannot be a name, the error is raised here, and the names given so far stay: the same call
        goes on with the other topics. Works while a trainer is running.
        """
        if not callable(give):
            raise wrong_type("give", "a function that takes a topic", give)
        with self._reading(model) as (reader, of_model):
            described = {topic.number: topic for topic in described_topics(reader, of_model)}

        def suggestion(row: TopicRow) -> str:
            suggested = give(described[row.topic])
            if not isinstance(suggested, str | None):
                raise wrong_type(f"the name of topic {row.topic}", "text or None", suggested)
            try:
                return topic_name(suggested or "")
            except BadUsage as error:
                raise ValueError(f"topic {row.topic} has no new name: {error}") from None

        names = {}
        rows = given_names.topics_to_name(self.path, of_model, every=all, replace=replace)
        rows = [row for row in rows if row.topic in described]
        with following(wanted=progress) as advance:
            advance("topics named", 0, len(rows))
            each = given_names.name_topics(self.path, of_model, rows, suggestion, replace=replace)
            for done, (row, new_name) in enumerate(each, start=1):
                if new_name:
                    names[row.topic] = new_name
                advance("topics named", done, len(rows))
        return names

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

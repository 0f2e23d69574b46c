"""A session as the screen shows it at one instant, and what the user has chosen to see of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path

from wikitopics.session.analysis.areas import Area, Atlas
from wikitopics.session.analysis.origin import Address
from wikitopics.session.analysis.story import times
from wikitopics.session.metrics import METRICS, Metric
from wikitopics.session.records import (
    ArticleRow,
    Curve,
    Event,
    Flow,
    PastRun,
    Status,
    TopicEvent,
    TopicRow,
)
from wikitopics.session.sources import noun, singular, unit_noun
from wikitopics.tui.text import plural

ModelTopics = Mapping[str, tuple[TopicRow, ...]]
"""model -> its topics, topic k at index k."""
Leading = Mapping[int, Sequence[tuple[int, float]]]
"""The largest (topic, proportion) of articles, by their number."""
MIXED = 5
"""The maximum number of topics read for an article."""
Curves = Mapping[tuple[str, str], Curve]
"""(model, metric) -> Curve, for the metrics shown."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Another session, whose curves are drawn over those of the one on screen."""

    name: str
    words: tuple[object, object]
    """The fingerprint and the rule of its vocabulary."""
    models: tuple[str, ...]
    curves: Curves


@dataclass(frozen=True, slots=True)
class SessionView:
    """All that is shown of a session at one instant; a later instant is another `SessionView`."""

    status: Status
    at: float
    """When it was read, in seconds since the epoch."""
    settings: Mapping[str, object] = field(default_factory=dict)
    address: Address = lambda article: None
    """The address at which an article can be read in a browser."""
    models: tuple[str, ...] = ()
    """At least one."""
    metrics: tuple[Metric, ...] = METRICS
    """The metrics that the chart can show."""
    curves: Curves = field(default_factory=dict)
    topics: ModelTopics = field(default_factory=dict)
    atlases: Mapping[str, Atlas] = field(default_factory=dict)
    """By model: its topics as they are grouped and placed now, even in a replay; no entry before
    its first snapshot."""
    changes: tuple[TopicEvent, ...] = ()
    """The topic events of all models, oldest first."""
    recent: tuple[ArticleRow, ...] = ()
    leading: Mapping[str, Leading] = field(default_factory=dict)
    """By model: the largest topics of the recent articles, as far as they can be read."""
    flow: tuple[Flow, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[PastRun, ...] = ()
    last_words: str = ""
    """The last message of a trainer that is no longer running, if a screen started it."""
    others: tuple[Beside, ...] = ()
    """The marked sessions."""
    as_of: int | None = None
    """In a replay, the number of articles; None: now."""

    def topics_of(self, model: str) -> tuple[TopicRow, ...]:
        """The topics of a model, topic k at index k; none before the first snapshot."""
        return self.topics.get(model, ())

    def areas_of(self, model: str) -> Mapping[int, Area]:
        """The area of each topic of a model, by the topic's number; topics not in use have none."""
        return self.atlases[model].area_of if model in self.atlases else {}

    def topic_label(self, model: str, topic: int) -> str:
        """A topic's number and its name, or only the number if the topic is not known yet."""
        rows = self.topics_of(model)
        return rows[topic].label if topic < len(rows) else f"#{topic}"

    @property
    def noun(self) -> str:
        """What the texts of its source are called: "articles" or "documents"."""
        return noun(self.status.source)

    @property
    def counted(self) -> str:
        """What its number of articles counts: its `noun`, or with several passes "document
        reads"."""
        return unit_noun(self.status.source, self.status.passes)

    def some(self, number: int) -> str:
        """A number of articles: "1 article", "300 documents", "900 document reads"."""
        return plural(number, singular(self.counted))

    def topics_after(self, model: str) -> str:
        """The number of articles that the shown topics of a model are based on, in words; "" before
        the first snapshot."""
        rows = self.topics_of(model)
        return f"after {self.some(rows[0].articles)}" if rows else ""

    def of_model(self, model: str) -> str:
        """A title's mention of its model: nothing if there is only one."""
        return f" · {model}" if len(self.models) > 1 else ""

    def of_now(self) -> str:
        """A title's mark for a panel that shows the present even in a replay."""
        return "" if self.as_of is None else " · now"

    def course(self) -> Curve | None:
        """Training progress over time, from the longest of the curves; None before the first
        measurement."""
        longest = max(self.curves.values(), key=lambda curve: curve.articles.size, default=None)
        if longest is None or longest.articles.size == 0:
            return None
        return longest

    def moment(self, articles: int) -> float | None:
        """About when it had trained on this many articles, in seconds since the epoch; None if not
        known."""
        (moment,) = times([articles], self.course(), self.runs).tolist()
        return moment if isfinite(moment) else None

    def back_at(
        self,
        articles: int,
        topics: ModelTopics,
        events: tuple[Event, ...],
        recent: tuple[ArticleRow, ...],
        leading: Mapping[str, Leading],
    ) -> "SessionView":
        """What was learnt, as it was after this many articles, given the topics, the log and the
        newest articles of that time."""
        curves = {key: curve.up_to(articles) for key, curve in self.curves.items()}
        return replace(
            self,
            as_of=articles,
            curves=curves,
            topics=topics,
            changes=tuple(one for one in self.changes if one.articles <= articles),
            recent=recent,
            leading=leading,
            events=events,
            runs=tuple(run for run in self.runs if run.first_article <= articles),
        )

    def seen_by_now(self, article: ArticleRow) -> bool:
        """Whether the article had been read at the moment shown; True if that is not known."""
        return self.as_of is None or not self.recent or article.seq <= self.recent[0].seq

    def changes_of(self, models: Sequence[str]) -> list[TopicEvent]:
        """The topic events of these models, newest snapshot first."""
        changes = [change for change in self.changes if change.model in models]
        return sorted(changes, key=lambda change: -change.articles)

    def metric(self, name: str) -> Metric:
        """The metric of this name, whether or not this session has measurements of it."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        return Metric.undeclared(name)


@dataclass(slots=True)
class Choice:
    """What the user has chosen to see, shared by the views so that they agree."""

    model: str | None = None
    """None: all models on the chart, the first in the lists."""
    metric: str = METRICS[0].name
    ascii_only: bool = False
    order: str = "share"
    """One of `ORDERS`."""
    by_probability: bool = False
    """Whether a topic's most probable words come first, not those that tell it apart."""
    compared: list[Path] = field(default_factory=list)
    """The marked sessions, whose curves are drawn over those of the one on screen."""
    pinned: set[tuple[str, int]] = field(default_factory=set)
    """(model, topic) of those pinned to the top of the lists."""

    def pinned_of(self, model: str) -> frozenset[int]:
        """The model's pinned topics."""
        return frozenset(topic for pinned_in, topic in self.pinned if pinned_in == model)

    def model_of(self, session: SessionView) -> str:
        """The model whose topics are listed."""
        return self.models_of(session)[0]

    def models_of(self, session: SessionView) -> tuple[str, ...]:
        """The models on the chart."""
        if self.model in session.models:
            return (self.model,)
        return session.models


@dataclass(slots=True)
class Replay:
    """The state of a replay. What it shows comes from `SessionView.back_at`."""

    points: tuple[int, ...]
    """Articles at each snapshot, ascending; at least one."""
    index: int = 0
    playing: bool = True

    @property
    def articles(self) -> int:
        """The number of articles after which the session is shown."""
        return self.points[self.index]

    def play(self) -> None:
        """Pause or continue; after the last point, start again."""
        self.playing = not self.playing
        if self.playing and self.index == len(self.points) - 1:
            self.index = 0

    def tick(self) -> bool:
        """Go on to the next point if the replay is playing; returns whether it was playing."""
        if not self.playing:
            return False
        last = len(self.points) - 1
        self.index = min(self.index + 1, last)
        self.playing = self.index < last
        return True

    def step(self, by: int) -> None:
        """Pause at an earlier or later point."""
        self.playing = False
        self.index = min(max(self.index + by, 0), len(self.points) - 1)

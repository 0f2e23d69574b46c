"""One look at a session, complete and immutable, from which all views draw; what the user has chosen to see
of it; and the state of a replay."""

import operator
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from textual.dom import DOMNode
from textual.worker import WorkType

from wikitopics.session.analysis.proportions import Address, nowhere
from wikitopics.session.metrics import METRICS, Metric
from wikitopics.session.records import ArticleRow, Curve, Event, Flow, PastRun, Status, TopicEvent, TopicRow
from wikitopics.session.sources import noun, unit_noun
from wikitopics.tui.text import plural

# Background work, so that the screen is drawn and keys are answered meanwhile.


Work = Callable[[], Coroutine[Any, Any, None]]


def run_in_background(node: DOMNode, work: Work, group: str, *, exclusive: bool = True) -> None:
    """Start work of a group; if exclusive, it replaces whatever of the group is still running.

    The work is called only when its turn comes: a coroutine made earlier and replaced by then would never be
    awaited.
    """
    called: WorkType[None] = work
    # Without a description, Textual builds one from everything passed to the work: 0.3 s for a large session.
    node.run_worker(called, group=group, description=group, exclusive=exclusive)


ModelTopics = Mapping[str, tuple[TopicRow, ...]]
"""model -> its topics, topic k at index k."""
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
    """Everything at one instant; a later instant is another Look."""

    status: Status
    at: float
    """When it was read, in seconds since the epoch."""
    settings: Mapping[str, object] = field(default_factory=dict)
    address: Address = nowhere
    """The address at which an article can be read in a browser."""
    models: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = METRICS
    """The metrics that the chart can show."""
    curves: Curves = field(default_factory=dict)
    topics: ModelTopics = field(default_factory=dict)
    changes: tuple[TopicEvent, ...] = ()
    """The topic events of all models, oldest first."""
    recent: tuple[ArticleRow, ...] = ()
    flow: tuple[Flow, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[PastRun, ...] = ()
    last_words: str = ""
    """The last message of a trainer that is no longer running, if a screen started it."""
    others: tuple[Beside, ...] = ()
    """The marked sessions."""
    as_of: int | None = None
    """In a replay, the number of articles; None: now."""

    def topics_of(self, model: str | None) -> tuple[TopicRow, ...]:
        """The topics of a model, topic k at index k; none before the first."""
        return self.topics.get(model or "", ())

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
        """What its number of articles counts: that, or "readings" where there are several passes."""
        return unit_noun(self.status.source, self.status.passes)

    def some(self, number: int) -> str:
        """A number of articles: "1 article", "300 documents", "900 readings"."""
        return plural(number, self.counted[:-1])

    def topics_after(self, model: str | None) -> str:
        """The number of articles that the shown topics of a model are based on, in words; "" before the
        first."""
        rows = self.topics_of(model)
        return f"after {self.some(rows[0].articles)}" if rows else ""

    def of_model(self, model: str | None) -> str:
        """A title's mention of its model: nothing if there is only one."""
        return f" · {model}" if model and len(self.models) > 1 else ""

    def of_now(self) -> str:
        """A title's mark for a panel that shows the present even in a replay."""
        return "" if self.as_of is None else " · now"

    def course(self) -> Curve | None:
        """Training progress over time, from the longest of the curves; None before the first measurement."""
        longest = max(self.curves.values(), key=lambda curve: curve.articles.size, default=None)
        return longest if longest is not None and longest.articles.size else None

    def moment(self, articles: int) -> float | None:
        """About when it had trained on this many articles, in seconds since the epoch; None if not known."""
        course = self.course()
        run = next((run for run in reversed(self.runs) if run.first_article < articles), None)
        if course is None or run is None:
            return None
        points = [run.first_article, articles]
        began, then = np.interp(points, np.append(0, course.articles), np.append(0.0, course.seconds))
        return run.started_at + float(then - began)

    def back_at(self, articles: int, topics: ModelTopics, events: tuple[Event, ...]) -> "SessionView":
        """What was learnt, as it was after this many articles, given the topics and the log of that time."""
        curves = {key: curve.up_to(articles) for key, curve in self.curves.items()}
        return replace(
            self,
            as_of=articles,
            curves=curves,
            topics=topics,
            changes=tuple(one for one in self.changes if one.articles <= articles),
            recent=(),
            events=events,
            runs=tuple(run for run in self.runs if run.first_article <= articles),
        )

    def changes_of(self, models: Sequence[str]) -> list[TopicEvent]:
        """The topic events of these models, newest snapshot first."""
        return sorted((one for one in self.changes if one.model in models), key=lambda one: -one.articles)

    def metric(self, name: str) -> Metric:
        """The metric of this name, whether or not this session has measurements of it."""
        return next((one for one in self.metrics if one.name == name), Metric.undeclared(name))


def same(values: Sequence[object], others: Sequence[object]) -> bool:
    """True if nothing changed since the last drawing (the objects are identical)."""
    return len(values) == len(others) and all(map(operator.is_, values, others))


@dataclass(slots=True)
class Choice:
    """What the user has chosen to see, shared by the views so that they agree."""

    model: str | None = None
    """None: all models on the chart, the first in the lists."""
    metric: str = METRICS[0].name
    ascii_only: bool = False
    order: str = "share"
    """One of `ORDERS`."""
    relevant: bool = True
    """Whether a topic's most relevant words come first, not its most probable ones."""
    compared: list[Path] = field(default_factory=list)
    """The marked sessions, whose curves are drawn over those of the one on screen."""
    pinned: set[tuple[str, int]] = field(default_factory=set)
    """(model, topic) of those pinned to the top of the lists."""

    def pinned_of(self, model: str | None) -> frozenset[int]:
        """The model's pinned topics."""
        return frozenset(topic for of, topic in self.pinned if of == model)

    def model_of(self, look: SessionView) -> str | None:
        """The model whose topics are listed."""
        if self.model in look.models:
            return self.model
        return look.models[0] if look.models else None

    def models_of(self, look: SessionView) -> tuple[str, ...]:
        """The models on the chart."""
        return (self.model,) if self.model in look.models else look.models


@dataclass(slots=True)
class Replay:
    """The state of a replay. What is shown there is a `back_at`."""

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
        """Note that time has passed; returns whether another point is reached."""
        if not self.playing:
            return False
        self.index += self.index < len(self.points) - 1
        self.playing = self.index < len(self.points) - 1
        return True

    def step(self, by: int) -> None:
        """Pause at an earlier or later point."""
        self.playing = False
        self.index = min(max(self.index + by, 0), len(self.points) - 1)

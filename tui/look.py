"""One look at a session, complete and immutable: what all views draw from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from session.answers.addresses import Address, nowhere
from session.metrics import METRICS, Metric
from session.records import ArticleRow, Curve, Event, Flow, PastRun, Status, TopicEvent, TopicRow
from tui.words import plural


@dataclass(frozen=True, slots=True)
class Beside:
    """Another session, whose curves lie over those of the one on screen."""

    name: str
    words: tuple[object, object]
    """Of its vocabulary the fingerprint and the rule."""
    models: tuple[str, ...]
    curves: Mapping[tuple[str, str], Curve]
    """(model, metric) -> Curve, of the metric that the large chart shows."""


@dataclass(frozen=True, slots=True)
class Look:
    """Everything of one instant; a later instant is another Look."""

    status: Status
    at: float
    """When it was read, seconds since the epoch."""
    settings: Mapping[str, object] = field(default_factory=dict)
    address: Address = nowhere
    """Where an article can be read in a browser."""
    models: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = METRICS
    """What the chart can show."""
    curves: Mapping[tuple[str, str], Curve] = field(default_factory=dict)
    """(model, metric) -> Curve, of the metrics that are on show."""
    topics: Mapping[str, tuple[TopicRow, ...]] = field(default_factory=dict)
    """model -> its topics, topic k at k."""
    changes: tuple[TopicEvent, ...] = ()
    """What has happened to the topics of all models, oldest first."""
    recent: tuple[ArticleRow, ...] = ()
    flow: tuple[Flow, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[PastRun, ...] = ()
    last_words: str = ""
    """What a trainer that runs no more said last, if a screen started it."""
    others: tuple[Beside, ...] = ()
    """The sessions that are marked."""
    as_of: int | None = None
    """In a replay: after so many articles; None: now."""

    def topic_label(self, model: str, topic: int) -> str:
        """A topic's number and its name; the number alone where the topic is not known yet."""
        rows = self.topics.get(model, ())
        return rows[topic].label if topic < len(rows) else f"#{topic}"

    def topics_after(self, model: str | None) -> str:
        """After how many articles a model's topics are as they are shown, in words; "" before the first."""
        rows = self.topics.get(model or "", ())
        return f"after {plural(rows[0].articles, 'article')}" if rows else ""

    def of_model(self, model: str | None) -> str:
        """What a title says of its model: nothing where there is only one."""
        return f" · {model}" if model and len(self.models) > 1 else ""

    def of_now(self) -> str:
        """What a title says of its panel if that shows the present also in a replay."""
        return "" if self.as_of is None else " · now"

    def course(self) -> Curve | None:
        """How far training was when, by the longest of the curves; None before the first measurement."""
        longest = max(self.curves.values(), key=lambda curve: curve.articles.size, default=None)
        return longest if longest is not None and longest.articles.size else None

    def moment(self, articles: int) -> float | None:
        """About when it had trained on so many, seconds since the epoch; None where that is not known."""
        course = self.course()
        run = next((run for run in reversed(self.runs) if run.first_article < articles), None)
        if course is None or run is None:
            return None
        points = [run.first_article, articles]
        began, then = np.interp(points, np.append(0, course.articles), np.append(0.0, course.seconds))
        return run.started_at + float(then - began)

    def back_at(
        self, articles: int, topics: Mapping[str, tuple[TopicRow, ...]], events: tuple[Event, ...]
    ) -> "Look":
        """What was learnt as it was after so many articles, when the topics and the log were these."""
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
        """What has happened to the topics of these models, of the newest snapshot first."""
        return sorted((one for one in self.changes if one.model in models), key=lambda one: -one.articles)

    def metric(self, name: str) -> Metric:
        """The metric of this name, whether anything of this session is measured by it or not."""
        return next((one for one in self.metrics if one.name == name), Metric.undeclared(name))


@dataclass(slots=True)
class Choice:
    """What the user has chosen to see; shared by the views so that they agree."""

    model: str | None = None
    """None: all models on the chart, the first in the lists."""
    metric: str = METRICS[0].name
    ascii_only: bool = False
    patterned: bool = False
    """Whether the terminal has too few colours to tell lines apart by them."""
    order: str = "share"
    """One of :data:`tui.listing.ORDERS`."""
    compared: list[Path] = field(default_factory=list)
    """The sessions that are marked: their curves lie over those of the one on screen."""
    pinned: set[tuple[str, int]] = field(default_factory=set)
    """(model, topic) of those that stay on top of the lists."""

    def pinned_of(self, model: str | None) -> frozenset[int]:
        """The model's topics that are pinned."""
        return frozenset(topic for of, topic in self.pinned if of == model)

    def model_of(self, look: Look) -> str | None:
        """The model whose topics are listed."""
        if self.model in look.models:
            return self.model
        return look.models[0] if look.models else None

    def models_of(self, look: Look) -> tuple[str, ...]:
        """The models on the chart."""
        return (self.model,) if self.model in look.models else look.models

"""One look at a session, complete and immutable: what all views draw from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from session.metrics import METRICS, Metric
from session.records import ArticleRow, Curve, Event, Flow, PastRun, Status, TopicEvent, TopicRow


@dataclass(frozen=True, slots=True)
class Look:
    """Everything of one instant; a later instant is another Look."""

    status: Status
    at: float
    """When it was read, seconds since the epoch."""
    settings: Mapping[str, object] = field(default_factory=dict)
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
    as_of: int | None = None
    """In a replay: after so many articles; None: now."""

    def topic_words(self, model: str, topic: int, many: int = 3) -> str:
        """The first words of a topic, "" where the topic is not known yet."""
        rows = self.topics.get(model, ())
        return " ".join(word for word, _ in rows[topic].words[:many]) if topic < len(rows) else ""

    def back_at(self, articles: int, topics: Mapping[str, tuple[TopicRow, ...]]) -> "Look":
        """What was learnt as it was after so many articles, when the topics were these."""
        curves = {key: curve.up_to(articles) for key, curve in self.curves.items()}
        return replace(
            self,
            as_of=articles,
            curves=curves,
            topics=topics,
            changes=tuple(one for one in self.changes if one.articles <= articles),
            recent=(),
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

    def model_of(self, look: Look) -> str | None:
        """The model whose topics are listed."""
        if self.model in look.models:
            return self.model
        return look.models[0] if look.models else None

    def models_of(self, look: Look) -> tuple[str, ...]:
        """The models on the chart."""
        return (self.model,) if self.model in look.models else look.models

"""One look at a session, complete and immutable: what all views draw from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from session.metrics import METRICS, Metric
from session.records import ArticleRow, Curve, Event, Flow, PastRun, Status, TopicRow


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
    recent: tuple[ArticleRow, ...] = ()
    flow: tuple[Flow, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[PastRun, ...] = ()
    last_words: str = ""
    """What a trainer that runs no more said last, if a screen started it."""

    def topic_words(self, model: str, topic: int, many: int = 3) -> str:
        """The first words of a topic, "" where the topic is not known yet."""
        rows = self.topics.get(model, ())
        return " ".join(word for word, _ in rows[topic].words[:many]) if topic < len(rows) else ""

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

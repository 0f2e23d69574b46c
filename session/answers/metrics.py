"""What the curves of a session can show."""

from session.metrics import OF_TOPICS, SCORES, Metric
from session.models import own_metrics
from session.storage.reader import SessionReader


def metrics_of(reader: SessionReader) -> tuple[Metric, ...]:
    """What its models are measured by; last what was measured by a kind that is not installed any more."""
    own = [metric for spec in reader.settings().models for metric in own_metrics(spec.kind)]
    known = {metric.name: metric for metric in (*SCORES, *own, *OF_TOPICS)}
    found = [Metric.undeclared(name) for name in reader.metric_names() if name not in known]
    return (*known.values(), *found)

"""The metrics that a session's curves can show."""

from wikitopics.session.metrics import OF_STREAM, OF_TOPICS, SCORES, Metric
from wikitopics.session.models import own_metrics
from wikitopics.session.storage.reader import SessionReader


def metrics_of(reader: SessionReader) -> tuple[Metric, ...]:
    """The metrics of its models, ending with those measured by a kind that is no longer installed."""
    own = [metric for spec in reader.settings().models for metric in own_metrics(spec.kind)]
    recorded = reader.metric_names()
    of_stream = (metric for metric in OF_STREAM if metric.name in recorded)
    known = {metric.name: metric for metric in (*SCORES, *of_stream, *own, *OF_TOPICS)}
    found = [Metric.undeclared(name) for name in recorded if name not in known]
    return (*known.values(), *found)

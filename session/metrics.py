"""The metrics of every model of a session. To add one, declare it here; nothing else needs to
change.

Evaluation, charts, exports and help read these. A metric that only one kind of model can measure is
declared by that kind (`metrics`). Importing this module does not load numpy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wikitopics.model.options import Metric

if TYPE_CHECKING:
    from wikitopics.model import OnlineModel
    from wikitopics.model.coherence import Cooccurrences
    from wikitopics.session.records import TopWords

__all__ = [
    "EARLIER",
    "METRICS",
    "NPMI_HELD_OUT",
    "OF_STREAM",
    "OF_TOPICS",
    "SCORES",
    "Evaluation",
    "Metric",
    "SessionMetric",
]

NPMI_HELD_OUT = "npmi_held_out"
"""The coherence that versions before 1.3.0 measured in the held-out articles, and called npmi."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A model at one point of the stream, as its metrics see it."""

    model: "OnlineModel"
    reference: "Cooccurrences"
    """The articles in which the words of topics are counted together."""
    log_likelihood: float
    """The log-likelihood of the held-out articles, by document completion."""
    before: "TopWords | None" = None
    """The topics at the last measurement, if there was one."""
    now: "TopWords | None" = None
    prequential: float | None = None
    """Log-likelihood of the newest articles of the stream before they were trained, if it is
    measured."""


@dataclass(frozen=True)
class SessionMetric(Metric):
    """A metric with the function that measures it. The function returns None if there is nothing to
    measure, or if the metric is derived from others when it is read."""

    measure: Callable[[Evaluation], float | None] = lambda evaluation: None


def _npmi(evaluation: Evaluation) -> float | None:
    from wikitopics.model.coherence import npmi_of_words
    from wikitopics.model.online import IN_USE
    from wikitopics.session.records import COHERENT_WORDS

    model = evaluation.model
    in_use = model.topic_shares() > IN_USE
    if not in_use.any():
        return None
    word_ids, _ = model.top_words(COHERENT_WORDS)
    return float(npmi_of_words(word_ids[in_use], evaluation.reference).mean())


def _drift(evaluation: Evaluation) -> float | None:
    from wikitopics.model import drift

    before = evaluation.before
    now = evaluation.now
    if before is None or now is None:
        return None
    return float(now.shares @ drift(before.leading, now.leading))


SCORES = (
    SessionMetric(
        "perplexity",
        "Perplexity of {held_out}",
        "exp(-log_likelihood)",
        better="lower",
        brief="Perplexity",
        words="like guessing among {value} words",
    ),
    SessionMetric(
        "log_likelihood",
        "Log-likelihood per word of {held_out}",
        "nats per held-out word",
        better="higher",
        measure=lambda evaluation: evaluation.log_likelihood,
    ),
)
"""How well the model predicts; every measurement has these."""
OF_STREAM = (
    SessionMetric(
        "prequential_log_likelihood",
        "Log-likelihood per word of the last 1,000 articles, before training",
        "nats per hidden word of new articles; with --half-life",
        better="higher",
        measure=lambda evaluation: evaluation.prequential,
    ),
)
"""How well it predicts the next articles; sessions whose models forget have these."""
OF_TOPICS = (
    SessionMetric(
        "npmi",
        "Coherence (NPMI)",
        "how strongly the leading words of topics in use occur together where they were learnt",
        better="higher",
        brief="Coherence",
        measure=_npmi,
    ),
    SessionMetric(
        "topics_in_use",
        "Topics in use",
        "topics with more than a thousandth of the corpus",
        whole=True,
        brief="Topics in use",
        words="topics over 0.1% of the text",
        measure=lambda evaluation: evaluation.model.topics_in_use(),
    ),
    SessionMetric(
        "drift",
        "Drift of topics since the last measurement",
        "share of the leading words that have changed, by weight",
        brief="Drift",
        words="how much topics still change",
        measure=_drift,
    ),
)
"""Qualities of the model's topics."""
EARLIER = (
    SessionMetric(
        NPMI_HELD_OUT,
        "Coherence (NPMI) on {held_out}",
        "how strongly topics' leading words occur together; until 1.2",
        better="higher",
    ),
)
"""What earlier versions measured."""
METRICS = (*SCORES, *OF_STREAM, *OF_TOPICS)

"""Measuring a model: on the held-out articles, by its topics, and on the newest articles before
they are trained on.

Held-out articles are the oldest ones. In a changing stream they become less and less
representative, while a model should predict the next articles well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from wikitopics.model import CompletionSet, Minibatch, OnlineModel, kinds
from wikitopics.model.checking import check_rows
from wikitopics.session.errors import errors_of
from wikitopics.session.metrics import METRICS, Evaluation
from wikitopics.session.records import Scored

NEWEST_ARTICLES = 1000
"""The number of newest articles in the mean score, rounded up to whole minibatches."""
SAMPLE = 256
"""The most articles of a minibatch that are scored, from its start: scoring all would outlast
training."""


def scored(models: Sequence[OnlineModel], batch: Minibatch, seed: int) -> Scored:
    """The models' scores on a minibatch that they have not learnt yet, by document completion.

    Neither the models nor their random numbers change.
    """
    completion = CompletionSet(batch[:SAMPLE], seed)
    words = int(completion.hidden.n_tokens)
    nats = tuple(float(completion.score(model)) * words if words else 0.0 for model in models)
    return Scored(batch.D, words, nats)


def latest_of_each(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """The scores of as many of the last minibatches as have enough articles together."""
    window = (*before, latest)
    while sum(one.articles for one in window[1:]) >= NEWEST_ARTICLES:
        window = window[1:]
    return window


@dataclass(frozen=True, slots=True)
class Measured:
    """The last measurement: its number of articles, and the perplexity of each model that has
    one."""

    articles: int
    perplexities: Mapping[str, float]


def given(model: OnlineModel, method: str, *batch: Minibatch) -> Any:
    """What this method of a model gives. Raises `SessionError` if a model of another package gives
    something else than `check_model` expects."""
    rows = getattr(model, method)(*batch)
    if model.kind not in kinds.built_in:
        shapes = {"topics": (model.n_topics, model.n_words), "topic_shares": (model.n_topics,)}
        with errors_of(f"the model of kind {model.kind}"):
            check_rows(method, rows, shapes.get(method) or (batch[0].D, model.n_topics))
    return rows


class HeldOut:
    """The held-out articles, split once for document completion."""

    def __init__(self, batch: Minibatch, seed: int) -> None:
        self._batch = batch
        self._completion = CompletionSet(batch, seed)

    def measure(self, model: OnlineModel, *more: Any) -> dict[str, float]:
        """Every metric of the model, by name; the model does not change. ``more``: what else an
        `Evaluation` has, in order."""
        own = model.own_metrics(self._batch)  # first: this shortens compiling, as explained there
        evaluation = Evaluation(model, self._batch, self._completion.score(model), *more)
        values = {**own, **{one.name: one.measure(evaluation) for one in METRICS}}
        return {
            name: float(value)
            for name, value in values.items()
            if value is not None and isfinite(value)
        }

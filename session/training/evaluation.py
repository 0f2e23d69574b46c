"""Measuring a model: on the held-out articles, by its topics, and on the newest articles before these are
trained.

Held-out articles are the oldest ones. In a changing stream they say less and less, while a model should be
good at predicting the next articles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from wikitopics.model import CompletionSet, Minibatch, OnlineModel
from wikitopics.session.metrics import METRICS, Evaluation
from wikitopics.session.records import TopWords
from wikitopics.session.storage.tables.progress import Scored

NEWEST = 1000
"""The number of articles in the mean, in whole minibatches."""
SAMPLE = 256
"""The most articles of a minibatch that are scored, the first ones: all would take longer than training."""


def scored(models: Sequence[OnlineModel], batch: Minibatch, seed: int) -> Scored:
    """The models' scores on a minibatch that they have not learnt yet, by document completion.

    The models do not change, nor do their random numbers.
    """
    completion = CompletionSet(batch[:SAMPLE], seed)
    words = int(completion.hidden.n_tokens)
    nats = tuple(float(completion.score(model)) * words if words else 0.0 for model in models)
    return Scored(batch.D, words, nats)


def newest(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """The last minibatches, as many as are needed to have enough articles."""
    kept = (*before, latest)
    while sum(one.articles for one in kept[1:]) >= NEWEST:
        kept = kept[1:]
    return kept


@dataclass(frozen=True, slots=True)
class Measured:
    """The last measurement: its number of articles, and the perplexity of each model that has one."""

    articles: int
    perplexities: Mapping[str, float]


class HeldOut:
    """The held-out articles, split once for document completion."""

    def __init__(self, batch: Minibatch, seed: int) -> None:
        self._batch = batch
        self._completion = CompletionSet(batch, seed)

    def measure(
        self,
        model: OnlineModel,
        before: TopWords | None = None,
        now: TopWords | None = None,
        prequential: float | None = None,
    ) -> dict[str, float]:
        """Every metric of the model, by name; the model does not change.

        ``before``, ``now``: its topics at the last measurement and at this one. ``prequential``: its score on
        the newest articles, if there is one.
        """
        own = model.own_metrics(self._batch)  # first, which shortens compiling: see there
        found = Evaluation(model, self._batch, self._completion.score(model), before, now, prequential)
        values = {**own, **{one.name: one.measure(found) for one in METRICS}}
        return {name: float(value) for name, value in values.items() if value is not None and isfinite(value)}

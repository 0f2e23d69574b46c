"""Measuring a model: on the held-out articles, by its topics, and on the newest articles before
they are trained on.

Held-out articles are the oldest ones. In a changing stream they become less and less
representative, while a model should predict the next articles well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from numpy.typing import NDArray

from wikitopics.model import CompletionSet, Minibatch, OnlineModel, kinds
from wikitopics.model.checking import check_rows
from wikitopics.model.coherence import Cooccurrences
from wikitopics.session.errors import errors_of
from wikitopics.session.metrics import METRICS, Evaluation
from wikitopics.session.records import Scored, TopWords

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
    nats = [0.0 for _ in models]
    if words:
        nats = [float(completion.score(model)) * words for model in models]
    return Scored(batch.D, words, tuple(nats))


def newest_scores(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """The scores of the last minibatches: of as few as have `NEWEST_ARTICLES` articles together."""
    scores = (*before, latest)
    # The oldest is left out as long as the others suffice.
    while sum(of_minibatch.articles for of_minibatch in scores[1:]) >= NEWEST_ARTICLES:
        scores = scores[1:]
    return scores


@dataclass(frozen=True, slots=True)
class Measured:
    """The last measurement: its number of articles, and the perplexity of each model that has
    one."""

    articles: int
    perplexities: Mapping[str, float]


def checked_rows(model: OnlineModel, method: str, *batch: Minibatch) -> NDArray[Any]:
    """What this method of a model returns. Raises `SessionError` if a model of another package
    returns something else than `check_model` expects."""
    rows: NDArray[Any] = getattr(model, method)(*batch)
    if model.kind in kinds.built_in:
        return rows
    K = model.n_topics
    shape: tuple[int, ...]
    if method == "topics":
        shape = (K, model.n_words)
    elif method == "topic_shares":
        shape = (K,)
    else:
        (documents,) = batch
        shape = (documents.D, K)
    with errors_of(f"the model of kind {model.kind}"):
        check_rows(method, rows, shape)
    return rows


class HeldOut:
    """The held-out articles, split once for document completion."""

    def __init__(self, batch: Minibatch, seed: int) -> None:
        self._batch = batch
        self._completion = CompletionSet(batch, seed)

    def measure(
        self,
        model: OnlineModel,
        reference: Cooccurrences,
        before: TopWords | None = None,
        now: TopWords | None = None,
        prequential: float | None = None,
    ) -> dict[str, float]:
        """Every metric of the model, by name; the model does not change. ``reference``, ``before``,
        ``now`` and ``prequential`` are those of an `Evaluation`."""
        # The model's own metrics come first, which shortens compiling: see `warming.warm_up`.
        values: dict[str, float | None] = {**model.own_metrics(self._batch)}
        log_likelihood = self._completion.score(model)
        evaluation = Evaluation(model, reference, log_likelihood, before, now, prequential)
        for metric in METRICS:
            values[metric.name] = metric.measure(evaluation)
        return {
            name: float(value)
            for name, value in values.items()
            if value is not None and isfinite(value)
        }

"""Measuring a model, on the held-out articles and by its topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from wikitopics.model import CompletionSet, Minibatch, OnlineModel
from wikitopics.session.metrics import METRICS, Evaluation
from wikitopics.session.records import TopWords


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
        found = Evaluation(model, self._batch, self._completion.score(model), before, now, prequential)
        values = {**model.own_metrics(self._batch), **{one.name: one.measure(found) for one in METRICS}}
        return {name: float(value) for name, value in values.items() if value is not None and isfinite(value)}

"""Measuring a model: on the held-out articles, and by what its topics say."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from model import CompletionSet, Minibatch, OnlineModel
from model.coherence import npmi_of_words
from session.records import COHERENT_WORDS


@dataclass(frozen=True, slots=True)
class Measured:
    """The last measurement: after how many articles, and the perplexity of each model that has one."""

    articles: int
    perplexities: Mapping[str, float]


class HeldOut:
    """The held-out articles, split once for document completion."""

    def __init__(self, batch: Minibatch, seed: int) -> None:
        self._batch = batch
        self._completion = CompletionSet(batch, seed)

    def measure(self, model: OnlineModel) -> dict[str, float]:
        """Every metric that the model has, by name; the model stays as it is."""
        log_likelihood = self._completion.score(model)
        values = {"log_likelihood": log_likelihood, "perplexity": float(np.exp(-log_likelihood))}
        values |= model.own_metrics(self._batch)
        values["npmi"] = float(np.mean(npmi_of_words(model.top_words(COHERENT_WORDS)[0], self._batch)))
        values["topics_in_use"] = float(model.topics_in_use())
        return {name: value for name, value in values.items() if np.isfinite(value)}

"""Measuring a model: on the held-out articles, and by what its topics say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import CompletionSet, Minibatch, OnlineModel, npmi
from model.coherence import top_words

SNAPSHOT_WORDS = 20


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

    def measure(self, model: OnlineModel, topics: NDArray[Any]) -> dict[str, float]:
        """Every metric that the model has, by name; the model stays as it is. ``topics``: its topics()."""
        log_likelihood = self._completion.score(model)
        values = {"log_likelihood": log_likelihood, "perplexity": float(np.exp(-log_likelihood))}
        values |= model.own_metrics(self._batch)
        values["npmi"] = float(np.mean(npmi(topics, self._batch)))
        values["topics_in_use"] = float(model.topics_in_use())
        return {name: value for name, value in values.items() if np.isfinite(value)}


def snapshot_words(topics: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(K, 20) word ids and probabilities of each topic's top words, most probable first."""
    ids = top_words(topics, SNAPSHOT_WORDS)
    return ids.astype(np.int32), np.take_along_axis(topics, ids, axis=1).astype(np.float32)

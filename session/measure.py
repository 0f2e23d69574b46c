"""Measuring a model on the held-out articles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import CompletionSet, Minibatch

SNAPSHOT_WORDS = 20


class HeldOut:
    """The held-out articles, split once for document completion."""

    def __init__(self, batch: Minibatch, seed: int) -> None:
        self._batch = batch
        self._completion = CompletionSet(batch, seed)

    def measure(self, model: Any) -> dict[str, float]:
        """Every metric that the model has, by name; the model stays as it is."""
        log_likelihood = self._completion.score(model)
        values = {"log_likelihood": log_likelihood, "perplexity": float(np.exp(-log_likelihood))}
        if hasattr(model, "bound_perplexity"):
            values["bound_perplexity"] = float(model.bound_perplexity(self._batch))
        return {name: value for name, value in values.items() if np.isfinite(value)}


def top_words(topics: NDArray[np.floating[Any]], top: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(K, top) word ids and probabilities of each row of ``topics`` (K, W), most probable first."""
    top = min(top, topics.shape[1])
    unsorted = np.argpartition(-topics, top - 1, axis=1)[:, :top]
    values = np.take_along_axis(topics, unsorted, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    ids = np.take_along_axis(unsorted, order, axis=1).astype(np.int32)
    return ids, np.take_along_axis(values, order, axis=1).astype(np.float32)

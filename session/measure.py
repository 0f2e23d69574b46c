"""Measuring a model on the held-out articles: changes neither the model nor its random state."""

from typing import Any

import numpy as np
from model.coherence import npmi
from numpy.typing import NDArray

from model import Minibatch, document_completion

TOP_WORDS = 10
SNAPSHOT_WORDS = 20


def measure(model: Any, held_out: Minibatch, seed: int) -> dict[str, float]:
    """Every metric that the model has, by name."""
    log_likelihood = document_completion(model, held_out, seed=seed)
    values = {"log_likelihood": log_likelihood, "perplexity": float(np.exp(-log_likelihood))}
    if hasattr(model, "bound_perplexity"):
        values["bound_perplexity"] = float(model.bound_perplexity(held_out))
    top = top_words(model.topics(), TOP_WORDS)[0]
    values["npmi"] = float(np.nanmean(npmi(top, held_out)))
    values["topics_in_use"] = float(model.topics_in_use())
    return {name: value for name, value in values.items() if np.isfinite(value)}


def top_words(topics: NDArray[np.floating[Any]], top: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(K, top) word ids and probabilities of each row of ``topics`` (K, W), most probable first."""
    top = min(top, topics.shape[1])
    unsorted = np.argpartition(-topics, top - 1, axis=1)[:, :top]
    values = np.take_along_axis(topics, unsorted, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    ids = np.take_along_axis(unsorted, order, axis=1).astype(np.int32)
    return ids, np.take_along_axis(values, order, axis=1).astype(np.float32)

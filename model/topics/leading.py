"""Comparing topics by their leading words: how far each has moved, and how close they are to one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Leading = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(K, n) word ids and probabilities of each topic's n most probable words."""


def drift(before: Leading, after: Leading) -> NDArray[np.float64]:
    """(K,) total variation distance of each topic from its earlier self, over its leading words.

    The probabilities of the leading words are scaled to sum to 1, so the distance lies within [0, 1]: the
    share that has moved to other words. ``before`` and ``after`` may lead with different numbers of words.
    Raises ValueError for different numbers of topics.
    """
    if len(before[0]) != len(after[0]):
        raise ValueError(f"{len(before[0])} topics before and {len(after[0])} after are not of one model")
    same = before[0][:, :, None] == after[0][:, None, :]
    stayed: NDArray[np.float64] = np.where(
        same, np.minimum(_scaled(before[1])[:, :, None], _scaled(after[1])[:, None, :]), 0.0
    ).sum(axis=(1, 2))
    return 1.0 - stayed


def affinity(ones: Leading, others: Leading, topic: int) -> NDArray[np.float64]:
    """(K,) how much the leading words of ``ones`` have in common with those of topic in ``others``.

    These are Bhattacharyya coefficients: 1 for the same words and probabilities, 0 if no word is shared.
    """
    ids, probabilities = others[0][topic], _scaled(others[1][topic])
    roots = np.zeros(max(int(ids.max()), int(ones[0].max())) + 1)
    roots[ids] = np.sqrt(probabilities)
    found: NDArray[np.float64] = (np.sqrt(_scaled(ones[1])) * roots[ones[0]]).sum(axis=-1)
    return found


def _scaled(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    numbers = probabilities.astype(np.float64)
    total = numbers.sum(axis=-1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(numbers, total, out=np.zeros_like(numbers), where=total > 0)
    return scaled

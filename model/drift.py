"""How far topics have moved between two looks at one model, by their leading words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Leading = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(K, n) word ids and probabilities of each topic's n most probable words."""


def drift(before: Leading, after: Leading) -> NDArray[np.float64]:
    """(K,) total variation distance of each topic from its earlier self, over its leading words.

    The probabilities of the leading words are scaled to sum to 1, so that it lies within [0, 1]: the share of
    them that has gone to other words. ``before`` and ``after`` may lead with different numbers of words.
    Raises ValueError for different numbers of topics.
    """
    if len(before[0]) != len(after[0]):
        raise ValueError(f"{len(before[0])} topics before and {len(after[0])} after are not of one model")
    same = before[0][:, :, None] == after[0][:, None, :]
    stayed: NDArray[np.float64] = np.where(
        same, np.minimum(_scaled(before[1])[:, :, None], _scaled(after[1])[:, None, :]), 0.0
    ).sum(axis=(1, 2))
    return 1.0 - stayed


def _scaled(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    numbers = probabilities.astype(np.float64)
    scaled: NDArray[np.float64] = numbers / numbers.sum(axis=1, keepdims=True)
    return scaled

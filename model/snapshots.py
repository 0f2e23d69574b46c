"""How far topics have moved between two snapshots of one model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def drift(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.float64]:
    """(K,) total variation distance of each topic from itself: the share of its probability that moved to
    other words, within [0, 1].

    before, after: (K, W) topics of one model, rows sum to 1. Raises ValueError if the shapes differ.
    """
    if before.shape != after.shape:
        raise ValueError(f"snapshots of different shapes: {before.shape} and {after.shape}")
    difference = np.abs(after.astype(np.float64) - before.astype(np.float64))
    distance: NDArray[np.float64] = 0.5 * difference.sum(axis=1)
    return distance

"""Comparing topics by their leading words: how far each has moved, and how far apart they are."""

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


def distances(leading: Leading) -> NDArray[np.float64]:
    """(K, K) Hellinger distances, 0 to 1, of the topics' leading words."""
    near = np.stack([affinity(leading, leading, topic) for topic in range(len(leading[0]))])
    far: NDArray[np.float64] = np.sqrt(np.clip(1 - near, 0, 1))
    np.fill_diagonal(far, 0)
    return far


def classical_scaling(far: NDArray[Any], dimensions: int = 2) -> NDArray[np.float64]:
    """(K, dimensions) places whose distances come as near to ``far`` as classical scaling gets them.

    far: (K, K) symmetric distances. Torgerson 1952: the leading eigenvectors of the doubly centred squares,
    each as long as the root of its eigenvalue. The matrix is symmetric and solved as such, so nothing becomes
    complex. The first axis has the largest spread, and each axis points towards its largest component.
    """
    from scipy.linalg import eigh

    K = len(far)
    places = np.zeros((K, dimensions))
    kept = min(dimensions, K)
    if not kept:
        return places
    squares = np.square(far, dtype=np.float64)
    rows = squares.mean(axis=0)
    centred = -0.5 * (squares - rows - rows[:, None] + rows.mean())
    values, vectors = eigh((centred + centred.T) / 2, subset_by_index=(K - kept, K - 1))
    longest = vectors[np.abs(vectors).argmax(axis=0), np.arange(kept)]
    places[:, :kept] = (vectors * np.where(longest < 0, -1, 1) * np.sqrt(np.clip(values, 0, None)))[:, ::-1]
    return places


def _scaled(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    numbers = probabilities.astype(np.float64)
    total = numbers.sum(axis=-1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(numbers, total, out=np.zeros_like(numbers), where=total > 0)
    return scaled

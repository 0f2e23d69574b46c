"""Places in the plane for things of which only the distances are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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

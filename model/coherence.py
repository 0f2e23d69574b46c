"""How well a topic's leading words go together in real documents: normalised pointwise mutual information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from model.minibatch import Minibatch


def top_words(topics: NDArray[Any], n: int = 10) -> NDArray[np.int64]:
    """(K, n) word ids of each topic's n most probable words, most probable first, ties by word id.

    topics: (K, W); n beyond W gives W.
    """
    order: NDArray[np.int64] = np.argsort(-topics, axis=1, kind="stable")[:, :n]
    return order


def npmi(topics: NDArray[Any], reference: Minibatch, n: int = 10) -> NDArray[np.float64]:
    """(K,) coherence of each topic: the mean NPMI of all pairs of its n most probable words, within [-1, 1].

    NPMI of two words is log(p12 / (p1 p2)) / -log p12, from the shares p of the documents of `reference` that
    hold the first, the second and both: 1 if they always occur together, 0 if independently, -1 if never.
    A word that `reference` lacks never occurs with another. Documents without a word are no evidence and left
    out. NaN where there is no document, or no pair.

    topics: (K, W). Raises ValueError for a word id of `reference` out of range.
    """
    K, W = topics.shape
    reference.check_words(W)
    D = int(np.count_nonzero(np.diff(reference.indptr)))
    leading = top_words(topics, n)
    if D == 0 or leading.shape[1] < 2:
        return np.full(K, np.nan)
    ones = np.ones(len(reference.word_ids), dtype=np.float32)
    occurs = csr_array((ones, reference.word_ids, reference.indptr), shape=(reference.D, W)).tocsc()
    first, second = np.triu_indices(leading.shape[1], 1)
    coherence = np.empty(K)
    for k in range(K):
        columns = occurs[:, leading[k]].toarray()
        together = (columns.T @ columns).astype(np.float64) / D
        coherence[k] = _npmi(
            together.diagonal()[first], together.diagonal()[second], together[first, second]
        ).mean()
    return coherence


def _npmi(p1: NDArray[np.float64], p2: NDArray[np.float64], p12: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.full(len(p12), -1.0)
    some = (p12 > 0) & (p12 < 1)
    values[some] = np.log(p12[some] / (p1[some] * p2[some])) / -np.log(p12[some])
    values[p12 == 1] = 1.0
    return values

"""Topic coherence: how often a topic's leading words occur together in real documents (normalised PMI)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch


def top_words(topics: NDArray[Any], n: int = 10) -> NDArray[np.int64]:
    """(K, n) word ids of each topic's n most probable words, most probable first, ties by word id.

    topics: (K, W); n beyond W gives W.
    """
    K, W = topics.shape
    n = min(n, W)
    leading = np.empty((K, n), dtype=np.int64)
    for k, topic in enumerate(topics):
        least = np.partition(topic, W - n)[W - n]
        candidates = np.flatnonzero(topic >= least)
        leading[k] = candidates[np.argsort(-topic[candidates], kind="stable")[:n]]
    return leading


def npmi(topics: NDArray[Any], reference: Minibatch, n: int = 10) -> NDArray[np.float64]:
    """(K,) coherence of each topic: the mean NPMI of all pairs of its n most probable words, within [-1, 1].

    NPMI of two words is log(p12 / (p1 p2)) / -log p12, where the p are the shares of `reference`'s documents
    that contain the first word, the second and both: 1 if they always occur together, 0 if they are
    independent, -1 if they never do. A word missing from `reference` never occurs with another. Documents
    without words are ignored. NaN if there are no documents or no pairs.

    topics: (K, W). Raises ValueError for a word id of `reference` out of range.
    """
    reference.check_words(topics.shape[1])
    return npmi_of_words(top_words(topics, n), reference)


def npmi_of_words(leading: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.float64]:
    """(K,) as `npmi`, for topics of which only the leading words are known: (K, n) word ids."""
    K, n = leading.shape
    D = int(np.count_nonzero(np.diff(reference.indptr)))
    if D == 0 or n < 2:
        return np.full(K, np.nan)
    occurs = _occurrences(leading, reference)
    first, second = np.triu_indices(n, 1)
    single = np.bitwise_count(occurs).sum(axis=2, dtype=np.int64) / D
    coherence = np.empty(K)
    for k in range(K):
        both = np.bitwise_count(occurs[k, first] & occurs[k, second]).sum(axis=1, dtype=np.int64) / D
        coherence[k] = _npmi(single[k, first], single[k, second], both).mean()
    return coherence


def _occurrences(words: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.uint8]:
    """(K, n, ceil(D/8)) one bit per document for each word of (K, n): whether the document contains it."""
    distinct, place = np.unique(words, return_inverse=True)
    column = np.full(max(distinct.max(), reference.word_ids.max(initial=0)) + 1, -1)
    column[distinct] = np.arange(len(distinct))
    row = column[reference.word_ids]
    occurs = np.zeros((len(distinct), reference.D), dtype=np.bool_)
    occurs[row[row >= 0], reference.documents()[row >= 0]] = True
    bits: NDArray[np.uint8] = np.packbits(occurs, axis=1)[place.reshape(words.shape)]
    return bits


def _npmi(p1: NDArray[np.float64], p2: NDArray[np.float64], p12: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.full(len(p12), -1.0)
    some = (p12 > 0) & (p12 < 1)
    values[some] = np.log(p12[some] / (p1[some] * p2[some])) / -np.log(p12[some])
    values[p12 == 1] = 1.0
    return values

"""Topics by their leading words: how coherent these are, how far topics move, how far apart they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch

# Topic coherence: how often a topic's leading words occur together in real documents (normalised PMI).


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


# Comparing topics by their leading words: how far each has moved, and how far apart they are.

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
    overlap: NDArray[np.float64] = (np.sqrt(_scaled(ones[1])) * roots[ones[0]]).sum(axis=-1)
    return overlap


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

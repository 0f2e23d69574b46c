"""Comparing topics by their leading words: how far each has moved, how far apart they are, and
which nearly repeat another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.online import IN_USE, Leading
from wikitopics.model.relevance import scaled

NEAR = 0.5
"""The Hellinger distance of leading words up to which two topics have the same subject:
docs/topics.md."""


def drift(before: Leading, after: Leading) -> NDArray[np.float64]:
    """(K,) total variation distance of each topic from its earlier self, over its leading words.

    The probabilities of the leading words are scaled to sum to 1. So the distance lies within
    [0, 1], and is the share that has moved to other words. ``before`` and ``after`` may have
    different numbers of leading words. Raises ValueError for different numbers of topics.
    """
    ids_before, probabilities_before = before
    ids_after, probabilities_after = after
    if len(ids_before) != len(ids_after):
        raise ValueError(
            f"{len(ids_before)} topics before and {len(ids_after)} after are not of one model"
        )
    # Each leading word before with each one after: (K, n before, n after).
    same_word = ids_before[:, :, None] == ids_after[:, None, :]
    scaled_before = scaled(probabilities_before)
    scaled_after = scaled(probabilities_after)
    smaller = np.minimum(scaled_before[:, :, None], scaled_after[:, None, :])
    stayed: NDArray[np.float64] = np.where(same_word, smaller, 0.0).sum(axis=(1, 2))
    return 1.0 - stayed


def affinity(ones: Leading, others: Leading, topic: int) -> NDArray[np.float64]:
    """(K,) how much the leading words of each topic in ``ones`` have in common with the leading
    words that ``topic`` has in ``others``.

    These are Bhattacharyya coefficients: 1 for the same words and probabilities, 0 if no word is
    shared.
    """
    ids, probabilities = ones
    ids_of_others, probabilities_of_others = others
    ids_of_topic = ids_of_others[topic]
    largest_id = max(int(ids_of_topic.max()), int(ids.max()))
    # By word id, the root of the word's probability in `topic`; 0 where it is not a leading word.
    roots_of_topic = np.zeros(largest_id + 1)
    roots_of_topic[ids_of_topic] = np.sqrt(scaled(probabilities_of_others[topic]))
    roots = np.sqrt(scaled(probabilities))
    overlap: NDArray[np.float64] = (roots * roots_of_topic[ids]).sum(axis=-1)
    return overlap


def distances(leading: Leading) -> NDArray[np.float64]:
    """(K, K) Hellinger distances, 0 to 1, of the topics' leading words."""
    ids, _ = leading
    near = np.stack([affinity(leading, leading, topic) for topic in range(len(ids))])
    far: NDArray[np.float64] = np.sqrt(np.clip(1 - near, 0, 1))
    np.fill_diagonal(far, 0)
    return far


def classical_scaling(far: NDArray[Any]) -> NDArray[np.float64]:
    """(K, 2) places by classical scaling, whose distances approximate ``far``.

    far: (K, K) symmetric distances. Torgerson 1952: the leading eigenvectors of the doubly centred
    squares, each as long as the root of its eigenvalue. The matrix is symmetric and solved as such,
    so all results are real. The first axis has the largest spread, and each axis points towards its
    largest component.
    """
    from scipy.linalg import eigh

    K = len(far)
    places = np.zeros((K, 2))
    n = min(2, K)
    if n == 0:
        return places
    squares = np.square(far, dtype=np.float64)
    means = squares.mean(axis=0)
    centred = -0.5 * (squares - means - means[:, None] + means.mean())
    symmetric = (centred + centred.T) / 2
    values, vectors = eigh(symmetric, subset_by_index=(K - n, K - 1))
    longest = np.abs(vectors).argmax(axis=0)
    largest_components = vectors[longest, np.arange(n)]
    signs = np.where(largest_components < 0, -1, 1)
    lengths = np.sqrt(np.clip(values, 0, None))
    axes = vectors * signs * lengths  # in the order of their eigenvalues, the smallest first
    places[:, :n] = axes[:, ::-1]
    return places


class Repeat(NamedTuple):
    """A topic, and the larger one that it nearly repeats."""

    topic: int
    of: int


def repeats(leading: Leading, shares: NDArray[np.floating]) -> list[Repeat]:
    """The topics in use that nearly repeat a larger one, the closest pairs first.

    Of two equally large topics, the later repeats the earlier. A topic close to several repeats the
    nearest.
    """
    ids, probabilities = leading
    n_in_use = int(np.count_nonzero(shares > IN_USE))
    if n_in_use < 2:
        return []
    # From here on, topics are numbered by size.
    largest_first = np.argsort(-shares, kind="stable")[:n_in_use]
    far = distances((ids[largest_first], probabilities[largest_first]))
    # Leaves only each topic's distances to larger ones, which have smaller numbers.
    far[np.triu_indices(n_in_use)] = np.inf
    distance = far.min(axis=1)
    nearest = far.argmin(axis=1)
    found = []
    for smaller in np.argsort(distance, kind="stable"):
        if distance[smaller] <= NEAR:
            topic = int(largest_first[smaller])
            repeated = int(largest_first[nearest[smaller]])
            found.append(Repeat(topic, repeated))
    return found

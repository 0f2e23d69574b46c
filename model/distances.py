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

    The probabilities of the leading words are scaled to sum to 1, so the distance lies within [0,
    1]: the share that has moved to other words. ``before`` and ``after`` may have different numbers
    of leading words. Raises ValueError for different numbers of topics.
    """
    ids_before, probabilities_before = before
    ids_after, probabilities_after = after
    if len(ids_before) != len(ids_after):
        raise ValueError(
            f"{len(ids_before)} topics before and {len(ids_after)} after are not of one model"
        )
    same = ids_before[:, :, None] == ids_after[:, None, :]
    scaled_before = scaled(probabilities_before)
    scaled_after = scaled(probabilities_after)
    smaller = np.minimum(scaled_before[:, :, None], scaled_after[:, None, :])
    stayed: NDArray[np.float64] = np.where(same, smaller, 0.0).sum(axis=(1, 2))
    return 1.0 - stayed


def affinity(ones: Leading, others: Leading, topic: int) -> NDArray[np.float64]:
    """(K,) how much the leading words of ``ones`` have in common with those of ``topic`` in
    ``others``.

    These are Bhattacharyya coefficients: 1 for the same words and probabilities, 0 if no word is
    shared.
    """
    ids, probabilities = ones
    ids_of_others, probabilities_of_others = others
    topic_ids = ids_of_others[topic]
    largest = max(int(topic_ids.max()), int(ids.max()))
    roots = np.zeros(largest + 1)  # of the probabilities of all words in `topic`
    roots[topic_ids] = np.sqrt(scaled(probabilities_of_others[topic]))
    overlap: NDArray[np.float64] = (np.sqrt(scaled(probabilities)) * roots[ids]).sum(axis=-1)
    return overlap


def distances(leading: Leading) -> NDArray[np.float64]:
    """(K, K) Hellinger distances, 0 to 1, of the topics' leading words."""
    ids, _ = leading
    near = np.stack([affinity(leading, leading, topic) for topic in range(len(ids))])
    far: NDArray[np.float64] = np.sqrt(np.clip(1 - near, 0, 1))
    np.fill_diagonal(far, 0)
    return far


def classical_scaling(far: NDArray[Any], dimensions: int = 2) -> NDArray[np.float64]:
    """(K, dimensions) places by classical scaling, whose distances approximate ``far``.

    far: (K, K) symmetric distances. Torgerson 1952: the leading eigenvectors of the doubly centred
    squares, each as long as the root of its eigenvalue. The matrix is symmetric and solved as such,
    so all results are real. The first axis has the largest spread, and each axis points towards its
    largest component.
    """
    from scipy.linalg import eigh

    K = len(far)
    places = np.zeros((K, dimensions))
    n = min(dimensions, K)
    if not n:
        return places
    squares = np.square(far, dtype=np.float64)
    rows = squares.mean(axis=0)
    centred = -0.5 * (squares - rows - rows[:, None] + rows.mean())
    values, vectors = eigh((centred + centred.T) / 2, subset_by_index=(K - n, K - 1))
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n)]
    signs = np.where(largest < 0, -1, 1)
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
    largest_first = np.argsort(-shares, kind="stable")[:n_in_use]
    if n_in_use < 2:
        return []
    far = distances((ids[largest_first], probabilities[largest_first]))
    far[np.triu_indices(n_in_use)] = np.inf  # only larger topics are repeated
    distance = far.min(axis=1)
    nearest = far.argmin(axis=1)
    found = []
    for place in np.argsort(distance, kind="stable"):
        if distance[place] <= NEAR:
            topic = largest_first[place]
            of = largest_first[nearest[place]]
            found.append(Repeat(int(topic), int(of)))
    return found

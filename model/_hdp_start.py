"""Where the HDP's topics start: from the first documents of the stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model.minibatch import Minibatch

SEEDS = 5  # documents that a topic starts from,
SEED_WEIGHT = 0.1  # … with so much of its words; the rest are the corpus's


def topics_from(
    documents: Minibatch, n_words: int, n_topics: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """(W, K) topics, columns sum to 1: the mean of documents drawn at random, on the mean of all words.

    Each document counts as much as another, however long.
    """
    total = max(documents.n_tokens, 1)
    mean = np.bincount(documents.word_ids, documents.counts, n_words) / total
    topics = np.tile((1 - SEED_WEIGHT) * mean[:, None], (1, n_topics))
    lengths = np.maximum(documents.lengths(), 1)
    for k, drawn in enumerate(random.integers(0, documents.D, (n_topics, SEEDS))):
        for d in drawn:
            entries = slice(documents.indptr[d], documents.indptr[d + 1])
            share = SEED_WEIGHT / SEEDS * documents.counts[entries] / lengths[d]
            topics[documents.word_ids[entries], k] += share
    return topics


def nothing() -> Minibatch:
    return Minibatch([0], [], [])


def joined(first: Minibatch, second: Minibatch) -> Minibatch:
    """The documents of both."""
    return Minibatch(
        np.concatenate([first.indptr, first.indptr[-1] + second.indptr[1:]]),
        np.concatenate([first.word_ids, second.word_ids]),
        np.concatenate([first.counts, second.counts]),
    )

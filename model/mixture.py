"""Short texts as a mixture: a text of a few words is about one topic (docs/derivations.md, "Short texts").

Six words do not tell which topics a text mixes, and with the topics of each word to choose, there are many
poor optima. So the topics of short texts start as a mixture of unigrams (Nigam and others 2000; Yin and Wang
2014), found by annealed EM, and each text's topic proportions are, by `share`, those of the mixture. Where
texts have more words the models' own E-step takes over, the more the longer they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lambda_ import Lambda, Statistics, Vector
from wikitopics.model.minibatch import Minibatch, Words
from wikitopics.model.online import TINY

LONG_TEXTS = 20.0
"""Texts of so many words or more in the mean mix topics."""
LARGEST_SHARE = 0.8
"""That of the mixture, where texts have half as many words or fewer. The rest keeps topics apart."""
TEMPERS = (*np.linspace(0.1, 1.0, 22).tolist(), 1.0)
"""Exponents of the likelihood, one for each step of EM when the topics start."""
ETA = 0.05
LEADING = 20
"""Words by which topics that start over are told."""
MOST = 8_192
"""Texts to start from, where the corpus has so many."""


def words_of(batch: Minibatch) -> float:
    """The words of a minibatch by which its texts are short: of weights, which may be small, the entries."""
    return float(max(batch.n_tokens, len(batch.word_ids)))


def share(words: float, texts: int) -> float:
    """The part of the mixture in the E-step of texts which together have so many words; 0 of long ones."""
    return LARGEST_SHARE * float(np.clip(2 - 2 * words / (LONG_TEXTS * texts), 0, 1)) if texts else 0.0


def enough(n_documents: float) -> int:
    """The number of texts to start from in a corpus of this size."""
    return int(min(n_documents, MOST))


def is_due(before: int, now: int, n_documents: float) -> bool:
    """Whether the topics start over when there are `now` texts to start from after `before`: eight times as
    many as at an earlier start, or enough."""
    return now >= enough(n_documents) or before.bit_length() // 3 < now.bit_length() // 3


def first_topics(texts: Minibatch, topics: Lambda, n_topics: int, random: np.random.Generator) -> Vector:
    """(W, n_topics) expected words of each topic, if every one of these texts is about one; by annealed EM.

    topics: a lambda whose seeds have the larger prior that they have there
    """
    from scipy.sparse import csr_array

    from wikitopics.model.kernels import of_one_topic

    prior = np.full((topics.n_words, n_topics), ETA, np.float32)
    if len(topics.seed_words):
        np.add.at(prior, (topics.seed_words, topics.seed_topics), topics.seeds_of(texts.n_tokens))
    R = random.dirichlet(np.full(n_topics, 0.5), texts.D).astype(np.float32)
    entries = texts.indptr, texts.word_ids, texts.counts
    counts = csr_array((texts.counts.astype(np.float32), *entries[1::-1]), shape=(texts.D, topics.n_words))
    expected: Vector = counts.T @ R
    for temper in TEMPERS:
        beta = expected + prior
        log_beta = np.log(beta) - np.log(beta.sum(axis=0))
        expected = np.zeros_like(beta)
        of_one_topic(*entries, log_beta, np.zeros(n_topics, np.float32), temper, R, expected)
    return expected


def matched(fresh: Vector, topics: NDArray[Any], seeded: int) -> NDArray[np.intp]:
    """(K,) for each of some topics, (W, K), the one among `fresh` ones that takes its place: the most alike,
    but for the ``seeded`` ones, which come first, that of the same seeds."""
    from scipy.optimize import linear_sum_assignment

    leading = np.argsort(-fresh, axis=0)[:LEADING]
    shares = topics / topics.sum(axis=0)
    alike = np.sum([shares[words].T for words in leading], axis=0)  # [k, l]: what k has of l's leading words
    alike[np.diag_indices(seeded)] += fresh.shape[1]  # more than all together
    places: NDArray[np.intp] = linear_sum_assignment(alike, maximize=True)[1]
    return places


def proportions(batch: Minibatch, words: Words, rows: NDArray[Any], prior: Vector) -> tuple[Vector, Vector]:
    """(D, K) the probability of each topic to be a text's one topic, and (U, K) the statistics of that.

    rows: (U, K') probabilities of the words up to a factor for each; prior: (K,) those of the topics likewise
    """
    from wikitopics.model.kernels import of_one_topic

    log_rows = np.log(np.maximum(rows[:, : len(prior)], np.finfo(np.float32).tiny))
    R, sums = np.empty((batch.D, len(prior)), rows.dtype), np.zeros_like(log_rows)
    log_prior = np.log(np.maximum(prior, TINY)).astype(rows.dtype)  # the HDP's last ones may be 0
    of_one_topic(batch.indptr, words.local, batch.counts, log_rows, log_prior, 1.0, R, sums)
    return R, sums


def blended(
    part: float,
    own: tuple[NDArray[Any], Statistics],
    batch: Minibatch,
    words: Words,
    rows: NDArray[Any],
    prior: Vector,
) -> tuple[NDArray[Any], Statistics]:
    """The E-step of texts, by `part` that of the mixture, and otherwise a model's `own`.

    theta (D, K), in expected words beside the prior, and the statistics.
    """
    if part == 0:
        return own
    theta, statistics = own
    R, of_one = proportions(batch, words, rows, prior)
    theta = (1 - part) * theta + part * (prior + R * batch.lengths()[:, None])
    sums = rows.dtype.type(1 - part) * statistics.sums
    sums[:, : len(prior)] += part * of_one
    mass = (1 - part) * statistics.mass + part * of_one.sum(axis=0)
    return theta.astype(rows.dtype), replace(statistics, sums=sums, mass=mass)

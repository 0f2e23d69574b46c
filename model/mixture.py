"""Short texts as a mixture: a text of a few words is about one topic (docs/derivations.md, "Short
texts").

Six words do not show which topics a text mixes, and choosing a topic for each word leads to many
poor optima. So the topics of short texts start as a mixture of unigrams (Nigam and others 2000; Yin
and Wang 2014), found by annealed EM, and the mixture has a `share` in each text's topic
proportions. The longer the texts, the more the model's own E-step takes over.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lambda_ import Lambda, Statistics
from wikitopics.model.minibatch import Entries, Floats, Minibatch, Vector, Words
from wikitopics.model.states import TINY

LONG_TEXTS = 20.0
"""The mean number of words from which texts are no longer treated as short."""
LARGEST_SHARE = 0.8
"""The mixture's share where texts have at most half as many words as `LONG_TEXTS`. The model's own
E-step, which has the rest, keeps topics apart."""
TEMPERS = (*np.linspace(0.1, 1.0, 22).tolist(), 1.0)
"""The exponents of the likelihood, one for each step of EM at the start of the topics."""
ETA = 0.05
"""The mixture's Dirichlet parameter of the topics."""
LEADING = 20
"""The number of leading words by which topics are matched when they start over."""
MOST = 8_192
"""The most texts to start from."""


def words_of(batch: Minibatch) -> float:
    """The number of words by which texts are judged short. Words with small weights count as one
    for each entry."""
    return float(max(batch.n_tokens, len(batch.word_ids)))


def share(words: float, texts: int) -> float:
    """The mixture's share of the E-step of this many texts with this many words in total; 0 for
    long texts."""
    if not texts:
        return 0.0
    # From 0 for long texts to 1 for texts half as long.
    shortness = np.clip(2 - 2 * words / (LONG_TEXTS * texts), 0, 1)
    return LARGEST_SHARE * float(shortness)


def enough(n_documents: float) -> int:
    """The number of texts to start from in a corpus of this size."""
    return int(min(n_documents, MOST))


def is_due(before: int, now: int, n_documents: float) -> bool:
    """Whether the topics start over when the texts to start from have grown from `before` to `now`.

    They do when there are 4, 32, 256 … texts, eight times as many each time, and when there are
    enough.
    """
    if now >= enough(n_documents):
        return True
    times_before = before.bit_length() // 3
    times_now = now.bit_length() // 3
    return times_before < times_now


def first_topics(
    texts: Minibatch,
    topics: Lambda,
    n_topics: int,
    random: np.random.Generator,
) -> Vector:
    """(W, n_topics) expected words of each topic if each text is about a single topic, by annealed
    EM.

    topics: the model's, whose seeds have a larger prior here, too
    """
    from scipy.sparse import csr_array

    from wikitopics.model.kernels import of_one_topic

    W = topics.n_words
    prior = np.full((W, n_topics), ETA, np.float32)
    if len(topics.seed_words):
        np.add.at(prior, (topics.seed_words, topics.seed_topics), topics.seeds_of(texts.n_tokens))
    R = random.dirichlet(np.full(n_topics, 0.5), texts.D).astype(np.float32)
    entries = Entries(texts.indptr, texts.word_ids, texts.counts)  # every word has a row
    counts = csr_array(
        (texts.counts.astype(np.float32), texts.word_ids, texts.indptr), shape=(texts.D, W)
    )
    expected: Vector = counts.T @ R
    for temper in TEMPERS:
        beta = expected + prior
        log_beta = np.log(beta) - np.log(beta.sum(axis=0))
        expected = np.zeros_like(beta)
        of_one_topic(entries, log_beta, np.zeros(n_topics, np.float32), temper, R, expected)
    return expected


def matched(fresh: Vector, topics: Floats, seeded: int) -> NDArray[np.intp]:
    """(K,) for each of the topics, (W, K), the number of the `fresh` topic that replaces it.

    A topic is replaced by the most similar fresh topic. Each of the first ``seeded`` topics is
    replaced by the fresh topic of its number, which has the same seeds.
    """
    from scipy.optimize import linear_sum_assignment

    leading = np.argsort(-fresh, axis=0)[:LEADING]  # by rank, a word of each fresh topic
    shares = topics / topics.sum(axis=0)
    # [k, l]: the share of topic k that is leading words of fresh topic l.
    alike = np.sum([shares[words].T for words in leading], axis=0)
    _, n_fresh = fresh.shape
    alike[np.diag_indices(seeded)] += n_fresh  # more than the sum over any other matching
    replacements: NDArray[np.intp]
    _, replacements = linear_sum_assignment(alike, maximize=True)
    return replacements


def proportions(words: Words, rows: Floats, prior: Vector) -> tuple[Floats, Floats]:
    """(D, K) the probability that each topic is a text's only topic, and the resulting (U, K)
    statistics.

    rows: (U, K') the words' probabilities, up to a factor for each word
    prior: (K,) the topics' probabilities, up to a factor
    """
    from wikitopics.model.kernels import of_one_topic

    K = len(prior)
    log_rows = np.log(np.maximum(rows[:, :K], np.finfo(np.float32).tiny))
    positive_prior = np.maximum(prior, TINY)  # the HDP's last topics may have 0
    log_prior = np.log(positive_prior).astype(rows.dtype)
    R = np.empty((words.batch.D, K), rows.dtype)
    sums = np.zeros_like(log_rows)
    of_one_topic(words.entries, log_rows, log_prior, 1.0, R, sums)
    return R, sums


def blended(
    mixed: float,
    theta: Floats,
    statistics: Statistics,
    words: Words,
    rows: Floats,
    prior: Vector,
) -> tuple[Floats, Statistics]:
    """What a model's own E-step found for texts, blended with the mixture, of the share `mixed`.

    theta: (D, K) the prior plus the expected words of each topic
    statistics: those of the model's own E-step
    rows, prior: as for `proportions`
    """
    if mixed == 0:
        return theta, statistics
    R, sums_of_mixture = proportions(words, rows, prior)
    theta_of_mixture = prior + R * words.batch.lengths()[:, None]
    theta = (1 - mixed) * theta + mixed * theta_of_mixture
    sums = rows.dtype.type(1 - mixed) * statistics.sums
    sums[:, : len(prior)] += mixed * sums_of_mixture
    mass = (1 - mixed) * statistics.mass + mixed * sums_of_mixture.sum(axis=0)
    return theta.astype(rows.dtype), replace(statistics, sums=sums, mass=mass)

"""The loops of `mixture.py`: EM for texts of one topic each, and how probable it is that a text is
one of them.

| symbol | shape and type | meaning |
|---|---|---|
| batch | | documents, their words as rows, and n_dw: `minibatch.Entries` |
| R | (D, K) floats | the probability that each topic is a document's only one |
"""

from __future__ import annotations

import math

import numpy as np

from wikitopics.compiled import kernel
from wikitopics.model.kernels import exp_of, log_first
from wikitopics.model.minibatch import Entries, Floats


@kernel
def of_one_topic(
    batch: Entries,
    log_rows: Floats,
    log_prior: Floats,
    temper: float,
    R: Floats,
    sums: Floats,
) -> None:
    """R_dk ∝ (prior_k prod_w rows_wk^n_dw)^temper: the probability that topic k is the only topic
    of document d, (D, K); rows sum to 1.

    Adds n_dw R_d to the sums of the document's words, (U, K).
    """
    indptr, local, counts = batch
    K = R.shape[1]
    kind = log_rows.dtype.type
    value = np.empty(K, log_rows.dtype)
    for d in range(indptr.size - 1):
        value[:] = log_prior
        for i in range(indptr[d], indptr[d + 1]):
            row = log_rows[local[i]]
            n_dw = kind(counts[i])
            for k in range(K):
                value[k] += n_dw * row[k]
        largest = value.max()
        total = kind(0)
        for k in range(K):
            # e^-80 is negligible here, and still far above the smallest float32.
            x = max(kind(temper) * (value[k] - largest), kind(-80))
            R[d, k] = math.exp(x) if R.itemsize == 8 else exp_of(x)
        for k in range(K):
            total += R[d, k]
        for k in range(K):
            R[d, k] /= total
        for i in range(indptr[d], indptr[d + 1]):
            of_word = sums[local[i]]
            n_dw = kind(counts[i])
            for k in range(K):
                of_word[k] += n_dw * R[d, k]


@kernel
def rows_with_strays(
    expected: Floats,
    prior: Floats,
    strays: float,
    beta: Floats,
    own: Floats,
    log_rows: Floats,
) -> None:
    """The M-step of texts of one topic each, the share `strays` of whose words is the corpus's:
    topics beta, (W, K), from the expected words, (W, K), and their prior, (W, K).

    log_rows: (W, K) log of (1 - strays) beta + strays mean beta
    own: (W, K) of a word in texts of a topic, the share that is the topic's
    """
    W, K = beta.shape
    kind = beta.dtype.type
    share = kind(strays)
    totals = np.zeros(K, beta.dtype)
    for w in range(W):
        for k in range(K):
            totals[k] += expected[w, k] + prior[w, k]
    per_word = kind(1) / totals
    rows = np.empty((W, K), beta.dtype)
    for w in range(W):
        row = rows[w]
        total = kind(0)
        for k in range(K):
            beta[w, k] = (expected[w, k] + prior[w, k]) * per_word[k]
            total += beta[w, k]
        of_corpus = share * total / kind(K)
        for k in range(K):
            of_topic = (kind(1) - share) * beta[w, k]
            row[k] = of_topic + of_corpus
            own[w, k] = of_topic / row[k]
    log_first(W * K, rows.reshape(W * K), log_rows.reshape(W * K))


@kernel
def return_strays(chosen: Floats, beta: Floats, own: Floats, expected: Floats) -> None:
    """The expected words of each topic, (W, K), if texts chose topics that have `chosen`, (W, K):
    the strays among them are any topic's, as probable as the word is in each."""
    W, K = beta.shape
    kind = beta.dtype.type
    for w in range(W):
        total = kind(0)
        strays = kind(0)
        for k in range(K):
            expected[w, k] = chosen[w, k] * own[w, k]
            strays += chosen[w, k] - expected[w, k]
            total += beta[w, k]
        factor = strays / total
        for k in range(K):
            expected[w, k] += factor * beta[w, k]


@kernel
def of_one_or_many(
    batch: Entries,
    rows: Floats,
    log_rows: Floats,
    prior: Floats,
    log_odds: float,
    largest_share: float,
    R: Floats,
    parts: Floats,
    sums: Floats,
) -> None:
    """R as by `of_one_topic` without temper, and what part of each document it stands for, (D,):
    `largest_share` times the probability that the document is about one topic.

    A document that mixes topics has its words' probabilities one after the other, each given the
    topics that the words before it are expected to have (docs/derivations.md). Adds parts_d n_dw
    R_d to the sums of the document's words, (U, K).

    rows, log_rows: (U, K) the words' probabilities, up to a factor for each word, and their logs
    prior: (K,) the Dirichlet prior of a document that mixes topics; that of one topic is
    proportional
    log_odds: of one topic against many, before any word is read
    """
    indptr, local, counts = batch
    K = R.shape[1]
    kind = log_rows.dtype.type
    value = np.empty(K, log_rows.dtype)
    expected = np.empty(K, log_rows.dtype)  # words of each topic so far, plus the prior
    gamma = np.empty(K, log_rows.dtype)
    log_prior = np.log(prior / prior.sum())
    total_prior = prior.sum()
    for d in range(indptr.size - 1):
        value[:] = log_prior
        expected[:] = prior
        length = total_prior
        log_mixed = kind(0)
        for i in range(indptr[d], indptr[d + 1]):
            row = rows[local[i]]
            log_row = log_rows[local[i]]
            n_dw = kind(counts[i])
            total = kind(0)
            for k in range(K):
                value[k] += n_dw * log_row[k]
                gamma[k] = row[k] * expected[k]
                total += gamma[k]
            log_mixed += n_dw * kind(math.log(total / length))
            move = n_dw / total
            for k in range(K):
                expected[k] += move * gamma[k]
            length += n_dw
        largest = value.max()
        total = kind(0)
        for k in range(K):
            x = max(value[k] - largest, kind(-80))
            R[d, k] = math.exp(x) if R.itemsize == 8 else exp_of(x)
        for k in range(K):
            total += R[d, k]
        for k in range(K):
            R[d, k] /= total
        log_ratio = log_odds + largest + math.log(total) - log_mixed
        parts[d] = largest_share / (1 + math.exp(-max(min(log_ratio, 50.0), -50.0)))
        for i in range(indptr[d], indptr[d + 1]):
            of_word = sums[local[i]]
            n_dw = parts[d] * kind(counts[i])
            for k in range(K):
                of_word[k] += n_dw * R[d, k]

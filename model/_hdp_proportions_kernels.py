"""Topic proportions of held-out documents under a Dirichlet prior, with the topics held fixed.

| symbol | shape and type | meaning |
|---|---|---|
| indptr, local, counts | (D+1,), (N,), (N,) | the documents' words as rows, and n_dw: `_loops` |
| rows | (U, K') floats | E[beta] of the words up to a constant a word, a row a word; K may be padded |
| prior | (K') floats | Dirichlet parameter of the proportions |
| theta | (D, K) floats | the proportions |

Within a document: n words, c topics; topics (K,) int32 are these, words (K,) floats their expected words, phi
and beta (n, c) floats a word's distribution over them and its E[beta]; expected (K') floats are the expected
words of every topic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model._jit import kernel
from model._loops import Counts, Floats, dot, longest_of


@kernel
def soft_em(
    n: int, local: NDArray[np.int32], n_dw: Floats, rows: Floats, prior: Floats, steps: int, expected: Floats
) -> None:
    """expected_k: words of topic k under proportions found by EM from `prior`, over all topics."""
    kind = rows.dtype.type
    weight = prior.copy()
    for _ in range(steps):
        expected[:] = 0
        for j in range(n):
            row = rows[local[j]]
            share = n_dw[j] / (dot(weight.size, weight, row) + kind(1e-30))
            for k in range(weight.size):
                expected[k] += share * row[k]
        for k in range(weight.size):
            expected[k] *= weight[k]
            weight[k] = expected[k] + prior[k]


@kernel
def proportions(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    local: NDArray[np.int32],
    counts: Counts,
    rows: Floats,
    prior: Floats,
    least: float,
    em_steps: int,
    sweeps: int,
    theta: Floats,
) -> None:
    """theta = (N_k + prior_k) / (N + sum prior) for documents start to stop, rows being E[beta].

    N_k comes from sweeps over the words of the collapsed update phi_wk ∝ (N_k - phi_wk + prior_k) E[beta_kw],
    with one of the word's occurrences left out (all of a count below 1). They start from `em_steps` of EM
    over all topics; topics that EM expects to have at most the share `least` of the words take no part.
    """
    kind = rows.dtype.type
    K = theta.shape[1]
    longest = longest_of(start, stop, indptr)
    expected = np.empty(rows.shape[1], rows.dtype)
    topics = np.empty(K, np.int32)
    words = np.empty(K, rows.dtype)
    values = np.empty(K, rows.dtype)
    n_dw = np.empty(longest, rows.dtype)
    for d in range(start, stop):
        first = indptr[d]
        n = indptr[d + 1] - first
        for k in range(K):
            theta[d, k] = prior[k]
        if n > 0:
            few = 0.0
            for j in range(n):
                n_dw[j] = kind(counts[first + j])
                few += least * n_dw[j]
            here = local[first : first + n]
            soft_em(n, here, n_dw, rows, prior, em_steps, expected)
            c = larger(K, expected, few, topics)
            phi = np.empty((n, c), rows.dtype)
            beta = np.empty((n, c), rows.dtype)
            begin(n, c, here, n_dw, rows, prior, expected, topics, values, words, phi, beta)
            for _ in range(sweeps):
                sweep(n, c, n_dw, prior, topics, values, words, phi, beta)
            for a in range(c):
                theta[d, topics[a]] += max(words[a], kind(0))
        whole = 0.0
        for k in range(K):
            whole += theta[d, k]
        inverse = kind(1 / whole)
        for k in range(K):
            theta[d, k] *= inverse


@kernel
def larger(K: int, expected: Floats, few: float, topics: NDArray[np.int32]) -> int:
    """Collect the topics with more than `few` expected words, or at least the one with most; returns how
    many."""
    c = 0
    for k in range(K):
        if expected[k] > few:
            topics[c] = k
            c += 1
    if c == 0:
        topics[0] = np.argmax(expected[:K])
        c = 1
    return c


@kernel
def begin(
    n: int,
    c: int,
    local: NDArray[np.int32],
    n_dw: Floats,
    rows: Floats,
    prior: Floats,
    expected: Floats,
    topics: NDArray[np.int32],
    weight: Floats,
    words: Floats,
    phi: Floats,
    beta: Floats,
) -> None:
    """Write beta, and phi and the topics' words for the proportions that EM found."""
    kind = rows.dtype.type
    for a in range(c):
        words[a] = 0
        weight[a] = expected[topics[a]] + prior[topics[a]]
    for j in range(n):
        norm = kind(1e-30)
        for a in range(c):
            beta[j, a] = rows[local[j], topics[a]]
            phi[j, a] = weight[a] * beta[j, a]
            norm += phi[j, a]
        for a in range(c):
            phi[j, a] /= norm
            words[a] += n_dw[j] * phi[j, a]


@kernel
def sweep(
    n: int,
    c: int,
    n_dw: Floats,
    prior: Floats,
    topics: NDArray[np.int32],
    values: Floats,
    words: Floats,
    phi: Floats,
    beta: Floats,
) -> None:
    """Apply the collapsed update to every word in turn."""
    kind = beta.dtype.type
    for j in range(n):
        norm = kind(1e-30)
        once = min(n_dw[j], kind(1))
        for a in range(c):
            value = (words[a] - once * phi[j, a] + prior[topics[a]]) * beta[j, a]
            values[a] = max(value, kind(0))
            norm += values[a]
        inverse = 1 / norm
        for a in range(c):
            value = values[a] * inverse
            words[a] += n_dw[j] * (value - phi[j, a])
            phi[j, a] = value

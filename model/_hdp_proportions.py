"""Topic proportions of a document under a Dirichlet prior, topics held fixed, as of held-out documents.

Layout as in `_hdp_kernels`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model._jit import kernel
from model._loops import Floats, dot, longest_of

EM_STEPS = 3


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
    counts: NDArray[np.int32],
    rows: Floats,
    prior: Floats,
    least: float,
    sweeps: int,
    theta: Floats,
) -> None:
    """theta (D, K) = (N_k + prior_k) / (N + sum prior): held-out proportions, rows (U, K') being E[beta].

    N_k from the collapsed update phi_wk ∝ (N_k - phi_wk + prior_k) E[beta_kw], one of the word's occurrences
    left out, in sweeps over the words. Starts from EM over all topics; topics of which EM expects at most the
    share `least` of the words take no part.
    """
    kind = rows.dtype.type
    K = theta.shape[1]
    longest = longest_of(start, stop, indptr)
    expected = np.empty(rows.shape[1], rows.dtype)
    topics = np.empty(K, np.int32)
    words = np.empty(K, rows.dtype)
    values = np.empty(K, rows.dtype)
    start_at = np.empty(K, rows.dtype)
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
            soft_em(n, local[first : first + n], n_dw, rows, prior, EM_STEPS, expected)
            c = 0
            for k in range(K):
                if expected[k] > few:
                    topics[c] = k
                    c += 1
            if c == 0:
                topics[0] = np.argmax(expected[:K])
                c = 1
            phi = np.empty((n, c), rows.dtype)
            beta = np.empty((n, c), rows.dtype)
            for a in range(c):
                words[a] = 0
                start_at[a] = expected[topics[a]] + prior[topics[a]]
            for j in range(n):
                norm = kind(1e-30)
                for a in range(c):
                    beta[j, a] = rows[local[first + j], topics[a]]
                    phi[j, a] = start_at[a] * beta[j, a]
                    norm += phi[j, a]
                for a in range(c):
                    phi[j, a] /= norm
                    words[a] += n_dw[j] * phi[j, a]
            for _ in range(sweeps):
                for j in range(n):
                    norm = kind(1e-30)
                    for a in range(c):
                        value = (words[a] - phi[j, a] + prior[topics[a]]) * beta[j, a]
                        values[a] = max(value, kind(0))
                        norm += values[a]
                    inverse = 1 / norm
                    for a in range(c):
                        value = values[a] * inverse
                        words[a] += n_dw[j] * (value - phi[j, a])
                        phi[j, a] = value
            for a in range(c):
                theta[d, topics[a]] += max(words[a], kind(0))
        whole = 0.0
        for k in range(K):
            whole += theta[d, k]
        inverse = kind(1 / whole)
        for k in range(K):
            theta[d, k] *= inverse

"""The document loops of the HDP as printed: [SVI13] figure 9 lines 5 to 10, and the bound that they
increase.

| symbol | shape and type | meaning |
|---|---|---|
| Elog_rows | (U, K) floats | E[log beta] of the minibatch's words, a row a word |
| zeta | (D, T, K) floats | a table's topics; in `document_bounds` (D, T, C), of those in `topics` |
| bounds | (D,) float64 | a document's terms of the ELBO |

Every document has T tables and every table all K topics; otherwise the symbols are those of
`hdp_kernels.py`.

Within a document, of n words:

| symbol | shape and type | meaning |
|---|---|---|
| ids, n_dw | (n,) | the rows of its words, and their counts |
| at_tables | (n, T) floats | its part of `tables` |
| words | (T,) float64 | the words at each table, the sums of `at_tables` |
| gamma, Elog_pi | (T, 2), (T,) float64 | its sticks: their Betas, and E[log sigma_i(pi)] |
"""

from __future__ import annotations

import math

import numpy as np

from wikitopics.compiled import kernel
from wikitopics.model.hdp_kernels import HDPCorpus, HDPLimits, Tables
from wikitopics.model.kernels import digamma, dot
from wikitopics.model.minibatch import Counts, Entries, Floats, Ids, Vector


@kernel
def ascend(
    start: int,
    stop: int,
    batch: Entries,
    corpus: HDPCorpus,
    limits: HDPLimits,
    fresh: bool,
    found: Tables,
) -> None:
    """Coordinate ascent for documents start to stop, until the tables' words change by at most
    `tolerance`.

    fresh: start with lines 5 and 6; otherwise from the phi in `tables`.
    """
    indptr, local, counts = batch
    Elog_rows = corpus.rows
    Elog_sigma = corpus.Elog_sigma
    tables = found.tables
    zeta = found.zeta
    theta = found.theta
    T = zeta.shape[1]
    gamma = np.empty((T, 2))
    Elog_pi = np.zeros(T)
    words = np.empty(T)
    nothing = np.zeros_like(Elog_sigma)
    for d in range(start, stop):
        first = indptr[d]
        n = indptr[d + 1] - first
        ids = local[first : first + n]
        n_dw = counts[first : first + n]
        at_tables = tables[first : first + n]
        total = n_dw.sum()
        if fresh:
            for j in range(n):
                for i in range(T):
                    at_tables[j, i] = n_dw[j]
            # Line 5: the same topics for all tables.
            choose_among_all(ids, at_tables, Elog_rows, nothing, zeta[d])
            # Line 6.
            Elog_pi[:] = 0
            assign_words(ids, n_dw, Elog_rows, Elog_pi, zeta[d], at_tables)
        for i in range(T):
            words[i] = at_tables[:, i].sum()
        for _ in range(limits.max_iterations):
            document_sticks(limits.alpha, words, gamma, Elog_pi)
            choose_among_all(ids, at_tables, Elog_rows, Elog_sigma, zeta[d])
            assign_words(ids, n_dw, Elog_rows, Elog_pi, zeta[d], at_tables)
            change = 0.0
            for i in range(T):
                value = at_tables[:, i].sum()
                change += abs(value - words[i])
                words[i] = value
            if change <= limits.tolerance * total:
                break
        document_sticks(limits.alpha, words, gamma, Elog_pi)
        expected_proportions(gamma, zeta[d], theta[d])


@kernel
def expected_proportions(gamma: Vector, zeta: Floats, theta: Floats) -> None:
    """theta (K,) = sum_i E[sigma_i(pi)] zeta_i, zeta (T, K)."""
    T = zeta.shape[0]
    theta[:] = 0
    rest = 1.0
    for i in range(T):
        stick = 1.0
        if i < T - 1:
            stick = gamma[i, 0] / (gamma[i, 0] + gamma[i, 1])
        for k in range(zeta.shape[1]):
            theta[k] += rest * stick * zeta[i, k]
        rest *= 1 - stick


@kernel
def document_sticks(alpha: float, words: Vector, gamma: Vector, Elog_pi: Vector) -> None:
    """Line 8, gamma (T, 2), whose last row has no meaning, and E[log sigma_i(pi)] (T,)."""
    T = words.size
    rest = words.sum()
    before = 0.0
    for i in range(T):
        rest -= words[i]
        gamma[i, 0] = 1 + words[i]
        gamma[i, 1] = alpha + max(rest, 0.0)
        Elog_pi[i] = before
        if i < T - 1:
            both = digamma(gamma[i, 0] + gamma[i, 1])
            Elog_pi[i] += digamma(gamma[i, 0]) - both
            before += digamma(gamma[i, 1]) - both


@kernel
def choose_among_all(
    ids: Ids,
    at_tables: Floats,
    Elog_rows: Floats,
    Elog_sigma: Floats,
    zeta: Floats,
) -> None:
    """Line 8: zeta_i^k ∝ exp(E[log sigma_k] + sum_w n_dw phi_dwi E[log beta_kw]), (T, K)."""
    for i in range(zeta.shape[0]):
        for k in range(zeta.shape[1]):
            zeta[i, k] = Elog_sigma[k]
        for j in range(ids.size):
            if at_tables[j, i] > 0:
                row = Elog_rows[ids[j]]
                for k in range(zeta.shape[1]):
                    zeta[i, k] += at_tables[j, i] * row[k]
        normalise(zeta[i])


@kernel
def assign_words(
    ids: Ids,
    n_dw: Counts,
    Elog_rows: Floats,
    Elog_pi: Vector,
    zeta: Floats,
    at_tables: Floats,
) -> None:
    """Line 9: phi_dwi ∝ exp(E[log sigma_i(pi)] + sum_k zeta_i^k E[log beta_kw]).

    at_tables: (n, T) n_dw phi
    """
    phi = np.empty(zeta.shape[0], zeta.dtype)
    for j in range(ids.size):
        row = Elog_rows[ids[j]]
        for i in range(zeta.shape[0]):
            phi[i] = dot(row.size, zeta[i], row) + Elog_pi[i]
        normalise(phi)
        for i in range(zeta.shape[0]):
            at_tables[j, i] = n_dw[j] * phi[i]


@kernel
def normalise(log_weights: Floats) -> None:
    """exp(x) / sum exp(x), in place."""
    largest = log_weights.max()
    total = log_weights.dtype.type(0)
    for k in range(log_weights.size):
        log_weights[k] = math.exp(log_weights[k] - largest)
        total += log_weights[k]
    for k in range(log_weights.size):
        log_weights[k] /= total


@kernel
def document_bounds(
    start: int,
    stop: int,
    batch: Entries,
    corpus: HDPCorpus,
    alpha: float,
    posterior: Tables,
    bounds: Vector,
) -> None:
    """[W11] L_j without the corpus terms, nats, for documents start to stop; gamma at its optimum.

    Every sum over words, including their entropy, counts each word n_dw times. A document with
    fewer than T tables has no variables for the others, which the model integrates to one.
    """
    indptr, local, counts = batch
    Elog_rows = corpus.rows
    Elog_sigma = corpus.Elog_sigma
    tables = posterior.tables
    topics = posterior.topics
    n_topics = posterior.n_topics
    zeta = posterior.zeta
    n_tables = posterior.n_tables
    T = zeta.shape[1]
    for d in range(start, stop):
        first = indptr[d]
        last = indptr[d + 1]
        rest = 0.0
        for j in range(first, last):
            rest += counts[j]
        before = 0.0
        bound = 0.0
        for i in range(n_tables[d]):
            words = 0.0
            for j in range(first, last):
                words += tables[j, i]
            rest = max(rest - words, 0.0)
            Elog_pi = before
            if i < T - 1:
                Elog_v, Elog_not_v, of_stick = stick_bound(alpha, 1 + words, alpha + rest)
                Elog_pi += Elog_v
                before += Elog_not_v
                bound += of_stick
            # E[log p(z | pi)] - E[log q(z)]
            for j in range(first, last):
                if tables[j, i] > 0:
                    bound += tables[j, i] * (Elog_pi - math.log(tables[j, i] / counts[j]))
            for a in range(n_topics[d]):
                share = zeta[d, i, a]
                if share > 0:
                    k = topics[d, a]
                    # E[log p(c | v)] - E[log q(c)]
                    bound += share * (Elog_sigma[k] - math.log(share))
                    # E[log p(w | c, z, beta)]
                    for j in range(first, last):
                        bound += share * tables[j, i] * Elog_rows[local[j], k]
        bounds[d] = bound


@kernel
def stick_bound(alpha: float, gamma1: float, gamma2: float) -> tuple[float, float, float]:
    """Under Beta(gamma1, gamma2): E[log pi_i], E[log(1 - pi_i)], E[log p(pi_i | alpha)] - E[log
    q(pi_i)]."""
    both = digamma(gamma1 + gamma2)
    Elog_v = digamma(gamma1) - both
    Elog_not_v = digamma(gamma2) - both
    bound = math.log(alpha) + (alpha - 1) * Elog_not_v
    bound -= (gamma1 - 1) * Elog_v + (gamma2 - 1) * Elog_not_v
    bound -= math.lgamma(gamma1 + gamma2) - math.lgamma(gamma1) - math.lgamma(gamma2)
    return Elog_v, Elog_not_v, bound

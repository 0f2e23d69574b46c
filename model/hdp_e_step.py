"""The HDP's E-step, [SVI13] figure 9 lines 5 to 11: from documents and corpus to tables and
statistics.

These functions are pure: they change none of their arguments, except for `figure_9`'s tables.
`words` are those of a minibatch, with the rows of the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import betaln, psi

from wikitopics.model import hdp_figure_9_kernels, hdp_kernels
from wikitopics.model.hdp_kernels import HDPCorpus, HDPLimits, Tables
from wikitopics.model.lambda_ import WORD_BLOCK, Statistics
from wikitopics.model.minibatch import Floats, Minibatch, Vector, Words
from wikitopics.model.threads import Threads

BLOCK = 64
"""The number of documents of a block of work."""


@dataclass(frozen=True)
class HDPStatistics(Statistics):
    """What the steps of lambda and the sticks need; tables: (K,) each topic's number of tables."""

    tables: Vector


# The corpus sticks


def expected_sticks(a: Vector, b: Vector) -> Vector:
    """E[sigma_k(v)] for v_k ~ Beta(a_k, b_k), (K-1,) each -> (K,), sums to 1: [SVI13] figure 8."""
    v = np.append(a / (a + b), 1.0)
    sigma: Vector = v * np.concatenate([[1.0], np.cumprod(b / (a + b))])
    return sigma


def Elog_sticks(a: Vector, b: Vector) -> Vector:
    """E[log sigma_k(v)] for v_k ~ Beta(a_k, b_k), (K-1,) each -> (K,): v_K is 1. [SVI13] figure 8.

    E[log sigma_k] = E[log v_k] + sum_{l<k} E[log(1 - v_l)].
    """
    both = psi(a + b)
    Elog_v = np.append(psi(a) - both, 0.0)
    before = np.concatenate([[0.0], np.cumsum(psi(b) - both)])
    Elog_sigma: Vector = Elog_v + before
    return Elog_sigma


def sticks_bound(a: Vector, b: Vector, omega: float) -> float:
    """E[log p(v | omega)] - E[log q(v | a, b)], nats; at most 0, since it is minus a
    Kullback-Leibler divergence."""
    both = psi(a + b)
    Elog_v = psi(a) - both
    Elog_rest = psi(b) - both
    prior = np.log(omega) + (omega - 1) * Elog_rest  # the density of Beta(1, omega)
    posterior = (a - 1) * Elog_v + (b - 1) * Elog_rest - betaln(a, b)
    return float(np.sum(prior - posterior))


def corpus_of(rows: Floats, a: Vector, b: Vector, dtype: DTypeLike = np.float64) -> HDPCorpus:
    """The corpus for `shortlists`, `figure_9` or `bounds`, as `dtype`; sticks are padded like the
    rows."""
    K = len(a) + 1
    _, K_padded = rows.shape
    padding = (0, K_padded - K)
    sigma = np.pad(expected_sticks(a, b).astype(dtype), padding)
    Elog_sigma = np.pad(Elog_sticks(a, b).astype(dtype), padding)
    return HDPCorpus(rows.astype(dtype, copy=False), sigma, Elog_sigma)


# The documents


def shortlists(
    words: Words,
    corpus: HDPCorpus,
    K: int,
    limits: HDPLimits,
    workers: Threads,
) -> Tables:
    """The default local step, over each document's shortlist of topics: `hdp_kernels.e_step`."""
    D = words.batch.D
    N = len(words.entries.local)
    T = limits.T
    C = min(K, limits.candidates)
    dtype = corpus.rows.dtype
    posterior = Tables(
        tables=np.zeros((N, T), dtype),
        topics=np.empty((D, C), np.int32),
        n_topics=np.zeros(D, np.int32),
        zeta=np.zeros((D, T, C), dtype),
        n_tables=np.zeros(D, np.int32),
        theta=np.empty((D, K), dtype),
    )
    workers.run(hdp_kernels.e_step, D, BLOCK, words.entries, corpus, limits, posterior)
    return posterior


def figure_9(
    words: Words,
    corpus: HDPCorpus,
    limits: HDPLimits,
    workers: Threads,
    start_from: Floats | None = None,
) -> Tables:
    """The local step of [SVI13] figure 9.

    start_from: (N, T) tables to continue from, changed in place; None: those of lines 5 and 6
    """
    D = words.batch.D
    N = len(words.entries.local)
    T = limits.T
    K = len(corpus.sigma)
    dtype = corpus.rows.dtype
    fresh = start_from is None
    tables = np.zeros((N, T), dtype) if start_from is None else start_from
    posterior = Tables(
        tables=tables,
        topics=np.tile(np.arange(K, dtype=np.int32), (D, 1)),
        n_topics=np.full(D, K, np.int32),
        zeta=np.empty((D, T, K), dtype),
        n_tables=np.full(D, T, np.int32),
        theta=np.empty((D, K), dtype),
    )
    kernel = hdp_figure_9_kernels.ascend
    workers.run(kernel, D, BLOCK, words.entries, corpus, limits, fresh, posterior)
    return posterior


def sum_statistics(batch: Minibatch, posterior: Tables, W: int, workers: Threads) -> HDPStatistics:
    """Line 11 of figure 9: the expected words of each topic, word by word, and its tables."""
    _, K = posterior.theta.shape
    words = batch.words(W)
    U = len(words.ids)
    sums = np.empty((U, K), posterior.theta.dtype)
    kernel = hdp_kernels.sum_statistics
    mass = workers.total(kernel, U, WORD_BLOCK, K, words.occurrences(), posterior, sums)
    tables = np.zeros(K)
    hdp_kernels.add_tables(posterior, tables)
    return HDPStatistics(words.ids, sums, mass, tables)


def bounds(
    words: Words,
    corpus: HDPCorpus,
    alpha: float,
    posterior: Tables,
    workers: Threads,
) -> Vector:
    """(D,) each document's terms of the ELBO, nats; the corpus's rows are (U, K) E[log beta] of the
    words."""
    D = words.batch.D
    result = np.zeros(D)
    kernel = hdp_figure_9_kernels.document_bounds
    workers.run(kernel, D, BLOCK, words.entries, corpus, alpha, posterior, result)
    return result

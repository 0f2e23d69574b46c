"""The HDP's E-step, [SVI13] figure 9 lines 5 to 11: from documents and corpus to tables and statistics.

These functions are pure: they change none of their arguments, except for `figure_9`'s tables. `words` are
those of a minibatch, with the rows of the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, psi

from wikitopics.model import hdp_figure_9_kernels, hdp_kernels
from wikitopics.model.hdp_kernels import HDPCorpus, HDPLimits, Tables
from wikitopics.model.lambda_ import WORD_BLOCK, Statistics
from wikitopics.model.minibatch import Floats, Minibatch, Threads, Vector, Words

BLOCK = 64  # documents


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
    """E[log p(v | omega)] - E[log q(v | a, b)], nats; at most 0: minus a Kullback-Leibler divergence."""
    both = psi(a + b)
    Elog_v, Elog_rest = psi(a) - both, psi(b) - both
    prior = np.log(omega) + (omega - 1) * Elog_rest  # the density of Beta(1, omega)
    posterior = (a - 1) * Elog_v + (b - 1) * Elog_rest - betaln(a, b)
    return float(np.sum(prior - posterior))


def corpus_of(rows: Floats, a: Vector, b: Vector, dtype: Any = np.float64) -> HDPCorpus:
    """The corpus for `shortlists`, `figure_9` or `bounds`, as `dtype`; sticks are padded like the rows."""
    padding = (0, rows.shape[1] - len(a) - 1)
    sticks = (np.pad(of(a, b).astype(dtype), padding) for of in (expected_sticks, Elog_sticks))
    return HDPCorpus(rows.astype(dtype, copy=False), *sticks)


# The documents


def shortlists(words: Words, corpus: HDPCorpus, K: int, limits: HDPLimits, workers: Threads) -> Tables:
    """The default local step, over each document's shortlist of topics: `hdp_kernels.e_step`."""
    D, T, C, dtype = words.batch.D, limits.T, min(K, limits.candidates), corpus.rows.dtype
    posterior = Tables(
        np.zeros((len(words.entries.local), T), dtype),
        np.empty((D, C), np.int32),
        np.zeros(D, np.int32),
        np.zeros((D, T, C), dtype),
        np.zeros(D, np.int32),
        np.empty((D, K), dtype),
    )
    workers.run(hdp_kernels.e_step, D, BLOCK, words.entries, corpus, limits, posterior)
    return posterior


def figure_9(
    words: Words, corpus: HDPCorpus, limits: HDPLimits, workers: Threads, start_from: Floats | None = None
) -> Tables:
    """The local step of [SVI13] figure 9; `start_from`: tables that replace lines 5 and 6, changed in
    place."""
    D, T, K, dtype = words.batch.D, limits.T, len(corpus.sigma), corpus.rows.dtype
    tables = np.zeros((len(words.entries.local), T), dtype) if start_from is None else start_from
    everything = np.broadcast_to(np.arange(K, dtype=np.int32), (D, K)).copy()
    n_topics, n_tables = np.full(D, K, np.int32), np.full(D, T, np.int32)
    zeta, theta = np.empty((D, T, K), dtype), np.empty((D, K), dtype)
    posterior = Tables(tables, everything, n_topics, zeta, n_tables, theta)
    arguments = words.entries, corpus, limits, start_from is None, posterior
    workers.run(hdp_figure_9_kernels.ascend, D, BLOCK, *arguments)
    return posterior


def sum_statistics(batch: Minibatch, posterior: Tables, W: int, workers: Threads) -> HDPStatistics:
    """Line 11: the expected words of each topic, word by word, and its tables."""
    K, words = posterior.theta.shape[1], batch.words(W)
    sums = np.empty((len(words.ids), K), posterior.theta.dtype)
    arguments = words.occurrences(), posterior, sums
    mass = workers.total(hdp_kernels.sum_statistics, len(words.ids), WORD_BLOCK, K, *arguments)
    tables = np.zeros(K)
    hdp_kernels.add_tables(posterior, tables)
    return HDPStatistics(words.ids, sums, mass, tables)


def bounds(words: Words, corpus: HDPCorpus, alpha: float, posterior: Tables, workers: Threads) -> Vector:
    """(D,) each document's terms of the ELBO, nats; the corpus's rows are (U, K) E[log beta] of the words."""
    result = np.zeros(words.batch.D)
    arguments = words.entries, corpus, alpha, posterior, result
    workers.run(hdp_figure_9_kernels.document_bounds, len(result), BLOCK, *arguments)
    return result

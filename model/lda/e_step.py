"""The E-step of variational LDA, [H10] algorithm 2: from documents and topics to gamma and statistics.

These functions are pure: they change none of their arguments. `words` are those of a minibatch, `rows` are
`Topics.exp_Elog_rows` of these words, and alpha is (K,) float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from wikitopics.model.lambda_ import WORD_BLOCK, Statistics, Topics, Vector
from wikitopics.model.lda import kernels
from wikitopics.model.minibatch import Minibatch, Words
from wikitopics.model.workers import Workers

DOCUMENT_BLOCK = 128
WIDE = 6  # most iterations over all topics before the active ones are gathered


class Limits(NamedTuple):
    """Limits of a document's E-step: see `OnlineLDA` and, for `drop`, `schedules.CollapsedStart`."""

    tolerance: float
    max_iterations: int
    drop: float


class Documents(NamedTuple):
    """The variational distribution of D documents with N entries.

    gamma: (D, K); x: (D, K') and ratio: (N,), which give phi: `lda.kernels`
    excess: (K,) sum_d psi(gamma_dk) - psi(alpha_k)
    """

    gamma: NDArray[Any]
    x: NDArray[Any]
    ratio: NDArray[Any]
    excess: Vector


@dataclass(frozen=True)
class LDAStatistics(Statistics):
    """The statistics that the steps of lambda and alpha need.

    documents: S
    excess: (K,) sum_d psi(gamma_dk) - psi(alpha_k)
    growth: sum_d psi(sum_k gamma_dk) - psi(sum_k alpha_k)
    """

    documents: int
    excess: Vector
    growth: float

    def sum_Elog_theta(self, alpha: Vector) -> Vector:
        """(K,) sum_d E[log theta_dk] = psi(gamma_dk) - psi(sum_k gamma_dk), for the E-step's alpha."""
        sums: Vector = self.excess - self.growth + self.documents * (psi(alpha) - psi(alpha.sum()))
        return sums


def e_step(
    batch: Minibatch, words: Words, rows: NDArray[Any], alpha: Vector, limits: Limits, workers: Workers
) -> tuple[NDArray[Any], LDAStatistics]:
    """gamma (D, K) of a minibatch, with the topics held fixed, and the M-step's statistics: see `ascend`."""
    found = ascend(batch, words, rows, alpha, limits, workers)
    sums, mass = sum_statistics(batch, words, rows, found, len(alpha), workers)
    total = alpha.sum()
    growth = float(np.sum(psi(total + batch.lengths()) - psi(total)))  # gamma sums to alpha and the words
    return found.gamma, LDAStatistics(words.ids, sums, mass, batch.D, found.excess, growth)


def ascend(
    batch: Minibatch,
    words: Words,
    rows: NDArray[Any],
    alpha: Vector,
    limits: Limits,
    workers: Workers,
    start: NDArray[Any] | None = None,
) -> Documents:
    """Coordinate ascent in gamma and phi of every document, with the topics held fixed.

    start: (D, K) gamma to continue from, or None for gamma = 1
    """
    K, dtype = len(alpha), rows.dtype
    gamma = np.empty((batch.D, K), dtype) if start is None else start.astype(dtype)
    x = np.empty((batch.D, rows.shape[1]), dtype)
    ratio = np.empty(len(batch.word_ids), dtype)
    psi_alpha, narrow_alpha = psi(alpha), alpha.astype(dtype)
    tolerance, iterations, drop = limits
    drop = drop if dtype == np.float32 else 0.0

    def block(first: int, stop: int) -> Vector:
        excess = np.zeros(K)
        kernels.e_step(
            first, stop, batch.indptr, words.local, batch.counts, rows, narrow_alpha, psi_alpha,
            drop, tolerance, iterations, WIDE, start is not None, gamma, x, ratio, excess,
        )  # fmt: skip
        return excess

    excess = sum(workers.map(block, batch.D, DOCUMENT_BLOCK), np.zeros(K))
    return Documents(gamma, x, ratio, excess)


def sum_statistics(
    batch: Minibatch, words: Words, rows: NDArray[Any], found: Documents, K: int, workers: Workers
) -> tuple[NDArray[Any], Vector]:
    """sum_d n_dw phi_dwk, (U, K), and its sums over the words, (K,)."""
    sums = np.empty((len(words.ids), K), rows.dtype)
    (indptr, entries), documents = words.occurrences(), batch.documents()

    def block(first: int, stop: int) -> Vector:
        mass = np.zeros(K)
        kernels.sum_statistics(
            first, stop, indptr, entries, documents, found.ratio, found.x, rows, sums, mass
        )
        return mass

    return sums, sum(workers.map(block, len(words.ids), WORD_BLOCK), np.zeros(K))


def document_bounds(
    topics: Topics, batch: Minibatch, words: Words, rows: NDArray[Any], alpha: Vector, found: Documents
) -> Vector:
    """(D,) each document's terms of the ELBO, [H10] eq. 3, with phi at its optimum for gamma.

    Only for rows without balance. docs/derivations.md: topics inactive in a document add nothing.
    """
    gamma = found.gamma.astype(np.float64)
    psi_sum = psi(gamma.sum(axis=1))
    # sum_w n_w log sum_k exp(E[log theta_k] + E[log beta_kw]), where n_w / ratio = sum_k exp(psi(gamma_k))
    # rows_wk
    row_sums = _log_row_sums(topics, words.ids, rows)[words.local]
    mixtures = np.log(batch.counts) - np.log(found.ratio, dtype=np.float64) + row_sums
    per_entry = batch.counts * (mixtures - psi_sum[batch.documents()])
    running = np.concatenate([[0.0], np.cumsum(per_entry)])
    elbo: Vector = running[batch.indptr[1:]] - running[batch.indptr[:-1]]
    # E[log p(theta | alpha)] - E[log q(theta)]
    d, k = np.nonzero(found.gamma != alpha.astype(found.gamma.dtype))
    active, prior = gamma[d, k], alpha[k]
    terms = (prior - active) * (psi(active) - psi_sum[d]) + gammaln(active) - gammaln(prior)
    elbo += np.bincount(d, terms, minlength=batch.D)
    elbo += gammaln(alpha.sum()) - gammaln(gamma.sum(axis=1))
    return elbo


def _log_row_sums(topics: Topics, ids: NDArray[np.int32], rows: NDArray[Any]) -> Vector:
    """(U,) log sum_k exp(E[log beta_kw]), the divisors of the rows, recovered from each row's largest
    entry."""
    k = rows.argmax(axis=1)
    lambda_ = topics.eta + topics.scale * topics.hat[ids, k].astype(np.float64)
    largest = rows[np.arange(len(ids)), k]
    sums: Vector = psi(lambda_) - psi(topics.totals())[k] - np.log(largest, dtype=np.float64)
    return sums

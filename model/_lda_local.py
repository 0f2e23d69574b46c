"""The local step of variational LDA on a minibatch: gamma of its documents, and what topics learn from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from model._blocks import Workers
from model._lda_kernels import add_statistics, e_step
from model._topics import WORD_BLOCK, Topics
from model._words import Words, by_word
from model.minibatch import Minibatch

DOCUMENT_BLOCK = 128
DROP = 0.01  # expected words below which a topic leaves a document, in float32
WIDE = 6  # iterations over all topics before the active ones are gathered, at most


class LocalStep:
    """Coordinate ascent in gamma and phi of every document of a minibatch, the topics held fixed.

    alpha: (K,) float64
    tolerance, max_iterations: a document ends when sum_k |change of gamma_k| is at most tolerance times
    its words
    balance: (K,) factors on exp(E[log beta_k]), or None (the papers' step)
    start: (D, K) gamma to go on from, or None for gamma = 1
    """

    words: Words
    gamma: NDArray[Any]  # (D, K)
    excess: NDArray[np.float64]  # (K,) sum_d psi(gamma_dk) - psi(alpha_k)

    def __init__(
        self,
        topics: Topics,
        batch: Minibatch,
        alpha: NDArray[np.float64],
        workers: Workers,
        tolerance: float,
        max_iterations: int,
        balance: NDArray[np.float64] | None = None,
        start: NDArray[Any] | None = None,
    ) -> None:
        batch.check_words(topics.n_words)
        self._topics, self._batch, self._alpha, self._workers = topics, batch, alpha, workers
        dtype, K = topics.dtype, topics.n_topics
        self.words = words = by_word(batch, topics.n_words)
        self._rows = topics.exp_Elog_rows(words.ids, workers, balance)
        self.gamma = np.empty((batch.D, K), dtype) if start is None else start.astype(dtype)
        self._x = np.empty((batch.D, self._rows.shape[1]), dtype)
        self._ratio = np.empty(len(batch.word_ids), dtype)
        psi_alpha = psi(alpha)
        narrow_alpha = alpha.astype(dtype)
        drop = DROP if dtype == np.float32 else 0.0

        def block(first: int, stop: int) -> NDArray[np.float64]:
            excess = np.zeros(K)
            e_step(
                first,
                stop,
                batch.indptr,
                words.local,
                batch.counts,
                self._rows,
                narrow_alpha,
                psi_alpha,
                drop,
                tolerance,
                max_iterations,
                WIDE,
                start is not None,
                self.gamma,
                self._x,
                self._ratio,
                excess,
            )
            return excess

        self.excess = sum(workers.map(block, batch.D, DOCUMENT_BLOCK), np.zeros(K))

    def proportions(self, alpha: NDArray[np.float64]) -> NDArray[np.float32]:
        """(D, K) E[theta] = gamma / sum gamma, where alpha takes the place of the alpha of this step."""
        gamma = self.gamma
        if alpha is not self._alpha:
            gamma = gamma + (alpha - self._alpha).astype(gamma.dtype)
        theta: NDArray[Any] = gamma / gamma.sum(axis=1, keepdims=True)
        return theta.astype(np.float32, copy=False)

    def sum_Elog_theta(self) -> NDArray[np.float64]:
        """(K,) sum over the documents of E[log theta_dk] = psi(gamma_dk) - psi(sum_k gamma_dk)."""
        normalisers = psi(self._alpha.sum() + self._batch.lengths())  # gamma sums to alpha and the words
        total: NDArray[np.float64] = self.excess + self._batch.D * psi(self._alpha) - normalisers.sum()
        return total

    def elbo(self) -> NDArray[np.float64]:
        """(D,) each document's terms of the ELBO, [H10] eq. 3, with phi at its optimum for gamma.

        Only for steps without balance. docs/derivations.md: topics inactive in a document add nothing.
        """
        batch, local = self._batch, self.words.local
        gamma = self.gamma.astype(np.float64)
        psi_sum = psi(gamma.sum(axis=1))
        # sum_w n_w log sum_k exp(E[log theta_k] + E[log beta_kw]), where n_w / ratio = sum_k
        # exp(psi(gamma_k)) rows_wk
        mixtures = np.log(batch.counts) - np.log(self._ratio, dtype=np.float64) + self._log_row_sums()[local]
        per_entry = batch.counts * (mixtures - psi_sum[batch.documents()])
        running = np.concatenate([[0.0], np.cumsum(per_entry)])
        elbo: NDArray[np.float64] = running[batch.indptr[1:]] - running[batch.indptr[:-1]]
        # E[log p(theta | alpha)] - E[log q(theta)]
        alpha = self._alpha
        d, k = np.nonzero(self.gamma != alpha.astype(self.gamma.dtype))
        active, prior = gamma[d, k], alpha[k]
        terms = (prior - active) * (psi(active) - psi_sum[d]) + gammaln(active) - gammaln(prior)
        elbo += np.bincount(d, terms, minlength=batch.D)
        elbo += gammaln(alpha.sum()) - gammaln(gamma.sum(axis=1))
        return elbo

    def _log_row_sums(self) -> NDArray[np.float64]:
        """(U,) log sum_k exp(E[log beta_kw]), by which the rows were divided: found from each row's
        largest."""
        ids, topics = self.words.ids, self._topics
        k = self._rows.argmax(axis=1)
        lambda_ = topics.eta + topics.scale * topics.hat[ids, k].astype(np.float64)
        largest = self._rows[np.arange(len(ids)), k]
        sums: NDArray[np.float64] = psi(lambda_) - psi(topics.totals())[k] - np.log(largest, dtype=np.float64)
        return sums

    def m_step(self, rho: float, eta: float, repeats: float) -> None:
        """lambda <- (1 - rho) lambda + rho (eta + repeats sum_d n_d phi_d); repeats = D/S, [H10] alg. 2."""
        topics, words = self._topics, self.words
        topics.decay(rho, eta)
        factor = rho * repeats / topics.scale
        documents = self._batch.documents()

        def block(first: int, stop: int) -> NDArray[np.float64]:
            mass = np.zeros(topics.n_topics)
            add_statistics(
                first,
                stop,
                words.indptr,
                words.entries,
                documents,
                self._ratio,
                self._x,
                self._rows,
                words.ids,
                topics.dtype.type(factor),
                topics.hat,
                mass,
            )
            return mass

        masses = self._workers.map(block, len(words.ids), WORD_BLOCK)
        topics.total_hat += factor * sum(masses, np.zeros(topics.n_topics))

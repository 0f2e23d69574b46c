"""Batch variational Bayes for latent Dirichlet allocation: [H10] algorithm 1."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from model import _checks as check
from model._blocks import Workers
from model._lda_local import LocalStep
from model._topics import Topics, random_topics
from model.minibatch import Minibatch


class BatchLDA:
    """Latent Dirichlet allocation of a whole corpus at once, by sweeps whose ELBO never falls.

    n_topics, n_words: K, W
    alpha, eta: Dirichlet parameters of the topic proportions and of the topics
    sweeps end when the ELBO grows by less than `improvement` of itself, or after `max_sweeps`
    initialization: lambda at random, "gamma" or "exponential", as for OnlineLDA
    tolerance, max_iterations: of a document's E-step, as for OnlineLDA
    threads: part of the speed, not of the result

    The arithmetic is float64 and no topic is dropped, so that the ELBO is exact.
    Raises ValueError for values out of range.
    """

    alpha: NDArray[np.float64]
    elbo: list[float]  # after each sweep's E-step

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        *,
        alpha: float = 0.01,
        eta: float = 0.01,
        improvement: float = 1e-5,
        max_sweeps: int = 100,
        initialization: Literal["gamma", "exponential"] = "gamma",
        tolerance: float = 1e-4,
        max_iterations: int = 200,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        check.at_least_one(n_topics=n_topics, n_words=n_words, max_sweeps=max_sweeps)
        check.positive(alpha=alpha, eta=eta)
        check.one_of(("gamma", "exponential"), initialization=initialization)
        self.n_topics, self.n_words = int(n_topics), int(n_words)
        self.alpha, self.eta = np.full(n_topics, float(alpha)), float(eta)
        self.improvement, self.max_sweeps = float(improvement), int(max_sweeps)
        self.tolerance, self.max_iterations = float(tolerance), int(max_iterations)
        self._initialization: Literal["gamma", "exponential"] = initialization
        self._seed, self._workers = seed, Workers(threads)
        self._topics: Topics | None = None
        self.elbo = []

    def fit(self, batch: Minibatch) -> Self:
        """Learn from the documents, anew; raises ValueError for a word id out of range."""
        batch.check_words(self.n_words)
        random = np.random.default_rng(self._seed)
        self._topics = topics = random_topics(
            random, self._initialization, self.n_topics, self.n_words, batch.D, self.eta, "float64"
        )
        self.elbo = []
        gamma: NDArray[Any] | None = None
        for _ in range(self.max_sweeps):
            local = self._e_step(topics, batch, gamma)
            self.elbo.append(float(local.elbo().sum()) + topics.elbo(self.eta))
            gamma = local.gamma
            # lambda = eta + sum_d n_d phi_d
            local.m_step(1.0, self.eta, 1.0)
            if len(self.elbo) > 1 and self._grown() < self.improvement:
                break
        return self

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions E[theta] of documents, rows sum to 1."""
        return self._e_step(self._fitted(), batch, None).proportions(self.alpha)

    def topics(self) -> NDArray[np.float64]:
        """(K, W) expected topics E[beta], rows sum to 1."""
        lambda_ = self.lambda_
        topics: NDArray[np.float64] = lambda_ / lambda_.sum(axis=1, keepdims=True)
        return topics

    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""
        return self._fitted().shares()

    @property
    def lambda_(self) -> NDArray[np.float64]:
        """(K, W) variational Dirichlet of the topics, a copy."""
        return self._fitted().lambda_()

    def _grown(self) -> float:
        last, now = self.elbo[-2:]
        return (now - last) / abs(last)

    def _fitted(self) -> Topics:
        if self._topics is None:
            raise ValueError("fit the model first")
        return self._topics

    def _e_step(self, topics: Topics, batch: Minibatch, gamma: NDArray[Any] | None) -> LocalStep:
        """From gamma = 1, as algorithm 1 says; but from the last sweep's gamma where that ends higher.

        A fresh start can end in a worse local optimum of a document, and then the ELBO would fall.
        """
        fresh = LocalStep(topics, batch, self.alpha, self._workers, self.tolerance, self.max_iterations)
        if gamma is None:
            return fresh
        resumed = LocalStep(
            topics, batch, self.alpha, self._workers, self.tolerance, self.max_iterations, start=gamma
        )
        higher = fresh.elbo() > resumed.elbo()
        best = np.where(higher[:, None], fresh.gamma, resumed.gamma)
        # No iteration: phi of the gamma chosen.
        return LocalStep(topics, batch, self.alpha, self._workers, self.tolerance, 0, start=best)

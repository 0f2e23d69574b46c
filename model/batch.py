"""Batch variational inference, the yardstick of the online models: [H10] algorithm 1, [W11] section
3.1."""

from __future__ import annotations

from typing import Self

import numpy as np

from wikitopics.model.hdp import OnlineHDP
from wikitopics.model.hdp_e_step import bounds, corpus_of, figure_9
from wikitopics.model.hdp_e_step import sum_statistics as sum_hdp_statistics
from wikitopics.model.lambda_ import Statistics, random_topics
from wikitopics.model.lda import OnlineLDA
from wikitopics.model.lda_e_step import (
    Documents,
    LDALimits,
    ascend,
    document_bounds,
    sum_statistics,
)
from wikitopics.model.minibatch import Floats, Minibatch, Vector, Words, sound
from wikitopics.model.options import prior
from wikitopics.model.schedules import HDP_PAPER
from wikitopics.model.states import MOST, Entry
from wikitopics.option import Option

# Batch variational Bayes for latent Dirichlet allocation: [H10] algorithm 1.

ALPHA = prior("alpha", "Dirichlet parameter of the topic proportions")
ETA = prior("eta", "Dirichlet parameter of the topics")
IMPROVEMENT = Option(float, "improvement", "of the ELBO that ends the sweeps", least=0, most=1)
MAX_SWEEPS = Option(int, "max_sweeps", "over the documents", least=1, most=MOST)


class BatchLDA(OnlineLDA):
    """Latent Dirichlet allocation of a whole corpus at once, in sweeps that never lower the ELBO.

    n_topics, n_words: K, W
    alpha, eta: Dirichlet parameters of the topic proportions and of the topics
    improvement, max_sweeps: sweeps end when the ELBO grows by less than the fraction `improvement`
    of itself, or after `max_sweeps`
    initialization: lambda at random, "gamma" or "exponential", as for OnlineLDA
    tolerance, max_iterations: of a document's E-step, as for OnlineLDA
    threads: affect the speed, not the result

    The arithmetic is float64 and no topic is dropped, so that the ELBO is exact.
    Raises ValueError for values out of range, TypeError for other arguments.
    """

    entries = (
        *OnlineLDA.entries,
        Entry.of_option(IMPROVEMENT),
        Entry.of_option(MAX_SWEEPS),
        Entry("elbo", "_elbo", "float64", "S"),
    )

    improvement: float
    max_sweeps: int
    _initialization = "gamma"  # not part of a state

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        *,
        alpha: float = 0.01,
        eta: float = 0.01,
        initialization: str = "gamma",
        tolerance: float = 1e-4,
        max_iterations: int = 200,
        improvement: float = 1e-5,
        max_sweeps: int = 100,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        super().__init__(
            n_topics,
            n_words,
            1,
            alpha=ALPHA.value(alpha),
            eta=ETA.value(eta),
            initialization=initialization,
            tolerance=tolerance,
            max_iterations=max_iterations,
            dtype="float64",
            warm_start=False,
            seed=seed,
            threads=threads,
        )
        self.improvement = IMPROVEMENT.value(improvement)
        self.max_sweeps = MAX_SWEEPS.value(max_sweeps)
        # As if nothing had been drawn yet: `fit`, which knows D, draws the topics again.
        self._random = np.random.default_rng(seed)
        self._initialization = initialization
        self._elbo = np.zeros(0)

    @property
    def elbo(self) -> list[float]:
        """The ELBO after each sweep's E-step, nats."""
        return self._elbo.tolist()

    def fit(self, batch: Minibatch) -> Self:
        """Learn from the documents, starting afresh. Raises ValueError for a word id out of range,
        and if the documents have no words."""
        words = sound(batch).words(self.n_words)
        if batch.n_tokens == 0:
            raise ValueError("there are no words to fit")
        topics = random_topics(
            self._random,
            self._initialization,
            self.n_topics,
            self.n_words,
            batch.D,
            self.eta,
            "float64",
        )
        self._topics = topics
        self._elbo = np.zeros(0)
        gamma: Floats | None = None
        for _ in range(self.max_sweeps):
            rows, posterior, bounds = self._e_step(words, gamma)
            self._elbo = np.append(self._elbo, bounds.sum() + topics.elbo(self.eta))
            gamma = posterior.gamma
            sums, mass = sum_statistics(words, rows, posterior, self._workers)
            # lambda = eta + sum_d n_d phi_d
            topics.step(1.0, self.eta, 1.0, Statistics(words.ids, sums, mass), self._workers)
            if len(self._elbo) > 1:
                last, now = self._elbo[-2:]
                if (now - last) / abs(last) < self.improvement:
                    break
        self.n_documents = float(batch.D)
        self.updates = len(self._elbo)
        self._seen = batch.D
        return self

    def _e_step(self, words: Words, gamma: Floats | None) -> tuple[Floats, Documents, Vector]:
        """(U, K') the rows of the topics, the end points of the documents' ascents, and (D,) each
        document's bound there.

        gamma: that of the last sweep, or None. A document's ascent starts from gamma = 1, as in
        algorithm 1, or from the last sweep's gamma where that ends higher: a fresh start can end in
        a worse local optimum of a document, and then the ELBO would fall.
        """
        topics = self._topics
        rows = topics.exp_Elog_rows(words.ids, self._workers, np.ones(self.n_topics))

        def ascent(iterations: int, start: Floats | None) -> tuple[Documents, Vector]:
            limits = LDALimits(self.tolerance, iterations, 0.0)
            posterior = ascend(words, rows, self.alpha, limits, self._workers, start)
            return posterior, document_bounds(topics, words, rows, self.alpha, posterior)

        fresh, bounds = ascent(self.max_iterations, None)
        if gamma is None:
            return rows, fresh, bounds
        resumed, resumed_bounds = ascent(self.max_iterations, gamma)
        fresh_is_higher = bounds > resumed_bounds
        higher_gamma = np.where(fresh_is_higher[:, None], fresh.gamma, resumed.gamma)
        # No iterations: only phi and the bounds for this gamma.
        higher, higher_bounds = ascent(0, higher_gamma)
        return rows, higher, higher_bounds


# Batch variational inference for the HDP, [W11] section 3.1: full steps (rho = 1) on all documents.


class BatchHDP(OnlineHDP):
    """The HDP fitted to a corpus that fits into memory, in full sweeps, in float64.

    Options as for `OnlineHDP`. Documents keep their tables from sweep to sweep, so that every
    update of a sweep is coordinate ascent and the ELBO never falls. With warm_start=True, topics,
    sticks and tables start as in `OnlineHDP`; after that, the updates are the paper's.
    """

    entries = (*OnlineHDP.entries, Entry("bounds", "_bounds", "float64", "S"))

    def __init__(
        self,
        n_words: int,
        *,
        max_topics: int = 300,
        alpha: float = 1.0,
        omega: float = 1.0,
        eta: float = 0.2,
        decorrelation: float | None = None,
        max_topics_per_document: int = 10,
        tolerance: float = 1e-2,
        max_iterations: int = 100,
        warm_start: bool = True,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        super().__init__(
            n_words,
            1,
            max_topics=max_topics,
            max_topics_per_document=max_topics_per_document,
            alpha=alpha,
            omega=omega,
            eta=eta,
            decorrelation=decorrelation,
            tolerance=tolerance,
            max_iterations=max_iterations,
            dtype="float64",
            warm_start=warm_start,
            seed=seed,
            threads=threads,
        )
        self.recipe = HDP_PAPER  # the paper's: the documents are the whole corpus
        self._bounds = np.zeros(0)

    @property
    def bounds(self) -> list[float]:
        """The ELBO after each sweep's local step, nats."""
        return self._bounds.tolist()

    def fit(self, batch: Minibatch, max_sweeps: int = 100, tolerance: float = 1e-5) -> Self:
        """Sweep over the documents until the ELBO rises by less than the fraction `tolerance`.

        Takes memory for N T + D T K numbers. Raises ValueError for a word id out of range and for a
        batch without documents.
        """
        words = sound(batch).words(self.n_words)
        if batch.D == 0:
            raise ValueError("there are no documents to fit")
        self.n_documents = float(batch.D)
        self._bounds = np.zeros(0)
        tables = None
        if self.warm_start:
            self._start_from(batch)
            first = self._corpus(words.ids, batch.D)
            tables = self._e_step(words, first).tables  # where the first sweep starts
        while len(self._bounds) < max_sweeps:
            corpus = corpus_of(self._topics.Elog_rows(words.ids), self.a, self.b)
            posterior = figure_9(words, corpus, self._limits(), self._workers, tables)
            tables = posterior.tables
            of_documents = bounds(words, corpus, self.alpha, posterior, self._workers)
            bound = of_documents.sum() + self.corpus_bound()
            self._bounds = np.append(self._bounds, bound)
            # [W11] eq. 19 to 21: line 12 of [SVI13] fig. 9 with rho = 1 and D/S = 1.
            statistics = sum_hdp_statistics(batch, posterior, self.n_words, self._workers)
            self._topics.step(1.0, self.eta, 1.0, statistics, self._workers)
            self._step_sticks(1.0, 1.0, statistics.mass, statistics.tables)
            if len(self._bounds) > 1:
                last, now = self._bounds[-2:]
                if now - last < tolerance * abs(now):
                    break
        self.updates = len(self._bounds)
        self._seen = batch.D
        return self

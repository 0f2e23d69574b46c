"""Batch variational inference for the HDP, [W11] section 3.1: full steps (rho = 1) on all documents."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from wikitopics.model.hdp import OnlineHDP
from wikitopics.model.hdp.e_step import bounds, corpus_of, figure_9, sum_statistics
from wikitopics.model.hdp.recipe import PAPER
from wikitopics.model.minibatch import Minibatch
from wikitopics.model.states import Entry


class BatchHDP(OnlineHDP):
    """The HDP fitted to a corpus that fits into memory, in full sweeps, in float64.

    Options as for `OnlineHDP`. Documents keep their tables from sweep to sweep, so that every update of a
    sweep is coordinate ascent and the ELBO never falls. With warm_start=True topics, sticks and tables begin
    as those of `OnlineHDP` do; from there on the updates are the paper's.
    """

    entries = (*OnlineHDP.entries, Entry("bounds", "_bounds", "float64", "S"))

    def __init__(self, n_words: int, **options: Any) -> None:
        super().__init__(n_words, 1, dtype="float64", **options)
        self.recipe = PAPER  # the paper's: the documents are the whole corpus
        self._bounds = np.zeros(0)

    @property
    def bounds(self) -> list[float]:
        """The ELBO after each sweep's local step, nats."""
        return self._bounds.tolist()

    def fit(self, batch: Minibatch, max_sweeps: int = 100, tolerance: float = 1e-5) -> Self:
        """Sweep over the documents until the ELBO rises by less than the fraction `tolerance`.

        Takes memory for N T + D T K numbers. Raises ValueError for a word id out of range and for a batch
        without documents.
        """
        ids, local = batch.words(self.n_words)
        if batch.D == 0:
            raise ValueError("there are no documents to fit")
        self.n_documents = float(batch.D)
        self._bounds = np.zeros(0)
        tables = None
        if self.warm_start:
            self._start_from(batch)
            tables = self._e_step(batch, local, self._corpus(ids, batch.D)).tables
        while len(self._bounds) < max_sweeps:
            corpus = corpus_of(self._topics.Elog_rows(ids), self.a, self.b)
            T, iterations = self.max_topics_per_document, self.max_iterations
            found = figure_9(
                batch, local, corpus, T, self.alpha, self.tolerance, iterations, self._workers, tables
            )
            tables = found.tables
            documents = bounds(batch, local, corpus, self.alpha, found, self._workers)
            self._bounds = np.append(self._bounds, documents.sum() + self.corpus_bound())
            # [W11] eq. 19 to 21: line 12 of [SVI13] fig. 9 with rho = 1 and D/S = 1.
            statistics = sum_statistics(batch, found, self.n_words, self._workers)
            self._topics.step(1.0, self.eta, 1.0, statistics, self._workers)
            self._step_sticks(1.0, 1.0, statistics.mass, statistics.tables)
            if len(self._bounds) > 1:
                last, now = self._bounds[-2:]
                if now - last < tolerance * abs(now):
                    break
        self.updates, self._seen = len(self._bounds), batch.D
        return self

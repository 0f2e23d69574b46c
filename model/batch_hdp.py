"""Batch variational inference for the HDP, [W11] section 3.1: full steps (rho = 1) on all documents."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from model import _hdp_local
from model._hdp_local import Corpus
from model._hdp_sticks import Elog_sticks, expected_sticks
from model._state import State, row
from model._words import distinct
from model.hdp import OnlineHDP
from model.minibatch import Minibatch


class BatchHDP(OnlineHDP):
    """The HDP fitted to a corpus that fits into memory, in sweeps over all of it, in float64.

    Options as for `OnlineHDP`. Documents keep their tables from sweep to sweep, so that every update of a
    sweep is coordinate ascent and the ELBO never falls. With warm_start=True topics, sticks and tables begin
    as those of `OnlineHDP` do; from there on the updates are the paper's.

    bounds: the ELBO after each sweep's local step, nats
    """

    bounds: list[float]

    def __init__(self, n_words: int, **options: Any) -> None:
        super().__init__(n_words, 1, dtype="float64", **options)
        self.bounds = []

    def fit(self, batch: Minibatch, max_sweeps: int = 100, tolerance: float = 1e-5) -> Self:
        """Sweeps over the documents until the ELBO rises by less than `tolerance` of it.

        Takes memory for N T + D T K numbers. Raises ValueError for a word id out of range or no document.
        """
        batch.check_words(self.n_words)
        if batch.D == 0:
            raise ValueError("there is no document to fit")
        self._n_documents = float(batch.D)
        self.bounds = []
        ids, local_ids = distinct(batch, self.n_words)
        tables = None
        if self.warm_start:
            self._start_from(batch)
            self._first = None
            tables = self._local(batch, local_ids, self._corpus(ids, batch.D)).tables
        while len(self.bounds) < max_sweeps:
            Elog_rows, Elog_sigma = self._topics.Elog_rows(ids), Elog_sticks(self.a, self.b)
            corpus = Corpus(Elog_rows, expected_sticks(self.a, self.b), Elog_sigma)
            local = _hdp_local.figure_9(
                self._workers,
                batch,
                local_ids,
                corpus,
                self.max_topics_per_document,
                self.alpha,
                self.tolerance,
                self.max_iterations,
                tables,
            )
            tables = local.tables
            documents = _hdp_local.bounds(
                self._workers, batch, local_ids, Elog_rows, Elog_sigma, self.alpha, local
            )
            self.bounds.append(float(documents.sum()) + self.corpus_bound())
            # [W11] eq. 19 to 21: line 12 of [SVI13] fig. 9 with rho = 1 and D/S = 1.
            self._topics.decay(1.0, self.eta)
            mass, chosen = _hdp_local.add_statistics(self._workers, batch, local, 1.0, self._topics.hat)
            self._finish(1.0, 1.0, mass, chosen)
            if len(self.bounds) > 1:
                last, now = self.bounds[-2:]
                if now - last < tolerance * abs(now):
                    break
        self._updates, self._seen = len(self.bounds), batch.D
        return self

    def _other_state(self) -> dict[str, Any]:
        return {**super()._other_state(), "bounds": np.array(self.bounds)}

    def _set_other_state(self, state: State) -> None:
        super()._set_other_state(state)
        self.bounds = state.take("bounds", row).tolist()

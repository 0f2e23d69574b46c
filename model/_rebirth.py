"""Topics whose subjects have left the stream are born again: how a model with a half-life learns new ones.

A floor of the step size makes what was learnt fade, but topics do not move for that. Documents on new
subjects are spread over old topics by chance words that these share with them, and a local optimum keeps them
there: after a change of subjects LDA is no better with the floor alone than without (decision 0018). So a
topic that the newest documents use far less than those before starts again from a few of the newest
documents: their words on the words of all, with little weight, so that it soon follows what it is used for.
The HDP does without: its documents choose their tables' topics anew, and more births do not help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from model._topics import Topics, Vector, topics_from
from model.minibatch import Minibatch
from model.states import LARGEST, MOST, MOST_ITERATIONS, TINY, Entry


@dataclass
class Rebirth:
    """How much each topic is used, and when that is too little.

    use: (K,) share of the words, a running mean over some `recent` documents; documents: seen by it
    first: documents before nothing is born: what is still being learnt for the first time has not faded
    faded: a topic is born again when its use is below this part of its share of all that weighs
    seeds, seed_weight: documents that it is born from, and the part of its words that are theirs
    mass: its weight, in that of a mean topic
    """

    use: Vector
    first: float
    recent: float
    documents: int = 0
    faded: float = 0.25
    seeds: int = 5
    seed_weight: float = 0.5
    mass: float = 0.1

    ENTRIES: ClassVar[tuple[Entry, ...]] = (
        Entry("rebirth_use", "_rebirth.use", "float64", "K", least=0, optional=True),
        Entry("rebirth_first", "_rebirth.first", least=0, optional=True),
        Entry("rebirth_recent", "_rebirth.recent", least=TINY, optional=True),
        Entry("rebirth_documents", "_rebirth.documents", "int", least=0, most=MOST, optional=True),
        Entry("rebirth_faded", "_rebirth.faded", least=0, most=1, optional=True),
        Entry("rebirth_seeds", "_rebirth.seeds", "int", least=1, most=MOST_ITERATIONS, optional=True),
        Entry("rebirth_seed_weight", "_rebirth.seed_weight", least=0, most=1, optional=True),
        Entry("rebirth_mass", "_rebirth.mass", least=TINY, most=LARGEST, optional=True),
    )
    """For the state of a model that has it, or None, as `_rebirth`."""

    @classmethod
    def of(cls, n_topics: int, half_life: float | None) -> Rebirth | None:
        """For a new model; None without a half-life."""
        if half_life is None:
            return None
        return cls(np.full(n_topics, 1 / n_topics), 2 * half_life, 0.4 * half_life)

    def step(
        self, topics: Topics, mass: Vector, batch: Minibatch, random: np.random.Generator
    ) -> NDArray[np.intp]:
        """Which topics are born again after a step on a minibatch; (K,) `mass`: its words of each topic."""
        total = mass.sum()
        if not total:
            return np.zeros(0, np.intp)
        self.use += (mass / total - self.use) * min(1.0, batch.D / self.recent)
        self.documents += batch.D
        if self.documents < self.first:
            return np.zeros(0, np.intp)
        born = np.flatnonzero(self.use < self.faded * topics.shares())
        if len(born):
            fresh = topics_from(batch, topics.n_words, len(born), self.seeds, self.seed_weight, random)
            topics.replace(born, self.mass * topics.total_hat.mean() * fresh)
            self.use[born] = 1 / topics.n_topics
        return born

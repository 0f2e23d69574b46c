"""Topics whose subjects have left the stream are born again: how a model with a half-life learns new ones.

A floor of the step size makes old knowledge fade, but topics do not move because of that. Documents on new
subjects are spread over old topics through chance words that they share with them, and a local optimum keeps
them there (decision 0018). So a topic that the newest documents use far less than its weight suggests starts
again from a few of them, with little weight, so that it soon follows its new use. When the newest documents
use all topics differently, the stream has turned to other subjects: every topic that is used less than its
weight suggests starts again at once, from nearly the mean of all words, as in a new model. The HDP does
without this: its documents choose their tables' topics afresh, and more births do not help.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lambda_ import Topics, Vector, topics_from
from wikitopics.model.minibatch import Minibatch
from wikitopics.model.states import LARGEST, MOST, MOST_ITERATIONS, TINY, Entry


@dataclass
class Rebirth:
    """How much each topic is used, and when it is used too little.

    use: (K,) share of the words, a running mean over about `recent` documents
    documents: seen since the first one or since the stream turned; nothing is born before there are `calm`,
    since nothing learnt for the first time has faded yet
    faded: a topic is born again when its use is below this fraction of its share of the total weight
    turned: the stream has turned when this part of all words has moved to other topics than before
    seeds, seed_weight: documents that a topic is born from, and the part of its words that comes from them
    when the stream has turned. Otherwise all its words do: a lone topic with the mean of all words would draw
    from every other
    mass: its weight, relative to that of a mean topic
    """

    use: Vector
    recent: float
    calm: float
    documents: int = 0
    faded: float = 0.25
    turned: float = 0.2
    seeds: int = 2
    seed_weight: float = 0.1
    mass: float = 0.05

    ENTRIES: ClassVar[tuple[Entry, ...]] = (
        Entry("rebirth_use", "_rebirth.use", "float64", "K", least=0, optional=True),
        Entry("rebirth_recent", "_rebirth.recent", least=TINY, optional=True),
        Entry("rebirth_calm", "_rebirth.calm", least=0, optional=True),
        Entry("rebirth_documents", "_rebirth.documents", "int", least=0, most=MOST, optional=True),
        Entry("rebirth_faded", "_rebirth.faded", least=0, most=1, optional=True),
        Entry("rebirth_turned", "_rebirth.turned", least=0, most=1, optional=True),
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
        return cls(np.full(n_topics, 1 / n_topics), recent=0.2 * half_life, calm=2 * half_life)

    def step(
        self, topics: Topics, mass: Vector, batch: Minibatch, random: np.random.Generator
    ) -> NDArray[np.intp]:
        """The topics that are born again after a step on a minibatch; (K,) `mass`: each topic's words in
        it."""
        total = mass.sum()
        if not total:
            return np.zeros(0, np.intp)
        self.use += (mass / total - self.use) * -math.expm1(-batch.D / self.recent)
        self.documents += batch.D
        if self.documents < self.calm:
            return np.zeros(0, np.intp)
        shares = topics.shares()
        turned = np.maximum(shares - self.use, 0).sum() > self.turned
        enough, weight = (1.0, self.seed_weight) if turned else (self.faded, 1.0)
        born = np.flatnonzero(self.use < enough * shares)
        if turned:
            self.documents = 0
        if len(born):
            seeds = random.integers(0, batch.D, (len(born), self.seeds))
            fresh = topics_from(batch, topics.n_words, seeds, weight)
            topics.replace(born, self.mass * topics.total_hat.mean() * fresh)
            self.use[born] = 1 / topics.n_topics
        return born

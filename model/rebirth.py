"""Rebirth: topics whose subjects have left the stream are born again, so that a model with a
half-life learns new subjects.

A lower bound on the step size makes old knowledge fade, but that alone moves no topic. Documents on
new subjects are spread over old topics by words that they happen to share, and a local optimum
keeps them there (decision 0018). So a topic that the newest documents use far less than its weight
suggests starts again from a few of these documents, with little weight, so that it soon follows its
new use. When the newest documents use all topics differently, the stream has turned to other
subjects: every topic that is used less than its weight suggests starts again at once, from nearly
the mean of all words, as in a new model.

The HDP does without rebirth: each of its documents chooses its tables' topics afresh, and more
births do not help.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lambda_ import Lambda, topics_from
from wikitopics.model.minibatch import Minibatch, Vector
from wikitopics.model.options import LARGEST
from wikitopics.model.states import MOST, bounded


@dataclass
class Rebirth:
    """How much each topic is used, and when it is used too little.

    use: (K,) each topic's share of the words, a running mean over about `recent` documents
    calm: the number of documents, from the start or since the stream turned, before which nothing
    is born, since what was just learnt cannot have faded
    documents: the number of documents so far, from the start or since the stream turned
    faded: a topic is born again when its use is below this fraction of its share of the total
    weight
    turned: the stream has turned when this share of all words has moved to other topics
    seeds: the number of documents that a topic is born from
    seed_weight: the share of a newborn topic's words that comes from its documents when the stream
    has turned; the other words are the mean of all words. At other times all words come from its
    documents: a single topic with the mean of all words would take words from every other topic
    mass: the weight of a topic at its birth, relative to a mean topic's
    """

    use: Vector
    recent: float
    calm: float = bounded(0, LARGEST)
    documents: int = bounded(0, MOST, 0)
    faded: float = bounded(0, 1, 0.25)
    turned: float = bounded(0, 1, 0.2)
    seeds: int = 2
    seed_weight: float = bounded(0, 1, 0.1)
    mass: float = 0.05

    @classmethod
    def of(cls, n_topics: int, half_life: float | None) -> Rebirth | None:
        """For a new model; None without a half-life."""
        if half_life is None:
            return None
        return cls(np.full(n_topics, 1 / n_topics), recent=0.2 * half_life, calm=2 * half_life)

    def step(
        self,
        topics: Lambda,
        words: Vector,
        batch: Minibatch,
        random: np.random.Generator,
    ) -> NDArray[np.intp]:
        """Let topics be born again after a step on a minibatch; returns which.

        words: (K,) the words of the minibatch that each topic has
        """
        nothing_born = np.zeros(0, np.intp)
        total = words.sum()
        if not total:
            return nothing_born
        weight_of_batch = -math.expm1(-batch.D / self.recent)  # in the running mean
        self.use += (words / total - self.use) * weight_of_batch
        self.documents += batch.D
        if self.documents < self.calm:
            return nothing_born
        shares = topics.shares()
        moved = np.maximum(shares - self.use, 0).sum()
        if moved > self.turned:
            self.documents = 0
            least_use = shares
            seed_weight = self.seed_weight
        else:
            least_use = self.faded * shares
            seed_weight = 1.0
        born = np.flatnonzero(self.use < least_use)
        if len(born):
            drawn = random.integers(0, batch.D, (len(born), self.seeds))
            fresh = topics_from(batch, topics.n_words, drawn, seed_weight)
            topics.replace(born, self.mass * topics.total_hat.mean() * fresh)
            self.use[born] = 1 / topics.n_topics
        return born

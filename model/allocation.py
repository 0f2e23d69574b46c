"""What the two ways to learn latent Dirichlet allocation share: priors, warm start, and rebirth.

**Rebirth**: topics whose subjects have left the stream are born again, so that a model with a half-life
learns new ones. A floor of the step size makes old knowledge fade, but topics do not move because of that.
Documents on new subjects are spread over old topics through chance words that they share with them, and a
local optimum keeps them there (decision 0018). So a topic that the newest documents use far less than its
weight suggests starts again from a few of them, with little weight, so that it soon follows its new use. When
the newest documents use all topics differently, the stream has turned to other subjects: every topic that is
used less than its weight suggests starts again at once, from nearly the mean of all words, as in a new model.
The HDP does without this: its documents choose their tables' topics afresh, and more births do not help.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import options as check
from wikitopics.model.lambda_ import LambdaModel, Topics, Vector, topics_from
from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import LARGEST, MOST, Entry, bounded
from wikitopics.model.schedules import Stage
from wikitopics.option import Option


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


class DirichletAllocation(LambdaModel):
    """Latent Dirichlet allocation, however it is learnt."""

    STEP_OPTIONS: ClassVar = (
        Option(
            float,
            "kappa",
            "how fast step sizes (tau0 + t)^-kappa fall; by default they follow the articles seen",
            least=0.5,
            most=1,
        ),
        Option(float, "tau0", "damps the first of these step sizes", least=0, most=LARGEST),
        check.HALF_LIFE,
    )

    parts: ClassVar = {**LambdaModel.parts, "_rebirth": Rebirth}
    entries = (
        *LambdaModel.entries,
        *Entry.of_part(Rebirth, "_rebirth", optional=True),
        Entry("learn_alpha", "_learn_alpha", "bool"),
        Entry("learn_eta", "_learn_eta", "bool"),
        Entry("own_steps", "_own_steps", "bool"),
    )

    def _begin(self, given: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        steps = [given.get(name) for name in ("s", "tau0", "kappa")]
        self._own_steps = self.warm_start and steps == [None] * 3  # the warm start chooses step sizes
        self._learn_alpha, self._learn_eta = values["alpha"] == "learn", values["eta"] == "learn"
        self._rebirth = Rebirth.of(self.n_topics, self.half_life)

    def _begin_step(self, batch: Minibatch) -> Stage:
        """The warm start's stage at a minibatch, which then counts as seen by its schedules."""
        before, amount = self._amount, self.recipe.amount(batch)
        self._amount += amount
        stage: Stage = self.recipe.stage(self.n_documents, self._seen + batch.D, before, amount)
        return stage

    def _bear(self, alpha: Vector, mass: Vector, batch: Minibatch) -> None:
        """Topics whose subjects have left the stream start again; mass: (K,) the words of each in `batch`."""
        if self._rebirth:
            born = self._rebirth.step(self._topics, mass, batch, self._random)
            if self._learn_alpha:
                alpha[born] = alpha.mean()

    def _contradiction(self) -> str:
        return "" if self._topics.total_hat.any() else "total_hat must not be all 0"

"""The numbers of SCVB0: its step sizes, the numbers that [F13] leaves open, and those of the warm start."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from model._topics import Horizon, Vector
from model.states import LARGEST, TINY, Entry


@dataclass(frozen=True)
class StepSizes:
    """rho = s (tau0 + t)^-kappa at t = 1, 2 …, at most 1."""

    s: float
    tau0: float
    kappa: float

    @staticmethod
    def entries(part: str, prefix: str = "") -> tuple[Entry, ...]:
        """For the state of a model that has such step sizes as `part`."""
        return (
            Entry(f"{prefix}s", f"{part}.s", least=TINY),
            Entry(f"{prefix}tau0", f"{part}.tau0", least=0),
            Entry(f"{prefix}kappa", f"{part}.kappa", least=0.5, most=1),
        )

    def rho(self, t: int) -> float:
        return float(min(1.0, self.s * (self.tau0 + t) ** -self.kappa))

    def keep(self, steps: int) -> Vector:
        """(steps,) 1 - rho of t = 1 to steps."""
        t = np.arange(1, steps + 1, dtype=np.float64)
        keep: Vector = 1 - np.minimum(1.0, self.s * (self.tau0 + t) ** -self.kappa)
        return keep


# alpha and step sizes where none are given: [F13] section 4, and the values that measure best with the warm
# start
PAPER_SETTINGS = 0.1, StepSizes(10.0, 1000.0, 0.9), StepSizes(1.0, 10.0, 0.9)
BEST_SETTINGS = 0.005, StepSizes(1.0, 1.0, 0.7), StepSizes(1.0, 1.0, 0.7)
THETA_STEPS = BEST_SETTINGS[2]  # of a document's proportions, where other models use this E-step


@dataclass(frozen=True)
class Recipe(Horizon):
    """The numbers of the warm start, and those that [F13] leaves open.

    alpha falls to its own value within `annealing_documents` documents, or the share `annealing_share` of a
    smaller corpus, and meanwhile documents get one more pass. It starts at `first_alpha` / sqrt(K) for each
    `document_words` words of a mean document, so that topics separate equally soon in short and in long
    documents, and few topics as soon as many. A learnt alpha starts at `learning_from`, and is learnt from
    `learning_documents` of a minibatch; eta from `learning_topics` topics at a time. `infer` makes
    `inference_passes` over a document's words: more passes fit the words seen, not the unseen ones.
    """

    BOUNDS: ClassVar = {**Horizon.BOUNDS, "annealing_documents": (0, LARGEST)}

    first_alpha: float
    annealing_documents: float
    annealing_share: float
    learning_from: float
    learning_documents: int
    learning_topics: int
    inference_passes: int

    def annealed_until(self, n_documents: float) -> float:
        """The number of documents until alpha has its own value."""
        return min(self.annealing_documents, self.annealing_share * n_documents)

    def alpha(self, final: Vector, seen: float, n_documents: float, in_all: float) -> Vector:
        """(K,) alpha after `seen` documents of a corpus of `n_documents`, or `in_all` as schedules count."""
        if seen >= (until := self.annealed_until(in_all)):
            return final.copy()
        start = np.maximum(self.first_alpha / math.sqrt(len(final)) * in_all / n_documents, final)
        annealed: Vector = start * (final / start) ** (seen / until)
        return annealed


WARM = Recipe(
    document_words=100.0,
    balance_power=0.3,
    balance_documents=5_000.0,
    balance_share=2 / 3,
    balance_least=0.0,
    first_horizon=4_000.0,
    horizon_share=0.1,
    shortest_horizon=20.0,
    horizon_slope=0.6,
    random_share=0.08,
    first_alpha=1.3,
    annealing_documents=4_000.0,
    annealing_share=0.2,
    learning_from=0.05,
    learning_documents=256,
    learning_topics=4,
    inference_passes=3,
)
PAPER = replace(WARM, document_words=0.0, balance_power=0.0, random_share=1.0, annealing_documents=0.0)

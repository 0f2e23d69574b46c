"""The numbers of SCVB0: its step sizes, the numbers that [F13] leaves open, and those of the warm start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wikitopics.model.lambda_ import Schedules, Vector
from wikitopics.model.states import TINY, Entry


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
class Recipe(Schedules):
    """The numbers of the warm start, and those that [F13] leaves open.

    A learnt alpha starts at `learning_from`, and is learnt from `learning_documents` of a minibatch; eta from
    `learning_topics` topics at a time. `infer` makes `inference_passes` over a document's words: more passes
    fit the words seen, not the unseen ones.
    """

    learning_from: float
    learning_documents: int
    learning_topics: int
    inference_passes: int


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

"""A step size that follows the signal and the noise of the steps themselves, for models that average counts.

| symbol | shape | meaning |
|---|---|---|
| N | (W, K) | the counts as they stand |
| N_hat | (W, K) | their estimate from one minibatch |
| g | (W, K) | N_hat - N, the direction of a step: N <- N + rho g |
| rho | number | the step size that makes the expected squared distance to E[N_hat] least |

With E[g] = mu, E[|N + rho g - (N + mu)|^2] = (1 - 2 rho) |mu|^2 + rho^2 E[|g|^2], least at
rho = |mu|^2 / E[|g|^2]. mu and E[|g|^2] are estimated by exponential means whose window grows by one a step
and shrinks by the share that the step replaced: old steps aimed from somewhere else. This is the idea that
[SVI13] section 5 names (Ranganath et al. 2013); docs/decisions/0003-adaptive-step.md has the measurements.

Norms of (W, K) matrices would cost W K a step, however small the minibatch. They are taken of a sketch
instead, (BUCKETS, K): each word is added to one bucket with a sign, both from a hash of its id. That is
linear, so the sketch of N is carried along with N, and its squared norm is nearly that of N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from model.states import Entry

BUCKETS = 128
FIRST_STEPS = 2  # taken with another step size, so that there are means at all


class Sketch:
    """Which bucket (W,) int32 and sign (W,) float32 each word has."""

    def __init__(self, n_words: int) -> None:
        # Fibonacci hashing: the upper bits of w times 2^64 over the golden ratio.
        hashed = np.arange(n_words, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        self.bucket = ((hashed >> np.uint64(40)) % np.uint64(BUCKETS)).astype(np.int32)
        self.sign = np.where(hashed >> np.uint64(63), 1, -1).astype(np.float32)

    def of(self, matrix: NDArray[Any]) -> NDArray[np.float64]:
        """(BUCKETS, K) float64 of a (W, K) matrix."""
        from scipy.sparse import csr_array

        cells = self.bucket, np.arange(len(self.bucket))
        project = csr_array((self.sign.astype(np.float64), cells), shape=(BUCKETS, len(self.bucket)))
        sketch: NDArray[np.float64] = project @ matrix
        return sketch


@dataclass
class AdaptiveStep:
    """The running means, and what they are taken over.

    N: (BUCKETS, K) the sketch of N; mean_g: (BUCKETS, K) that of g; mean_gg: number, of E[|g|^2]
    window: number of steps that the means cover in effect; steps: those taken so far
    """

    N: NDArray[np.float64]
    mean_g: NDArray[np.float64]
    mean_gg: float
    window: float
    steps: int

    ENTRIES: ClassVar[tuple[Entry, ...]] = (
        Entry("adaptive_N", "_adaptive_step.N", "float64", f"{BUCKETS} K", optional=True),
        Entry("adaptive_mean_g", "_adaptive_step.mean_g", "float64", f"{BUCKETS} K", optional=True),
        Entry("adaptive_mean_gg", "_adaptive_step.mean_gg", least=0, optional=True),
        Entry("adaptive_window", "_adaptive_step.window", least=0, optional=True),
        Entry("adaptive_steps", "_adaptive_step.steps", "int", least=0, optional=True),
    )
    """For the state of a model that has an adaptive step, or None, as `_adaptive_step`."""

    @classmethod
    def of(cls, N: NDArray[np.float64]) -> Self:
        """The state before the first step, from the sketch of N at that point."""
        return cls(N, np.zeros_like(N), 0.0, 0.0, 0)

    def step(self, N_hat: NDArray[np.float64], first: float, least: float = 0.0) -> float:
        """Size, from `least` to 1, of the step towards an estimate whose sketch is N_hat.

        `first` for the first few steps.
        """
        g = N_hat - self.N
        self.window += 1
        self.mean_g += (g - self.mean_g) / self.window
        self.mean_gg += (_square(g) - self.mean_gg) / self.window
        rho = first
        if self.steps >= FIRST_STEPS and self.mean_gg > 0:
            rho = min(1.0, max(least, _square(self.mean_g) / self.mean_gg))
        self.window *= 1 - rho
        self.N += rho * g
        self.steps += 1
        return rho


def _square(x: NDArray[np.float64]) -> float:
    """|x|^2, without BLAS: its threads cost more than they save here, and may change the last bits."""
    return float(np.sum(x * x))

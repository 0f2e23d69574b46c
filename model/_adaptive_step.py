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

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

BUCKETS = 128
FIRST_STEPS = 2  # taken with another step size, to have means at all


class Sketch:
    """Which bucket (W,) int32 and sign (W,) float32 each word has."""

    def __init__(self, n_words: int) -> None:
        # Fibonacci hashing: the upper bits of w times 2^64 over the golden ratio.
        hashed = np.arange(n_words, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        self.bucket = ((hashed >> np.uint64(40)) % np.uint64(BUCKETS)).astype(np.int32)
        self.sign = np.where(hashed >> np.uint64(63), 1, -1).astype(np.float32)

    def of(self, matrix: NDArray[Any]) -> NDArray[np.float64]:
        """(BUCKETS, K) float64 of a (W, K) matrix."""
        cells = self.bucket, np.arange(len(self.bucket))
        project = csr_array((self.sign.astype(np.float64), cells), shape=(BUCKETS, len(self.bucket)))
        sketch: NDArray[np.float64] = project @ matrix
        return sketch


class AdaptiveStep:
    """The means, and the sketch of N; `N` must be given as it is before the first step."""

    def __init__(self, N: NDArray[np.float64]) -> None:
        self._N = N
        self._mean_g = np.zeros_like(N)
        self._mean_gg = 0.0
        self._window = 0.0
        self._steps = 0

    def step(self, N_hat: NDArray[np.float64], first: float) -> float:
        """The size of the step towards an estimate whose sketch is N_hat; `first` for the first few steps."""
        g = N_hat - self._N
        self._window += 1
        self._mean_g += (g - self._mean_g) / self._window
        self._mean_gg += (_square(g) - self._mean_gg) / self._window
        rho = first
        if self._steps >= FIRST_STEPS and self._mean_gg > 0:
            rho = min(1.0, _square(self._mean_g) / self._mean_gg)
        self._window *= 1 - rho
        self._N += rho * g
        self._steps += 1
        return rho

    def state(self) -> dict[str, Any]:
        """Everything, with plain keys."""
        return {
            "N": self._N.copy(),
            "mean_g": self._mean_g.copy(),
            "mean_gg": self._mean_gg,
            "window": self._window,
            "steps": self._steps,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """As it was."""
        step = cls(np.array(state["N"]))
        step._mean_g = np.array(state["mean_g"])
        step._mean_gg, step._window = float(state["mean_gg"]), float(state["window"])
        step._steps = int(state["steps"])
        return step


def _square(x: NDArray[np.float64]) -> float:
    """|x|^2, without BLAS: its threads cost more than they save here, and may change the last bits."""
    return float(np.sum(x * x))

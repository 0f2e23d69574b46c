"""SCVB0 straight from [F13] algorithm 2: explicit gamma, loops, also over a word's repetitions;
float64.

| symbol | shape | meaning |
|---|---|---|
| N_phi, N_Z | (W, K), (K,) | expected numbers of words of each topic in the corpus |
| N_theta | (D, K) | expected numbers of a document's words of each topic |
| gamma | (K,) of a word | distribution of its topic |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics |
| steps | (s, tau0, kappa) | the step sizes s (tau0 + t)^-kappa of a document's updates t = 1, 2 … |
| C, step | numbers | words in the corpus, and the step size of the minibatch |
| factors | (K,) | on the topics' probabilities; ones in the paper |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch

Array = NDArray[np.float64]
Steps = tuple[float, float, float]


def rho(s: float, tau0: float, kappa: float, t: int) -> float:
    """The step size of update t, at most 1."""
    return float(min(1.0, s * (tau0 + t) ** -kappa))


def gamma_of(
    w: int,
    N_phi: Array,
    N_Z: Array,
    N_theta: Array,
    alpha: Array,
    eta: float,
    factors: Array | float,
) -> Array:
    """[F13] eq. 5, for a document's N_theta (K,)."""
    W = len(N_phi)
    beta = (N_phi[w] + eta) / (N_Z + W * eta)
    gamma = beta * factors * (N_theta + alpha)
    normalised: Array = gamma / gamma.sum()
    return normalised


def local_step(
    batch: Minibatch,
    N_phi: Array,
    N_Z: Array,
    alpha: Array,
    eta: float,
    steps: Steps,
    passes: int,
    factors: Array | float = 1.0,
) -> tuple[Array, Array, Array]:
    """After `passes` over each document's distinct words, N_theta (D, K), and the sums of m gamma
    over the last pass: of each document (D, K), and of each word (W, K)."""
    lengths = batch.lengths()
    N_theta = lengths[:, None] * (alpha / alpha.sum())
    expected = np.zeros_like(N_theta)
    statistics = np.zeros_like(N_phi)
    for d in range(batch.D):
        entries = slice(batch.indptr[d], batch.indptr[d + 1])
        t = 0
        for number in range(passes):
            for w, m in zip(batch.word_ids[entries], batch.counts[entries], strict=True):
                t += 1
                gamma = gamma_of(w, N_phi, N_Z, N_theta[d], alpha, eta, factors)
                step = rho(*steps, t)
                for _ in range(m):  # eq. 6, once for each repetition: eq. 9 is its closed form
                    N_theta[d] = (1 - step) * N_theta[d] + step * lengths[d] * gamma
                if number == passes - 1:
                    expected[d] += m * gamma
                    statistics[w] += m * gamma
    return N_theta, expected, statistics


def learn(
    batch: Minibatch,
    N_phi: Array,
    N_Z: Array,
    alpha: Array,
    eta: float,
    C: float,
    step: float,
    steps: Steps,
    burn_in: int,
    factors: Array | float = 1.0,
) -> tuple[Array, Array, Array]:
    """One minibatch of algorithm 2 (eq. 7, 8): N_theta, and the new N_phi and N_Z."""
    N_theta, _, statistics = local_step(batch, N_phi, N_Z, alpha, eta, steps, burn_in + 1, factors)
    estimate = C / batch.counts.sum() * statistics
    new_N_phi = (1 - step) * N_phi + step * estimate
    new_N_Z = (1 - step) * N_Z + step * estimate.sum(axis=0)
    return N_theta, new_N_phi, new_N_Z

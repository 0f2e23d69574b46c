"""SCVB0 straight from [F13] algorithm 2: explicit gamma, loops, also over a word's repetitions; float64.

| symbol | shape | meaning |
|---|---|---|
| N_phi, N_Z | (W, K), (K,) | expected numbers of words of each topic in the corpus |
| N_theta | (K,) of a document, (D, K) | expected numbers of its words of each topic |
| gamma | (K,) of a word, (n, K) | distribution of its topic |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics |
| steps | (s, tau0, kappa) | the step sizes s (tau0 + t)^-kappa of a document's updates t = 1, 2 … |
| C, step | numbers | words in the corpus, and the step size of the minibatch |
| factors | (K,) | on the topics' probabilities; ones in the paper |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch

Array = NDArray[np.float64]
Steps = tuple[float, float, float]


def rho(s: float, tau0: float, kappa: float, t: int) -> float:
    """The step size of update t, at most 1."""
    return float(min(1.0, s * (tau0 + t) ** -kappa))


def gamma_of(
    w: int, N_phi: Array, N_Z: Array, N_theta: Array, alpha: Array, eta: float, factors: Array
) -> Array:
    """[F13] eq. 5."""
    gamma = (N_phi[w] + eta) / (N_Z + len(N_phi) * eta) * factors * (N_theta + alpha)
    normalised: Array = gamma / gamma.sum()
    return normalised


def document(
    ids: NDArray[np.int32],
    counts: NDArray[Any],
    N_phi: Array,
    N_Z: Array,
    alpha: Array,
    eta: float,
    steps: Steps,
    passes: int,
    factors: Array,
) -> tuple[Array, Array]:
    """N_theta after `passes` over a document's distinct words, and the gammas (n, K) of the last one."""
    length = counts.sum()
    N_theta = length * alpha / alpha.sum()
    gammas = np.zeros((len(ids), len(alpha)))
    t = 0
    for _ in range(passes):
        for i, w in enumerate(ids):
            t += 1
            gammas[i] = gamma_of(w, N_phi, N_Z, N_theta, alpha, eta, factors)
            step = rho(*steps, t)
            for _ in range(counts[i]):  # eq. 6, once for each repetition: eq. 9 is its closed form
                N_theta = (1 - step) * N_theta + step * length * gammas[i]
    return N_theta, gammas


def local_step(
    batch: Minibatch,
    N_phi: Array,
    N_Z: Array,
    alpha: Array,
    eta: float,
    steps: Steps,
    passes: int,
    factors: Array | float = 1.0,
) -> tuple[Array, Array]:
    """N_theta (D, K), and sum over the minibatch of m gamma, (W, K)."""
    N_theta = np.zeros((batch.D, len(alpha)))
    statistics = np.zeros_like(N_phi)
    for d in range(batch.D):
        entries = slice(batch.indptr[d], batch.indptr[d + 1])
        ids, counts = batch.word_ids[entries], batch.counts[entries]
        N_theta[d], gammas = document(
            ids, counts, N_phi, N_Z, alpha, eta, steps, passes, factors * np.ones(len(alpha))
        )
        statistics[ids] += counts[:, None] * gammas
    return N_theta, statistics


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
    N_theta, statistics = local_step(batch, N_phi, N_Z, alpha, eta, steps, burn_in + 1, factors)
    estimate = C / batch.counts.sum() * statistics
    return N_theta, (1 - step) * N_phi + step * estimate, (1 - step) * N_Z + step * estimate.sum(axis=0)

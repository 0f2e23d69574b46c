"""Stick-breaking expectations of the HDP's corpus level: [SVI13] figure 8, [W11] section 3.1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, psi

Vector = NDArray[np.float64]


def Elog_sticks(a: Vector, b: Vector) -> Vector:
    """E[log sigma_k(v)] for v_k ~ Beta(a_k, b_k), (K-1,) each -> (K,): v_K is 1.

    E[log sigma_k] = E[log v_k] + sum_{l<k} E[log(1 - v_l)].
    """
    both = psi(a + b)
    Elog_v = np.append(psi(a) - both, 0.0)
    before = np.concatenate([[0.0], np.cumsum(psi(b) - both)])
    Elog_sigma: Vector = Elog_v + before
    return Elog_sigma


def expected_sticks(a: Vector, b: Vector) -> Vector:
    """E[sigma_k(v)], (K,), sums to 1."""
    v = np.append(a / (a + b), 1.0)
    sigma: Vector = v * np.concatenate([[1.0], np.cumprod(b / (a + b))])
    return sigma


def sticks_bound(a: Vector, b: Vector, omega: float) -> float:
    """E[log p(v | omega)] - E[log q(v | a, b)], nats; at most 0: minus a Kullback-Leibler divergence."""
    both = psi(a + b)
    Elog_v, Elog_rest = psi(a) - both, psi(b) - both
    prior = np.log(omega) + (omega - 1) * Elog_rest  # the density of Beta(1, omega)
    posterior = (a - 1) * Elog_v + (b - 1) * Elog_rest - betaln(a, b)
    return float(np.sum(prior - posterior))

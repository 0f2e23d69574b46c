"""Dirichlet parameters by [H10] section 2.2's Newton steps, linear in K; docs/derivations.md derives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma, psi

from wikitopics.model.options import LARGEST_PRIOR


def alpha_step(
    alpha: NDArray[np.float64], documents: int, sum_Elog_theta: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(K,) H^-1 g for the bound of a minibatch as a function of alpha, in time O(K).

    sum_Elog_theta: (K,) sum over the documents of E[log theta_dk].
    g_k = S (psi(sum alpha) - psi(alpha_k)) + sum_d E[log theta_dk]; H = diag(h) + z 1 1^T.
    """
    if len(alpha) == 1:
        return np.zeros(1)  # the one topic has proportion 1, whatever alpha is
    total = alpha.sum()
    g = documents * (psi(total) - psi(alpha)) + sum_Elog_theta
    h = -documents * polygamma(1, alpha)
    z = documents * polygamma(1, total)
    b = np.sum(g / h) / (1 / z + np.sum(1 / h))  # the matrix inversion lemma
    step: NDArray[np.float64] = (g - b) / h
    return step


def eta_step(eta: float, K: int, W: int, sum_Elog_beta: float) -> float:
    """H^-1 g for the topics' part of the bound in eta; sum_Elog_beta is over all topics and words."""
    if W == 1:
        return 0.0  # the one word has probability 1, whatever eta is
    g = K * W * (psi(W * eta) - psi(eta)) + sum_Elog_beta
    H = K * W * (W * polygamma(1, W * eta) - polygamma(1, eta))
    return float(g / H)


def descend(parameter: Any, rho: float, step: Any) -> Any:
    """parameter - rho step, for numbers or vectors; each component at most halves, so it stays positive.

    Beyond the largest prior the curvature is lost in rounding, and a step would divide by 0.
    """
    return np.clip(parameter - rho * step, parameter / 2, LARGEST_PRIOR)

"""Newton steps for the parameters of Dirichlet distributions, [H10] section 2.2; docs/derivations.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma, psi


def alpha_step(
    alpha: NDArray[np.float64], mean_Elog_theta: NDArray[np.float64], rho: float
) -> NDArray[np.float64]:
    """alpha - rho H^-1 g, (K,), of the bound's terms in alpha; in time linear in K.

    mean_Elog_theta: (K,) mean over documents of E[log theta]. No component falls below half of itself, which
    keeps it positive.
    """
    g = psi(alpha.sum()) - psi(alpha) + mean_Elog_theta
    h = -polygamma(1, alpha)  # H = diag(h) + z, z in every cell
    z = float(polygamma(1, alpha.sum()))
    b = np.sum(g / h) / (1 / z + np.sum(1 / h))
    stepped: NDArray[np.float64] = np.maximum(alpha - rho * (g - b) / h, alpha / 2)
    return stepped


def eta_step(eta: float, n_words: int, mean_Elog_beta: float, rho: float) -> float:
    """The same for a symmetric eta; mean_Elog_beta: mean of E[log beta] over topics and words."""
    if n_words == 1:
        return eta  # one word has probability 1 whatever eta is
    g = psi(n_words * eta) - psi(eta) + mean_Elog_beta
    h = n_words * polygamma(1, n_words * eta) - polygamma(1, eta)
    return float(max(eta - rho * g / h, eta / 2))

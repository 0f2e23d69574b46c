"""The HDP straight from [SVI13] figure 9 and [W11]: explicit phi and zeta, loops, float64.

| symbol | shape | meaning |
|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics |
| Elog_beta | (K, n) | E[log beta] of a document's n distinct words |
| sticks | (K-1, 2) | variational Betas (a, b) of the corpus sticks v, which make Elog_sigma (K,) |
| phi | (n, T) | the table of each distinct word of a document |
| zeta | (T, K) | the topic of each of its tables |
| gamma | (T-1, 2) | variational Betas of its sticks |
| counts | (n,) | how often each word occurs |
| omega, alpha, eta | numbers | concentrations of corpus and document, Dirichlet parameter of the topics |
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betaln, psi

from tests.model.reference.lda import Array, Elog_dirichlet, words_of
from wikitopics.model.minibatch import Minibatch

LocalStep = Callable[[Array, Array, Array], tuple[Array, ...]]


def Elog_sticks(sticks: Array) -> Array:
    """E[log sigma_i] for Beta parameters (T-1, 2), [SVI13] figure 8; the last of T takes the
    rest."""
    T = len(sticks) + 1
    a, b = sticks.T
    Elog_v = np.append(psi(a) - psi(a + b), 0.0)
    Elog_not_v = psi(b) - psi(a + b)
    return np.array([Elog_v[i] + sum(Elog_not_v[:i]) for i in range(T)])


def expected_sticks(sticks: Array) -> Array:
    """E[sigma_i] for Beta parameters (T-1, 2), which sum to 1."""
    a, b = sticks.T
    v = np.append(a / (a + b), 1.0)
    return np.array([v[i] * np.prod(1 - v[:i]) for i in range(len(v))])


def normalised(log_weights: Array) -> Array:
    """exp of the rows, scaled to sum to 1."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    rows: Array = weights / weights.sum(axis=1, keepdims=True)
    return rows


def document_gamma(words: Array, alpha: float) -> Array:
    """[SVI13] fig. 9 line 8 from the words of each table (T,): (T-1, 2)."""
    T = len(words)
    gamma = np.zeros((T - 1, 2))
    for i in range(T - 1):
        gamma[i, 0] = 1 + words[i]
        gamma[i, 1] = alpha + sum(words[i + 1 :])
    return gamma


def figure_9(
    counts: Array,
    Elog_beta: Array,
    sticks: Array,
    T: int,
    alpha: float,
    tolerance: float,
    iterations: int,
) -> tuple[Array, Array]:
    """Lines 5 to 10 for a document, Elog_beta (K, n) of its words: phi, zeta."""
    Elog_sigma = Elog_sticks(sticks)
    zeta = normalised(np.tile(Elog_beta @ counts, (T, 1)))  # line 5
    phi = normalised((zeta @ Elog_beta).T)  # line 6
    for _ in range(iterations):
        words = counts @ phi
        gamma = document_gamma(words, alpha)  # line 8
        at_tables = counts[:, None] * phi
        zeta = normalised(Elog_sigma + at_tables.T @ Elog_beta.T)
        phi = normalised(Elog_sticks(gamma) + (zeta @ Elog_beta).T)  # line 9
        change = np.abs(counts @ phi - words).sum()
        if change <= tolerance * counts.sum():
            break
    return phi, zeta


def document_bound(
    counts: Array,
    Elog_beta: Array,
    Elog_sigma: Array,
    phi: Array,
    zeta: Array,
    T: int,
    alpha: float,
) -> float:
    """[W11] L_j without the corpus terms, every term as written, gamma at its optimum given phi."""
    words = counts @ phi
    n_tables = len(words)
    words_of_all = np.append(words, np.zeros(T - n_tables))
    gamma = document_gamma(words_of_all, alpha)[:n_tables]
    Elog_pi = Elog_sticks(gamma)
    bound = 0.0
    for j in range(len(counts)):
        for i in range(len(zeta)):
            if phi[j, i] > 0:
                Elog_w = sum(zeta[i, k] * Elog_beta[k, j] for k in np.flatnonzero(zeta[i]))
                bound += counts[j] * phi[j, i] * (Elog_w + Elog_pi[i] - np.log(phi[j, i]))
    for zeta_i in zeta:
        for k in np.flatnonzero(zeta_i):
            bound += zeta_i[k] * (Elog_sigma[k] - np.log(zeta_i[k]))
    for gamma1, gamma2 in gamma:
        Elog_v = psi(gamma1) - psi(gamma1 + gamma2)
        Elog_not_v = psi(gamma2) - psi(gamma1 + gamma2)
        prior = np.log(alpha) + (alpha - 1) * Elog_not_v
        posterior = (gamma1 - 1) * Elog_v + (gamma2 - 1) * Elog_not_v - betaln(gamma1, gamma2)
        bound += prior - posterior
    return float(bound)


def learn(
    lambda_: Array,
    sticks: Array,
    batch: Minibatch,
    rho: float,
    D: float,
    omega: float,
    eta: float,
    local_step: LocalStep,
) -> tuple[Array, Array]:
    """[SVI13] fig. 9 lines 11 and 12 for a minibatch: the new lambda and sticks.

    local_step: from (counts, Elog_beta, sticks) to phi and zeta, such as `figure_9` with its
    settings.
    """
    K = len(lambda_)
    Elog_beta = Elog_dirichlet(lambda_)
    statistics = np.zeros_like(lambda_)
    chosen = np.zeros(K)
    for d in range(batch.D):
        ids, counts = words_of(batch, d)
        phi, zeta, *_ = local_step(counts, Elog_beta[:, ids], sticks)
        for i in range(len(zeta)):
            chosen += zeta[i]
            for j, w in enumerate(ids):
                statistics[:, w] += zeta[i] * counts[j] * phi[j, i]
    scale = D / batch.D
    a_hat = 1 + scale * chosen[:-1]
    later = np.array([chosen[k + 1 :].sum() for k in range(K - 1)])
    b_hat = omega + scale * later
    sticks_hat = np.stack([a_hat, b_hat], axis=1)
    lambda_hat = eta + scale * statistics
    return (1 - rho) * lambda_ + rho * lambda_hat, (1 - rho) * sticks + rho * sticks_hat

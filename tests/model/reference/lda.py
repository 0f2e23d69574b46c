"""LDA straight from [H10] and [SVI13]: explicit phi, loops over documents and words, float64.

| symbol | shape | meaning |
|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics |
| gamma | (K,) of a document, (D, K) | variational Dirichlet of its topic proportions |
| phi | (n, K) | variational distribution of the topic of each of a document's n distinct words |
| ids, counts | (n,) | these words, and how often each occurs |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics |
| rho, D | numbers | step size, and the size of the corpus in documents |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from wikitopics.model.minibatch import Minibatch

Array = NDArray[np.float64]
Ids = NDArray[np.int32]


def Elog_dirichlet(parameters: Array) -> Array:
    """E[log x] under Dirichlet(parameters), rows, [SVI13] eq. 27."""
    Elog: Array = psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True))
    return Elog


def words_of(batch: Minibatch, d: int) -> tuple[Ids, Array]:
    """The ids and counts of document d's distinct words."""
    entries = slice(batch.indptr[d], batch.indptr[d + 1])
    return batch.word_ids[entries], batch.counts[entries].astype(float)


def phi_of(gamma: Array, Elog_beta: Array) -> Array:
    """phi_wk ∝ exp(E[log theta_k] + E[log beta_kw]), [H10] eq. 5, for the words of Elog_beta (K,
    n)."""
    log_phi = psi(gamma) + Elog_beta.T
    phi = np.exp(log_phi - log_phi.max(axis=1, keepdims=True))
    normalised: Array = phi / phi.sum(axis=1, keepdims=True)
    return normalised


def e_step_document(
    ids: Ids,
    counts: Array,
    Elog_beta: Array,
    alpha: Array,
    tolerance: float,
    max_iterations: int,
) -> tuple[Array, Array]:
    """[SVI13] figure 6 lines 5 to 9, from gamma = 1: gamma and phi; Elog_beta (K, W).

    Ends when sum_k |change of gamma_k| is at most `tolerance` times the document's words.
    """
    of_words = Elog_beta[:, ids]
    gamma = alpha + counts @ phi_of(np.ones(len(alpha)), of_words)
    for _ in range(max_iterations):
        last = gamma
        gamma = alpha + counts @ phi_of(last, of_words)
        if np.abs(gamma - last).sum() <= tolerance * counts.sum():
            break
    return gamma, phi_of(gamma, of_words)


def e_step(
    batch: Minibatch,
    lambda_: Array,
    alpha: Array,
    tolerance: float = 3e-3,
    max_iterations: int = 100,
) -> tuple[Array, Array]:
    """gamma (D, K) and sum_d n_dw phi_dwk (K, W) of a minibatch."""
    Elog_beta = Elog_dirichlet(lambda_)
    gamma = np.tile(alpha, (batch.D, 1))
    statistics = np.zeros_like(lambda_)
    for d in range(batch.D):
        ids, counts = words_of(batch, d)
        if len(ids):
            gamma[d], phi = e_step_document(
                ids,
                counts,
                Elog_beta,
                alpha,
                tolerance,
                max_iterations,
            )
            statistics[:, ids] += (counts[:, None] * phi).T
    return gamma, statistics


def learn(
    lambda_: Array,
    batch: Minibatch,
    rho: float,
    D: float,
    alpha: Array,
    eta: float,
) -> Array:
    """[H10] algorithm 2, one minibatch: the new lambda."""
    _, statistics = e_step(batch, lambda_, alpha)
    of_batch = eta + D / batch.D * statistics
    learnt: Array = (1 - rho) * lambda_ + rho * of_batch
    return learnt


def document_elbo(
    ids: Ids,
    counts: Array,
    gamma: Array,
    phi: Array,
    Elog_beta: Array,
    alpha: Array,
) -> float:
    """A document's terms of the ELBO, [H10] eq. 3, for any phi and gamma, nats."""
    Elog_theta = Elog_dirichlet(gamma)
    with np.errstate(divide="ignore", invalid="ignore"):
        phi_log_phi = np.where(phi > 0, phi * np.log(phi), 0.0)
    Elog_words = Elog_theta + Elog_beta[:, ids].T
    of_words = np.sum(counts[:, None] * (phi * Elog_words - phi_log_phi))
    prior = gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ Elog_theta
    posterior = gammaln(gamma.sum()) - gammaln(gamma).sum() + (gamma - 1) @ Elog_theta
    return float(of_words + prior - posterior)


def topics_elbo(lambda_: Array, eta: float) -> float:
    """E[log p(beta | eta)] - E[log q(beta | lambda)], [H10] eq. 4, nats."""
    K, W = lambda_.shape
    Elog_beta = Elog_dirichlet(lambda_)
    prior = K * (gammaln(W * eta) - W * gammaln(eta)) + np.sum((eta - 1) * Elog_beta)
    posterior = np.sum(gammaln(lambda_.sum(axis=1))) - np.sum(gammaln(lambda_))
    posterior += np.sum((lambda_ - 1) * Elog_beta)
    return float(prior - posterior)

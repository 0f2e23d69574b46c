"""LDA straight from [H10] and [SVI13]: explicit phi, loops over documents and words, float64."""

import numpy as np
from scipy.special import gammaln, psi


def Elog_dirichlet(parameters):
    """E[log x] under Dirichlet(parameters), rows, [SVI13] eq. 27."""
    return psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True))


def words_of(batch, d):
    entries = slice(batch.indptr[d], batch.indptr[d + 1])
    return batch.word_ids[entries], batch.counts[entries].astype(float)


def e_step_document(ids, counts, Elog_beta, alpha, tolerance, max_iterations):
    """[SVI13] figure 6 lines 5 to 9, returns gamma (K,) and phi (n, K)."""
    K = len(alpha)

    def phi_of(gamma):
        log_phi = psi(gamma) + Elog_beta[:, ids].T
        phi = np.exp(log_phi - log_phi.max(axis=1, keepdims=True))
        return phi / phi.sum(axis=1, keepdims=True)

    gamma = alpha + counts @ phi_of(np.ones(K))
    for _ in range(max_iterations):
        last, gamma = gamma, alpha + counts @ phi_of(gamma)
        if np.abs(gamma - last).sum() <= tolerance * counts.sum():
            break
    return gamma, phi_of(gamma)


def e_step(batch, lambda_, alpha, tolerance=3e-3, max_iterations=100):
    """gamma (D, K) and sum_d n_dw phi_dwk (K, W) of a minibatch."""
    Elog_beta = Elog_dirichlet(lambda_)
    gamma = np.tile(alpha, (batch.D, 1))
    statistics = np.zeros_like(lambda_)
    for d in range(batch.D):
        ids, counts = words_of(batch, d)
        if len(ids):
            gamma[d], phi = e_step_document(ids, counts, Elog_beta, alpha, tolerance, max_iterations)
            statistics[:, ids] += (counts[:, None] * phi).T
    return gamma, statistics


def learn(lambda_, batch, rho, D, alpha, eta, **e_step_options):
    """[H10] algorithm 2, one minibatch: the new lambda."""
    _, statistics = e_step(batch, lambda_, alpha, **e_step_options)
    return (1 - rho) * lambda_ + rho * (eta + D / batch.D * statistics)


def document_elbo(ids, counts, gamma, phi, Elog_beta, alpha):
    """A document's terms of the ELBO, [H10] eq. 3, for any phi (n, K) and gamma (K,)."""
    Elog_theta = Elog_dirichlet(gamma)
    with np.errstate(divide="ignore", invalid="ignore"):
        phi_log_phi = np.where(phi > 0, phi * np.log(phi), 0.0)
    elbo = np.sum(counts[:, None] * (phi * (Elog_theta + Elog_beta[:, ids].T) - phi_log_phi))
    elbo += gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ Elog_theta
    return elbo - (gammaln(gamma.sum()) - gammaln(gamma).sum() + (gamma - 1) @ Elog_theta)


def topics_elbo(lambda_, eta):
    """E[log p(beta | eta)] - E[log q(beta | lambda)], [H10] eq. 4."""
    K, W = lambda_.shape
    Elog_beta = Elog_dirichlet(lambda_)
    elbo = K * (gammaln(W * eta) - W * gammaln(eta)) + np.sum((eta - 1) * Elog_beta)
    elbo -= (
        np.sum(gammaln(lambda_.sum(axis=1))) - np.sum(gammaln(lambda_)) + np.sum((lambda_ - 1) * Elog_beta)
    )
    return elbo

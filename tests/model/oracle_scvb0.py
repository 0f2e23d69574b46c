"""SCVB0 straight from [F13] algorithm 2: explicit gamma, loops, also over a word's repetitions; float64."""

import numpy as np


def rho(s, tau, kappa, t):
    return min(1.0, s * (tau + t) ** -kappa)


def gamma_of(w, N_phi, N_Z, N_theta, alpha, eta, factors):
    """[F13] eq. 5; `factors` (K,) are ones in the paper."""
    gamma = (N_phi[w] + eta) / (N_Z + len(N_phi) * eta) * factors * (N_theta + alpha)
    return gamma / gamma.sum()


def document(ids, counts, N_phi, N_Z, alpha, eta, theta_schedule, passes, factors):
    """N_theta (K,) after `passes`, and the gammas (n, K) of the last one."""
    length = counts.sum()
    N_theta = length * alpha / alpha.sum()
    gammas = np.zeros((len(ids), len(alpha)))
    t = 0
    for _ in range(passes):
        for i, w in enumerate(ids):
            t += 1
            gammas[i] = gamma_of(w, N_phi, N_Z, N_theta, alpha, eta, factors)
            step = rho(*theta_schedule, t)
            for _ in range(counts[i]):  # eq. 6, once for each repetition: eq. 9 is its closed form
                N_theta = (1 - step) * N_theta + step * length * gammas[i]
    return N_theta, gammas


def local_step(batch, N_phi, N_Z, alpha, eta, theta_schedule, passes, factors=1.0):
    """N_theta (D, K), and sum over the minibatch of m gamma, (W, K)."""
    N_theta = np.zeros((batch.D, len(alpha)))
    statistics = np.zeros_like(N_phi)
    for d in range(batch.D):
        entries = slice(batch.indptr[d], batch.indptr[d + 1])
        ids, counts = batch.word_ids[entries], batch.counts[entries]
        N_theta[d], gammas = document(
            ids, counts, N_phi, N_Z, alpha, eta, theta_schedule, passes, factors * np.ones(len(alpha))
        )
        statistics[ids] += counts[:, None] * gammas
    return N_theta, statistics


def learn(batch, N_phi, N_Z, alpha, eta, C, step, theta_schedule, burn_in, factors=1.0):
    """One minibatch of algorithm 2 with the step size `step` (eq. 7, 8): N_theta, new N_phi, N_Z."""
    N_theta, statistics = local_step(batch, N_phi, N_Z, alpha, eta, theta_schedule, burn_in + 1, factors)
    estimate = C / batch.counts.sum() * statistics
    return N_theta, (1 - step) * N_phi + step * estimate, (1 - step) * N_Z + step * estimate.sum(axis=0)

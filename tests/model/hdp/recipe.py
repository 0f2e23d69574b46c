"""The local step by which the HDP departs from [SVI13] figure 9 unless it is made with
`warm_start=False`.

Plain loops in float64; the symbols are those of `tests/model/reference/hdp.py`.
"""

import numpy as np

from tests.model.reference.hdp import Elog_sticks, document_gamma, expected_sticks, normalised
from tests.model.reference.lda import Array


def recipe(
    counts: Array,
    Elog_beta: Array,
    sticks: Array,
    T: int,
    alpha: float,
    tolerance: float,
    balance: Array | float = 1.0,
) -> tuple[Array, Array, Array]:
    """The default local step: shortlist by EM, a table per topic, sorted tables.

    balance: (K,) factors on the topics. Returns phi, zeta, and the document's proportions (K,).
    """
    K = len(Elog_beta)
    factors = balance * np.ones(K)
    Elog_beta = Elog_beta + np.log(factors)[:, None]
    Elog_sigma = Elog_sticks(sticks)
    sigma = expected_sticks(sticks)
    if len(counts) == 0:
        return np.zeros((0, 0)), np.zeros((0, len(sigma))), sigma
    beta = np.exp(Elog_beta - Elog_beta.max(axis=0))
    weights = alpha * sigma
    for _ in range(3):
        responsibility = weights[:, None] * beta / (weights @ beta)
        expected = responsibility @ counts
        weights = expected + alpha * sigma
    largest_first = np.argsort(-expected, kind="stable")
    fewest_words = 4
    shortlist = [k for k in largest_first if expected[k] > fewest_words][:16]
    if not shortlist:
        shortlist = [int(np.argmax(expected))]
    words = expected[shortlist[:T]]
    n_tables = len(words)
    zeta = np.eye(len(shortlist))[:n_tables]
    Elog_beta = Elog_beta[shortlist]
    Elog_sigma = Elog_sigma[shortlist]

    def assign(words: Array, zeta: Array) -> Array:
        """Line 9 with sticks in the order of the tables' words."""
        order = np.argsort(-words, kind="stable")
        padded = np.append(words[order], np.zeros(T - n_tables))
        Elog_pi_in_order = Elog_sticks(document_gamma(padded, alpha))
        Elog_pi = np.empty(n_tables)
        Elog_pi[order] = Elog_pi_in_order[:n_tables]
        return normalised(Elog_pi + (zeta @ Elog_beta).T)

    for round_ in range(3):
        for _ in range(20):
            phi = assign(words, zeta)
            last = words
            words = counts @ phi
            if np.abs(words - last).sum() <= tolerance * counts.sum():
                break
        if round_ == 2:
            break
        at_tables = counts[:, None] * phi
        chosen = normalised(Elog_sigma + at_tables.T @ Elog_beta.T)
        settled = True
        for i, row in enumerate(chosen):
            has_one_topic = row.sum() < row.max() * (1 + 1e-3)
            if has_one_topic:
                row[:] = np.arange(len(row)) == np.argmax(row)
                settled &= np.array_equal(row, zeta[i])
            else:
                settled = False
            row /= row.sum()
        zeta = chosen
        if settled:
            break
    phi = assign(words, zeta)
    order = np.argsort(-words, kind="stable")
    phi = phi[:, order]
    zeta_of_all = np.zeros((len(order), len(sigma)))
    zeta_of_all[:, shortlist] = zeta[order]
    theta = (counts @ phi @ zeta_of_all + alpha * sigma) / (counts.sum() + alpha)
    return phi, zeta_of_all, theta

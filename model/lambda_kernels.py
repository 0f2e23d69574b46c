"""The loops of `Topics`.

| symbol | shape and type | meaning |
|---|---|---|
| start, stop | numbers | the rows of `ids` that a call is about |
| ids | (U,) int32 | word ids, increasing |
| lambda_hat | (W, K) float32 or float64 | lambda = eta + scale lambda_hat, one row per word |
| scale, eta | numbers of that type | |
| psi_total | (K,) float64 | psi(sum_w lambda_kw) |
| weight | (K,), rows' type | a factor on each topic |
| pressure | number | how much less a word weighs for each use by other topics |
| rows | (U, K'), lambda_hat's type | one row per word; K padded to whole registers |
| sums | (U, K') or (U, K), lambda_hat's type | sum_d n_dw phi_dwk |
| leading | (K, n) int32 | each topic's first words so far |
| largest | (K, n), lambda_hat's type | their values in `rows` |
| factor | number | what the sums are multiplied by; a float64 has the product made in float64 |
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.kernels import Floats, digamma, exp_digamma_first, kernel


@kernel
def weighted_rows(
    start: int,
    stop: int,
    ids: NDArray[np.int32],
    lambda_hat: Floats,
    scale: Any,
    eta: Any,
    pressure: Any,
    weight: Floats,
    rows: Floats,
) -> None:
    """rows[u] = lambda_kw weight_k / (1 + pressure sum_{l != k} lambda_hat_lw) for words start to stop."""
    K = weight.size
    one = rows.dtype.type(1)
    for u in range(start, stop):
        w = ids[u]
        for k in range(K):
            rows[u, k] = (scale * lambda_hat[w, k] + eta) * weight[k]
        rows[u, K:] = 0
        if pressure > 0:
            total = rows.dtype.type(0)
            for k in range(K):
                total += lambda_hat[w, k]
            for k in range(K):
                rows[u, k] /= one + pressure * (total - lambda_hat[w, k])


@kernel
def exp_Elog_rows(
    start: int,
    stop: int,
    ids: NDArray[np.int32],
    lambda_hat: Floats,
    scale: float,
    eta: float,
    psi_total: NDArray[np.float64],
    weight: Floats,
    rows: Floats,
) -> None:
    """rows[u] = exp(psi(lambda_kw)) weight_k over its sum, for words start to stop."""
    K = weight.size
    lam = np.empty(K, rows.dtype)
    value = np.empty(K, rows.dtype)
    for u in range(start, stop):
        w = ids[u]
        for k in range(K):
            lam[k] = eta + scale * lambda_hat[w, k]
        exp_digamma_first(K, lam, value)
        total = rows.dtype.type(0)
        for k in range(K):
            value[k] *= weight[k]
            total += value[k]
        if total > 1e-25:
            inverse = 1 / total
            for k in range(K):
                # Nothing is lost below 1e-25 of the row, and no denormal number slows the E-step.
                rows[u, k] = value[k] * inverse if value[k] > 1e-25 * total else 0
        else:
            # Everything underflows (a small eta, a new word): relative to the largest, in float64, without
            # balance.
            largest = -np.inf
            for k in range(K):
                largest = max(largest, digamma(lam[k]) - psi_total[k])
            summed = 0.0
            for k in range(K):
                summed += math.exp(digamma(lam[k]) - psi_total[k] - largest)
            for k in range(K):
                rows[u, k] = math.exp(digamma(lam[k]) - psi_total[k] - largest) / summed
        for k in range(K, rows.shape[1]):
            rows[u, k] = 0


@kernel
def sum_digamma(lambda_hat: Floats, scale: float, eta: float) -> float:
    """sum_kw psi(lambda_kw), in float64."""
    total = 0.0
    for i in range(lambda_hat.shape[0]):
        for j in range(lambda_hat.shape[1]):
            total += digamma(eta + scale * lambda_hat[i, j])
    return total


@kernel
def add_rows(
    start: int, stop: int, ids: NDArray[np.int32], sums: Floats, factor: Any, lambda_hat: Floats
) -> None:
    """lambda_hat[w] += factor sums[u] for words start to stop."""
    K = lambda_hat.shape[1]
    for u in range(start, stop):
        w = ids[u]
        for k in range(K):
            lambda_hat[w, k] += factor * sums[u, k]


@kernel
def leading_words(first: int, rows: Floats, leading: NDArray[np.int32], largest: Floats) -> None:
    """The n largest values of each topic, largest first, ties by word id, once all words were given in order.

    first: the id of the word of rows[0]
    largest: at first all below any of rows
    """
    K, last = leading.shape[0], leading.shape[1] - 1
    least = largest[:, last].copy()
    for u in range(rows.shape[0]):
        for k in range(K):
            value = rows[u, k]
            if value > least[k]:
                i = last
                while i > 0 and value > largest[k, i - 1]:
                    largest[k, i] = largest[k, i - 1]
                    leading[k, i] = leading[k, i - 1]
                    i -= 1
                largest[k, i] = value
                leading[k, i] = first + u
                least[k] = largest[k, last]

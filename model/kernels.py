"""What several models' kernels have in common: sums over lines, digamma, logarithm, and lambda's
loops.

| symbol | shape and type | meaning |
|---|---|---|
| block | (any, n) floats | a matrix of which some rows are used, called lines |
| line | (lines,) whole numbers | the numbers of these rows, in any order |
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel, part
from wikitopics.model.minibatch import Counts, Floats, Ids, Indices, Vector

LANES = 16
"""The number of float32 in a vector register."""
_F = np.float32
_MANTISSA_BITS = np.int32(23)
"""The bits of a float32 after those of its exponent."""
_ROOT_OF_HALF = np.int32(0x3F3504F3)
"""The float32 sqrt(1/2), as its bits."""


@kernel
def padded(n: int) -> int:
    """n rounded up to whole vector registers."""
    return (n + LANES - 1) // LANES * LANES


@part
def longest_of(start: int, stop: int, indptr: Indices) -> int:
    """The largest number of entries in one of the documents start to stop, at least 1."""
    longest = 1
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    return longest


@kernel
def dot(n: int, a: Floats, b: Floats) -> Any:
    """sum_j a_j b_j for j < n."""
    total = a.dtype.type(0)
    for j in range(n):
        total += a[j] * b[j]
    return total


@kernel
def add_lines(
    lines: int,
    n: int,
    x: Floats | Counts,
    line: NDArray[np.integer],
    block: Floats,
    out: Floats,
) -> None:
    """out_j = sum_a x_a block[line_a, j] for j < n, over a < lines, four at a time."""
    for j in range(n):
        out[j] = 0
    a = 0
    while a + 4 <= lines:
        x0 = x[a]
        x1 = x[a + 1]
        x2 = x[a + 2]
        x3 = x[a + 3]
        l0 = line[a]
        l1 = line[a + 1]
        l2 = line[a + 2]
        l3 = line[a + 3]
        for j in range(n):
            out[j] += (x0 * block[l0, j] + x1 * block[l1, j]) + (
                x2 * block[l2, j] + x3 * block[l3, j]
            )
        a += 4
    while a < lines:
        x0 = x[a]
        l0 = line[a]
        for j in range(n):
            out[j] += x0 * block[l0, j]
        a += 1


@kernel
def dot_lines(
    lines: int,
    n: int,
    r: Floats,
    line: NDArray[np.integer],
    block: Floats,
    out: Floats,
) -> None:
    """out_a = sum_j block[line_a, j] r_j for a < lines, over j < n, four at a time."""
    a = 0
    while a + 4 <= lines:
        l0 = line[a]
        l1 = line[a + 1]
        l2 = line[a + 2]
        l3 = line[a + 3]
        t0 = t1 = t2 = t3 = block.dtype.type(0)
        for j in range(n):
            t0 += block[l0, j] * r[j]
            t1 += block[l1, j] * r[j]
            t2 += block[l2, j] * r[j]
            t3 += block[l3, j] * r[j]
        out[a] = t0
        out[a + 1] = t1
        out[a + 2] = t2
        out[a + 3] = t3
        a += 4
    while a < lines:
        out[a] = dot(n, block[line[a]], r)
        a += 1


@kernel
def mixtures(indptr: Indices, local: Ids, rows: Floats, weights: Floats, out: Floats) -> None:
    """out[i] = sum_k weights[d, k] rows[local[i], k] for each entry i of each document d."""
    for d in range(indptr.size - 1):
        for i in range(indptr[d], indptr[d + 1]):
            out[i] = dot(rows.shape[1], rows[local[i]], weights[d])


@kernel
def digamma(x: float) -> float:
    """psi(x) for x > 0 in float64, to about 1e-13: recurrence up to 8, then the asymptotic
    series."""
    shift = 0.0
    while x < 8.0:
        shift += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    tail = r * (
        1 / 12
        - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12)))))
    )
    return math.log(x) - 0.5 / x - tail - shift


@part
def exp_of(x: Any) -> Any:
    """exp x for a float32 within [-85, 0], to a relative error of 1e-5, without branches: the 128th
    power of a polynomial in x / 128."""
    e = x * _F(1 / 128)
    p = _F(1 / 40320) + e * _F(1 / 362880)
    p = _F(1 / 5040) + e * p
    p = _F(1 / 720) + e * p
    p = _F(1 / 120) + e * p
    p = _F(1 / 24) + e * p
    p = _F(1 / 6) + e * p
    p = _F(0.5) + e * p
    p = _F(1.0) + e * p
    p = _F(1.0) + e * p
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    return p


@kernel
def exp_digamma_first(n: int, x: Floats, out: Floats) -> None:
    """out = exp(psi(x)) for the first n of x > 0; float64 to 1e-13, float32 to 2e-5 relative.

    In float32 it has no branches, so that it runs on whole vector registers:
    psi(x) = psi(x + 4) - (1/x + 1/(x+1) + 1/(x+2) + 1/(x+3)), where the sum of the reciprocals is
    (2 x + 3) (2 q + 2) / (q (q + 2)) with q = x (x + 3). And exp(psi(y + 1/2)) is
    y + 1/(24 y) - 37/(5760 y^3) + O(y^-5), here with y = x + 7/2. Below the smallest float32 the
    result is about 1e-37 instead of 0.
    """
    if x.itemsize == 8:
        for i in range(n):
            out[i] = math.exp(digamma(x[i]))
        return
    for i in range(n):
        v = x[i]
        q = v * (v + _F(3.0))
        reciprocals = (v + v + _F(3.0)) * (q + q + _F(2.0)) / (q * (q + _F(2.0)))
        p = exp_of(max(-reciprocals, _F(-85.0)))
        y = v + _F(3.5)
        z = _F(1.0) / y
        out[i] = p * (y + z * (_F(1 / 24) - z * z * _F(37 / 5760)))


@kernel
def log_first(n: int, x: Floats, out: Floats) -> None:
    """out = log x for the first n of x > 0; in float32 without branches, to an absolute error of
    1e-6.

    x = m 2^e with m within a factor of sqrt 2 of 1, and log m = 2 artanh((m - 1) / (m + 1)) by its
    series. Below 1e-30, where x underflows, the log is that of 1e-30.
    """
    if x.itemsize == 8:
        for j in range(n):
            out[j] = math.log(x[j] + 1e-30)
        return
    bits = out.view(np.int32)
    for j in range(n):
        out[j] = max(x[j], _F(1e-30))
        e = (bits[j] - _ROOT_OF_HALF) >> _MANTISSA_BITS
        bits[j] -= e << _MANTISSA_BITS  # now out[j] is m
        s = (out[j] - _F(1)) / (out[j] + _F(1))
        q = s * s
        series = _F(1 / 7) + q * _F(1 / 9)
        series = _F(1 / 5) + q * series
        series = _F(1 / 3) + q * series
        series = _F(1) + q * series
        out[j] = _F(2) * s * series + _F(e) * _F(0.6931471805599453)


# The loops of `Lambda`.
#
# | symbol | shape and type | meaning |
# |---|---|---|
# | start, stop | numbers | the range of `ids` of a call |
# | ids | (U,) int32 | word ids, increasing |
# | topics | `Stored` | lambda |
# | psi_total | (K,) float64 | psi(sum_w lambda_kw) |
# | weight | (K,), hat's type | a factor on each topic |
# | pressure | number | by how much each use by other topics reduces a word's weight |
# | rows | (U, K'), hat's type | one row per word; K padded to whole registers |
# | sums | (U, K') or (U, K), hat's type | sum_d n_dw phi_dwk |
# | leading | (K, n) int32 | each topic's first words so far |
# | largest | (K, n), hat's type | their values in `rows` |
# | factor | number | what the sums are multiplied by; a float64 makes the product float64 |


class Stored(NamedTuple):
    """lambda = eta + scale hat: hat (W, K) float32 or float64, a row a word; both numbers of that
    type."""

    hat: Floats
    scale: Any
    eta: Any


@kernel
def weighted_rows(
    start: int,
    stop: int,
    ids: Ids,
    topics: Stored,
    pressure: Any,
    weight: Floats,
    rows: Floats,
) -> None:
    """rows[u] = lambda_kw weight_k / (1 + pressure sum_{l != k} hat_lw) for words start to stop."""
    hat, scale, eta = topics
    K = weight.size
    one = rows.dtype.type(1)
    for u in range(start, stop):
        w = ids[u]
        for k in range(K):
            rows[u, k] = (scale * hat[w, k] + eta) * weight[k]
        rows[u, K:] = 0
        if pressure > 0:
            total = rows.dtype.type(0)
            for k in range(K):
                total += hat[w, k]
            for k in range(K):
                rows[u, k] /= one + pressure * (total - hat[w, k])


@kernel
def exp_Elog_rows(
    start: int,
    stop: int,
    ids: Ids,
    topics: Stored,
    psi_total: Vector,
    weight: Floats,
    rows: Floats,
) -> None:
    """rows[u] = exp(psi(lambda_kw)) weight_k over its sum, for words start to stop."""
    hat, scale, eta = topics
    K = weight.size
    lam = np.empty(K, rows.dtype)
    value = np.empty(K, rows.dtype)
    for u in range(start, stop):
        w = ids[u]
        for k in range(K):
            lam[k] = eta + scale * hat[w, k]
        exp_digamma_first(K, lam, value)
        total = rows.dtype.type(0)
        for k in range(K):
            value[k] *= weight[k]
            total += value[k]
        if total > 1e-25:
            inverse = 1 / total
            for k in range(K):
                # Values below 1e-25 of the row do not matter, and denormal numbers would slow the
                # E-step.
                rows[u, k] = value[k] * inverse if value[k] > 1e-25 * total else 0
        else:
            # Everything underflows (a small eta, a new word): compute relative to the largest, in
            # float64, without balance.
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
def sum_digamma(hat: Floats, scale: float, eta: float) -> float:
    """sum_kw psi(lambda_kw), in float64."""
    total = 0.0
    for i in range(hat.shape[0]):
        for j in range(hat.shape[1]):
            total += digamma(eta + scale * hat[i, j])
    return total


@kernel
def add_rows(start: int, stop: int, ids: Ids, sums: Floats, factor: Any, hat: Floats) -> None:
    """hat[w] += factor sums[u] for words start to stop."""
    K = hat.shape[1]
    for u in range(start, stop):
        w = ids[u]
        for k in range(K):
            hat[w, k] += factor * sums[u, k]


@kernel
def leading_words(first: int, rows: Floats, leading: Ids, largest: Floats) -> None:
    """The n largest values of each topic, largest first, ties by word id, after all words in order.

    first: the id of the word of rows[0]
    largest: initially below every value in rows
    """
    K = leading.shape[0]
    last = leading.shape[1] - 1
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

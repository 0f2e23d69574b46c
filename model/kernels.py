"""Loops that the kernels of several models share; "lines" are rows of a matrix, in any order.

| symbol | shape and type | meaning |
|---|---|---|
| indptr | (D+1,) int64 | document d has the entries indptr[d] to indptr[d+1] |
| local | (N,) int32 | the row of each entry's word |
| counts | (N,) int32 or float32 | n_dw, how often |
| block | (lines, n) floats | a matrix, of which the rows `line` (lines,) are used |
| Floats | | an array of float32 or of float64, the same for all arrays of a call |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model._jit import kernel

Floats = NDArray[np.floating]
Counts = NDArray[np.int32] | NDArray[np.float32]
LANES = 16  # float32 in a vector register


@kernel
def padded(n: int) -> int:
    """n rounded up to whole vector registers."""
    return (n + LANES - 1) // LANES * LANES


@kernel
def longest_of(start: int, stop: int, indptr: NDArray[np.int64]) -> int:
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
def add_lines(lines: int, n: int, x: Floats, line: NDArray[np.integer], block: Floats, out: Floats) -> None:
    """out_j = sum_a x_a block[line_a, j] for j < n, over a < lines, four at a time."""
    for j in range(n):
        out[j] = 0
    a = 0
    while a + 4 <= lines:
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        l0, l1, l2, l3 = line[a], line[a + 1], line[a + 2], line[a + 3]
        for j in range(n):
            out[j] += (x0 * block[l0, j] + x1 * block[l1, j]) + (x2 * block[l2, j] + x3 * block[l3, j])
        a += 4
    while a < lines:
        x0, l0 = x[a], line[a]
        for j in range(n):
            out[j] += x0 * block[l0, j]
        a += 1


@kernel
def dot_lines(lines: int, n: int, r: Floats, line: NDArray[np.integer], block: Floats, out: Floats) -> None:
    """out_a = sum_j block[line_a, j] r_j for a < lines, over j < n, four at a time."""
    a = 0
    while a + 4 <= lines:
        l0, l1, l2, l3 = line[a], line[a + 1], line[a + 2], line[a + 3]
        t0 = t1 = t2 = t3 = block.dtype.type(0)
        for j in range(n):
            t0 += block[l0, j] * r[j]
            t1 += block[l1, j] * r[j]
            t2 += block[l2, j] * r[j]
            t3 += block[l3, j] * r[j]
        out[a], out[a + 1], out[a + 2], out[a + 3] = t0, t1, t2, t3
        a += 4
    while a < lines:
        out[a] = dot(n, block[line[a]], r)
        a += 1


@kernel
def mixtures(
    indptr: NDArray[np.int64], local: NDArray[np.int32], rows: Floats, weights: Floats, out: Floats
) -> None:
    """out[i] = sum_k weights[d, k] rows[local[i], k] for each entry i of each document d."""
    for d in range(indptr.size - 1):
        for i in range(indptr[d], indptr[d + 1]):
            out[i] = dot(rows.shape[1], rows[local[i]], weights[d])


@kernel
def sort_entries(local: NDArray[np.int32], following: NDArray[np.int64], entries: NDArray[np.int64]) -> None:
    """Counting sort of entries (N,) by their words; entries of one word stay in order.

    following: (U,) where each word's next entry goes
    """
    for i in range(local.size):
        u = local[i]
        entries[following[u]] = i
        following[u] += 1

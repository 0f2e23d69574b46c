"""The loops of SCVB0, [F13] algorithm 2, on minibatches.

| symbol | shape and type | meaning |
|---|---|---|
| start, stop | numbers | the documents, or rows, that a call is about |
| indptr, local, counts | (D+1,), (N,), (N,) | the documents' words as rows, and how often: `model.kernels` |
| rows | (U, K') floats | (N_phi + eta) / (N_Z + W eta) of the words, one row per word, up to one constant |
| alpha | (K') floats | Dirichlet parameter of the proportions |
| theta | (D, K') floats | N_theta + alpha: with alpha inside, no topic decays into denormal numbers |
| keep | (T,) floats | 1 - rho_theta at a document's step t = 1, 2 … |
| statistics | (U, K') floats | sum over a block's documents of m gamma |
| mass | (K,) float64 | sums of statistics over the words |

Within a document: N (K') is its row of theta, gamma (K') a word's.
K' is K padded to whole vector registers; rows and alpha are 0 there, and so is everything made from them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.compiling import kernel, part
from wikitopics.model.kernels import Counts, Floats

# Compiled loops test at run time whether what they write lies within a few registers behind what they read,
# and if so run a plain version, which adds up in another order. Scratch arrays keep this far from everything
# else, so the bits of a result do not depend on where a thread's memory happens to lie.
GUARD = 256


@kernel
def documents(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    local: NDArray[np.int32],
    counts: Counts,
    rows: Floats,
    alpha: Floats,
    keep: Floats,
    passes: int,
    theta: Floats,
    statistics: Floats,
) -> None:
    """Passes over the words of the documents start to stop; the last one also fills `statistics`.

    A `statistics` without rows is left alone (inference). A document starts with its words spread over the
    topics according to the prior, and its steps are counted through all of its passes.
    """
    K = alpha.size
    collect = statistics.shape[0] > 0
    statistics[:] = 0
    one = alpha.dtype.type(1)
    scratch = np.empty(2 * K + 3 * GUARD, alpha.dtype)
    gamma = scratch[GUARD : GUARD + K]
    N = scratch[2 * GUARD + K : 2 * GUARD + 2 * K]
    total_alpha = alpha.sum()
    for d in range(start, stop):
        length = alpha.dtype.type(0)
        for i in range(indptr[d], indptr[d + 1]):
            length += counts[i]
        spread = one + length / total_alpha
        for k in range(K):
            N[k] = alpha[k] * spread
        t = 0
        for p in range(passes):
            last = collect and p == passes - 1
            for i in range(indptr[d], indptr[d + 1]):
                u = local[i]
                m = alpha.dtype.type(counts[i])
                total = alpha.dtype.type(0)
                for k in range(K):  # [F13] eq. 5, not yet normalised
                    value = rows[u, k] * N[k]
                    gamma[k] = value
                    total += value
                stay = power(keep[t], counts[i], alpha)
                t += 1
                move = (one - stay) * length / total
                back = one - stay
                if last:
                    share = m / total
                    for k in range(K):
                        statistics[u, k] += share * gamma[k]
                for k in range(K):  # [F13] eq. 9, on N_theta + alpha
                    N[k] = stay * N[k] + (back * alpha[k] + move * gamma[k])
        for k in range(K):
            theta[d, k] = N[k]


@part
def power(base: Any, m: float, like: Floats) -> Any:
    """base^m in `like`'s type; m's whole part by squaring, since most words occur only a few times."""
    kind = like.dtype.type
    copies = int(m)
    rest = m - copies
    if copies == 1 and rest == 0:
        return base
    result = kind(1)
    square = base
    while copies > 0:
        if copies & 1:
            result *= square
        square *= square
        copies >>= 1
    if rest > 0:
        result *= kind(base**rest)
    return result


@kernel
def sum_statistics(start: int, stop: int, statistics: Floats, mass: NDArray[np.float64]) -> None:
    """statistics[0, u] gains statistics[b, u] of the other blocks, for the words start to stop.

    statistics are (blocks, U, K') here, and `mass` gains their sums over the words. The blocks are added in
    order, so it does not matter which thread filled them.
    """
    K = mass.size
    for u in range(start, stop):
        for b in range(1, statistics.shape[0]):
            for k in range(K):
                statistics[0, u, k] += statistics[b, u, k]
        for k in range(K):
            mass[k] += statistics[0, u, k]

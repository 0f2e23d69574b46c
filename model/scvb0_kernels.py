"""SCVB0's document loops, the inner loops of [F13] algorithm 2, and the sums over words.

| symbol | shape and type | meaning |
|---|---|---|
| start, stop | numbers | the range of documents, or rows, of a call |
| batch | | the documents' words as rows, and n_dw: `minibatch.Entries` |
| rows | (U, K') floats | (N_phi + eta) / (N_Z + W eta) of the words, up to one constant |
| theta | (D, K') floats | alpha plus the words expected of each topic: `Passes` |
| bits | (U, K'/2) uint32 | rows in half precision, two numbers in one: `PackedRows` |
| statistics | (U, K') floats | sum over a block's documents of m gamma |
| mass | (K,) float64 | sums of statistics over the words |

Within a document, N (K') is N_theta + alpha, since without alpha topics would decay to denormal
numbers, and gamma belongs to a word and a topic. K' is K padded to whole vector registers; rows,
alpha and everything computed from them are 0 there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel, part
from wikitopics.model.kernels import add_lines, dot, longest_of
from wikitopics.model.minibatch import Counts, Entries, Floats, Indices, Vector

GUARD = 256
"""The numbers between scratch arrays and everything else.

Compiled loops test at run time whether they write to within a few registers behind what they read.
If so, they run a plain version, which adds up in another order. With scratch arrays far from
everything else, the bits of a result do not depend on where a thread's memory happens to be.
"""


class Passes(NamedTuple):
    """The passes over a document's words.

    alpha: (K') Dirichlet parameter of the proportions
    keep: (T,) 1 - rho_theta at a document's step t = 1, 2 …
    n: the number of passes
    sums_last_pass: whether theta is alpha plus the sum of m gamma over the last pass; otherwise it
    is N
    """

    alpha: Floats
    keep: Floats
    n: int
    sums_last_pass: bool


class PackedRows(NamedTuple):
    """Rows as bfloat16, which has the exponents of float32 and 8 of its 24 binary digits.

    bits: (U, H) uint32; the lower half of number k belongs to topic k, the upper one to H + k
    of_prior: (U,) float32, sum_k rows_uk alpha_k of these rows
    """

    bits: NDArray[np.uint32]
    of_prior: Floats


@kernel
def documents(
    start: int,
    stop: int,
    batch: Entries,
    rows: Floats,
    passes: Passes,
    theta: Floats,
    parts: Floats,
    statistics: Floats,
) -> None:
    """Passes over the words of the documents start to stop; the last pass also adds to
    `statistics`, to which each document contributes the part `parts`, (D,), of its words.

    A `statistics` without rows is left alone (inference). A document starts with its words spread
    over the topics according to the prior. Its steps are numbered through all passes.
    """
    indptr, local, counts = batch
    alpha, keep, n_passes, sums = passes
    K = alpha.size
    kind = alpha.dtype.type
    collect = statistics.shape[0] > 0
    one = kind(1)
    scratch = np.empty(2 * K + 3 * GUARD, alpha.dtype)
    N = scratch[GUARD : GUARD + K]
    expected = scratch[2 * GUARD + K : 2 * GUARD + 2 * K]
    total_alpha = alpha.sum()
    for d in range(start, stop):
        length = length_of(indptr[d], indptr[d + 1], counts, alpha)
        spread = one + length / total_alpha
        for k in range(K):
            N[k] = alpha[k] * spread
            expected[k] = alpha[k]
        t = 0
        for p in range(n_passes):
            last = p == n_passes - 1
            for i in range(indptr[d], indptr[d + 1]):
                u = local[i]
                total = kind(0)
                for k in range(K):
                    total += rows[u, k] * N[k]
                stay = power(keep[t], counts[i], alpha)
                t += 1
                back = one - stay
                move = back * length / total
                # gamma is [F13] eq. 5, not yet normalised; N follows eq. 9, on N_theta + alpha.
                if last and collect:
                    own = kind(counts[i]) / total
                    share = parts[d] * own
                    for k in range(K):
                        gamma = rows[u, k] * N[k]
                        statistics[u, k] += share * gamma
                        expected[k] += own * gamma
                        N[k] = stay * N[k] + (back * alpha[k] + move * gamma)
                elif last and sums:
                    share = kind(counts[i]) / total
                    for k in range(K):
                        gamma = rows[u, k] * N[k]
                        expected[k] += share * gamma
                        N[k] = stay * N[k] + (back * alpha[k] + move * gamma)
                else:
                    for k in range(K):
                        gamma = rows[u, k] * N[k]
                        N[k] = stay * N[k] + (back * alpha[k] + move * gamma)
        for k in range(K):
            theta[d, k] = expected[k] if sums else N[k]


_HALF = np.uint32(16)
_UPPER = np.uint32(0xFFFF0000)
_ROUND = np.uint32(0x8000)


@part
def low_half(bits: Any) -> Any:
    """The float32 of the lower bfloat16."""
    return np.uint32(bits << _HALF).view(np.float32)


@part
def high_half(bits: Any) -> Any:
    """The float32 of the upper bfloat16."""
    return np.uint32(bits & _UPPER).view(np.float32)


@kernel
def pack_rows(start: int, stop: int, rows: Floats, alpha: Floats, packed: PackedRows) -> None:
    """Round the float32 rows start to stop to the nearest bfloat16; those beyond their width are
    0."""
    bits, of_prior = packed
    H = alpha.size // 2
    n_high = rows.shape[1] - H
    of_rows = rows.view(np.uint32)
    for u in range(start, stop):
        for k in range(n_high):
            low = np.uint32(of_rows[u, k] + _ROUND) >> _HALF
            bits[u, k] = low | (np.uint32(of_rows[u, H + k] + _ROUND) & _UPPER)
        for k in range(n_high, H):
            bits[u, k] = np.uint32(of_rows[u, k] + _ROUND) >> _HALF
        total = alpha.dtype.type(0)
        for k in range(H):
            total += low_half(bits[u, k]) * alpha[k] + high_half(bits[u, k]) * alpha[H + k]
        of_prior[u] = total


@part
def length_of(first: int, end: int, counts: Counts, like: Floats) -> Any:
    """The sum of the counts of the entries first to end, in the type of `like`: as float64, which
    whole counts and float32 make together, it would make every loop that uses it twice as slow."""
    kind = like.dtype.type
    length = kind(0)
    for i in range(first, end):
        length += kind(counts[i])
    return length


@kernel
def paired_documents(
    start: int,
    stop: int,
    batch: Entries,
    rows: PackedRows,
    passes: Passes,
    theta: Floats,
    parts: Floats,
    statistics: Floats,
) -> None:
    """As `documents`, in float32 and with statistics, from half as many bytes: for many topics.

    Two words at a time are read from memory, of packed rows. The second one's total is that of N
    after the first one: N changes to stay N + back alpha + move gamma, so the total to
    stay sum_k r'_k N_k + move sum_k r'_k gamma_k + back sum_k r'_k alpha_k, with r' the second
    word's row and gamma the first one's.

    theta, statistics and alpha are as wide as the rows unpacked.
    """
    indptr, local, counts = batch
    bits, of_prior = rows
    alpha, keep, n_passes, sums = passes
    kind = alpha.dtype.type
    H = alpha.size // 2  # surely not negative, unlike a shape: else loops over H + k are slow
    one = kind(1)
    scratch = np.empty(4 * H + 5 * GUARD, alpha.dtype)
    low_N = scratch[GUARD : GUARD + H]
    high_N = scratch[2 * GUARD + H : 2 * GUARD + 2 * H]
    low_expected = scratch[3 * GUARD + 2 * H : 3 * GUARD + 3 * H]
    high_expected = scratch[4 * GUARD + 3 * H : 4 * GUARD + 4 * H]
    low_alpha = alpha[:H]
    high_alpha = alpha[H:]
    total_alpha = alpha.sum()
    for d in range(start, stop):
        first = indptr[d]
        end = indptr[d + 1]
        length = length_of(first, end, counts, alpha)
        spread = one + length / total_alpha
        for k in range(H):
            low_N[k] = low_alpha[k] * spread
            high_N[k] = high_alpha[k] * spread
            low_expected[k] = low_alpha[k]
            high_expected[k] = high_alpha[k]
        t = 0
        for p in range(n_passes):
            last = p == n_passes - 1
            for i in range(first, end, 2):
                is_pair = i + 1 < end
                u = local[i]
                v = local[i + 1] if is_pair else u
                total = kind(0)
                next_total = kind(0)
                both = kind(0)
                for k in range(H):
                    low = low_half(bits[u, k]) * low_N[k]
                    high = high_half(bits[u, k]) * high_N[k]
                    total += low + high
                    next_low = low_half(bits[v, k])
                    next_high = high_half(bits[v, k])
                    next_total += next_low * low_N[k] + next_high * high_N[k]
                    both += next_low * low + next_high * high
                stay = power(keep[t], counts[i], alpha)
                back = one - stay
                move = back * length / total
                own = kind(counts[i]) / total
                share = parts[d] * own
                # A last word without another is followed by nothing: no step, and no share.
                next_stay = one
                next_own = kind(0)
                next_total = stay * next_total + move * both + back * of_prior[v]
                if is_pair:
                    next_stay = power(keep[t + 1], counts[i + 1], alpha)
                    next_own = kind(counts[i + 1]) / next_total
                next_share = parts[d] * next_own
                next_back = one - next_stay
                next_move = next_back * length / next_total
                t += 2 if is_pair else 1
                if last:
                    for k in range(H):
                        gamma = low_half(bits[u, k]) * low_N[k]
                        statistics[u, k] += share * gamma
                        n = stay * low_N[k] + (back * low_alpha[k] + move * gamma)
                        next_gamma = low_half(bits[v, k]) * n
                        statistics[v, k] += next_share * next_gamma
                        low_expected[k] += own * gamma + next_own * next_gamma
                        moved = next_back * low_alpha[k] + next_move * next_gamma
                        low_N[k] = next_stay * n + moved
                    for k in range(H):
                        gamma = high_half(bits[u, k]) * high_N[k]
                        statistics[u, H + k] += share * gamma
                        n = stay * high_N[k] + (back * high_alpha[k] + move * gamma)
                        next_gamma = high_half(bits[v, k]) * n
                        statistics[v, H + k] += next_share * next_gamma
                        high_expected[k] += own * gamma + next_own * next_gamma
                        moved = next_back * high_alpha[k] + next_move * next_gamma
                        high_N[k] = next_stay * n + moved
                else:
                    for k in range(H):
                        n = low_N[k] * (stay + move * low_half(bits[u, k])) + back * low_alpha[k]
                        factor = next_stay + next_move * low_half(bits[v, k])
                        low_N[k] = n * factor + next_back * low_alpha[k]
                    for k in range(H):
                        n = high_N[k] * (stay + move * high_half(bits[u, k])) + back * high_alpha[k]
                        factor = next_stay + next_move * high_half(bits[v, k])
                        high_N[k] = n * factor + next_back * high_alpha[k]
        for k in range(H):
            theta[d, k] = low_expected[k] if sums else low_N[k]
            theta[d, H + k] = high_expected[k] if sums else high_N[k]


@kernel
def active_documents(
    start: int,
    stop: int,
    batch: Entries,
    rows: Floats,
    passes: Passes,
    theta: Floats,
    flat: Floats,
    expected: Floats,
    others: int,
) -> None:
    """As `documents`, without statistics, over each document's active topics and all other topics
    as one.

    The active topics are those to which the prior `flat` assigns the most words beyond what it
    expects. The other topics share their words in proportion to alpha, so they are like one topic
    whose probability of a word is the mean of theirs (decision 0045). `documents` then runs over
    the gathered rows of the active topics and this one.

    flat: (K') alpha^(1/3), so that the corpus's large topics do not hide those of a document
    expected: (2, U) sum_k rows_uk alpha_k, and sum_k rows_uk flat_k
    others: the number of active topics, and so the place of all others, after them, as one topic
    """
    indptr, local, counts = batch
    alpha, keep, n_passes, sums = passes
    K = alpha.size
    kind = alpha.dtype.type
    longest = longest_of(start, stop, indptr)
    lines = np.arange(longest).astype(np.int32)
    ends = np.zeros(2, np.int64)
    weights = np.empty(longest, alpha.dtype)
    excess = np.empty(K, alpha.dtype)
    topics = np.empty(K, np.int64)
    block = np.empty((longest, others + 1), alpha.dtype)
    prior = np.empty(others + 1, alpha.dtype)
    N = np.empty((1, others + 1), alpha.dtype)
    whole = np.ones(1, alpha.dtype)
    nothing = np.empty((0, others + 1), alpha.dtype)
    total_alpha = alpha.sum()
    total_flat = flat.sum()
    for d in range(start, stop):
        words = local[indptr[d] : indptr[d + 1]]
        n_dw = counts[indptr[d] : indptr[d + 1]]
        length = length_of(indptr[d], indptr[d + 1], counts, alpha)
        for j in range(words.size):
            weights[j] = n_dw[j] / expected[1, words[j]]
        add_lines(words.size, K, weights, words, rows, excess)
        spread = kind(length / total_flat)
        for k in range(K):
            excess[k] = (excess[k] - spread) * flat[k]
        largest_first(excess, others, topics)
        for x in range(others):
            prior[x] = alpha[topics[x]]
        rest = max(total_alpha - prior[:others].sum(), total_alpha * kind(1e-6))
        prior[others] = rest
        for j in range(words.size):
            for x in range(others):
                block[j, x] = rows[words[j], topics[x]]
            block[j, others] = (
                max(expected[0, words[j]] - dot(others, block[j], prior), kind(0)) / rest
            )
        ends[1] = words.size
        own = Entries(ends, lines, n_dw)
        few = Passes(prior, keep, n_passes, sums)
        documents(ends[0], ends[0] + 1, own, block, few, N, whole, nothing)
        for k in range(K):
            theta[d, k] = N[0, others] / rest * alpha[k]
        for x in range(others):
            theta[d, topics[x]] = N[0, x]


@part
def largest_first(values: Floats, most: int, topics: Indices) -> None:
    """Fill `topics` with 0 to K-1, first about `most` topics with the largest values above 0.

    The value that parts them from the others is found by bisection.
    """
    low = values.dtype.type(0)
    high = values.max()
    for _ in range(20):
        middle = (low + high) / 2
        n_above = 0
        for k in range(values.size):
            if values[k] >= middle:
                n_above += 1
        if n_above > most:
            low = middle
        else:
            high = middle
    n_largest = 0
    for k in range(values.size):
        if values[k] >= high:
            topics[n_largest] = k
            n_largest += 1
        else:
            # The others are filled in from the end.
            n_others = k - n_largest
            topics[values.size - 1 - n_others] = k


@part
def power(base: Any, m: float, like: Floats) -> Any:
    """base^m in the type of `like`; m's whole part by squaring, since most words occur only a few
    times."""
    kind = like.dtype.type
    copies = int(m)
    rest = m - copies
    if copies == 1 and rest == 0:
        return base
    result = kind(1)
    square = base
    while copies > 0:
        if copies % 2 == 1:
            result *= square
        square *= square
        copies //= 2
    if rest > 0:
        result *= kind(base**rest)
    return result


@kernel
def sum_statistics(start: int, stop: int, statistics: Floats, mass: Vector) -> None:
    """Add statistics[b, u] of the other blocks to statistics[0, u], for the words start to stop;
    `mass` gains the sums over these words.

    Here, statistics are (blocks, U, K'). The blocks are added in order, so it does not matter which
    thread filled them.
    """
    K = mass.size
    for u in range(start, stop):
        for b in range(1, statistics.shape[0]):
            for k in range(K):
                statistics[0, u, k] += statistics[b, u, k]
        for k in range(K):
            mass[k] += statistics[0, u, k]

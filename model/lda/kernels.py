"""The loops of variational LDA, [H10] algorithm 2 and [SVI13] figure 6, on minibatches.

| symbol | shape and type | meaning |
|---|---|---|
| start, stop | numbers | the documents, or words, that a call is about |
| indptr, local, counts | (D+1,), (N,), (N,) | the documents' words as rows, and n_dw: `model.kernels` |
| rows | (U, K') floats | exp(E[log beta]) of the words, a row a word, divided by its sum; K padded |
| alpha, psi_alpha | (K,) floats, (K,) float64 | Dirichlet parameter of the proportions, and its digamma |
| gamma | (D, K) floats | variational Dirichlet of the proportions |
| x | (D, K') floats | exp(psi(gamma)) of the topics active in a document, 0 of the others |
| ratio | (N,) floats | n_dw / sum_k x_dk rows_wk, so that n_dw phi_dwk = ratio x_dk rows_wk |
| excess | (K,) float64 | sum_d psi(gamma_dk) - psi(alpha_k) |
| sums, mass | (U, K) floats, (K,) float64 | sum_d n_dw phi_dwk, and its sums over the words |

phi is unchanged when a word's row is multiplied by a constant, or a document's x: neither needs normalising
by psi(sum gamma), and rows are kept in a range that float32 holds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.compiling import kernel, part
from wikitopics.model.kernels import (
    LANES,
    Counts,
    Floats,
    add_lines,
    dot_lines,
    exp_digamma_first,
    longest_of,
    padded,
)


class Scratch(NamedTuple):
    """Memory for one document of n words.

    words, n_dw: (n,) the rows of its words, and their counts
    mixture, r: (n,) sum_k x_k rows_wk, and n_dw over it
    block: (K, n) line a has the words' entries of topic[a]: once few topics are active they are gathered
    line, topic: (K,) the line in `block` of each active topic, and which topic it is
    expected: (K') the words of each topic, gamma - alpha; value: (K') those of the next iteration
    x, g: (K') exp(psi(gamma)), (K,) gamma; as `expected`, of the active topics only once these are gathered
    """

    words: NDArray[np.int64]
    n_dw: Floats
    mixture: Floats
    r: Floats
    block: Floats
    line: NDArray[np.int64]
    topic: NDArray[np.int64]
    expected: Floats
    value: Floats
    x: Floats
    g: Floats


@kernel
def e_step(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    local: NDArray[np.int32],
    counts: Counts,
    rows: Floats,
    alpha: Floats,
    psi_alpha: NDArray[np.float64],
    drop: float,
    tolerance: float,
    max_iterations: int,
    wide: int,
    resume: bool,
    gamma: Floats,
    x_out: Floats,
    ratio: Floats,
    excess: NDArray[np.float64],
) -> None:
    """Coordinate ascent in gamma and phi for documents start to stop.

    Starts from gamma = 1 ([SVI13] fig. 6 line 5), ends when sum_k |change of gamma_k| is at most `tolerance`
    times the document's words, or after max_iterations, the first `wide` of them over all topics. A topic
    leaves a document once it has fewer than `drop` expected words there.
    With `resume` it continues from the given gamma. Writes gamma, x and ratio, and adds psi(gamma_k) -
    psi(alpha_k) of the active topics to excess.
    """
    K = alpha.size
    wide_line = rows.shape[1]
    longest = longest_of(start, stop, indptr)
    # An odd number of registers per line, so that lines spread over the sets of the cache.
    length = (padded(longest) // LANES | 1) * LANES
    scratch = Scratch(
        np.empty(longest, np.int64),
        np.empty(longest, rows.dtype),
        np.empty(length, rows.dtype),
        np.empty(length, rows.dtype),
        np.empty((K, length), rows.dtype),
        np.empty(K, np.int64),
        np.empty(K, np.int64),
        np.empty(wide_line, rows.dtype),
        np.empty(wide_line, rows.dtype),
        np.empty(wide_line, rows.dtype),
        np.empty(K, rows.dtype),
    )
    words, n_dw, _, r, _, _, topic, expected, _, x, g = scratch
    for k in range(K, wide_line):
        x[k] = 0
    for d in range(start, stop):
        first = indptr[d]
        n = indptr[d + 1] - first
        total = 0
        for j in range(n):
            words[j] = local[first + j]
            n_dw[j] = counts[first + j]
            total += counts[first + j]
        if resume:
            for k in range(K):
                expected[k] = gamma[d, k] - alpha[k]
        for k in range(K):
            gamma[d, k] = alpha[k]
        for k in range(wide_line):
            x_out[d, k] = 0
        if n == 0:
            continue
        if not resume:
            # First iteration: x is the same for all topics, so phi_w is the word's row.
            add_lines(n, wide_line, n_dw, words, rows, expected)
        least = min(drop, 0.1 * total / K)
        small = tolerance * total
        iterations = min(max_iterations, wide)
        done, change = over_all_topics(n, rows, alpha, least, small, iterations, scratch)
        active = gather(n, rows, alpha, least, scratch)
        iterations = max_iterations - done
        active = over_active_topics(n, alpha, least, small, change, iterations, active, scratch)
        for j in range(n):
            ratio[first + j] = r[j]
        for a in range(active):
            k = topic[a]
            gamma[d, k] = g[a]
            x_out[d, k] = x[a]
            excess[k] += math.log(x[a]) - psi_alpha[k]


@part
def over_all_topics(
    n: int, rows: Floats, alpha: Floats, least: float, small: float, iterations: int, scratch: Scratch
) -> tuple[int, float]:
    """Iterate while most topics are active, over the words' rows in place; x = 0 for dropped topics.

    Returns the number of iterations, and the change of gamma in the last one.
    """
    words, n_dw, mixture, r, _, _, _, expected, value, x, g = scratch
    K = alpha.size
    done = 0
    change = np.inf
    active = K
    while done < iterations and change > small and active > K // 4:
        for k in range(K):
            g[k] = alpha[k] + expected[k]
        exp_digamma_first(K, g, x)
        if done > 0:
            for k in range(K):
                if expected[k] <= least:
                    x[k] = 0
        done += 1
        dot_lines(n, rows.shape[1], x, words, rows, mixture)
        for j in range(n):
            r[j] = n_dw[j] / mixture[j]
        add_lines(n, rows.shape[1], r, words, rows, value)
        change = 0.0
        active = 0
        for k in range(K):
            v = x[k] * value[k]
            change += abs(v - expected[k])
            expected[k] = v
            if v > least:
                active += 1
    return done, change


@part
def gather(n: int, rows: Floats, alpha: Floats, least: float, scratch: Scratch) -> int:
    """Gather the active topics, topic-major; returns how many there are. Pads the lines and r with zeros."""
    words, _, _, r, block, line, topic, expected, _, _, g = scratch
    active = np.int64(0)  # not a literal: see `part`
    for k in range(alpha.size):
        if expected[k] > least:
            topic[active] = k
            line[active] = active
            expected[active] = expected[k]
            g[active] = alpha[k] + expected[k]
            active += 1
    for j in range(n):
        u = words[j]
        for a in range(active):
            block[a, j] = rows[u, topic[a]]
    for j in range(n, padded(n)):
        r[j] = 0
        for a in range(active):
            block[a, j] = 0
    return int(active)


@part
def over_active_topics(
    n: int,
    alpha: Floats,
    least: float,
    small: float,
    change: float,
    iterations: int,
    active: int,
    scratch: Scratch,
) -> int:
    """Iterate over the active topics only, until `change` is small; returns how many topics are left."""
    _, n_dw, mixture, r, block, line, topic, expected, value, x, g = scratch
    n_padded = padded(n)
    while True:
        exp_digamma_first(active, g, x)
        add_lines(active, n_padded, x, line, block, mixture)
        for j in range(n):
            r[j] = n_dw[j] / mixture[j]
        if change <= small or iterations <= 0:
            return active
        iterations -= 1
        dot_lines(active, n_padded, r, line, block, value)
        change = 0.0
        kept = 0
        for a in range(active):
            # gamma_k = alpha_k + sum_w n_w phi_wk, [H10] eq. 5
            v = x[a] * value[a]
            change += abs(v - expected[a])
            if v > least:
                topic[kept] = topic[a]
                line[kept] = line[a]
                expected[kept] = v
                g[kept] = alpha[topic[a]] + v
                kept += 1
        active = kept


@kernel
def sum_statistics(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    entries: NDArray[np.int64],
    documents: NDArray[np.int64],
    ratio: Floats,
    x: Floats,
    rows: Floats,
    sums: Floats,
    mass: NDArray[np.float64],
) -> None:
    """sums[u] = sum_d n_dw phi_dw for words start to stop; also added to mass.

    Word u has the entries `entries[indptr[u]:indptr[u+1]]`, and `documents` gives the document of each entry.
    """
    total = np.empty(rows.shape[1], rows.dtype)
    for u in range(start, stop):
        for k in range(total.size):
            total[k] = 0
        for i in range(indptr[u], indptr[u + 1]):
            entry = entries[i]
            d = documents[entry]
            share = ratio[entry]
            for k in range(rows.shape[1]):
                total[k] += share * x[d, k]
        for k in range(mass.size):
            value = total[k] * rows[u, k]
            mass[k] += value
            sums[u, k] = value

"""The HDP's document loops for a good result in one pass: a shortlist of topics, and a table for
each.

Then come the sums over words and tables of [SVI13] figure 9 line 11. Its local step as printed is
in `hdp_figure_9_kernels.py`.

| symbol | shape and type | meaning |
|---|---|---|
| start, stop | numbers | the range of documents, or words, of a call |
| batch | | the documents' words as rows, and n_dw: `minibatch.Entries` |
| rows | (U, K') floats | exp(E[log beta]) of the minibatch's words up to a constant; K padded |
| sigma, Elog_sigma | (K') floats | E[sigma_k(v)] and E[log sigma_k(v)]: the corpus sticks |
| tables | (N, T) floats | n_dw phi_dwi: how many of a word's occurrences sit at each table |
| topics | (D, C) int32 | a document's topics, its shortlist |
| n_topics, n_tables | (D,) int32 | how many topics, and tables, the document has |
| zeta | (D, T, C) floats | the probability of each of these topics at each table |
| theta | (D, K) floats | a document's proportions |

A word's phi and a table's zeta stay the same when the word's row is multiplied by a constant.

The sticks of a document telescope. With gamma1_i = 1 + N_i and gamma2_i = alpha + N_{i+1} + …
([SVI13] fig. 9 line 8), gamma1_i + gamma2_i = 1 + gamma2_{i-1}. Since psi(1 + x) = psi(x) + 1/x,
up to a constant E[log sigma_i(pi)] = psi(gamma1_i) - sum_{s<=i} 1/gamma2_{s-1}
(docs/derivations.md).

Within a document, of n words, with t tables and a shortlist of c topics:

| symbol | shape and type | meaning |
|---|---|---|
| row_of, n_dw | (n,) int32, floats | its words' rows, and their counts |
| shortlist | (C,) int32 | its topics, of which it has c |
| block | (C + T, n) floats | the words' entries of the C topics, then of tables of several topics |
| logs | (C, n) floats | the logarithms of the first C lines |
| line | (T,) int32 | each table's line of the block |
| order | (T,) int32 | the tables, most words first |
| words, weight | (T,) floats | a table's words N_i, and exp(E[log sigma_i(pi)]) up to a constant |
| chosen | (T, C) floats | its zeta, over the shortlist |
| at_tables | (T n,) floats | its part of `tables`, one table after another |
| mixture, ratio | (n,) floats | sum_i weight_i block[line_i], and n_dw over it |
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wikitopics.compiled import kernel, part
from wikitopics.model.kernels import (
    add_lines,
    dot,
    exp_digamma_first,
    log_first,
    longest_of,
)
from wikitopics.model.minibatch import Entries, Floats, Ids, Occurrences, Vector


class HDPLimits(NamedTuple):
    """Settings and limits of a document's local step: see `OnlineHDP` and `schedules.HDPRecipe`."""

    T: int
    alpha: float
    tolerance: float
    max_iterations: int
    em_steps: int
    fewest_words: float
    candidates: int
    iterations: int
    rounds: int
    one_topic: float


class HDPCorpus(NamedTuple):
    """The corpus as documents see it.

    rows: (U, K') exp(E[log beta]) of a minibatch's words up to a constant per word; in figure 9
    E[log beta], (U, K)
    sigma, Elog_sigma: (K') E[sigma(v)], E[log sigma(v)]
    """

    rows: Floats
    sigma: Floats
    Elog_sigma: Floats


class Tables(NamedTuple):
    """Variational distribution of D documents with N entries.

    tables: (N, T) n_dw phi_dwi, how many of a word's occurrences sit at each table
    topics: (D, C) each document's topics, of which it has n_topics (D,)
    zeta: (D, T, C) the probability of each of these topics at each table, of which it has n_tables
    (D,)
    theta: (D, K) the documents' proportions
    """

    tables: Floats
    topics: Ids
    n_topics: Ids
    zeta: Floats
    n_tables: Ids
    theta: Floats


class HDPScratch(NamedTuple):
    """Memory for one document: the table at the top of this module."""

    n_dw: Floats
    shortlist: Ids
    block: Floats
    logs: Floats
    line: Ids
    order: Ids
    words: Floats
    weight: Floats
    chosen: Floats
    at_tables: Floats
    mixture: Floats
    ratio: Floats


@part
def soft_em(
    n: int,
    local: Ids,
    n_dw: Floats,
    rows: Floats,
    prior: Floats,
    steps: int,
    expected: Floats,
) -> None:
    """expected_k: words of topic k under proportions found by EM from `prior`, over all topics."""
    kind = rows.dtype.type
    K = prior.size
    weight = prior.copy()
    for _ in range(steps):
        expected[:] = 0
        j = 0
        # Four rows at a time, so that `weight` and `expected` are loaded once for them.
        while j + 4 <= n:
            r0 = rows[local[j]]
            r1 = rows[local[j + 1]]
            r2 = rows[local[j + 2]]
            r3 = rows[local[j + 3]]
            t0 = t1 = t2 = t3 = kind(0)
            for k in range(K):
                t0 += weight[k] * r0[k]
                t1 += weight[k] * r1[k]
                t2 += weight[k] * r2[k]
                t3 += weight[k] * r3[k]
            t0 = n_dw[j] / (t0 + kind(1e-30))
            t1 = n_dw[j + 1] / (t1 + kind(1e-30))
            t2 = n_dw[j + 2] / (t2 + kind(1e-30))
            t3 = n_dw[j + 3] / (t3 + kind(1e-30))
            for k in range(K):
                expected[k] += (t0 * r0[k] + t1 * r1[k]) + (t2 * r2[k] + t3 * r3[k])
            j += 4
        while j < n:
            row = rows[local[j]]
            share = n_dw[j] / (dot(K, weight, row) + kind(1e-30))
            for k in range(K):
                expected[k] += share * row[k]
            j += 1
        for k in range(K):
            expected[k] *= weight[k]
            weight[k] = expected[k] + prior[k]


@kernel
def e_step(
    start: int,
    stop: int,
    batch: Entries,
    corpus: HDPCorpus,
    limits: HDPLimits,
    posterior: Tables,
) -> None:
    """Local step for documents start to stop: [SVI13] fig. 9 lines 7 to 10 from a better start.

    Lines 5 and 6 give every table the same topics: a saddle point that leads only to poor optima.
    Instead, a few steps of EM on the proportions over all topics find the document's topics, and
    each topic starts with a table of its own. A round repeats line 8's gamma and line 9's phi until
    the tables' words change by at most `tolerance` of the document; then each table chooses its
    topics, line 8's zeta. Tables are kept sorted by their words, which never lowers the bound
    unless alpha is above 1, and then only by the last two of T tables (docs/derivations.md).

    Writes tables, most words first, their topics, and theta: (words of k + alpha sigma_k) / (words
    + alpha).
    """
    indptr, local, counts = batch
    rows, sigma, Elog_sigma = corpus
    T = limits.T
    alpha = limits.alpha
    tolerance = limits.tolerance
    tables, topics, n_topics, zeta, n_tables, theta = posterior
    kind = rows.dtype.type
    K = theta.shape[1]
    C = zeta.shape[2]
    longest = longest_of(start, stop, indptr)
    scratch = HDPScratch(
        n_dw=np.empty(longest, rows.dtype),
        shortlist=np.empty(C, np.int32),
        block=np.empty((C + T, longest), rows.dtype),
        logs=np.empty((C, longest), rows.dtype),
        line=np.empty(T, np.int32),
        order=np.empty(T, np.int32),
        words=np.empty(max(C, T), rows.dtype),
        weight=np.empty(T, rows.dtype),
        chosen=np.empty((T, C), rows.dtype),
        at_tables=np.empty(T * longest, rows.dtype),
        mixture=np.empty(longest, rows.dtype),
        ratio=np.empty(longest, rows.dtype),
    )
    n_dw = scratch.n_dw
    shortlist = scratch.shortlist
    block = scratch.block
    line = scratch.line
    order = scratch.order
    words = scratch.words
    weight = scratch.weight
    chosen = scratch.chosen
    at_tables = scratch.at_tables
    mixture = scratch.mixture
    ratio = scratch.ratio
    expected = np.empty(rows.shape[1], rows.dtype)
    prior = np.empty(rows.shape[1], rows.dtype)
    for k in range(rows.shape[1]):
        prior[k] = alpha * sigma[k]
    for d in range(start, stop):
        first = indptr[d]
        n = indptr[d + 1] - first
        for j in range(n):
            n_dw[j] = kind(counts[first + j])
        # A separate loop: in one that also stores, the order of the sum would depend on where the
        # arrays lie.
        total = kind(0)
        for j in range(n):
            total += n_dw[j]
        for k in range(K):
            theta[d, k] = prior[k]
        if n > 0:
            row_of = local[first : first + n]
            soft_em(n, row_of, n_dw, rows, prior, limits.em_steps, expected)
            c = fill_shortlist(K, expected, limits.fewest_words, C, shortlist, words)
            gather(n, c, row_of, rows, scratch)
            t = min(T, c)
            for i in range(t):
                line[i] = i
                order[i] = i
            for round_ in range(limits.rounds):
                settle(n, t, T, alpha, float(tolerance * total), limits.iterations, scratch)
                for i in range(t):
                    for j in range(n):
                        at_tables[i * n + j] = weight[i] * block[line[i], j] * ratio[j]
                # Line 8, zeta; not after the last round, whose tables are returned with their zeta.
                last = round_ == limits.rounds - 1
                if not last and not choose_topics(t, c, n, limits.one_topic, Elog_sigma, scratch):
                    break
            sort_tables(t, words, order)
            weigh_tables(t, T, alpha, words, order, weight)
            add_lines(t, n, weight, line, block, mixture)
            for rank in range(t):
                i = order[rank]
                value = kind(0)
                for j in range(n):
                    share = weight[i] * block[line[i], j] * n_dw[j] / (mixture[j] + kind(1e-30))
                    tables[first + j, rank] = share
                    value += share
                for a in range(c):
                    zeta[d, rank, a] = chosen[i, a]
                    theta[d, shortlist[a]] += chosen[i, a] * value
            for a in range(c):
                topics[d, a] = shortlist[a]
            n_topics[d] = c
            n_tables[d] = t
        inverse = kind(1 / (total + alpha))
        for k in range(K):
            theta[d, k] *= inverse


@part
def gather(n: int, c: int, row_of: Ids, rows: Floats, scratch: HDPScratch) -> None:
    """The words' entries of the topics on the shortlist, and their logarithms."""
    shortlist = scratch.shortlist
    block = scratch.block
    logs = scratch.logs
    for j in range(n):
        u = row_of[j]
        for a in range(c):
            block[a, j] = rows[u, shortlist[a]]
    for a in range(c):
        log_first(n, block[a], logs[a])


@part
def settle(
    n: int,
    t: int,
    T: int,
    alpha: float,
    tolerated: float,
    iterations: int,
    scratch: HDPScratch,
) -> None:
    """The updates of a round: line 8's gamma and line 9's phi in turn, until the words of the
    tables change no more than is tolerated."""
    n_dw = scratch.n_dw
    block = scratch.block
    line = scratch.line
    order = scratch.order
    words = scratch.words
    weight = scratch.weight
    mixture = scratch.mixture
    ratio = scratch.ratio
    kind = block.dtype.type
    for _ in range(iterations):
        sort_tables(t, words, order)
        weigh_tables(t, T, alpha, words, order, weight)
        # n_dw phi_dwi = ratio weight_i row_w of the table's topics.
        add_lines(t, n, weight, line, block, mixture)
        for j in range(n):
            ratio[j] = n_dw[j] / (mixture[j] + kind(1e-30))
        change = 0.0
        for i in range(t):
            value = weight[i] * dot(n, block[line[i]], ratio)
            change += abs(value - words[i])
            words[i] = value
        if change <= tolerated:
            break


@part
def fill_shortlist(
    K: int,
    expected: Floats,
    fewest_words: float,
    most: int,
    topics: Ids,
    words: Floats,
) -> int:
    """Put the topics with more than `fewest_words` expected words into `topics`, largest first, and
    their expected words into `words`.

    They are at most `most`, and at least one. Returns their number.
    """
    c = 0
    for k in range(K):
        value = expected[k]
        if value > fewest_words and (c < most or value > words[c - 1]):
            c = min(c + 1, most)
            i = c - 1
            while i > 0 and words[i - 1] < value:
                words[i] = words[i - 1]
                topics[i] = topics[i - 1]
                i -= 1
            words[i] = value
            topics[i] = k
    if c == 0:
        topics[0] = np.argmax(expected[:K])
        words[0] = expected[topics[0]]
        c = 1
    return c


@kernel
def sort_tables(t: int, words: Floats, order: Ids) -> None:
    """Sort `order`, the tables with most words first; it is almost sorted already."""
    for a in range(1, t):
        table = order[a]
        i = a
        while i > 0 and words[order[i - 1]] < words[table]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = table


@kernel
def weigh_tables(t: int, T: int, alpha: float, words: Floats, order: Ids, weight: Floats) -> None:
    """weight_i = exp(E[log sigma_i(pi)]) up to a constant, sticks in `order`; line 8's gamma."""
    gamma = np.empty(t, words.dtype)
    value = np.empty(t, words.dtype)
    rest = 0.0
    for a in range(t):
        rest += words[order[a]]
        # The last of T sticks takes all that is left: exp(psi(gamma2)) of the stick before it.
        gamma[a] = (1.0 if a < T - 1 else alpha) + words[order[a]]
    exp_digamma_first(t, gamma, value)
    fallen = 0.0
    for a in range(t):
        if a < T - 1:
            fallen += 1.0 / (alpha + max(rest, 0.0))
        weight[order[a]] = value[a] * math.exp(-fallen)
        rest -= words[order[a]]


@part
def choose_topics(
    t: int,
    c: int,
    n: int,
    one_topic: float,
    Elog_sigma: Floats,
    scratch: HDPScratch,
) -> bool:
    """zeta_i^k ∝ exp(E[log sigma_k] + sum_w n_dw phi_dwi E[log beta_kw]), line 8, over the
    shortlist.

    A table whose other topics together have less than `one_topic` times the probability of the
    likeliest has only the likeliest. Sets each table's line: that of its one topic or, for several
    topics, a new line of the block, exp(sum_k zeta E[log beta_k]). Returns whether another round
    may help: a table has taken another topic, or several.
    """
    shortlist = scratch.shortlist
    block = scratch.block
    logs = scratch.logs
    line = scratch.line
    zeta = scratch.chosen
    at_tables = scratch.at_tables
    kind = block.dtype.type
    C = logs.shape[0]
    changed = False
    for i in range(t):
        largest = -np.inf
        winner = 0
        for a in range(c):
            value = dot(n, at_tables[i * n : i * n + n], logs[a]) + Elog_sigma[shortlist[a]]
            zeta[i, a] = value
            if value > largest:
                largest = value
                winner = a
        total = 0.0
        for a in range(c):
            zeta[i, a] = math.exp(zeta[i, a] - kind(largest))
            total += zeta[i, a]
        if total < 1 + one_topic:
            for a in range(c):
                zeta[i, a] = 1 if a == winner else 0
            changed |= line[i] != winner
            line[i] = winner
        else:
            changed = True
            for j in range(n):
                block[C + i, j] = 0
            for a in range(c):
                if zeta[i, a] > 0:
                    zeta[i, a] /= kind(total)
                    for j in range(n):
                        block[C + i, j] += zeta[i, a] * logs[a, j]
            for j in range(n):
                block[C + i, j] = math.exp(block[C + i, j])
            line[i] = C + i
    return changed


@kernel
def sum_statistics(
    start: int,
    stop: int,
    occurrences: Occurrences,
    posterior: Tables,
    sums: Floats,
    mass: Vector,
) -> None:
    """sums[u, k] = sum_d sum_i zeta_di^k n_dw phi_dwi for words start to stop, [SVI13] fig. 9 line
    11.

    sums: (U, K) floats; their sums over the words are added to mass, (K,).
    """
    indptr, entries, documents = occurrences
    tables = posterior.tables
    topics = posterior.topics
    n_topics = posterior.n_topics
    zeta = posterior.zeta
    n_tables = posterior.n_tables
    C = topics.shape[1]
    words = np.empty(C, sums.dtype)
    for u in range(start, stop):
        total = sums[u]
        total[:] = 0
        for e in range(indptr[u], indptr[u + 1]):
            entry = entries[e]
            d = documents[entry]
            words[:] = 0
            for i in range(n_tables[d]):
                for a in range(C):
                    words[a] += tables[entry, i] * zeta[d, i, a]
            for a in range(n_topics[d]):
                total[topics[d, a]] += words[a]
        for k in range(total.size):
            mass[k] += total[k]


@kernel
def add_tables(posterior: Tables, chosen: Vector) -> None:
    """chosen[k] += sum_d sum_i zeta_di^k: the tables of each topic, [SVI13] fig. 9 line 11."""
    topics = posterior.topics
    n_topics = posterior.n_topics
    zeta = posterior.zeta
    n_tables = posterior.n_tables
    for d in range(n_topics.size):
        for i in range(n_tables[d]):
            for a in range(n_topics[d]):
                chosen[topics[d, a]] += zeta[d, i, a]

"""The E-step of variational LDA, [H10] algorithm 2 and [SVI13] figure 6: its loops, its functions,
and Newton's steps for alpha and eta.

| symbol | shape and type | meaning |
|---|---|---|
| start, stop | numbers | the range of documents, or words, of a call |
| batch | | the documents' words as rows, and n_dw: `minibatch.Entries` |
| rows | (U, K') floats | exp(E[log beta]) of the words, each row divided by its sum; K padded |
| alpha | (K,) floats | Dirichlet parameter of the proportions |
| psi_alpha | (K,) float64 | psi(alpha) |
| gamma | (D, K) floats | variational Dirichlet of the proportions |
| x | (D, K') floats | exp(psi(gamma)) of the topics active in a document, 0 for the others |
| ratio | (N,) floats | n_dw / sum_k x_dk rows_wk, so that n_dw phi_dwk = ratio x_dk rows_wk |
| excess | (K,) float64 | sum_d psi(gamma_dk) - psi(alpha_k) |
| sums | (U, K) floats | sum_d n_dw phi_dwk |
| mass | (K,) float64 | the sums of `sums` over the words |

phi does not change when a word's row, or a document's x, is multiplied by a constant. So neither
needs normalising by psi(sum gamma), and rows are kept within the range of float32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln, polygamma, psi

from wikitopics.compiled import kernel, part
from wikitopics.model.kernels import (
    LANES,
    add_lines,
    dot_lines,
    exp_digamma_first,
    longest_of,
    padded,
)
from wikitopics.model.lambda_ import WORD_BLOCK, Lambda, Statistics
from wikitopics.model.minibatch import Entries, Floats, Indices, Occurrences, Vector, Words
from wikitopics.model.options import LARGEST_PRIOR
from wikitopics.model.threads import Threads

# The loops, on minibatches.

OVER_ALL_TOPICS = 6
"""The most iterations of a document over all topics before the active ones are gathered."""


class LDALimits(NamedTuple):
    """Limits of a document's E-step.

    tolerance, max_iterations: see `OnlineLDA`
    drop: see `schedules.CollapsedStart`
    """

    tolerance: float
    max_iterations: int
    drop: float


class Documents(NamedTuple):
    """The variational distribution of D documents with N entries.

    gamma (D, K); x (D, K') and ratio (N,), from which phi follows; excess (K,): see the table at
    the top of this module.
    """

    gamma: Floats
    x: Floats
    ratio: Floats
    excess: Vector


class Scratch(NamedTuple):
    """Memory for one document of n words.

    Once few topics are active, they are gathered. From then on, `expected`, `value`, `x` and `g`
    have the active topics only, in their order.

    words: (n,) the rows of its words
    n_dw: (n,) the counts of its words
    mixture: (n,) sum_k x_k rows_wk
    r: (n,) n_dw / mixture
    block: (K, n) the words' entries of the gathered topics, a line for each topic
    line: (K,) the line in `block` of each active topic
    topic: (K,) the number of each active topic
    expected: (K') the words of each topic, gamma - alpha
    value: (K') sum_w r_w rows_wk: times x, the words of each topic after the next iteration
    x: (K') exp(psi(gamma))
    g: (K,) gamma
    """

    words: Indices
    n_dw: Floats
    mixture: Floats
    r: Floats
    block: Floats
    line: Indices
    topic: Indices
    expected: Floats
    value: Floats
    x: Floats
    g: Floats


@kernel
def e_step_kernel(
    start: int,
    stop: int,
    batch: Entries,
    rows: Floats,
    alpha: Floats,
    psi_alpha: Vector,
    limits: LDALimits,
    resume: bool,
    posterior: Documents,
    excess: Vector,
) -> None:
    """Coordinate ascent in gamma and phi for documents start to stop.

    The ascent starts from gamma = 1 ([SVI13] fig. 6 line 5) or, with `resume`, from the gamma in
    `posterior`. It ends when sum_k |change of gamma_k| is at most `tolerance` times the document's
    words, or after `max_iterations`. A topic leaves a document once it has fewer than `drop`
    expected words there.

    Writes gamma, x and ratio, and adds psi(gamma_k) - psi(alpha_k) of the active topics to excess.
    """
    indptr, local, counts = batch
    gamma = posterior.gamma
    x_of_documents = posterior.x
    ratio = posterior.ratio
    K = alpha.size
    wide_line = rows.shape[1]
    longest = longest_of(start, stop, indptr)
    # An odd number of registers per line, so that lines spread over the sets of the cache.
    registers = padded(longest) // LANES
    if registers % 2 == 0:
        registers += 1
    length = registers * LANES
    scratch = Scratch(
        words=np.empty(longest, np.int64),
        n_dw=np.empty(longest, rows.dtype),
        mixture=np.empty(length, rows.dtype),
        r=np.empty(length, rows.dtype),
        block=np.empty((K, length), rows.dtype),
        line=np.empty(K, np.int64),
        topic=np.empty(K, np.int64),
        expected=np.empty(wide_line, rows.dtype),
        value=np.empty(wide_line, rows.dtype),
        x=np.empty(wide_line, rows.dtype),
        g=np.empty(K, rows.dtype),
    )
    words = scratch.words
    n_dw = scratch.n_dw
    r = scratch.r
    topic = scratch.topic
    expected = scratch.expected
    x = scratch.x
    g = scratch.g
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
            x_of_documents[d, k] = 0
        if n == 0:
            continue
        if not resume:
            # First iteration: x is the same for all topics, so phi_w is the word's row.
            add_lines(n, wide_line, n_dw, words, rows, expected)
        fewest_words = min(limits.drop, 0.1 * total / K)
        tolerated = limits.tolerance * total
        iterations = min(limits.max_iterations, OVER_ALL_TOPICS)
        done, change = over_all_topics(n, rows, alpha, fewest_words, tolerated, iterations, scratch)
        active = gather(n, rows, alpha, fewest_words, scratch)
        iterations = limits.max_iterations - done
        active = over_active_topics(
            n,
            alpha,
            fewest_words,
            tolerated,
            change,
            iterations,
            active,
            scratch,
        )
        for j in range(n):
            ratio[first + j] = r[j]
        for a in range(active):
            k = topic[a]
            gamma[d, k] = g[a]
            x_of_documents[d, k] = x[a]
            excess[k] += math.log(x[a]) - psi_alpha[k]


@part
def over_all_topics(
    n: int,
    rows: Floats,
    alpha: Floats,
    fewest_words: float,
    tolerated: float,
    iterations: int,
    scratch: Scratch,
) -> tuple[int, float]:
    """Iterate while most topics are active, over the words' rows in place; x = 0 for dropped
    topics.

    Returns the number of iterations, and the change of gamma in the last one.
    """
    words = scratch.words
    n_dw = scratch.n_dw
    mixture = scratch.mixture
    r = scratch.r
    expected = scratch.expected
    value = scratch.value
    x = scratch.x
    g = scratch.g
    K = alpha.size
    done = 0
    change = np.inf
    active = K
    while done < iterations and change > tolerated and active > K // 4:
        for k in range(K):
            g[k] = alpha[k] + expected[k]
        exp_digamma_first(K, g, x)
        if done > 0:
            for k in range(K):
                if expected[k] <= fewest_words:
                    x[k] = 0
        done += 1
        dot_lines(n, rows.shape[1], x, words, rows, mixture)
        for j in range(n):
            r[j] = n_dw[j] / mixture[j]
        add_lines(n, rows.shape[1], r, words, rows, value)
        change = 0.0
        active = 0
        for k in range(K):
            new = x[k] * value[k]
            change += abs(new - expected[k])
            expected[k] = new
            if new > fewest_words:
                active += 1
    return done, change


@part
def gather(n: int, rows: Floats, alpha: Floats, fewest_words: float, scratch: Scratch) -> int:
    """Gather the words' entries of the active topics, a line for each topic; returns how many
    topics there are. Pads the lines and r with zeros."""
    words = scratch.words
    r = scratch.r
    block = scratch.block
    line = scratch.line
    topic = scratch.topic
    expected = scratch.expected
    g = scratch.g
    active = np.int64(0)  # not a literal: see `part`
    for k in range(alpha.size):
        if expected[k] > fewest_words:
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
    fewest_words: float,
    tolerated: float,
    change: float,
    iterations: int,
    active: int,
    scratch: Scratch,
) -> int:
    """Iterate over the active topics only, until `change` is tolerated; returns how many are
    left."""
    n_dw = scratch.n_dw
    mixture = scratch.mixture
    r = scratch.r
    block = scratch.block
    line = scratch.line
    topic = scratch.topic
    expected = scratch.expected
    value = scratch.value
    x = scratch.x
    g = scratch.g
    n_padded = padded(n)
    while True:
        exp_digamma_first(active, g, x)
        add_lines(active, n_padded, x, line, block, mixture)
        for j in range(n):
            r[j] = n_dw[j] / mixture[j]
        if change <= tolerated or iterations <= 0:
            return active
        iterations -= 1
        dot_lines(active, n_padded, r, line, block, value)
        change = 0.0
        kept = 0
        for a in range(active):
            # gamma_k = alpha_k + sum_w n_w phi_wk, [H10] eq. 5
            new = x[a] * value[a]
            change += abs(new - expected[a])
            if new > fewest_words:
                topic[kept] = topic[a]
                line[kept] = line[a]
                expected[kept] = new
                g[kept] = alpha[topic[a]] + new
                kept += 1
        active = kept


@kernel
def sum_statistics_kernel(
    start: int,
    stop: int,
    words: Occurrences,
    posterior: Documents,
    rows: Floats,
    sums: Floats,
    mass: Vector,
) -> None:
    """sums[u] = sum_d n_dw phi_dw for words start to stop; also added to mass."""
    indptr, entries, documents = words
    x = posterior.x
    ratio = posterior.ratio
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


# The functions: from documents and topics to gamma and statistics.
#
# They are pure: they change none of their arguments. `words` are those of a minibatch, `rows` are
# `Lambda.exp_Elog_rows` of these words, and alpha is (K,) float64.

DOCUMENT_BLOCK = 128
"""The number of documents of a block of work."""


@dataclass(frozen=True)
class LDAStatistics(Statistics):
    """The statistics that the steps of lambda and alpha need.

    documents: S, the size of the minibatch
    excess: (K,) sum_d psi(gamma_dk) - psi(alpha_k)
    growth: sum_d psi(sum_k gamma_dk) - psi(sum_k alpha_k)
    """

    documents: int
    excess: Vector
    growth: float

    def sum_Elog_theta(self, alpha: Vector) -> Vector:
        """(K,) sum_d E[log theta_dk], where E[log theta_dk] = psi(gamma_dk) - psi(sum_k gamma_dk);
        alpha: that of the E-step."""
        sums: Vector = self.excess - self.growth + self.documents * (psi(alpha) - psi(alpha.sum()))
        return sums


def e_step(
    words: Words,
    rows: Floats,
    alpha: Vector,
    limits: LDALimits,
    workers: Threads,
) -> tuple[Floats, LDAStatistics]:
    """gamma (D, K) of a minibatch, with the topics held fixed (see `ascend`), and the statistics
    for the M-step."""
    batch = words.batch
    posterior = ascend(words, rows, alpha, limits, workers)
    sums, mass = sum_statistics(words, rows, posterior, workers)
    sum_alpha = alpha.sum()
    sum_gamma = sum_alpha + batch.lengths()
    growth = float(np.sum(psi(sum_gamma) - psi(sum_alpha)))
    return posterior.gamma, LDAStatistics(words.ids, sums, mass, batch.D, posterior.excess, growth)


def ascend(
    words: Words,
    rows: Floats,
    alpha: Vector,
    limits: LDALimits,
    workers: Threads,
    start: Floats | None = None,
) -> Documents:
    """Coordinate ascent in gamma and phi of every document, with the topics held fixed.

    start: (D, K) gamma to continue from, or None for gamma = 1
    """
    D = words.batch.D
    N = len(words.entries.local)
    K = len(alpha)
    dtype = rows.dtype
    resume = start is not None
    gamma = np.empty((D, K), dtype) if start is None else start.astype(dtype)
    posterior = Documents(
        gamma=gamma,
        x=np.empty((D, rows.shape[1]), dtype),
        ratio=np.empty(N, dtype),
        excess=np.zeros(K),
    )
    if dtype != np.float32:
        limits = limits._replace(drop=0.0)
    arguments = (words.entries, rows, alpha.astype(dtype), psi(alpha), limits, resume, posterior)
    excess = workers.total(e_step_kernel, D, DOCUMENT_BLOCK, K, *arguments)
    return posterior._replace(excess=excess)


def sum_statistics(
    words: Words,
    rows: Floats,
    found: Documents,
    workers: Threads,
) -> tuple[Floats, Vector]:
    """sum_d n_dw phi_dwk, (U, K), and its sums over the words, (K,)."""
    U = len(words.ids)
    K = len(found.excess)
    sums = np.empty((U, K), rows.dtype)
    kernel = sum_statistics_kernel
    mass = workers.total(kernel, U, WORD_BLOCK, K, words.occurrences(), found, rows, sums)
    return sums, mass


def document_bounds(
    topics: Lambda,
    words: Words,
    rows: Floats,
    alpha: Vector,
    found: Documents,
) -> Vector:
    """(D,) each document's terms of the ELBO, [H10] eq. 3, with phi at its optimum for gamma.

    Only for rows without balance. docs/derivations.md: topics inactive in a document add nothing.
    """
    batch = words.batch
    gamma = found.gamma.astype(np.float64)
    psi_sum = psi(gamma.sum(axis=1))
    # First sum_w n_w log sum_k exp(E[log theta_k] + E[log beta_kw]). It follows from `ratio`, since
    # n_w / ratio = sum_k exp(psi(gamma_k)) rows_wk, and from the divisors of the rows,
    # sum_k exp(E[log beta_kw]), which follow from each row's largest entry.
    largest_topic = rows.argmax(axis=1)
    hat = topics.hat[words.ids, largest_topic].astype(np.float64)
    lambda_ = topics.eta + topics.scale * hat
    Elog_beta = psi(lambda_) - psi(topics.totals())[largest_topic]
    largest = rows[np.arange(len(words.ids)), largest_topic]
    log_divisors = Elog_beta - np.log(largest, dtype=np.float64)
    log_mixtures = np.log(batch.counts) - np.log(found.ratio, dtype=np.float64)
    log_mixtures += log_divisors[words.entries.local]
    of_entries = batch.counts * (log_mixtures - psi_sum[batch.documents()])
    sums_before = np.concatenate([[0.0], np.cumsum(of_entries)])
    elbo: Vector = sums_before[batch.indptr[1:]] - sums_before[batch.indptr[:-1]]
    # Then E[log p(theta | alpha)] - E[log q(theta)].
    d, k = np.nonzero(found.gamma != alpha.astype(found.gamma.dtype))  # active topics
    active = gamma[d, k]
    prior = alpha[k]
    terms = (prior - active) * (psi(active) - psi_sum[d]) + gammaln(active) - gammaln(prior)
    elbo += np.bincount(d, terms, minlength=batch.D)
    elbo += gammaln(alpha.sum()) - gammaln(gamma.sum(axis=1))
    return elbo


# Dirichlet parameters by [H10] section 2.2's Newton steps, linear in K; docs/derivations.md derives
# them.


def alpha_step(alpha: Vector, documents: int, sum_Elog_theta: Vector) -> Vector:
    """(K,) H^-1 g for the bound of a minibatch as a function of alpha, in time O(K).

    sum_Elog_theta: (K,) sum over the documents of E[log theta_dk].
    g_k = S (psi(sum alpha) - psi(alpha_k)) + sum_d E[log theta_dk]; H = diag(h) + z 1 1^T.
    """
    if len(alpha) == 1:
        return np.zeros(1)  # the only topic has proportion 1, whatever alpha is
    total = alpha.sum()
    g = documents * (psi(total) - psi(alpha)) + sum_Elog_theta
    h = -documents * polygamma(1, alpha)
    z = documents * polygamma(1, total)
    b = np.sum(g / h) / (1 / z + np.sum(1 / h))  # the matrix inversion lemma
    step: Vector = (g - b) / h
    return step


def eta_step(eta: float, K: int, W: int, sum_Elog_beta: float) -> float:
    """H^-1 g for the topics' part of the bound as a function of eta; sum_Elog_beta: over topics and
    words."""
    if W == 1:
        return 0.0  # the only word has probability 1, whatever eta is
    g = K * W * (psi(W * eta) - psi(eta)) + sum_Elog_beta
    H = K * W * (W * polygamma(1, W * eta) - polygamma(1, eta))
    return float(g / H)


Parameter = TypeVar("Parameter", float, Vector)


def descend(parameter: Parameter, rho: float, step: Parameter) -> Parameter:
    """parameter - rho step, for numbers or vectors; each component is at most halved, so it stays
    positive.

    It stays below the largest prior, too: beyond that, the curvature is lost in rounding, and the
    next step would divide by 0.
    """
    stepped: Parameter = np.clip(parameter - rho * step, parameter / 2, LARGEST_PRIOR)
    return stepped

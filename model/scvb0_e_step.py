"""SCVB0's E-step, the inner loops of [F13] algorithm 2: from documents and topics to proportions
and statistics.

These functions are pure: they change none of their arguments. `words` are the distinct words of a
minibatch, and `rows` are `word_rows` of these words. U, D and K are the numbers of these words, of
documents and of topics; K' is K padded to whole vector registers. The loops are in
`scvb0_kernels.py`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from wikitopics.model.kernels import padded
from wikitopics.model.lambda_ import Lambda, Statistics
from wikitopics.model.minibatch import Floats, Indices, Minibatch, Vector, Words, sound
from wikitopics.model.schedules import THETA_STEPS, StepSizes
from wikitopics.model.scvb0_kernels import (
    PackedRows,
    Passes,
    active_documents,
    documents,
    pack_rows,
    paired_documents,
    sum_statistics,
)
from wikitopics.model.threads import Threads

DOCUMENT_BLOCK = 512
"""The fewest documents of a block of statistics."""
MAX_BLOCKS = 8
"""The most blocks of statistics; with more documents, blocks are larger."""
MAX_CELLS = 16_000_000
"""The most numbers in all blocks of statistics together, if there is more than one block."""
INFERENCE_BLOCK = 256
"""The number of documents of a block of work, where no statistics are needed."""
SUM_BLOCK = 2048
"""The number of words of a block of work."""
MANY_TOPICS = 256
"""From this many topics on, learning reads packed rows (decision 0059), and `infer` treats all but
a document's active topics as one (decision 0045)."""
ACTIVE = 3.5
"""The number of active topics, counting all others as one, as a multiple of sqrt(K); it is rounded
up to whole registers (decision 0045)."""


class ThetaPasses(NamedTuple):
    """How a document's proportions are found: by `n` passes over its words.

    alpha: (K,) the prior of the proportions
    steps: the step sizes
    sums_last_pass: whether the proportions are those of all words in the last pass (decision 0062);
        otherwise N_theta's, as in [F13], in which the last words of a long document count most
    """

    alpha: Vector
    n: int
    steps: StepSizes = THETA_STEPS
    sums_last_pass: bool = True


def word_rows(topics: Lambda, words: Words, balance: Vector, workers: Threads) -> Floats:
    """(U, K') (N_phi + eta) / (N_Z + W eta), the first factor of [F13] eq. 5, times balance, (K,),
    up to one constant."""
    weight = balance / topics.totals()
    return topics.weighted_rows(words.ids, weight / weight.max(), workers)


def e_step(
    words: Words,
    rows: Floats,
    passes: ThetaPasses,
    workers: Threads,
    parts: Floats | None = None,
) -> tuple[Floats, Statistics]:
    """(D, K) alpha plus the words expected of each topic, and the statistics of the last pass.

    parts: (D,) the part of each document that statistics are of; None: the whole documents
    """
    D = words.batch.D
    K = len(passes.alpha)
    U, K_padded = rows.shape
    packs = K >= MANY_TOPICS and rows.dtype == np.float32
    if packs:
        K_padded = 2 * padded((K_padded + 1) // 2)
    blocks_that_fit = MAX_CELLS // max(1, U * K_padded)
    most_blocks = max(1, min(MAX_BLOCKS, blocks_that_fit))
    size = max(DOCUMENT_BLOCK, math.ceil(D / most_blocks))
    n_blocks = math.ceil(D / size)
    blocks = np.zeros((n_blocks, U, K_padded), rows.dtype)
    theta = _run_passes(words, rows, passes, size, blocks, workers, parts, packs)
    mass = workers.total(sum_statistics, U, SUM_BLOCK, K, blocks)
    return theta, Statistics(words.ids, blocks[0], mass)


def inferred(
    batch: Minibatch,
    topics: Lambda,
    apart: float,
    passes: ThetaPasses,
    workers: Threads,
) -> NDArray[np.float32]:
    """(D, K) proportions after the passes over each document, with the topics held fixed, as read.

    This is how every model infers by default. Raises ValueError for a word id out of range.
    """
    words = sound(batch).words(topics.n_words)
    rows = topics.read_rows(words.ids, apart, workers)
    no_sums = np.empty((1, 0, rows.shape[1]), rows.dtype)
    theta = _run_passes(words, rows, passes, INFERENCE_BLOCK, no_sums, workers)
    return proportions(theta, workers)


def _run_passes(
    words: Words,
    rows: Floats,
    passes: ThetaPasses,
    size: int,
    blocks: Floats,
    workers: Threads,
    parts: Floats | None = None,
    packs: bool = False,
) -> Floats:
    """(D, K) alpha plus the words expected of each topic, in blocks of `size` documents.

    blocks: (blocks, U, K') to which the sums of m gamma over the last pass are written; (1, 0, K'):
    nowhere. In that case, of many topics only the active ones are treated separately
    packs: whether to pack the rows, to the width of the blocks
    """
    alpha, n, steps, sums_last_pass = passes
    D = words.batch.D
    K = len(alpha)
    _, U, K_padded = blocks.shape
    dtype = rows.dtype
    longest = int(np.diff(words.entries.indptr).max(initial=0))
    keep = steps.keep(n * longest).astype(dtype)
    padded_alpha = np.zeros(K_padded, dtype)
    padded_alpha[:K] = alpha
    theta = np.empty((D, K_padded), dtype)
    passes_padded = Passes(padded_alpha, keep, n, sums_last_pass)
    if U == 0 and K >= MANY_TOPICS:
        n_active = padded(round(ACTIVE * K**0.5)) - 1  # the others take one place
        _run_over_active(words, rows, passes_padded, n_active, size, theta, workers)
        return theta[:, :K]

    if parts is None:
        parts = np.ones(D)
    parts = parts.astype(dtype)
    packed = PackedRows(np.empty((U, K_padded // 2), np.uint32), np.empty(U, dtype))
    if packs:
        workers.run(pack_rows, U, SUM_BLOCK, rows, padded_alpha, packed)

    def run_block(start: int, stop: int) -> None:
        block = blocks[start // size if U else 0]
        if packs:
            paired_documents(start, stop, words.entries, packed, passes_padded, theta, parts, block)
        else:
            documents(start, stop, words.entries, rows, passes_padded, theta, parts, block)

    workers.map(run_block, D, size)
    return theta[:, :K]


def _run_over_active(
    words: Words,
    rows: Floats,
    passes: Passes,
    n_active: int,
    size: int,
    theta: Floats,
    workers: Threads,
) -> None:
    """Fill in theta, (D, K'), from each document's active topics and all others as one, in blocks
    of `size` documents: `active_documents`."""
    flat = np.cbrt(passes.alpha)
    expected = np.empty((2, len(rows)), rows.dtype)

    def expect(start: int, stop: int) -> None:
        for number, prior in enumerate((passes.alpha, flat)):
            expected[number, start:stop] = np.einsum("uk,k->u", rows[start:stop], prior)

    workers.map(expect, len(rows), SUM_BLOCK)
    arguments = (words.entries, rows, passes, theta, flat, expected, n_active)
    workers.run(active_documents, len(theta), size, *arguments)


def proportions(theta: Floats, workers: Threads) -> NDArray[np.float32]:
    """(D, K) E[theta]: `theta` of `e_step`, or variational LDA's gamma, with rows scaled to sum
    to 1."""
    proportions = np.empty(theta.shape, np.float32)

    def scale(start: int, stop: int) -> None:
        rows = theta[start:stop]
        proportions[start:stop] = rows / rows.sum(axis=1, keepdims=True)

    workers.map(scale, len(theta), INFERENCE_BLOCK)
    return proportions


def sum_Elog_theta(theta: Floats, lengths: Indices | Vector, alpha: Vector) -> tuple[Vector, int]:
    """(K,) sum of E[log theta] over documents with words, and the number of these documents.

    If the topics of the words of a document j were known, N_k of its C_j words having topic k, then
    E[log theta_k] = psi(alpha_k + N_k) - psi(sum alpha + C_j). N_theta is the mean n of N, but psi
    is too curved near 0 to be evaluated at the mean. So N = 0, with probability exp(-n), and N > 0,
    at its mean, are treated separately (docs/derivations.md).

    theta: as from `e_step`; lengths: (D,) words in each document
    """
    has_words = lengths > 0
    C_j = lengths[has_words]
    n = np.maximum(theta[has_words] - alpha, 1e-12)
    p_some = -np.expm1(-n)  # the probability that N > 0
    mean_if_some = n / p_some
    Elog_theta = psi(alpha) + p_some * (psi(alpha + mean_if_some) - psi(alpha))
    Elog_theta -= psi(alpha.sum() + C_j)[:, None]
    sums: Vector = Elog_theta.sum(axis=0)
    return sums, len(C_j)

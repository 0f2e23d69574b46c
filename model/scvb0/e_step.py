"""SCVB0's E-step, [F13] algorithm 2, its inner loops: from documents and topics to N_theta and statistics.

These functions are pure: they change none of their arguments. `words` are the distinct words of a minibatch,
and `rows` are `word_rows` of these words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from wikitopics.model.lambda_ import Statistics, Topics, Vector
from wikitopics.model.minibatch import Minibatch, Words
from wikitopics.model.schedules import THETA_STEPS, StepSizes
from wikitopics.model.scvb0 import kernels
from wikitopics.model.workers import Workers

DOCUMENT_BLOCK = 512  # documents in a block of statistics, or more: at most MAX_BLOCKS blocks
MAX_BLOCKS = 8
MAX_CELLS = 16_000_000  # of all blocks of statistics together, as long as there is more than one
INFERENCE_BLOCK = 256
SUM_BLOCK = 2048


def word_rows(topics: Topics, words: Words, balance: Vector, workers: Workers) -> NDArray[Any]:
    """(U, K') (N_phi + eta) / (N_Z + W eta) times balance, (K,), up to one constant: eq. 5's first factor."""
    weight = balance / topics.totals()
    return topics.weighted_rows(words.ids, weight / weight.max(), workers)


def e_step(
    batch: Minibatch,
    words: Words,
    rows: NDArray[Any],
    alpha: Vector,
    n: int,
    workers: Workers,
    steps: StepSizes = THETA_STEPS,
) -> tuple[NDArray[Any], Statistics]:
    """N_theta + alpha after n passes, (D, K), and the sums of m gamma over the last of them."""
    K, U, K_padded = len(alpha), *rows.shape
    blocks_at_most = max(1, min(MAX_BLOCKS, MAX_CELLS // max(1, U * K_padded)))
    size = max(DOCUMENT_BLOCK, -(-batch.D // blocks_at_most))
    blocks = np.empty((-(-batch.D // size), U, K_padded), rows.dtype)
    theta = _passes(batch, words, rows, alpha, steps, n, size, blocks, workers)

    def block(start: int, stop: int) -> Vector:
        mass = np.zeros(K)
        kernels.sum_statistics(start, stop, blocks, mass)
        return mass

    mass = sum(workers.map(block, U, SUM_BLOCK), np.zeros(K))
    return theta, Statistics(words.ids, blocks[0], mass)


def inferred(
    batch: Minibatch,
    topics: Topics,
    apart: float,
    alpha: Vector,
    n: int,
    workers: Workers,
    steps: StepSizes = THETA_STEPS,
) -> NDArray[np.float32]:
    """(D, K) proportions after n passes over the words of each document, topics held fixed as they are read.

    This is how every model infers by default. Raises ValueError for a word id out of range.
    """
    words = batch.words(topics.n_words)
    rows = topics.read_rows(words.ids, apart, workers)
    nothing = np.empty((1, 0, rows.shape[1]), rows.dtype)
    return proportions(_passes(batch, words, rows, alpha, steps, n, INFERENCE_BLOCK, nothing, workers))


def _passes(
    batch: Minibatch,
    words: Words,
    rows: NDArray[Any],
    alpha: Vector,
    steps: StepSizes,
    n: int,
    size: int,
    blocks: NDArray[Any],
    workers: Workers,
) -> NDArray[Any]:
    """N_theta + alpha after n passes, (D, K), a block of `size` documents at a time.

    The sums of m gamma over the last pass are added to a block of `blocks`.

    blocks: (blocks, U, K'), or (1, 0, K') for no sums
    """
    K, dtype = len(alpha), rows.dtype
    keep = steps.keep(n * int(np.diff(batch.indptr).max(initial=0))).astype(dtype)
    padded_alpha = np.zeros(rows.shape[1], dtype)
    padded_alpha[:K] = alpha
    theta = np.empty((batch.D, rows.shape[1]), dtype)

    def block(start: int, stop: int) -> None:
        sums = blocks[start // size if blocks.shape[1] else 0]
        kernels.documents(
            start, stop, batch.indptr, words.local, batch.counts, rows, padded_alpha, keep, n, theta, sums
        )

    workers.map(block, batch.D, size)
    return theta[:, :K]


def proportions(theta: NDArray[Any]) -> NDArray[np.float32]:
    """(D, K) E[theta]: N_theta + alpha, or the gamma of variational LDA, rows scaled to sum to 1."""
    proportions: NDArray[np.float32] = (theta / theta.sum(axis=1, keepdims=True)).astype(np.float32)
    return proportions


def sum_Elog_theta(theta: NDArray[Any], lengths: NDArray[Any], alpha: Vector) -> tuple[Vector, int]:
    """(K,) sum of E[log theta] over documents with words, and how many these are; theta as of `e_step`.

    For a document whose words' topics are known, N_k of them k, E[log theta_k] = psi(alpha_k + N_k) -
    psi(sum alpha + C_j). N_theta is N's mean n, but psi is too curved near 0 to be evaluated at the mean. So
    N = 0, with probability exp(-n), and N > 0, at its mean, are treated separately (docs/derivations.md).
    """
    C_j = lengths[lengths > 0]
    n = np.maximum(theta[lengths > 0] - alpha, 1e-12)
    some = -np.expm1(-n)
    Elog_theta = psi(alpha) + some * (psi(alpha + n / some) - psi(alpha))
    Elog_theta -= psi(alpha.sum() + C_j)[:, None]
    sums: Vector = Elog_theta.sum(axis=0)
    return sums, len(C_j)

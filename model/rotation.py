"""The first topics of longer texts: rotated principal components of the first texts.

Where a model ends depends on where it starts: two runs from random topics share few of them, but
runs from the same topics end at the same ones, in any order of the texts (decision 0052). So topics
start from what the first texts themselves say. The directions in which their words vary together
are rotated until each has few words (varimax), and a topic has the words of the texts that lie in
its direction. Derivation: docs/derivations.md, "A start that comes back".

| symbol | shape | meaning |
|---|---|---|
| Y | (D, W) | (g_d n_dw)^1/2 / n_d^1/4, g_d the text's random weight |
| U, S, V | (D, K), (K,), (W, K) | the K largest singular values of Y, and their vectors |
| R | (K, K) | the rotation |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel
from wikitopics.model.kernels import add_lines
from wikitopics.model.minibatch import Entries, Floats, Ids, Matrix, Minibatch, Vector
from wikitopics.model.threads import Threads

WEIGHT_SHAPE = 2.0
"""The weights of the first texts are drawn from Gamma(WEIGHT_SHAPE), with mean 1, so that replicas,
which have the same first texts, do not start from the same topics."""
MORE_DIRECTIONS = 20
"""Directions beyond K, with which the subspace iteration needs fewer steps."""
ITERATIONS = 5
"""The steps of the subspace iteration. Of 100 first topics of full articles, 78 are those of many
steps (eight of ten words) after three, 84 after five and 93 after eight, which take a third longer
in all; what is learnt from them comes back little more often (decision 0052)."""
ROTATIONS = 60
"""The most steps of the rotation."""
SMALLEST_GAIN = 1e-4
"""The relative gain of a step of the rotation that ends it."""
ROTATED_WORDS = 1_500
"""The most words by which directions are rotated: those that vary most. With twice as many, topics
come back no more often."""
OF_ALL_WORDS = 0.1
"""The share of the mean of all words in a first topic."""
NEGLIGIBLE = 1e-6
"""The singular value, relative to the largest one, from which on a direction is nothing but
rounding errors."""
ROW_BLOCK = 512
"""The number of rows of a block of work."""


# Products of large matrices, not by BLAS, whose bits depend on its number of threads. Of a sparse
# matrix, row d has the entries indptr[d] to indptr[d+1], each with its column and its value.


@kernel
def multiply_sparse(
    start: int, stop: int, matrix: Entries, factor: Floats, product: Floats
) -> None:
    """product = matrix factor, in the rows start to stop."""
    indptr, columns, values = matrix
    for d in range(start, stop):
        first = indptr[d]
        n_entries = indptr[d + 1] - first
        add_lines(n_entries, factor.shape[1], values[first:], columns[first:], factor, product[d])


@kernel
def multiply_dense(
    start: int, stop: int, block: Floats, columns: Ids, factor: Floats, product: Floats
) -> None:
    """product = block factor, in the rows start to stop."""
    for d in range(start, stop):
        add_lines(len(columns), factor.shape[1], block[d], columns, factor, product[d])


def sparse_product(matrix: Entries, factor: Floats, workers: Threads) -> Floats:
    """The product of a sparse matrix and a dense one, float32."""
    n_rows = len(matrix.indptr) - 1
    result = np.empty((n_rows, factor.shape[1]), np.float32)
    contiguous = np.ascontiguousarray(factor, np.float32)
    workers.run(multiply_sparse, n_rows, ROW_BLOCK, matrix, contiguous, result)
    return result


def dense_product(block: Floats, factor: Floats, workers: Threads) -> Floats:
    """block factor, float32."""
    result = np.empty((len(block), factor.shape[1]), np.float32)
    columns = np.arange(len(factor), dtype=np.int32)
    contiguous = np.ascontiguousarray(factor, np.float32)
    workers.run(multiply_dense, len(block), ROW_BLOCK, block, columns, contiguous, result)
    return result


def inner_product(left: Floats, right: Floats, workers: Threads) -> Matrix:
    """left^T right of float32: float32 within a block of rows, float64 from block to block."""

    def of_block(start: int, stop: int) -> Floats:
        rows = np.arange(stop - start, dtype=np.int32)
        turned = np.ascontiguousarray(left[start:stop].T)
        sums = np.empty((left.shape[1], right.shape[1]), np.float32)
        multiply_dense(0, len(turned), turned, rows, right[start:stop], sums)
        return sums

    total = np.zeros((left.shape[1], right.shape[1]))
    for sums in workers.map(of_block, len(left), ROW_BLOCK):
        total += sums
    return total


def matrix_of(texts: Minibatch, values: NDArray[Any]) -> Entries:
    """A matrix, (D, W), float32, with these values in place of the counts."""
    return Entries(texts.indptr, texts.word_ids, values.astype(np.float32))


def transposed(matrix: Entries, n_columns: int) -> Entries:
    """The transpose of a sparse matrix, whose rows are `n_columns` long."""
    from scipy.sparse import csr_array

    indptr, columns, values = matrix
    turned = csr_array((values, columns, indptr), shape=(len(indptr) - 1, n_columns)).T.tocsr()
    return Entries(turned.indptr.astype(np.int64), turned.indices.astype(np.int32), turned.data)


def components(
    texts: Minibatch,
    n_words: int,
    n: int,
    random: np.random.Generator,
    workers: Threads,
) -> tuple[Floats, Floats]:
    """V S, (W, n), and U, (D, n), of texts with random weights, by subspace iteration (Halko,
    Martinsson and Tropp 2011); columns of 0 where the texts vary in fewer directions."""
    weights = random.gamma(WEIGHT_SHAPE, 1 / WEIGHT_SHAPE, texts.D)
    factors = weights / np.sqrt(np.maximum(texts.lengths(), 1))
    Y = matrix_of(texts, np.sqrt(texts.counts * factors[texts.documents()]))
    Y_transposed = transposed(Y, n_words)
    n_directions = min(n + MORE_DIRECTIONS, n_words, texts.D)
    directions = random.standard_normal((n_words, n_directions)).astype(np.float32)
    for _ in range(ITERATIONS):
        scores = sparse_product(Y, directions, workers)
        block = sparse_product(Y_transposed, scores, workers)
        directions, _, _ = largest_directions(block, n_directions, workers)
    scores = sparse_product(Y, directions, workers)
    U, S, turn = largest_directions(scores, n, workers)
    VS = dense_product(directions, turn * S, workers)
    return VS, U


def largest_directions(block: Floats, n: int, workers: Threads) -> tuple[Floats, Vector, Matrix]:
    """U, (any, n), S, (n,), and V, (m, n), of the n largest singular values of a narrow matrix of m
    columns; U has columns of 0 where S is `NEGLIGIBLE`."""
    squares, vectors = np.linalg.eigh(inner_product(block, block, workers))
    largest = np.argsort(-squares, kind="stable")[:n]
    S = np.sqrt(np.maximum(squares[largest], np.finfo(np.float32).tiny))
    V = vectors[:, largest]
    scaled = V / S
    is_negligible = S / S[0] <= NEGLIGIBLE
    scaled[:, is_negligible] = 0
    U = dense_product(block, scaled, workers)
    return U, S, V


def varimax(loadings: Floats, workers: Threads) -> Floats:
    """(K, K) the rotation of loadings, (W, K), that makes the variance of their squares largest
    (Kaiser 1958)."""
    variation = np.einsum("wk,wk->w", loadings, loadings)
    rows = np.sort(np.argsort(-variation, kind="stable")[:ROTATED_WORDS])
    chosen = loadings[rows].astype(np.float32)
    R: Floats = np.eye(chosen.shape[1])
    before = 0.0
    for _ in range(ROTATIONS):
        rotated = dense_product(chosen, R, workers)
        squares = rotated * rotated
        gradient = inner_product(chosen, rotated * (squares - squares.mean(axis=0)), workers)
        left, singular_values, right = np.linalg.svd(gradient)
        R = left @ right
        reached = float(singular_values.sum())
        if reached <= before * (1 + SMALLEST_GAIN):
            break
        before = reached
    return R


def first_topics(
    texts: Minibatch,
    n_words: int,
    n_topics: int,
    random: np.random.Generator,
    workers: Threads,
) -> Matrix | None:
    """(W, K) topics from the rotated components of some texts; columns sum to 1. None if the texts
    vary in fewer than K directions, as those do of which most are equal.

    `OF_ALL_WORDS` of each topic is the mean of all words, so that it can gain any word.
    """
    loadings, scores = components(texts, n_words, n_topics, random, workers)
    if not scores.any(axis=0).all():
        return None
    R = varimax(loadings, workers)
    loadings = dense_product(loadings, R, workers)
    signs = np.sign(np.einsum("wk,wk,wk->k", loadings, loadings, loadings))
    # A text's words go to the directions in which it lies, in proportion to the squares.
    shares = np.square(np.maximum(dense_product(scores, R, workers) * signs, 0))
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    by_word = transposed(matrix_of(texts, texts.counts), n_words)
    counts = sparse_product(by_word, shares, workers).astype(np.float64)
    mean = np.bincount(texts.word_ids, texts.counts, n_words) / texts.n_tokens
    topics = counts / np.maximum(counts.sum(axis=0), np.finfo(np.float32).tiny)
    mixed: Matrix = (1 - OF_ALL_WORDS) * topics + OF_ALL_WORDS * mean[:, None]
    return mixed

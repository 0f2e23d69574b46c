"""The first topics of longer texts: rotated principal components of the first texts.

Where a model ends depends on where it starts: two runs from random topics share few of them, but
runs from the same topics end at the same ones, in any order of the texts (decision 0052). So topics
start from what the first texts themselves say. The directions in which their words vary together
are rotated until each has few words (varimax), and a topic has the words of the texts that lie in
its direction. Derivation: docs/derivations.md, "A start that comes back".

| symbol | shape | meaning |
|---|---|---|
| Y | (D, W) | n_dw^1/2 / n_d^1/4 |
| U, S, V | (D, K), (K,), (W, K) | the K largest singular values of Y, and their vectors |
| R | (K, K) | the rotation |
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.kernels import kernel
from wikitopics.model.minibatch import Floats, Indices, Minibatch, Threads, Vector

PART = 0.5
"""The share of the first texts whose words give the directions, drawn at random, so that replicas,
which have the same first texts, do not start from the same topics."""
MORE_DIRECTIONS = 20
"""Directions beyond K, with which the subspace iteration needs fewer steps."""
ITERATIONS = 3
"""The steps of the subspace iteration."""
ROTATIONS = 60
"""The most steps of the rotation."""
SMALLEST_GAIN = 1e-4
"""The relative gain of a step of the rotation that ends it."""
ROTATED_WORDS = 3_000
"""The most words by which directions are rotated: those that vary most."""
OF_ALL_WORDS = 0.1
"""The share of the mean of all words in a first topic."""
NEGLIGIBLE = 1e-6
"""The singular value, relative to the largest one, from which on a direction is nothing but
rounding errors."""
ROW_BLOCK = 512
"""The number of rows of a block of work."""


class Sparse(NamedTuple):
    """A sparse matrix, float32: row d has `values` in the columns `ids`, from indptr[d] to
    indptr[d+1]."""

    indptr: Indices
    ids: NDArray[np.int32]
    values: NDArray[np.float32]

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1


@kernel
def multiply(start: int, stop: int, matrix: Sparse, factor: Floats, product: Floats) -> None:
    """product = matrix factor, in the rows start to stop."""
    indptr, ids, values = matrix
    n = factor.shape[1]
    for d in range(start, stop):
        for x in range(n):
            product[d, x] = 0
        for i in range(indptr[d], indptr[d + 1]):
            value = values[i]
            row = ids[i]
            for x in range(n):
                product[d, x] += value * factor[row, x]


def product(matrix: Sparse, factor: Floats, workers: Threads) -> Floats:
    """The product of a sparse matrix and a dense one."""
    result = np.empty((matrix.n_rows, factor.shape[1]), np.float32)
    contiguous = np.ascontiguousarray(factor, np.float32)
    workers.run(multiply, matrix.n_rows, ROW_BLOCK, matrix, contiguous, result)
    return result


# The products of large dense matrices, not by BLAS, whose bits depend on its number of threads.


@kernel
def multiply_dense(start: int, stop: int, block: Floats, factor: Floats, product: Floats) -> None:
    """product = block factor, in the rows start to stop."""
    n = factor.shape[1]
    for d in range(start, stop):
        for y in range(n):
            product[d, y] = 0
        for x in range(factor.shape[0]):
            value = block[d, x]
            for y in range(n):
                product[d, y] += value * factor[x, y]


@kernel
def add_products(left: Floats, right: Floats, sums: Vector) -> None:
    """sums += left^T right, float64."""
    for d in range(left.shape[0]):
        for x in range(left.shape[1]):
            value = np.float64(left[d, x])
            for y in range(right.shape[1]):
                sums[x, y] += value * right[d, y]


def times(block: Floats, factor: Floats) -> Floats:
    """block factor, in the type of `block`."""
    result = np.empty((len(block), factor.shape[1]), block.dtype)
    multiply_dense(0, len(block), block, np.ascontiguousarray(factor, block.dtype), result)
    return result


def inner(left: Floats, right: Floats) -> Vector:
    """left^T right, float64."""
    sums = np.zeros((left.shape[1], right.shape[1]))
    add_products(np.ascontiguousarray(left), np.ascontiguousarray(right), sums)
    return sums


def of_counts(texts: Minibatch, values: NDArray[Any]) -> Sparse:
    """A matrix, (D, W), with these values in place of the counts."""
    return Sparse(
        texts.indptr.astype(np.int64),
        texts.word_ids.astype(np.int32),
        values.astype(np.float32),
    )


def transposed(matrix: Sparse, n_columns: int) -> Sparse:
    from scipy.sparse import csr_array

    arrays = (matrix.values, matrix.ids, matrix.indptr)
    turned = csr_array(arrays, shape=(matrix.n_rows, n_columns)).T.tocsr()
    return Sparse(turned.indptr.astype(np.int64), turned.indices.astype(np.int32), turned.data)


def drawn(texts: Minibatch, random: np.random.Generator) -> Minibatch:
    """The share `PART` of some texts, drawn at random, in their order."""
    n_drawn = math.ceil(PART * texts.D)
    return texts.take(np.sort(random.permutation(texts.D)[:n_drawn]))


def components(
    texts: Minibatch,
    n_words: int,
    n: int,
    random: np.random.Generator,
    workers: Threads,
) -> tuple[Floats, Floats]:
    """V S, (W, n), and U, (D, n), by subspace iteration (Halko, Martinsson and Tropp 2011); columns
    of 0 where the texts vary in fewer directions."""
    lengths = np.repeat(np.maximum(texts.lengths(), 1), np.diff(texts.indptr))
    Y = of_counts(texts, np.sqrt(texts.counts) / lengths**0.25)
    Y_transposed = transposed(Y, n_words)
    n_directions = min(n + MORE_DIRECTIONS, n_words, texts.D)
    directions = random.standard_normal((n_words, n_directions)).astype(np.float32)
    for _ in range(ITERATIONS):
        scores = product(Y, directions, workers)
        block = product(Y_transposed, scores, workers)
        directions, _, _ = largest_directions(block, n_directions)
    scores = product(Y, directions, workers)
    U, S, turn = largest_directions(scores, n)
    VS = times(directions, turn * S)
    return VS, U


def largest_directions(block: Floats, n: int) -> tuple[Floats, Vector, Vector]:
    """U, (any, n), S, (n,), and V, (m, n), of the n largest singular values of a narrow matrix of m
    columns; U has columns of 0 where S is `NEGLIGIBLE`."""
    squares, vectors = np.linalg.eigh(inner(block, block))
    largest = np.argsort(-squares, kind="stable")[:n]
    S = np.sqrt(np.maximum(squares[largest], np.finfo(np.float32).tiny))
    V = vectors[:, largest]
    scaled = V / S
    is_negligible = S / S[0] <= NEGLIGIBLE
    scaled[:, is_negligible] = 0
    U = times(block, scaled)
    return U, S, V


def varimax(loadings: Floats) -> Floats:
    """(K, K) the rotation of loadings, (W, K), that makes the variance of their squares largest
    (Kaiser 1958)."""
    variation = np.einsum("wk,wk->w", loadings, loadings)
    rows = np.sort(np.argsort(-variation, kind="stable")[:ROTATED_WORDS])
    chosen = loadings[rows].astype(np.float64)
    R: Floats = np.eye(chosen.shape[1])
    before = 0.0
    for _ in range(ROTATIONS):
        rotated = times(chosen, R)
        squares = rotated * rotated
        gradient = inner(chosen, rotated * (squares - squares.mean(axis=0)))
        left, singular_values, right = np.linalg.svd(gradient)
        R = times(left, right)
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
) -> Vector | None:
    """(W, K) topics from the rotated components of some texts; columns sum to 1. None if the texts
    vary in fewer than K directions, as those do of which most are equal.

    `OF_ALL_WORDS` of each topic is the mean of all words, so that it can gain any word.
    """
    texts = drawn(texts, random)
    loadings, scores = components(texts, n_words, n_topics, random, workers)
    if not scores.any(axis=0).all():
        return None
    R = varimax(loadings)
    loadings = times(loadings, R)
    signs = np.sign(np.einsum("wk,wk,wk->k", loadings, loadings, loadings))
    # A text's words go to the directions in which it lies, in proportion to the squares.
    shares = np.square(np.maximum(times(scores, R) * signs, 0))
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    by_word = transposed(of_counts(texts, texts.counts), n_words)
    counts = product(by_word, shares, workers).astype(np.float64)
    mean = np.bincount(texts.word_ids, texts.counts, n_words) / texts.n_tokens
    topics = counts / np.maximum(counts.sum(axis=0), np.finfo(np.float32).tiny)
    mixed: Vector = (1 - OF_ALL_WORDS) * topics + OF_ALL_WORDS * mean[:, None]
    return mixed

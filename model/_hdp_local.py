"""The HDP's local step over a minibatch, in blocks of documents on several threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model import _hdp_figure9, _hdp_kernels
from model._blocks import Workers
from model._loops import Floats
from model._words import by_word
from model.minibatch import Minibatch

BLOCK = 64  # documents
WORD_BLOCK = 512
PART = 1024  # documents whose tables are held at a time

Vector = NDArray[np.float64]


class Corpus(NamedTuple):
    """What documents see of the corpus.

    rows: (U, K') for the recipe exp(E[log beta]) of a minibatch's words, for figure 9 E[log beta]
    sigma, Elog_sigma: (K',) E[sigma(v)], E[log sigma(v)]
    """

    rows: Floats
    sigma: Floats
    Elog_sigma: Floats


class Local(NamedTuple):
    """Variational distribution of D documents, as in `_hdp_kernels`; theta (D, K): their proportions."""

    tables: Floats
    topics: NDArray[np.int32]
    zeta: Floats
    n_topics: NDArray[np.int32]
    theta: Floats


def parts(
    batch: Minibatch, local_ids: NDArray[np.int32]
) -> Iterator[tuple[slice, Minibatch, NDArray[np.int32]]]:
    """Which documents, they themselves and their part of `local_ids` (N,): `PART` documents at a time."""
    for start in range(0, batch.D, PART):
        documents = slice(start, min(start + PART, batch.D))
        entries = slice(batch.indptr[documents.start], batch.indptr[documents.stop])
        yield documents, batch[documents], local_ids[entries]


def recipe(
    workers: Workers,
    batch: Minibatch,
    local_ids: NDArray[np.int32],
    corpus: Corpus,
    K: int,
    T: int,
    alpha: float,
    tolerance: float,
) -> Local:
    """The default local step: `_hdp_kernels.e_step`."""
    D, dtype = batch.D, corpus.rows.dtype
    C = min(K, _hdp_kernels.CANDIDATES)
    local = Local(
        np.zeros((len(batch.word_ids), T), dtype),
        np.empty((D, T, C), np.int32),
        np.empty((D, T, C), dtype),
        np.zeros((D, T), np.int32),
        np.empty((D, K), dtype),
    )
    rows, sigma, Elog_sigma = corpus

    def block(start: int, stop: int) -> None:
        _hdp_kernels.e_step(
            start,
            stop,
            batch.indptr,
            local_ids,
            batch.counts,
            rows,
            sigma,
            Elog_sigma,
            alpha,
            T,
            tolerance,
            local.tables,
            local.topics,
            local.zeta,
            local.n_topics,
            local.theta,
        )

    workers.map(block, D, BLOCK)
    return local


def figure_9(
    workers: Workers,
    batch: Minibatch,
    local_ids: NDArray[np.int32],
    corpus: Corpus,
    T: int,
    alpha: float,
    tolerance: float,
    max_iterations: int,
    start_from: Floats | None = None,
) -> Local:
    """[SVI13] figure 9's local step; `start_from`: tables in place of lines 5 and 6, changed."""
    D, K, dtype = batch.D, len(corpus.sigma), corpus.rows.dtype
    tables = np.zeros((len(batch.word_ids), T), dtype) if start_from is None else start_from
    everything = np.broadcast_to(np.arange(K, dtype=np.int32), (D, T, K)).copy()
    zeta, theta = np.empty((D, T, K), dtype), np.empty((D, K), dtype)

    def block(start: int, stop: int) -> None:
        _hdp_figure9.ascend(
            start,
            stop,
            batch.indptr,
            local_ids,
            batch.counts,
            corpus.rows,
            corpus.Elog_sigma,
            alpha,
            tolerance,
            max_iterations,
            start_from is None,
            tables,
            zeta,
            theta,
        )

    workers.map(block, D, BLOCK)
    return Local(tables, everything, zeta, np.full((D, T), K, np.int32), theta)


def bounds(
    workers: Workers,
    batch: Minibatch,
    local_ids: NDArray[np.int32],
    Elog_rows: Floats,
    Elog_sigma: Floats,
    alpha: float,
    local: Local,
) -> NDArray[np.float64]:
    """(D,) each document's terms of the ELBO, nats."""
    result = np.zeros(batch.D)

    def block(start: int, stop: int) -> None:
        _hdp_figure9.document_bounds(
            start,
            stop,
            batch.indptr,
            local_ids,
            batch.counts,
            Elog_rows,
            Elog_sigma,
            alpha,
            local.tables,
            local.topics,
            local.zeta,
            local.n_topics,
            result,
        )

    workers.map(block, batch.D, BLOCK)
    return result


def add_statistics(
    workers: Workers, batch: Minibatch, local: Local, factor: float, lambda_hat: Floats
) -> tuple[Vector, Vector]:
    """Adds `factor` times the expected words of each topic to lambda_hat (W, K).

    Returns each topic's words and each topic's tables, (K,) both.
    """
    W, K = lambda_hat.shape
    words, documents = by_word(batch, W), batch.documents()

    def block(start: int, stop: int) -> Vector:
        mass = np.zeros(K)
        _hdp_kernels.add_statistics(
            start,
            stop,
            words.ids,
            words.indptr,
            words.entries,
            documents,
            local.tables,
            local.topics,
            local.zeta,
            local.n_topics,
            factor,
            lambda_hat,
            mass,
        )
        return mass

    mass = np.zeros(K)
    for of_block in workers.map(block, len(words.ids), WORD_BLOCK):
        mass += of_block
    chosen = np.zeros(K)
    _hdp_kernels.add_tables(local.topics, local.zeta, local.n_topics, chosen)
    return mass, chosen

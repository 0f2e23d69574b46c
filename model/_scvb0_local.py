"""SCVB0's local step: passes over the documents of a minibatch, in fixed blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model._blocks import Workers
from model._loops import padded
from model._scvb0_kernels import documents, sum_statistics, word_rows
from model._words import distinct
from model.minibatch import Minibatch

DOCUMENT_BLOCK = 512  # documents that share one block of statistics, or more: there are at most MAX_BLOCKS
MAX_BLOCKS = 8
MAX_CELLS = 16_000_000  # of all blocks of statistics together, as long as there is more than one
INFERENCE_BLOCK = 256
WORD_BLOCK = 2048


class StepSizes(NamedTuple):
    """rho = s (tau0 + t)^-kappa at t = 1, 2 …, 1 at most."""

    s: float
    tau0: float
    kappa: float

    def rho(self, t: int) -> float:
        return float(min(1.0, self.s * (self.tau0 + t) ** -self.kappa))

    def keep(self, steps: int) -> NDArray[np.float64]:
        """(steps,) 1 - rho of t = 1 to steps."""
        t = np.arange(1, steps + 1, dtype=np.float64)
        keep: NDArray[np.float64] = 1 - np.minimum(1.0, self.s * (self.tau0 + t) ** -self.kappa)
        return keep


class LocalStep:
    """gamma and N_theta for a minibatch, given the topics; [F13] algorithm 2, its inner loops.

    N_phi = scale N_phi_hat; weight: (K,) what a word's N_phi + eta is multiplied by, up to a constant
    """

    def __init__(
        self,
        batch: Minibatch,
        N_phi_hat: NDArray[Any],
        scale: float,
        eta: float,
        weight: NDArray[np.float64],
        workers: Workers,
    ) -> None:
        W, K = N_phi_hat.shape
        dtype = N_phi_hat.dtype
        self._batch, self._workers, self._K, self._dtype = batch, workers, K, dtype
        ids, self._local = distinct(batch, W)
        self.ids = ids  # (U,) the distinct words
        self._padded = padded(K)
        self._rows = rows = np.empty((len(ids), self._padded), dtype)
        self._statistics: NDArray[Any] = np.empty((1, 0, self._padded), dtype)
        relative = (weight / weight.max()).astype(dtype)

        def block(start: int, stop: int) -> None:
            word_rows(start, stop, ids, N_phi_hat, dtype.type(scale), dtype.type(eta), relative, rows)

        workers.map(block, len(ids), WORD_BLOCK)

    def passes(self, n: int, steps: StepSizes, alpha: NDArray[np.float64], collect: bool) -> NDArray[Any]:
        """N_theta + alpha after n passes, (D, K); `collect` keeps m gamma of the last one for `summed`."""
        batch = self._batch
        longest = int(np.diff(batch.indptr).max(initial=0))
        keep = steps.keep(n * longest).astype(self._dtype)
        padded_alpha = np.zeros(self._padded, self._dtype)
        padded_alpha[: self._K] = alpha
        theta = np.empty((batch.D, self._padded), self._dtype)
        size = INFERENCE_BLOCK
        if collect:
            blocks_at_most = max(1, min(MAX_BLOCKS, MAX_CELLS // (len(self.ids) * self._padded)))
            size = max(DOCUMENT_BLOCK, -(-batch.D // blocks_at_most))
            self._statistics = np.empty((-(-batch.D // size), len(self.ids), self._padded), self._dtype)
        blocks = self._statistics

        def block(start: int, stop: int) -> None:
            documents(
                start,
                stop,
                batch.indptr,
                self._local,
                batch.counts,
                self._rows,
                padded_alpha,
                keep,
                n,
                theta,
                blocks[start // size if collect else 0],
            )

        self._workers.map(block, batch.D, size)
        return theta[:, : self._K]

    def summed(
        self, bucket: NDArray[np.int32], sign: NDArray[np.float32], buckets: int
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Sums of m gamma: by word (1, U, K'), of all words (K,), and their sketch (buckets, K)."""

        def block(start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
            mass, sketch = np.zeros(self._K), np.zeros((buckets, self._K), self._dtype)
            sum_statistics(start, stop, self.ids, self._statistics, bucket, sign, mass, sketch)
            return mass, sketch

        parts = self._workers.map(block, len(self.ids), WORD_BLOCK)
        mass = sum((part[0] for part in parts), np.zeros(self._K))
        sketch = sum((part[1] for part in parts), np.zeros((buckets, self._K)))
        return self._statistics[:1], mass, sketch

"""Documents whose topics are known, to see whether a model finds them."""

from __future__ import annotations

import numpy as np

from wikitopics.model.minibatch import Minibatch

W = 40  # words; each of 4 topics has 10 of its own


def planted_documents(
    n_documents: int, seed: int = 0, *, length: int = 40, alpha: float = 0.1, shared: float = 0.1
) -> Minibatch:
    """Documents of about `length` words from 4 known topics, `shared` of whose words are the same for all."""
    random = np.random.default_rng(seed)
    beta = np.full((4, W), shared / W)
    for k in range(4):
        beta[k, k * W // 4 : (k + 1) * W // 4] += (1 - shared) * 4 / W
    theta = random.dirichlet(np.full(4, alpha), n_documents)
    counts = np.array([random.multinomial(random.poisson(length) + 1, p) for p in theta @ beta])
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(counts, axis=1))])
    return Minibatch(indptr, np.nonzero(counts)[1], counts[counts > 0])


def planted_minibatches() -> list[Minibatch]:
    """300 such documents in parts of several sizes."""
    batch = planted_documents(300)
    return [batch[:64], batch[64:80], batch[80:81], batch[81:200], batch[200:]]

"""The HDP's statistics from the tables of a minibatch's documents: the sums of [SVI13] figure 9 line 11.

| symbol | shape and type | meaning |
|---|---|---|
| tables, topics, zeta, n_topics | | the documents' tables and their topics, as in `hdp.kernels` |
| sums | (U, K) floats | the minibatch's words of each topic |
| mass, chosen | (K,) float64 | the words of a topic, and its tables |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.compiling import kernel
from wikitopics.model.kernels import Floats


@kernel
def sum_statistics(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    entries: NDArray[np.int64],
    documents: NDArray[np.int64],
    tables: Floats,
    topics: NDArray[np.int32],
    zeta: Floats,
    n_topics: NDArray[np.int32],
    sums: Floats,
    mass: NDArray[np.float64],
) -> None:
    """sums[u, k] = sum_d sum_i zeta_di^k n_dw phi_dwi for words start to stop, [SVI13] fig. 9 line 11.

    Word u has the entries `entries[indptr[u]:indptr[u+1]]`, and `documents` gives the document of each entry.
    sums: (U, K) floats; their sums over the words are added to mass, (K,).
    """
    for u in range(start, stop):
        total = sums[u]
        total[:] = 0
        for e in range(indptr[u], indptr[u + 1]):
            entry = entries[e]
            d = documents[entry]
            for i in range(n_topics.shape[1]):
                if n_topics[d, i] == 0:
                    break
                value = tables[entry, i]
                for a in range(n_topics[d, i]):
                    total[topics[d, i, a]] += zeta[d, i, a] * value
        for k in range(total.size):
            mass[k] += total[k]


@kernel
def add_tables(
    topics: NDArray[np.int32], zeta: Floats, n_topics: NDArray[np.int32], chosen: NDArray[np.float64]
) -> None:
    """chosen[k] += sum_d sum_i zeta_di^k: the tables of each topic, [SVI13] fig. 9 line 11."""
    for d in range(n_topics.shape[0]):
        for i in range(n_topics.shape[1]):
            for a in range(n_topics[d, i]):
                chosen[topics[d, i, a]] += zeta[d, i, a]

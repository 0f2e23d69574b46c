"""How often topics meet in documents. U of the K topics are asked about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Indices, Matrix

PRESENT = 0.02
"""A topic counts as present in a document if its proportion there is larger."""
HALF_LIFE = 10_000
"""The number of documents after which a meeting of two topics counts half."""
ENOUGH = 5_000
"""The number of documents from which meetings have their full weight."""
MEETINGS = 0.7
"""The full weight of meetings in the similarity of topics; the rest is the weight of their
words."""
RARE = 1e-6
"""Added to the rates of meetings, so that topics that never met are not infinitely far apart."""


class Meetings:
    """How often topics meet in documents: sums over the documents learnt, which decay.

    sums: (K + 1, K) float32. Rows 0 to K - 1 sum the products of two topics' proportions, over the
    documents in which both are present. The last row sums the proportions, over all documents.
    """

    def __init__(self, sums: NDArray[np.float32]) -> None:
        self.sums = sums

    @classmethod
    def none(cls, K: int) -> Meetings:
        """No meetings yet."""
        return cls(np.zeros((K + 1, K), np.float32))

    @property
    def documents(self) -> float:
        """The number of documents that still count, by their weights."""
        return float(self.sums[-1].sum(dtype=np.float64))

    @property
    def settled(self) -> bool:
        """Whether meetings have their full weight."""
        return self.documents >= ENOUGH

    @property
    def weight(self) -> float:
        """The weight of meetings in the similarity of topics."""
        return MEETINGS * min(1.0, self.documents / ENOUGH)

    def add(self, theta: NDArray[np.float32]) -> None:
        """Count documents with these proportions, (D, K)."""
        from scipy.sparse import csr_array

        # Sparse, as only a few topics are present in each document.
        present = csr_array(np.where(theta > PRESENT, theta, np.float32(0)))
        products = present.T @ present
        self.sums *= np.float32(0.5 ** (len(theta) / HALF_LIFE))
        self.sums[:-1] += products.toarray()
        self.sums[-1] += theta.sum(axis=0)

    def rates(self, topics: Indices) -> tuple[Matrix, Matrix]:
        """(U, U) twice: how often these topics meet in a document, and how often they would if each
        were present independently of the others."""
        rows = np.append(topics, -1)  # -1: the sums of the proportions
        sums = self.sums[np.ix_(rows, topics)].astype(np.float64)
        rates = sums / max(self.documents, 1.0)
        together = rates[:-1]
        alone = rates[-1]
        return together, np.outer(alone, alone)

    def lift(self, topics: Indices) -> Matrix:
        """(U, U) the logarithms of how much more often than independently these topics meet."""
        together, independent = self.rates(topics)
        lift: Matrix = np.log((together + RARE) / (independent + RARE))
        return lift

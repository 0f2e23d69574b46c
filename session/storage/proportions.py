"""Topic proportions of articles, sparse: the part of an article's proportions that a session stores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged

MOST_KEPT = 16
"""The most topics stored for an article, the largest ones."""
LEAST = 0.005
"""Smaller proportions are not stored, or in a model of over 100 topics those under half an equal share."""
LARGEST_ARTICLE = 1 + 3 * MOST_KEPT
"""The most bytes of an article."""
_FULL = 255
"""Square roots are stored in this many steps from 0 to 1. The Hellinger distance compares square roots,
and so every proportion, large or small, is equally exact."""


@dataclass(frozen=True, slots=True)
class Proportions:
    """The largest proportions of ``n`` articles in one model, as compressed sparse rows.

    An article takes one byte, and two for each of its topics (three if the model has over 256).
    """

    lengths: NDArray[np.uint8]
    """(n,) topics stored, at least 1"""
    topics: NDArray[np.unsignedinteger[Any]]
    """Ascending within an article."""
    roots: NDArray[np.uint8]
    """Parallel to ``topics``: square roots of their proportions, in 255ths, at least 1."""

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: slice) -> "Proportions":
        indptr = self.indptr()
        start, stop, _ = rows.indices(len(self))
        stop = max(start, stop)
        kept = slice(indptr[start], indptr[stop])
        return Proportions(self.lengths[start:stop], self.topics[kept], self.roots[kept])

    def indptr(self) -> NDArray[np.int64]:
        """(n + 1,) where each article begins in the other two arrays."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.lengths, dtype=np.int64)))

    def values(self) -> NDArray[np.float32]:
        """The proportions parallel to ``topics``; an article's sum is at most 1, less what was not stored."""
        values = self.roots.astype(np.float32)
        values /= _FULL
        values *= values
        return values

    @staticmethod
    def of(theta: NDArray[np.floating[Any]]) -> "Proportions":
        """The largest of ``theta``, (n, K), whose rows sum to 1."""
        K = theta.shape[1]
        kept = theta >= min(LEAST, 0.5 / K)
        many = np.flatnonzero(np.count_nonzero(kept, axis=1) > MOST_KEPT)
        if len(many):
            largest = np.argpartition(theta[many], K - MOST_KEPT, axis=1)[:, K - MOST_KEPT :]
            kept[many] = False
            kept[many[:, None], largest] = True
        places = np.flatnonzero(kept)
        exact = np.sqrt(theta.ravel()[places]) * _FULL
        lengths = np.count_nonzero(kept, axis=1)
        found = Proportions(
            lengths.astype(np.uint8),
            (places % K).astype(_type_of_topics(K)),
            np.rint(exact).astype(np.uint8),
        )
        squares = np.add.reduceat(found.roots.astype(np.int64) ** 2, found.indptr()[:-1])
        over = np.repeat(squares > _FULL**2, lengths)  # they must sum to at most 1
        found.roots[over] = exact[over]
        return found

    @staticmethod
    def concatenate(parts: Sequence["Proportions"]) -> "Proportions":
        """One run made of several of the same model, in order."""
        return Proportions(
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.topics for part in parts]),
            np.concatenate([part.roots for part in parts]),
        )

    def to_bytes(self) -> bytes:
        """The three arrays, one after another."""
        return self.lengths.tobytes() + self.topics.tobytes() + self.roots.tobytes()

    @staticmethod
    def from_blocks(blocks: Sequence[tuple[object, int]], n_topics: int) -> "Proportions":
        """The inverse of `to_bytes`, for many at once: (bytes, number of articles) of each.

        ``n_topics``: the model's. Raises `Damaged`.
        """
        dtype = _type_of_topics(n_topics)
        lengths, topics, roots, sizes = [], [], [], []
        for data, articles in blocks:
            if not isinstance(data, bytes):
                raise Damaged("proportions.data is not a blob")
            size, more = divmod(len(data) - articles, dtype.itemsize + 1)
            if more or not articles <= size <= MOST_KEPT * articles:
                raise Damaged("proportions.data has the wrong length")
            middle = articles + size * dtype.itemsize
            lengths.append(data[:articles])
            topics.append(data[articles:middle])
            roots.append(data[middle:])
            sizes.append(size)
        found = Proportions(
            np.frombuffer(b"".join(lengths), np.uint8),
            np.frombuffer(b"".join(topics), dtype),
            np.frombuffer(b"".join(roots), np.uint8),
        )
        if blocks:
            found._check(np.cumsum([articles for _, articles in blocks]), np.cumsum(sizes), n_topics)
        return found

    def _check(self, articles: NDArray[Any], sizes: NDArray[Any], n_topics: int) -> None:
        """Check that each block's lengths match its topics, and that `of` can have produced every number."""
        starts = self.indptr()
        if not self.lengths.all() or not np.array_equal(starts[articles], sizes):
            raise Damaged("proportions.data has articles of another length")
        ascends = self.topics[1:] > self.topics[:-1]
        ascends[starts[1:-1] - 1] = True
        if self.topics.max() >= n_topics or not ascends.all() or not self.roots.all():
            raise Damaged("proportions.data holds numbers that are out of range")


def _type_of_topics(n_topics: int) -> np.dtype[np.unsignedinteger[Any]]:
    return np.dtype("u1" if n_topics <= 256 else "<u2")

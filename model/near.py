"""The nearest documents by their proportions, exactly, through an index of the topics.

Documents are near if the cosine of the roots of their proportions is large: 1 minus the square of
their Hellinger distance. A document has few topics, so that it is compared only with documents that
share one of them.

| symbol | shape and type | meaning |
|---|---|---|
| indptr, topics, roots | see `Rows` | the documents that ask |
| starts, numbers, values | see `Index` | the documents asked about |
| near, likeness | (n, k) int32, float32 | the nearest ones, the most alike first |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel, part
from wikitopics.model.minibatch import Floats, Ids

LEAST = 0.005
"""Smaller proportions tell how long a document is rather than what it is about."""
MOST = 8
"""The most topics of a document that are compared: its largest."""
NOBODY = -1
"""Where fewer than k documents share a topic with one that asks."""


class Rows(NamedTuple):
    """Documents' topics, as compressed sparse rows.

    indptr: (n + 1,) int64. topics: (entries,) int32. roots: (entries,) float32, the roots of the
    proportions, scaled so that their squares sum to 1 in each document
    """

    indptr: NDArray[np.int64]
    topics: NDArray[np.int32]
    roots: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def owners(self) -> NDArray[np.int64]:
        """(entries,) the document of each."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    @classmethod
    def of_stored(
        cls,
        indptr: NDArray[np.integer],
        topics: NDArray[np.integer],
        proportions: NDArray[np.floating],
    ) -> Rows:
        """The largest of the proportions that a session stores; each document has at least one."""
        values = np.asarray(proportions, np.float64)
        starts_stored = np.asarray(indptr, np.int64)
        lengths = starts_stored[1:] - starts_stored[:-1]
        owners = np.repeat(np.arange(len(lengths)), lengths)
        kept = _compared(values, owners, len(lengths))
        owners = owners[kept]
        values = values[kept]
        sums = np.bincount(owners, values, minlength=len(lengths))
        roots = np.sqrt(values / np.maximum(sums[owners], 1e-30))
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=len(lengths)), out=starts[1:])
        return cls(starts, np.asarray(topics, np.int32)[kept], roots.astype(np.float32))

    @classmethod
    def of(cls, theta: NDArray[np.floating]) -> Rows:
        """The largest of ``theta``, (n, K), whose rows sum to 1."""
        n, K = theta.shape
        return cls.of_stored(np.arange(n + 1) * K, np.tile(np.arange(K), n), theta.ravel())

    def take(self, numbers: NDArray[np.integer]) -> Rows:
        """These documents, in this order."""
        lengths = np.diff(self.indptr)[numbers]
        indptr = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        moved_by = np.repeat(self.indptr[numbers] - indptr[:-1], lengths)
        entries = np.arange(indptr[-1]) + moved_by
        return Rows(indptr, self.topics[entries], self.roots[entries])

    def leading(self) -> NDArray[np.int64]:
        """(n,) the largest topic of each document; of equal ones, the first stored."""
        owners = self.owners
        largest = np.zeros(len(self), np.float32)
        np.maximum.at(largest, owners, self.roots)
        candidates = np.flatnonzero(self.roots == largest[owners])
        is_first = np.diff(owners[candidates], prepend=-1) > 0
        leading: NDArray[np.int64] = self.topics[candidates[is_first]].astype(np.int64)
        return leading


def _compared(values: NDArray[np.float64], owners: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """(entries,) which proportions are compared: of each of n documents at most `MOST`, of at least
    `LEAST`, or the largest. Of equal ones, the first come first.

    owners: (entries,) the document of each, ascending
    """
    largest = np.zeros(n)
    np.maximum.at(largest, owners, values)
    compared: NDArray[np.bool_] = (values >= LEAST) | (values == largest[owners])
    lengths = np.bincount(owners[compared], minlength=n)
    of_long = np.flatnonzero(compared & (lengths > MOST)[owners])
    if len(of_long):
        by_size = of_long[np.lexsort((-values[of_long], owners[of_long]))]
        long = lengths[lengths > MOST]
        firsts = np.repeat(np.cumsum(long) - long, long)
        rank = np.arange(len(by_size)) - firsts
        compared[by_size[rank >= MOST]] = False
    return compared


class Index(NamedTuple):
    """The documents that have each topic.

    starts: (K + 1,) int64. numbers: (entries,) uint32, ascending for each topic; without a sign,
    since each index with one is tested for being negative. values: (entries,) float32, the roots of
    the proportions. n: the number of documents
    """

    starts: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    values: NDArray[np.float32]
    n: int

    @classmethod
    def of(cls, rows: Rows, K: int) -> Index:
        """The index of these documents, whose topics are below K."""
        by_topic = np.argsort(rows.topics, kind="stable")
        starts = np.zeros(K + 1, np.int64)
        np.cumsum(np.bincount(rows.topics, minlength=K), out=starts[1:])
        numbers = rows.owners[by_topic].astype(np.uint32)
        return cls(starts, numbers, rows.roots[by_topic], len(rows))


def nearest(
    rows: Rows, index: Index, k: int, *, among_themselves: bool = False
) -> NDArray[np.int32]:
    """(n, k) the numbers of the k nearest documents of the index, the nearest first; `NOBODY` where
    there are fewer.

    among_themselves: the documents are those of the index; none is its own neighbour
    """
    near = np.empty((len(rows), k), np.int32)
    likeness = np.empty((len(rows), k), np.float32)
    find_nearest(rows, index, among_themselves, near, likeness)
    return near


COLUMNS = 128
"""The sums of all documents are looked through in so many columns."""


@part
def enter(asking: int, number: int, found: float, near: Ids, likeness: Floats) -> None:
    """Enter a document among the nearest so far, if it is one of them and is alike at all."""
    k = near.shape[1]
    place = k
    while place > 0 and (
        found > likeness[asking, place - 1]
        or (found == likeness[asking, place - 1] and number < near[asking, place - 1])
    ):
        place -= 1
        if place < k - 1:
            likeness[asking, place + 1] = likeness[asking, place]
            near[asking, place + 1] = near[asking, place]
    if place < k:
        likeness[asking, place] = found
        near[asking, place] = number


@kernel
def find_nearest(
    rows: Rows, index: Index, among_themselves: bool, near: Ids, likeness: Floats
) -> None:
    """Fill in the nearest documents of each document, independently of the others; of equal ones
    those with the smaller numbers."""
    indptr, topics, roots = rows
    starts, numbers, values, n = index
    k = near.shape[1]
    depth = (n + COLUMNS - 1) // COLUMNS
    sums = np.empty((depth, COLUMNS), np.float32)
    sum_of = sums.reshape(depth * COLUMNS)
    largest = np.empty(COLUMNS, np.float32)
    for asking in range(near.shape[0]):
        sum_of[:] = 0
        for entry in range(indptr[asking], indptr[asking + 1]):
            topic = topics[entry]
            root = roots[entry]
            for other in range(starts[topic], starts[topic + 1]):
                sum_of[numbers[other]] += root * values[other]
        if among_themselves:
            sum_of[asking] = 0
        largest[:] = 0
        for row in range(depth):
            for column in range(COLUMNS):
                largest[column] = max(largest[column], sums[row, column])
        # Each of k columns has a document that is as near as the last of their largest: so are the
        # k nearest, and few columns have any that is.
        for place in range(k):
            near[asking, place] = NOBODY
            likeness[asking, place] = 0
        for column in range(COLUMNS):
            enter(asking, column, largest[column], near, likeness)
        least = likeness[asking, k - 1]
        for place in range(k):
            near[asking, place] = NOBODY
            likeness[asking, place] = 0
        for column in range(COLUMNS):
            if largest[column] >= least:
                for row in range(depth):
                    if sums[row, column] >= least:
                        number = row * COLUMNS + column
                        enter(asking, number, sums[row, column], near, likeness)

"""Documents as word counts: the input of every model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Arrays, as all models use them.

Vector = NDArray[np.float64]
"""Of one dimension."""
Matrix = NDArray[np.float64]
"""Of two."""
Floats = NDArray[np.floating]
"""Of float32 or of float64, the same for all arrays of a call."""
Ids = NDArray[np.int32]
Indices = NDArray[np.int64]
Counts = Ids | NDArray[np.float32]

MAX_COUNT = np.iinfo(np.int32).max
SMALLEST_COUNT = 1e-9
"""A smaller count is zero."""


class Entries(NamedTuple):
    """The N entries of D documents, as kernels take them.

    indptr: (D+1,) document d has the entries indptr[d] to indptr[d+1]
    local: (N,) the row of each entry's word, in arrays that have a row for each word
    counts: (N,) n_dw, how often it occurs
    """

    indptr: Indices
    local: Ids
    counts: Counts


class Occurrences(NamedTuple):
    """Where each of U words occurs.

    indptr: (U+1,) word u has the entries `entries[indptr[u]:indptr[u+1]]`
    entries: (N,) numbers of entries, increasing for each word
    documents: (N,) the number of the document of each entry
    """

    indptr: Indices
    entries: Indices
    documents: Indices


class Words(NamedTuple):
    """Documents and their U distinct words, which are numbered as rows.

    batch: the documents
    ids: (U,) int32, the word ids, increasing
    entries: the documents' entries, with a row for each of these words
    """

    batch: Minibatch
    ids: Ids
    entries: Entries

    def part(self, documents: slice) -> Words:
        """Some of the documents, with the same rows."""
        batch = self.batch[documents]
        first = self.batch.indptr[documents.start]
        end = self.batch.indptr[documents.stop]
        local = self.entries.local[first:end]
        return Words(batch, self.ids, Entries(batch.indptr, local, batch.counts))

    def occurrences(self) -> Occurrences:
        """Where the words occur."""
        from scipy.sparse import csr_array

        # A matrix of one row, with a column for each word. Its values are the numbers of the
        # entries, so that by columns, it lists the entries of each word.
        local = self.entries.local
        N = len(local)
        row = csr_array((np.arange(N), local, np.array([0, N])), shape=(1, len(self.ids)))
        columns = row.tocsc()
        return Occurrences(columns.indptr.astype(np.int64), columns.data, self.batch.documents())


class Minibatch:
    """D documents as word counts, checked once and never changed.

    Document d has the words `word_ids[indptr[d]:indptr[d+1]]`, each as often as `counts` says. Word
    ids may come in any order and more than once within a document: they are sorted and merged;
    counts of zero are left out.

    indptr: (D+1,) from 0, never decreasing, kept as int64
    word_ids: (N,) at least 0, kept as int32 (the upper limit is each model's: see `check_words`)
    counts: (N,) at least 0, kept as int32 if all are whole, otherwise as float32. A weight, such as
    TF-IDF, counts as that many words, so the length of a document is the sum of its weights; a
    weight below 1e-9 counts as zero

    Any integer or float dtype is accepted. Raises ValueError for anything else, before any array is
    kept.
    """

    __slots__ = ("counts", "indptr", "word_ids")

    indptr: Indices
    word_ids: Ids
    counts: Counts

    def __init__(self, indptr: ArrayLike, word_ids: ArrayLike, counts: ArrayLike) -> None:
        starts = _whole("indptr", indptr)
        ids = _whole("word_ids", word_ids)
        times = _counts(counts)
        if len(starts) == 0 or starts[0] != 0:
            raise ValueError("indptr must start with 0")
        if np.any(starts[1:] < starts[:-1]):
            raise ValueError("indptr must not decrease")
        if len(ids) != len(times):
            raise ValueError(f"word_ids has {len(ids)} entries but counts has {len(times)}")
        if starts[-1] != len(ids):
            raise ValueError(f"indptr ends at {starts[-1]} but there are {len(ids)} word_ids")
        for name, values in (("word_ids", ids), ("counts", times)):
            if len(values) and values.min() < 0:
                raise ValueError(f"{name} must not be negative")
            if len(values) and values.max() > MAX_COUNT:
                raise ValueError(f"{name} must not exceed {MAX_COUNT}")
        self.indptr, self.word_ids, self.counts = _canonical(starts, ids, times)

    @classmethod
    def from_csr(cls, matrix: Any) -> Minibatch:
        """A minibatch of the rows of a scipy CSR matrix or array of counts, (D, W)."""
        if getattr(matrix, "format", None) != "csr":
            raise ValueError("from_csr needs a scipy sparse matrix in CSR format")
        return cls(matrix.indptr, matrix.indices, matrix.data)

    @classmethod
    def concatenate(cls, parts: Sequence[Minibatch]) -> Minibatch:
        """The documents of all parts, in order."""
        indptr = [np.zeros(1, np.int64)]
        entries = 0  # of the parts so far
        for part in parts:
            indptr.append(entries + part.indptr[1:])
            entries += len(part.word_ids)
        counts = np.concatenate([part.counts for part in parts])
        whole = cls.__new__(cls)  # canonical arrays, one after the other, are canonical
        whole.indptr = np.concatenate(indptr)
        whole.word_ids = np.concatenate([part.word_ids for part in parts])
        # numpy makes whole counts and weights together float64
        whole.counts = counts if counts.dtype == np.int32 else counts.astype(np.float32)
        return whole

    @property
    def D(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.indptr) - 1

    @property
    def n_tokens(self) -> float:
        """Number of words, repetitions included: an int if all counts are whole."""
        if self.counts.dtype == np.int32:
            return int(self.counts.sum(dtype=np.int64))
        return float(self.counts.sum(dtype=np.float64))

    def __len__(self) -> int:
        return self.D

    def __getitem__(self, documents: slice) -> Minibatch:
        """The documents a to b-1 of `batch[a:b]`, sharing memory with this minibatch."""
        if not isinstance(documents, slice):
            raise TypeError("a minibatch is sliced by documents: batch[a:b]")
        first, stop, step = documents.indices(self.D)
        if step != 1:
            raise ValueError("a minibatch is sliced in steps of one document")
        stop = max(first, stop)
        begin = self.indptr[first]
        end = self.indptr[stop]
        part = Minibatch.__new__(Minibatch)  # a part of canonical arrays is canonical
        part.indptr = self.indptr[first : stop + 1] - begin
        part.word_ids = self.word_ids[begin:end]
        part.counts = self.counts[begin:end]
        return part

    def take(self, documents: NDArray[np.integer[Any]]) -> Minibatch:
        """The documents of these numbers, in this order."""
        starts = self.indptr[:-1][documents]
        lengths = np.diff(self.indptr)[documents]
        part = Minibatch.__new__(Minibatch)  # canonical documents in another order are canonical
        part.indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        # Entry i of the new batch stands as far behind its document's start as in this one.
        moved_by = np.repeat(starts - part.indptr[:-1], lengths)
        entries = np.arange(part.indptr[-1]) + moved_by
        part.word_ids = self.word_ids[entries]
        part.counts = self.counts[entries]
        return part

    def __repr__(self) -> str:
        return f"Minibatch(D={self.D}, n_tokens={self.n_tokens})"

    def lengths(self) -> Indices | Vector:
        """(D,) words in each document, repetitions included: int64, or float64 if not all counts
        are whole."""
        if self.counts.dtype != np.int32:
            return np.bincount(self.documents(), self.counts, self.D)
        words_before = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        lengths: Indices = words_before[self.indptr[1:]] - words_before[self.indptr[:-1]]
        return lengths

    def documents(self) -> Indices:
        """(N,) int64: the document of each entry of `word_ids`."""
        return np.repeat(np.arange(self.D), np.diff(self.indptr))

    def check_words(self, n_words: int) -> None:
        """Raise ValueError if a word id is not below `n_words`."""
        largest = int(self.word_ids.max(initial=-1))
        if largest >= n_words:
            raise ValueError(
                f"word id {largest} is out of range: the vocabulary has {n_words} words"
            )

    def words(self, n_words: int) -> Words:
        """The distinct words; takes time linear in N + W. Raises ValueError if a word id is not
        below `n_words`."""
        self.check_words(n_words)
        occurs = np.zeros(n_words, dtype=np.bool_)
        occurs[self.word_ids] = True
        ids = np.flatnonzero(occurs).astype(np.int32)
        row_of_id = np.empty(n_words, dtype=np.int32)
        row_of_id[ids] = np.arange(len(ids), dtype=np.int32)
        return Words(self, ids, Entries(self.indptr, row_of_id[self.word_ids], self.counts))


def sound(batch: Minibatch) -> Minibatch:
    """The minibatch. Raises TypeError if it is something else, such as a matrix."""
    if not isinstance(batch, Minibatch):
        raise TypeError("expected a Minibatch: Minibatch.from_csr makes one of a CSR matrix")
    return batch


def native(values: ArrayLike) -> NDArray[Any]:
    """The array in this machine's byte order and, if it is of half floats, as float32: kernels and
    scipy take no other byte order, and no half floats."""
    array = np.asarray(values)
    if array.dtype.kind == "f" and array.dtype.itemsize == 2:
        return array.astype(np.float32)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array


def _counts(values: ArrayLike) -> Indices | NDArray[np.float32]:
    """As int64 if all are whole, otherwise as float32; ValueError for values that are not
    counts."""
    array = native(values)
    are_floats = array.dtype.kind == "f" and array.ndim == 1
    if not are_floats or np.all(array == np.floor(array)):
        return _whole("counts", array)
    if not np.all(np.isfinite(array)):
        raise ValueError("counts must be finite")
    bounded = np.minimum(array, 1e30)  # fits float32; the caller refuses counts this large
    weights = np.where(np.abs(array) < SMALLEST_COUNT, 0, bounded)
    return weights.astype(np.float32)


def _whole(name: str, values: ArrayLike) -> Indices:
    """One-dimensional whole numbers as int64; ValueError for anything else."""
    array = native(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be whole numbers, not {array.dtype}")
    if not np.all(np.isfinite(array)) or np.any(array != np.floor(array)):
        raise ValueError(f"{name} must be whole numbers")
    smallest = int(array.min())
    largest = int(array.max())
    if smallest < -(2**63) or largest >= 2**63:
        raise ValueError(f"{name} must fit 64 bits")
    return array.astype(np.int64)


def _canonical(
    indptr: Indices, word_ids: Indices, counts: Indices | NDArray[np.float32]
) -> tuple[Indices, Ids, Counts]:
    """Each document's word ids increasing and without repetition, and no zero counts."""
    D = len(indptr) - 1
    documents = np.repeat(np.arange(D), np.diff(indptr))
    # An entry follows one of a smaller word id, or one of an earlier document.
    in_order = (word_ids[1:] > word_ids[:-1]) | (documents[1:] > documents[:-1])
    if not np.all(in_order) or not np.all(counts):
        from scipy.sparse import csr_array

        shape = (D, int(word_ids.max()) + 1)
        rows = csr_array((counts, word_ids, indptr), shape, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        indptr = rows.indptr.astype(np.int64)
        word_ids = rows.indices
        counts = rows.data
        if counts.max(initial=0) > MAX_COUNT:
            raise ValueError(f"counts must not exceed {MAX_COUNT}")
    ids = word_ids.astype(np.int32)
    if counts.dtype == np.int64:
        return indptr, ids, counts.astype(np.int32)
    return indptr, ids, counts.astype(np.float32)

"""A minibatch by its words: which words it has, and where each occurs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch


class Distinct(NamedTuple):
    """The U distinct words of a minibatch with N entries.

    ids: (U,) int32, the word ids, increasing
    local: (N,) int32, for each entry of `word_ids` its place in `ids`
    """

    ids: NDArray[np.int32]
    local: NDArray[np.int32]


class Words(NamedTuple):
    """The same, and where each word occurs.

    indptr: (U+1,) int64, word u has the occurrences indptr[u] to indptr[u+1]
    entries: (N,) int64, an occurrence's place among the minibatch's `word_ids`, in order of documents
    """

    ids: NDArray[np.int32]
    local: NDArray[np.int32]
    indptr: NDArray[np.int64]
    entries: NDArray[np.int64]


def distinct(batch: Minibatch, n_words: int) -> Distinct:
    """The words of a minibatch whose word ids are below `n_words`; linear in N + W."""
    occurs = np.zeros(n_words, dtype=np.bool_)
    occurs[batch.word_ids] = True
    ids = np.flatnonzero(occurs).astype(np.int32)
    place = np.empty(n_words, dtype=np.int32)
    place[ids] = np.arange(len(ids), dtype=np.int32)
    return Distinct(ids, place[batch.word_ids])


def by_word(batch: Minibatch, n_words: int) -> Words:
    """The words and their occurrences, for word ids below `n_words`; linear in N + W."""
    from wikitopics.model.kernels import sort_entries

    ids, local = distinct(batch, n_words)
    indptr = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(np.bincount(local, minlength=len(ids)), out=indptr[1:])
    entries = np.empty(len(local), dtype=np.int64)
    sort_entries(local, indptr[:-1].copy(), entries)
    return Words(ids, local, indptr, entries)

"""Topic coherence: how often a topic's leading words occur together in real documents (normalised
PMI)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import top_words

ALMOST_ALL = 0.99
"""The largest share of documents that counts as containing a pair of words (`associations`): NPMI
has no limit as the share approaches 1."""


class Cooccurrences:
    """Which documents contain which words, and so how often words occur together."""

    def __init__(self, documents: Minibatch) -> None:
        """``documents``: those without words are ignored."""
        from scipy.sparse import csr_array

        n_words = int(documents.word_ids.max(initial=0)) + 1
        contains = np.ones(len(documents.word_ids), np.bool_)
        by_document = csr_array(
            (contains, documents.word_ids, documents.indptr),
            shape=(documents.D, n_words),
        )
        self._by_word = by_document.tocsc()
        self._n_words = n_words
        self.D = int(np.count_nonzero(np.diff(documents.indptr)))
        """The number of documents."""

    def together(
        self, words: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many documents contain words of topics, given by their ids, (K, n): (K, n) each word,
        and (K, n (n - 1) / 2) both words of each pair, in the order of `pairs`."""
        occurs = self._bits(words)
        K, n = words.shape
        first, second = pairs(n)
        both = np.empty((K, len(first)), np.int64)
        for k in range(K):
            both[k] = _numbers_of_documents(occurs[k, first] & occurs[k, second])
        return _numbers_of_documents(occurs), both

    def _bits(self, words: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """(K, n, B) one bit per document for each word of (K, n): whether the document contains
        it."""
        # Each distinct word has a row; words that no document contains are last.
        distinct, row_of_place = np.unique(words, return_inverse=True)
        known = distinct[distinct < self._n_words]
        of_words = self._by_word[:, known]
        rows = np.repeat(np.arange(len(known)), np.diff(of_words.indptr))
        n_documents, _ = self._by_word.shape
        n_bits = math.ceil(n_documents / 64) * 64
        contains = np.zeros((len(distinct), n_bits), np.bool_)
        contains[rows, of_words.indices] = True
        bits = np.packbits(contains, axis=1).view(np.uint64)
        of_places: NDArray[np.uint64] = bits[row_of_place.reshape(words.shape)]
        return of_places


def pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(n (n - 1) / 2,) twice: the places of the first and of the second word of each pair of n
    words."""
    first, second = np.triu_indices(n, 1)
    return first, second


def npmi(topics: NDArray[Any], reference: Minibatch, n: int = 10) -> NDArray[np.float64]:
    """(K,) coherence of each topic: the mean NPMI of all pairs of its n most probable words, within
    [-1, 1].

    The NPMI of two words is log(p12 / (p1 p2)) / -log p12, where p1, p2 and p12 are the shares of
    `reference`'s documents that contain the first word, the second, and both. It is 1 if the words
    always occur together, 0 if they are independent, and -1 if they never occur together. A word
    missing from `reference` never occurs with another. Documents without words are ignored. NaN if
    there are no documents or no pairs.

    topics: (K, W). Raises ValueError for a word id of `reference` out of range.
    """
    reference.check_words(topics.shape[1])
    return npmi_of_words(top_words(topics, n), Cooccurrences(reference))


def npmi_of_words(
    leading: NDArray[np.integer[Any]], reference: Cooccurrences
) -> NDArray[np.float64]:
    """(K,) as `npmi`, for topics given by their leading words, (K, n) word ids."""
    K, n = leading.shape
    if reference.D == 0 or n < 2:
        return np.full(K, np.nan)
    single, both = reference.together(leading)
    first, second = pairs(n)
    p = single / reference.D
    of_pairs = _npmi(p[:, first], p[:, second], both / reference.D)
    coherence: NDArray[np.float64] = of_pairs.mean(axis=1)
    return coherence


def associations(words: NDArray[np.integer[Any]], reference: Cooccurrences) -> NDArray[np.float64]:
    """(K, n, n) how strongly each pair of a topic's words goes together, for (K, n) word ids.

    It is the NPMI of the pair as in `npmi`, but with one document added to those that contain both
    words, and one to those expected to if the words were independent: where documents are few, or
    words rare, the result is near 0. 0 for a word and itself, and everywhere if there are no
    documents.
    """
    K, n = words.shape
    strengths = np.zeros((K, n, n))
    if reference.D == 0:
        return strengths
    single, both = reference.together(words)
    first, second = pairs(n)
    expected = single[:, first] * single[:, second] / reference.D
    share = np.minimum((both + 1) / reference.D, ALMOST_ALL)
    strength = np.log((both + 1) / (expected + 1)) / -np.log(share)
    strengths[:, first, second] = strength
    strengths[:, second, first] = strength
    return strengths


def _numbers_of_documents(occurs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many documents' bits are set in the last dimension."""
    numbers: NDArray[np.int64] = np.bitwise_count(occurs).sum(axis=-1, dtype=np.int64)
    return numbers


def _npmi(
    p1: NDArray[np.float64], p2: NDArray[np.float64], p12: NDArray[np.float64]
) -> NDArray[np.float64]:
    """NPMI of pairs of words (see `npmi`), in the shape of the arrays; its limits where `p12` is 0
    or 1."""
    never = p12 == 0
    always = p12 == 1
    sometimes = ~never & ~always
    both = p12[sometimes]
    if_independent = p1[sometimes] * p2[sometimes]
    values = np.empty(p12.shape)
    values[never] = -1.0
    values[always] = 1.0
    values[sometimes] = np.log(both / if_independent) / -np.log(both)
    return values

"""Topic coherence: how often a topic's leading words occur together in real documents (normalised
PMI)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import top_words

ALMOST_ALL = 0.99
"""The largest share of documents that counts as containing a pair of words (`associations`): NPMI
has no limit as the share approaches 1."""


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
    return npmi_of_words(top_words(topics, n), reference)


def npmi_of_words(leading: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.float64]:
    """(K,) as `npmi`, for topics given by their leading words, (K, n) word ids."""
    K, n = leading.shape
    D = int(np.count_nonzero(np.diff(reference.indptr)))
    if D == 0 or n < 2:
        return np.full(K, np.nan)
    occurs = _occurrences(leading, reference)
    first, second = np.triu_indices(n, 1)
    single = _numbers_of_documents(occurs) / D
    coherence = np.empty(K)
    for k in range(K):
        together = occurs[k, first] & occurs[k, second]
        both = _numbers_of_documents(together) / D
        coherence[k] = _npmi(single[k, first], single[k, second], both).mean()
    return coherence


def associations(words: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.float64]:
    """(K, n, n) how strongly each pair of a topic's words goes together, for (K, n) word ids.

    It is the NPMI of the pair as in `npmi`, but with one document added to those that contain both
    words, and one to those expected to if the words were independent: where documents are few, or
    words rare, the result is near 0. 0 for a word and itself, and everywhere if there are no
    documents.
    """
    K, n = words.shape
    D = int(np.count_nonzero(np.diff(reference.indptr)))
    strengths = np.zeros((K, n, n))
    if D == 0 or n < 2:
        return strengths
    occurs = _occurrences(words, reference)
    first, second = np.triu_indices(n, 1)
    single = _numbers_of_documents(occurs)
    for k in range(K):
        together = _numbers_of_documents(occurs[k, first] & occurs[k, second])
        expected = single[k, first] * single[k, second] / D
        share = np.minimum((together + 1) / D, ALMOST_ALL)
        strength = np.log((together + 1) / (expected + 1)) / -np.log(share)
        strengths[k, first, second] = strength
        strengths[k, second, first] = strength
    return strengths


def _numbers_of_documents(occurs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many documents' bits are set in the last dimension."""
    numbers: NDArray[np.int64] = np.bitwise_count(occurs).sum(axis=-1, dtype=np.int64)
    return numbers


def _occurrences(words: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.uint8]:
    """(K, n, ceil(D/8)) one bit per document for each word of (K, n): whether the document contains
    it."""
    # Each distinct word has a row. It is looked up by a word's place in `words`, by its id, and by
    # the entries of the documents.
    distinct, row_of_place = np.unique(words, return_inverse=True)
    largest = max(distinct.max(), reference.word_ids.max(initial=0))
    row_of_id = np.full(largest + 1, -1)  # -1: not one of these words
    row_of_id[distinct] = np.arange(len(distinct))
    row_of_entry = row_of_id[reference.word_ids]
    has_row = row_of_entry >= 0
    rows = row_of_entry[has_row]
    documents = reference.documents()[has_row]
    occurs = np.zeros((len(distinct), reference.D), dtype=np.bool_)
    occurs[rows, documents] = True
    bits = np.packbits(occurs, axis=1)
    of_words: NDArray[np.uint8] = bits[row_of_place.reshape(words.shape)]
    return of_words


def _npmi(
    p1: NDArray[np.float64], p2: NDArray[np.float64], p12: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n,) NPMI of pairs of words: see `npmi`; its limits where `p12` is 0 or 1."""
    never = p12 == 0
    always = p12 == 1
    sometimes = ~never & ~always
    both = p12[sometimes]
    if_independent = p1[sometimes] * p2[sometimes]
    values = np.empty(len(p12))
    values[never] = -1.0
    values[always] = 1.0
    values[sometimes] = np.log(both / if_independent) / -np.log(both)
    return values

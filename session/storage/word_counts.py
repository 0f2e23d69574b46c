"""How often each word of the vocabulary has been trained on: the one row of `word_counts`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.blobs import pack_arrays, unpack_arrays
from wikitopics.session.storage.block import Block, narrow, whole_numbers


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts over all articles that were trained."""

    counts: NDArray[np.int64]
    """(W,)"""
    articles: NDArray[np.int64]
    """(W,) the number of articles in which the word occurs."""

    @staticmethod
    def none(n_words: int) -> "WordCounts":
        """The counts before the first article."""
        return WordCounts(np.zeros(n_words, np.int64), np.zeros(n_words, np.int64))

    def add(self, block: Block) -> None:
        """Add the words of trained articles."""
        W = len(self.counts)
        # The sums of a minibatch are whole numbers that a float represents exactly.
        self.counts[:] += np.bincount(block.word_ids, block.counts, W).astype(np.int64)
        self.articles[:] += np.bincount(_once_an_article(block, W), minlength=W)

    def to_bytes(self) -> bytes:
        """The stored form."""
        return pack_arrays({"counts": narrow(self.counts), "articles": narrow(self.articles)})

    @staticmethod
    def from_bytes(data: object, n_words: int, articles: int, tokens: int) -> "WordCounts":
        """The inverse of `to_bytes`, after this many articles and words. Raises `Damaged`."""
        place, arrays = "word_counts.arrays", unpack_arrays(data, "word_counts.arrays")

        def get(name: str, most: int) -> NDArray[Any]:
            return whole_numbers(arrays, name, place, (n_words,), 0, most, np.int64)

        found = WordCounts(get("counts", tokens), get("articles", articles))
        if int(found.counts.sum()) != tokens or (found.articles > found.counts).any():
            raise Damaged(f"{place} and progress do not match")
        return found


def _once_an_article(block: Block, n_words: int) -> NDArray[np.integer[Any]]:
    """The words of each article, once each. A file of word counts may list a word of an article twice."""
    ascends = block.word_ids[1:] > block.word_ids[:-1]
    ascends[block.indptr[1:-1] - 1] = True
    if ascends.all():
        return block.word_ids
    article = np.repeat(np.arange(len(block), dtype=np.int64), np.diff(block.indptr))
    return np.unique(article * n_words + block.word_ids) % n_words

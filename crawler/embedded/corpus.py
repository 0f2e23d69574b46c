"""The articles of the embedded wiki as word counts, in any number, none of them kept in memory."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_COPY = re.compile(r"(.+) \(copy (\d{1,12})\)", re.DOTALL)
MOST_SPARED = 1000


@dataclass(frozen=True)
class Corpus:
    """Word counts of D articles over W words, in compressed rows."""

    titles: Sequence[str]
    """(D,), all different."""
    words: Sequence[str]
    """(W,)"""
    indptr: NDArray[np.int64]
    """(D + 1,): article d has the entries ``indptr[d]`` to ``indptr[d + 1]``."""
    word_ids: NDArray[np.int32]
    """(N,), ascending within each article."""
    counts: NDArray[np.int32]
    """(N,)"""


@dataclass(frozen=True)
class Article:
    """One article before it is written out: every occurrence of every word, in shuffled order."""

    index: int
    title: str
    word_ids: NDArray[np.int64]


class Articles:
    """``size`` articles: the corpus in its order, then articles resampled from all but its first tenth
    (its first 1,000 at most).

    Every article is generated from ``seed`` and its index whenever it is needed, always the same.
    ``words_each``: draw this many words from each article's distribution instead of using its own counts.
    """

    def __init__(self, corpus: Corpus, size: int, seed: int = 0, words_each: int | None = None) -> None:
        if size < 0 or (size > 0 and not len(corpus.titles)):
            raise ValueError("size must not be negative, and must be 0 without a corpus")
        self.corpus = corpus
        self.size = size
        self._seed = seed
        self._words_each = words_each
        # A trainer holds the first articles out and must not be given copies of them later.
        self._spared = min(MOST_SPARED, len(corpus.titles) // 10)
        self._index = {title: i for i, title in enumerate(corpus.titles)}

    def title(self, index: int) -> str:
        """The title of article ``index``, 0 to size - 1."""
        base, lap = self._place(index)
        return self.corpus.titles[base] + (f" (copy {lap})" if lap else "")

    def find(self, title: str) -> int | None:
        """The index of the article with that title."""
        found = self._index.get(title)
        if (
            found is None
            and (copy := _COPY.fullmatch(title))
            and (base := self._index.get(copy[1])) is not None
        ):
            found = self._copy(base, int(copy[2]))
        return found if found is not None and found < self.size else None

    def article(self, index: int) -> Article:
        """Article ``index`` with its words in the order in which they are written."""
        corpus, (base, _) = self.corpus, self._place(index)
        rng = np.random.default_rng((self._seed, index))
        span = slice(corpus.indptr[base], corpus.indptr[base + 1])
        ids, counts = corpus.word_ids[span], corpus.counts[span]
        total = int(counts.sum())
        if self._words_each is not None or index >= len(corpus.titles):
            drawn = rng.random(self._words_each if self._words_each is not None else total) * total
            words = ids[np.searchsorted(np.cumsum(counts), drawn, side="right")] if total else ids[:0]
        else:
            words = rng.permutation(np.repeat(ids, counts))
        return Article(index, self.title(index), words.astype(np.int64))

    def _place(self, index: int) -> tuple[int, int]:
        """(article of the corpus, lap): lap 0 is the corpus itself; later laps leave out its beginning."""
        n = len(self.corpus.titles)
        if index < n:
            return index, 0
        lap, place = divmod(index - n, n - self._spared)
        return self._spared + place, lap + 1

    def _copy(self, base: int, lap: int) -> int | None:
        """The inverse of `_place` for laps from 1; None for an article that has no copies."""
        n = len(self.corpus.titles)
        if lap < 1 or base < self._spared:
            return None
        return n + (lap - 1) * (n - self._spared) + base - self._spared

"""The later passes over a session's documents: all those trained on, each time in another order.

Their word counts are in the session, so nothing is read from the source, and memory does not grow
with their number. The order depends only on numbers: the seed, the pass, and how many documents
have been read.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.storage.block import Block
from wikitopics.session.storage.writer import SessionWriter

WORDS_OF_ROUND = 2**24
"""About the number of words in documents shuffled together: 40,000 articles of Wikipedia."""


class _Round(NamedTuple):
    """Documents of a pass that are shuffled together."""

    start: int
    """How many documents the pass reads before."""
    rows: list[int]
    """The places of the round's rows among all, ascending."""


class Passes:
    """The documents of the second pass and of all further ones.

    A pass shuffles the session's rows of documents (minibatches of the first pass). Then it
    shuffles the documents of a round, which is as many rows as memory holds easily.
    """

    def __init__(
        self,
        store: SessionWriter,
        seed: int,
        rest: Block,
        words: int,
    ) -> None:
        """``rest``: the last documents of the first pass, if they alone are not saved yet.
        ``words``: the number in all documents.

        Raises `Damaged`.
        """
        self._store = store
        self._seed = seed
        self._rest = rest
        self._rows = store.trained_rows()
        """Of each row, the number in the session of its first document, and how many it has."""
        if len(rest):
            self._rows.append((store.next_seq, len(rest)))
        self.documents = sum(articles for _, articles in self._rows)
        """The number of documents in each pass."""
        self._together = max(1, WORDS_OF_ROUND * self.documents // max(1, words))
        """About the number of documents in a round."""
        self._pass = 0
        """The pass that the open round belongs to; 0 before the first is opened."""
        self._open = _Round(0, [])
        """The open round."""
        self._block = rest[:0]
        """Its documents."""
        self._seqs = np.empty(0, np.int64)
        """Their numbers in the session."""
        self._order = np.empty(0, np.int64)
        """The order in which they are read."""

    def take(self, start: int, number: int) -> tuple[NDArray[np.int64], Block]:
        """The next documents after the first ``start`` reread ones, and their numbers in the
        session."""
        seqs: list[NDArray[np.int64]] = []
        parts: list[Block] = []
        while number:
            whole_passes, offset = divmod(start, self.documents)
            self._turn_to(whole_passes + 2, offset)
            chosen = self._order[offset - self._open.start :][:number]
            seqs.append(self._seqs[chosen])
            parts.append(self._block.take(chosen))
            start += len(chosen)
            number -= len(chosen)
        return np.concatenate(seqs), Block.concatenate(parts)

    def _turn_to(self, number: int, offset: int) -> None:
        """Open the round at this place in the pass of this number, unless it is open."""
        end = self._open.start + len(self._order)
        if number == self._pass and self._open.start <= offset < end:
            return
        rounds = self._rounds(number)
        number_of_round = bisect_right([one.start for one in rounds], offset)
        before = self._open
        self._pass = number
        self._open = rounds[number_of_round - 1]
        if self._open.rows != before.rows:  # a small collection is one round and stays in memory
            self._block = self._block[:0]  # frees the memory before more is read
            self._read(self._open.rows)
        random = self._random(number, number_of_round)
        self._order = random.permutation(len(self._block))

    def _read(self, rows: Sequence[int]) -> None:
        """Read the documents in these rows."""
        parts: list[Block] = []
        seqs: list[NDArray[np.int64]] = []
        for row in rows:
            first, articles = self._rows[row]
            is_rest = len(self._rest) > 0 and row == len(self._rows) - 1
            part = self._rest if is_rest else self._store.counted_documents(first, articles)
            parts.append(part)
            seqs.append(first + np.arange(articles))
        self._block = Block.concatenate(parts)
        self._seqs = np.concatenate(seqs)

    def _rounds(self, number: int) -> list[_Round]:
        """The rounds of the pass of this number."""
        rounds: list[_Round] = []
        documents = 0
        for row in self._random(number, 0).permutation(len(self._rows)).tolist():
            if not rounds or documents - rounds[-1].start >= self._together:
                rounds.append(_Round(documents, []))
            rounds[-1].rows.append(row)
            _, articles = self._rows[row]
            documents += articles
        for one in rounds:
            one.rows.sort()
        return rounds

    def _random(self, number: int, number_of_round: int) -> np.random.Generator:
        """Random numbers for a round of the pass of this number, or with 0 for the order of its
        rows."""
        return np.random.default_rng((self._seed, number, number_of_round))

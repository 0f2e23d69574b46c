"""The later passes over a session's documents: all that were trained, again, each time in another order.

Their word counts are in the session, so nothing is read from the source, and memory does not grow with their
number. What comes next follows from numbers alone: the seed, the pass, and how many documents were read.
"""

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.writer import SessionWriter

WORDS = 2**24
"""Words of the documents that are shuffled together, about: 40,000 articles of Wikipedia."""


class Round(NamedTuple):
    """Documents that are shuffled together."""

    start: int
    """How many documents the pass reads before them."""
    rows: list[int]
    """Their rows, ascending: stretches of the first pass, a minibatch each."""


class Passes:
    """The documents of the second pass and of all further ones."""

    def __init__(self, store: SessionWriter, seed: int, held_out: int, rest: Block, words: int) -> None:
        """``held_out``: how many come before the trained ones. ``rest``: the last documents of the first
        pass, if they are trained only now, and everything else is saved. ``words``: those of all documents.

        Raises `Damaged`.
        """
        self._store, self._seed = store, seed
        kept = store.kept_rows()
        starts = list(accumulate((articles for _, articles in kept), initial=0))
        if held_out not in starts:
            raise Damaged("kept_counts and progress.held_out do not match")
        self._rows = kept[starts.index(held_out) :]
        self._rest = len(self._rows), rest
        if len(rest):
            self._rows.append((store.next_seq, len(rest)))
        self._documents = sum(articles for _, articles in self._rows)
        self._together = max(1, WORDS * self._documents // max(1, words))
        self._pass = 0
        self._rounds: list[Round] = []
        self._open: tuple[int, int] | None = None
        self._loaded: list[int] = []
        self._block, self._seqs = rest[:0], np.empty(0, np.int64)
        self._order = np.empty(0, np.int64)

    def __len__(self) -> int:
        """The number of documents in each pass."""
        return self._documents

    def take(self, start: int, number: int) -> tuple[NDArray[np.int64], Block]:
        """The next documents, and their numbers in the session, once so many were read again."""
        seqs: list[NDArray[np.int64]] = []
        parts: list[Block] = []
        while number:
            before, place = divmod(start, self._documents)
            begin = self._turn_to(before + 2, place)
            chosen = self._order[place - begin : place - begin + number]
            seqs.append(self._seqs[chosen])
            parts.append(self._block.take(chosen))
            start, number = start + len(chosen), number - len(chosen)
        return np.concatenate(seqs), Block.concatenate(parts)

    def _turn_to(self, number: int, place: int) -> int:
        """Have the round of this place of a pass at hand; returns the place of its first document."""
        if self._pass != number:
            self._pass, self._rounds = number, self._divided(number)
        which = next(i for i in reversed(range(len(self._rounds))) if self._rounds[i].start <= place)
        found = self._rounds[which]
        if self._open != (number, which):
            self._open = number, which
            self._load(found.rows)
            self._order = self._random(number, which + 1).permutation(len(self._block))
        return found.start

    def _divided(self, number: int) -> list[Round]:
        """The rows of a pass in random order, as many together as memory holds easily."""
        rounds: list[Round] = []
        start = behind = 0
        for row in self._random(number, 0).permutation(len(self._rows)).tolist():
            if not rounds or behind - start >= self._together:
                start = behind
                rounds.append(Round(start, []))
            rounds[-1].rows.append(row)
            behind += self._rows[row][1]
        return [Round(start, sorted(rows)) for start, rows in rounds]

    def _load(self, rows: list[int]) -> None:
        """Read the documents of these rows, unless they are at hand, as those of a small collection are."""
        if rows == self._loaded:
            return
        self._loaded, self._block = rows, self._block[:0]
        last, rest = self._rest
        kept = [
            rest if row == last and len(rest) else self._store.kept_documents(*self._rows[row])
            for row in rows
        ]
        self._block = Block.concatenate(kept)
        self._seqs = np.concatenate(
            [np.arange(first, first + n) for first, n in map(self._rows.__getitem__, rows)]
        )

    def _random(self, number: int, which: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, number, which))

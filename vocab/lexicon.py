"""Counting without a vocabulary: every new word gets the next number."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from wikitopics.vocab.rules import Rule


class Lexicon:
    """The words of some texts, numbered in order of appearance, without those too long to be words."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._numbers: dict[str, int] = {}

    @property
    def words(self) -> tuple[str, ...]:
        """All words so far, by number."""
        return tuple(self._numbers)

    def count(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(ids, counts) as `Vocabulary.count`, but of every word."""
        found = Counter(word.decode("utf-8") for word in self._rule.words(text))
        known = {
            self._numbers.setdefault(word, len(self._numbers)): count
            for word, count in found.items()
            if len(word) <= self._rule.longest
        }
        ids = sorted(known)
        return np.array(ids, np.int32), np.array([known[number] for number in ids], np.int32)

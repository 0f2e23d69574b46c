"""The words of many texts at a time, and their counts: what `rules` say, done by `kernels`."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wikitopics.vocab.rules import CUT_SHORT, DOTTED, POSSESSIVES, Rule
from wikitopics.vocab.tables import Bytes, CharacterTables, Offsets, from_zero, word_table

T = TypeVar("T")
Counted = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The ids of a text's words, ascending and each once, and how often each occurs (at least 1)."""
_CHARACTERS_TOGETHER = 1 << 18
"""About the most characters of texts that are read in one call, as few as the caches hold."""
_TEXTS_TOGETHER = 64


@lru_cache(64)
def _tables(*, letters_only: bool, language: str, digits: bool) -> CharacterTables:
    if letters_only:
        return CharacterTables(letters_only=True)
    return CharacterTables(
        digits=digits,
        dotted=language in DOTTED,
        cut_short=CUT_SHORT.get(language, frozenset()),
        possessive=POSSESSIVES.get(language, b""),
    )


def separated(rule: Rule, texts: Sequence[str]) -> tuple[Bytes, Offsets]:
    """The words of each text as `Rule.words` gives them: (words, ends) of `kernels`. Not for a rule
    of titles."""
    from wikitopics.vocab import kernels  # loads numba

    spaced = [rule.spaced(text) for text in texts]
    if rule.language in DOTTED:  # as the rule does
        spaced = [unicodedata.normalize("NFC", text) for text in spaced]
    encoded = [text.encode("utf-8", "replace") for text in spaced]
    offsets = from_zero(map(len, encoded))
    data = np.frombuffer(bytearray().join(encoded), np.uint8)
    n_texts = len(texts)
    words = np.empty(2 * len(data) + 2 * n_texts, np.uint8)
    ends = np.empty(n_texts + 1, np.int64)
    is_rare = np.empty(n_texts, np.bool_)
    tables = _tables(letters_only=rule.number == 1, language=rule.language, digits=rule.digits)
    if not kernels.separate(data, offsets, tables.arrays, words, ends, is_rare):
        characters = set("".join(spaced))
        tables.add({ord(char) >> 8 for char in characters})
        kernels.separate(data, offsets, tables.arrays, words, ends, is_rare)
    if not is_rare.any():
        return words[: ends[-1]], ends
    parts = []
    for number, text in enumerate(spaced):
        if is_rare[number]:
            found = rule.words_between_spaces(text)
            parts.append(b"".join(word + b" " for word in found))
        else:
            parts.append(words[ends[number] : ends[number + 1]].tobytes())
    return np.frombuffer(b"".join(parts), np.uint8), from_zero(map(len, parts))


def words_of(rule: Rule, texts: Iterable[str]) -> Iterator[list[bytes]]:
    """`Rule.words` of each text."""
    for some in _groups(texts):
        if rule.of_titles:
            yield from map(rule.words, some)
            continue
        words, ends = separated(rule, some)
        data = words.tobytes()
        for start, end in pairwise(ends.tolist()):
            yield data[start:end].split()


def _groups(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts, as many together as are read in one call."""
    return together(texts, len, _TEXTS_TOGETHER, _CHARACTERS_TOGETHER)


def together(
    items: Iterable[T], characters: Callable[[T], int], most: int, enough: int
) -> Iterator[list[T]]:
    """The items in lists of at most so many, each of which ends once its items have ``enough``
    characters."""
    group: list[T] = []
    so_far = 0
    for item in items:
        group.append(item)
        so_far += characters(item)
        if len(group) == most or so_far >= enough:
            yield group
            group = []
            so_far = 0
    if group:
        yield group


class WordCounter:
    """Counts known words and phrases in texts read by a rule, which is not one of titles.

    ``ids``: the word id of each of them, and of each other spelling of one.
    """

    def __init__(self, rule: Rule, ids: Mapping[bytes, int]) -> None:
        from wikitopics.vocab import kernels  # loads numba

        self._rule = rule
        self._n_words = 1 + max(ids.values())
        self._table = word_table(ids)
        kernels.fill(self._table)

    def count(self, texts: Iterable[str]) -> Iterator[Counted]:
        """The known words of each text."""
        from wikitopics.vocab import kernels

        for some in _groups(texts):
            words, ends = separated(self._rule, some)
            most = len(words) // 2 + 1  # a word and its space are two bytes at least
            ids = np.empty(most, np.int32)
            counts = np.empty(most, np.int32)
            indptr = np.empty(len(ends), np.int64)
            counts_of = np.zeros(self._n_words, np.int32)
            total = kernels.count(words, ends, self._table, counts_of, indptr, ids, counts)
            found = ids[:total].copy()
            found_counts = counts[:total].copy()
            for start, end in pairwise(indptr.tolist()):
                yield found[start:end], found_counts[start:end]

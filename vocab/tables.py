"""Tables for `kernels`: of characters, which grow, and of words.

The tables of characters have 256 in a row, and are made as characters of further rows turn up: a
text in one language has some twenty of the 4,352 rows.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.vocab.characters import (
    ADDS_DOT,
    BEGINS_WORDS,
    CAPITAL_SIGMA,
    DOT_ABOVE,
    FINAL_SIGMA,
    INVISIBLE,
    IS_APOSTROPHE,
    IS_CASED,
    IS_COMPOSED,
    IS_LEFT_OUT,
    IS_QUOTE,
    IS_RARE,
    IS_SKIPPED_FOR_CASE,
    IS_TO_COMPOSE,
    IS_UPPER,
    MAY_COMPOSE,
    SEPARATES,
    is_part_of_korean_syllable,
    kind,
)

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

# Characters.

_DOTTED_CAPITAL_I = "\u0130"


class Characters(NamedTuple):
    """The tables for `kernels.separate`."""

    quick: NDArray[np.uint8]
    """(256,) by byte: a letter's lower case if that is ASCII, as most are; 0 for a byte that
    separates words, and 1 for one that has to be looked up."""
    row_of: NDArray[np.int16]
    """(4,352,) the row that has the characters ``256 * index`` and further ones; -1: none yet."""
    kinds: NDArray[np.uint16]
    """(rows, 256) the bits of `characters.py`."""
    lower: NDArray[np.int32]
    """(rows, 256) the character in lower case."""
    combining: NDArray[np.uint8]
    """(rows, 256) the canonical combining class, by which marks are ordered in NFC: its own or, of
    a composed letter, that of its last mark."""
    pairs: NDArray[np.int64]
    """Two characters that NFC makes one, as the first times 2**21 plus the second; ascending."""
    cut_short: NDArray[np.int64]
    """What is a word of its own before an apostrophe, as `packed`; ascending."""
    possessive: NDArray[np.uint8]
    """The end of a word that is cut off; empty for none."""
    digits: bool
    """Whether words may hold digits."""


ROWS = 0x110000 >> 8


LONGEST_CUT_SHORT = 7


def packed(word: bytes) -> int:
    """A word of at most `LONGEST_CUT_SHORT` bytes as a number."""
    return int.from_bytes(word, "big")


class CharacterTables:
    """The `Characters` of one rule, which grow as needed.

    letters_only: whether the rule is the first one, to which everything but letters separates words
    dotted: whether I is the capital of ı, and İ of i
    """

    def __init__(
        self,
        *,
        letters_only: bool = False,
        digits: bool = False,
        dotted: bool = False,
        cut_short: frozenset[bytes] = frozenset(),
        possessive: bytes = b"",
    ) -> None:
        self._letters_only = letters_only
        self._digits = digits
        self._dotted = dotted
        self._growing = Lock()
        shape = (0, 256)
        self.arrays = Characters(
            quick=np.ones(256, np.uint8),
            row_of=np.full(ROWS, -1, np.int16),
            kinds=np.empty(shape, np.uint16),
            lower=np.empty(shape, np.int32),
            combining=np.empty(shape, np.uint8),
            pairs=np.empty(0, np.int64),
            cut_short=np.array(sorted(map(packed, cut_short)), np.int64),
            possessive=np.frombuffer(possessive, np.uint8),
            digits=digits,
        )
        self.add([0])
        kinds = self.arrays.kinds[0, :128]
        lower = self.arrays.lower[0, :128]
        is_simple = (lower < 128) & (kinds & ~np.uint16(BEGINS_WORDS | IS_CASED) == 0)
        is_simple &= (lower < ord("0")) | (lower > ord("9"))  # a word has a letter, too
        quick = np.where(is_simple, lower, 1)
        quick[kinds & SEPARATES > 0] = 0
        self.arrays.quick[:128] = quick

    def add(self, rows: Iterable[int]) -> None:
        """Add the characters ``256 * row`` and the 255 further ones of these rows, and their lower
        case."""
        with self._growing:
            missing = {row for row in rows if self.arrays.row_of[row] < 0}
            lower: dict[int, list[int]] = {}
            while missing:
                row = missing.pop()
                lower[row] = [self._lower(char) for char in _chars(row)]
                for other in {char >> 8 for char in lower[row]}:
                    if other not in lower and self.arrays.row_of[other] < 0:
                        missing.add(other)
            if lower:
                self._add_new(lower)

    def _add_new(self, lower: Mapping[int, Sequence[int]]) -> None:
        """Add rows, given as the lower case of their characters."""
        kinds = [[self._kind(char) for char in _chars(row)] for row in lower]
        classes = [[_last_class(number) for number in numbers] for numbers in lower.values()]
        old = self.arrays
        pairs = old.pairs
        if not self._letters_only and not len(pairs) and set(lower) != {0}:
            pairs = composing_pairs()
        row_of = old.row_of.copy()
        row_of[list(lower)] = np.arange(len(lower)) + len(old.kinds)
        # What another thread is reading stays as it is.
        self.arrays = old._replace(
            row_of=row_of,
            kinds=np.vstack([old.kinds, np.array(kinds, np.uint16)]),
            lower=np.vstack([old.lower, np.array(list(lower.values()), np.int32)]),
            combining=np.vstack([old.combining, np.array(classes, np.uint8)]),
            pairs=pairs,
        )

    def _lower(self, char: str) -> int:
        if self._dotted and char == "I":
            return ord("ı")
        if char == CAPITAL_SIGMA:  # which of two it is depends on what is around it
            return ord(char)
        return ord(char.lower()[0])

    def _kind(self, char: str) -> int:
        bits = self._kind_in_word(char)
        if bits & SEPARATES == 0 and char.isalnum():
            bits |= BEGINS_WORDS
        is_cased = (char + CAPITAL_SIGMA).lower().endswith(FINAL_SIGMA)
        if is_cased:
            bits |= IS_CASED
        elif ("a" + char + CAPITAL_SIGMA).lower().endswith(FINAL_SIGMA):
            bits |= IS_SKIPPED_FOR_CASE
        return bits

    def _kind_in_word(self, char: str) -> int:
        """What the rule does about a character: bits of `characters.py`."""
        if self._letters_only:
            return self._kind_of_letter(char)
        if char.isascii():
            if char.isalpha() or (self._digits and char.isdigit()):
                return 0
            return {"'": IS_APOSTROPHE, '"': IS_QUOTE}.get(char, SEPARATES)
        bits = kind(char)
        if bits & ~(IS_UPPER | IS_TO_COMPOSE):
            return bits
        lower = chr(self._lower(char))
        changes_in_nfc = not unicodedata.is_normalized("NFC", lower)
        if char == DOT_ABOVE or changes_in_nfc or is_part_of_korean_syllable(char):
            bits |= IS_RARE
        if len(char.lower()) > 1 and char != _DOTTED_CAPITAL_I:
            bits |= IS_RARE
        if unicodedata.combining(lower) or lower in _second_of_pairs():
            bits |= MAY_COMPOSE
        if not unicodedata.is_normalized("NFD", lower):
            bits |= IS_COMPOSED
        return bits

    def _kind_of_letter(self, char: str) -> int:
        if char in INVISIBLE:
            return IS_LEFT_OUT
        if not char.isalpha():
            return SEPARATES
        if len(char.lower()) == 1:
            return 0
        return ADDS_DOT if char == _DOTTED_CAPITAL_I else IS_RARE


def _chars(row: int) -> list[str]:
    return [chr(number) for number in range(row << 8, (row + 1) << 8)]


def _last_class(number: int) -> int:
    """The combining class of a character, or of its last mark."""
    parts = unicodedata.normalize("NFD", chr(number))
    return unicodedata.combining(parts[-1])


@lru_cache(1)
def composing_pairs() -> NDArray[np.int64]:
    """All pairs of characters that NFC makes one, but for the parts of Korean syllables: as in
    `Characters`."""
    pairs = []
    for number in range(0x80, 0x20000):  # beyond are the characters of Chinese, and no marks
        parts = unicodedata.decomposition(chr(number)).split()
        if len(parts) != 2 or parts[0].startswith("<"):
            continue
        first, second = (int(part, 16) for part in parts)
        if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(number):
            pairs.append(first << 21 | second)
    return np.array(sorted(pairs), np.int64)


@lru_cache(1)
def _second_of_pairs() -> frozenset[str]:
    seconds = composing_pairs() & ((1 << 21) - 1)
    return frozenset(map(chr, seconds.tolist()))


# Words.


class WordTable(NamedTuple):
    """Some words, each called an entry, in an open-addressed table."""

    entries: NDArray[np.int32]
    """(a power of 2,) the number of the entry in each slot; -1: the slot is empty."""
    hashes: NDArray[np.uint64]
    """(slots,) the hash of its word."""
    offsets: Offsets
    """(entries + 1,) where its word begins in ``data``."""
    data: Bytes
    ids: NDArray[np.int32]
    """(entries,) the word id; -1 for one that only begins phrases."""
    longest: NDArray[np.int32]
    """(entries,) the most words of a phrase that begins with it; 1: none does."""


def word_table(ids: Mapping[bytes, int]) -> WordTable:
    """The table of the words and phrases that have these ids; `kernels.fill` fills its slots."""
    longest = {first: lengths[0] for first, lengths in phrase_lengths(ids).items()}
    entries = [*ids, *(word for word in longest if word not in ids)]
    slots = 4
    while slots < 3 * len(entries):  # few collisions
        slots *= 2
    return WordTable(
        entries=np.full(slots, -1, np.int32),
        hashes=np.zeros(slots, np.uint64),
        offsets=from_zero(map(len, entries)),
        data=np.frombuffer(b"".join(entries), np.uint8),
        ids=np.array([ids.get(word, -1) for word in entries], np.int32),
        longest=np.array([longest.get(word, 1) for word in entries], np.int32),
    )


def phrase_lengths(words: Iterable[bytes]) -> dict[bytes, list[int]]:
    """For each word that begins a phrase: how many words such phrases have, the largest first."""
    lengths: dict[bytes, set[int]] = {}
    for phrase in words:
        first, *others = phrase.split(b" ")
        if others:
            lengths.setdefault(first, set()).add(1 + len(others))
    return {first: sorted(numbers, reverse=True) for first, numbers in lengths.items()}


def from_zero(lengths: Iterable[int]) -> Offsets:
    """(n + 1,) where each of n stretches of these lengths begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.fromiter(lengths, np.int64))])

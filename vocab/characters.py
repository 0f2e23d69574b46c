"""What each character means to a word rule, as bits of a number."""

import unicodedata
from functools import lru_cache

INVISIBLE = frozenset(
    "\u00ad\u061c\u200b\u200e\u200f"
    "\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufeff"
)
"""Marks of where a line may break, or of a direction. They do not separate words: the crawler
leaves them out."""
LEFT_OUT_MARKS = INVISIBLE.union("\u034f\u0640", map(chr, range(0xFE00, 0xFE10)))
APOSTROPHES = frozenset("\u2019\u02bc\u05f3")
GERSHAYIM = "\u05f4"
FIRST_HEBREW = "\u05d0"
LAST_HEBREW = "\u05ea"
CAPITAL_SIGMA = "\u03a3"
SIGMA = "\u03c3"
FINAL_SIGMA = "\u03c2"
NON_JOINER = "\u200c"
JOINER = "\u200d"
DOT_ABOVE = "\u0307"
_MOST_CHARACTERS = 1 << 14
"""The most characters whose kinds are remembered."""

# What is to be done about a character beyond ASCII, as bits of a number; 0 for a plain letter,
# which stays as it is. Only IS_UPPER and IS_TO_COMPOSE can be set together.
SEPARATES = 1
IS_APOSTROPHE = 2
IS_LEFT_OUT = 4
ONLY_BETWEEN_LETTERS = 8
IS_UPPER = 16
IS_TO_COMPOSE = 32
"""It may have to be composed with others, or to be cut off from the beginning of a word."""
# Further bits, only of the tables that `kernels` use.
IS_QUOTE = 64
"""A quotation mark, which stands for a gershayim between two Hebrew letters."""
BEGINS_WORDS = 128
"""A letter or digit. What precedes the first one is not part of a word."""
IS_CASED = 256
"""Decides whether a capital sigma beside it ends a word, as `str.lower` does."""
IS_SKIPPED_FOR_CASE = 512
"""Does not decide that: the character behind it does."""
MAY_COMPOSE = 1024
"""May compose or change places with what precedes it in Unicode's composed form (NFC)."""
IS_RARE = 2048
"""The whole text is for `rules` to read: only they know what becomes of this character."""
ADDS_DOT = 4096
"""Its lower case is another letter and a dot above."""
IS_COMPOSED = 8192
"""A letter with a mark, as one character."""


@lru_cache(_MOST_CHARACTERS)
def kind(char: str) -> int:
    """What rule 2 does about a character beyond ASCII."""
    if char in APOSTROPHES:
        return IS_APOSTROPHE
    if char in LEFT_OUT_MARKS:
        return IS_LEFT_OUT
    if char in (GERSHAYIM, NON_JOINER):
        return ONLY_BETWEEN_LETTERS
    is_mark = unicodedata.category(char).startswith("M")
    if is_mark or char == JOINER:
        return IS_TO_COMPOSE
    if not char.isalpha():
        return SEPARATES
    bits = 0
    if char.lower() != char:
        bits |= IS_UPPER
    if is_part_of_korean_syllable(char) or not unicodedata.is_normalized("NFC", char):
        bits |= IS_TO_COMPOSE
    return bits


def is_part_of_korean_syllable(char: str) -> bool:
    """Whether NFC may join the character with others to a syllable."""
    return "\u1100" <= char <= "\u11ff"

"""Which words say nothing about a subject: the stop words, and words too short or too long."""

import unicodedata
from collections.abc import Collection
from importlib import resources

from wikitopics.vocab.rules import Rule


def listed(text: str) -> list[str]:
    """The words of a file of stop words, in which a line may be a comment."""
    words = []
    for line in text.splitlines():
        if not line.startswith("#"):
            words += line.split()
    return words


_ENGLISH = resources.files("wikitopics.vocab") / "data" / "stop_words" / "english.txt"
ENGLISH_STOP_WORDS = frozenset(listed(_ENGLISH.read_text(encoding="utf-8")))
"""English words that say nothing about a subject; an English vocabulary leaves them out."""
STOP_WORDS = {"en": ENGLISH_STOP_WORDS}
"""By the code of their language."""
MIN_LETTERS = 3
"""The usual least number of letters."""


def fault_of(
    word: str,
    rule: Rule,
    stop_words: Collection[str],
    min_letters: int = MIN_LETTERS,
) -> str:
    """Why a word says nothing about a subject, as in "is a stop word"; "" if it may say something.

    A word says nothing if it is too short or too long, a stop word, or made of stop words, as
    "don't" is. A title always says something.
    """
    if rule.of_titles:
        return ""
    if rule.tokens and not rule.is_word(word):
        return "cannot be shown in a line"
    if len(word) > rule.longest:
        return f"has more than {rule.longest} letters"
    if _letters(word) < min_letters:
        return f"has fewer than {min_letters} letters"
    if not stop_words:
        return ""
    if word in stop_words or (rule.tokens and word.lower() in stop_words):
        return "is a stop word"
    if rule.tokens:
        return ""
    for part in word.split("'"):
        if _letters(part) >= min_letters and part not in stop_words:
            return ""
    return "is made of stop words"


def _letters(word: str) -> int:
    """How many letters a word has; one that stands for a syllable, as in Korean, Amharic or Hindi,
    is two."""
    letters = len(word)
    for char in word:
        # Letters without upper and lower case, but not those of Arabic and Hebrew, which are
        # written from right to left.
        is_caseless = unicodedata.category(char) == "Lo"
        if is_caseless and unicodedata.bidirectional(char) == "L":
            letters += 1
    return letters

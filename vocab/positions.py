"""Where the words that a vocabulary counts stand in a text.

`rules` and `segmenters` say what the words are; nothing here decides that. A text is cut at the
characters that separate words by every rule, and the rule is asked about each part.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from wikitopics.vocab import segmenters
from wikitopics.vocab.rules import BY_DICTIONARY, Rule, may_be_in_word
from wikitopics.vocab.vocabulary import Vocabulary

Place = tuple[int, int]
"""Where a word begins, and where it ends: characters from the start of the text."""

_BETWEEN = re.compile("[^'\"\u2019\u02bc\u05f3\u05f4\u200c]+")
"""A part of a word, or of several, without the marks that may stand between two letters."""
_JOINER = "\u200d"
_LONGEST_RUN = 400
"""The most characters without a separator in which several words are looked for."""


def known_words(vocabulary: Vocabulary, text: str) -> list[tuple[int, int, int]]:
    """(start, end, word id) of each word and each phrase that `Vocabulary.count` counts, in the
    order of the text; none overlaps another. A place is empty where one character stands for
    several words.

    ``start`` and ``end`` are characters of ``text``. Raises `VocabularyError` as `count` does.
    """
    found = places(vocabulary.rule, text)
    words = vocabulary.split(text)
    if vocabulary.rule.of_titles:
        lengths = [1] * len(words)
    else:
        lengths = [1 + word.count(" ") for word in words]  # a phrase is several words
    if sum(lengths) != len(found):
        raise AssertionError("a text has other words than its parts")
    known = []
    first = 0
    for word, length in zip(words, lengths, strict=True):
        last = first + length - 1
        word_id = vocabulary.id_of(word)
        if word_id is not None:
            known.append((found[first][0], found[last][1], word_id))
        first += length
    return known


def places(rule: Rule, text: str) -> list[Place]:
    """The place of each of `Rule.words`, in their order."""
    if rule.of_titles:
        return list(_lines(rule, text))
    valid = text.encode("utf-8", "replace").decode()  # as rules read it
    if rule.number == BY_DICTIONARY:
        found = []
        for start, end, word in segmenters.placed_words(valid, rule.language):
            found += _within(rule, valid, (start, end), rule.words_between_spaces(word))
        return found
    return _between_spaces(rule, valid)


def _lines(rule: Rule, text: str) -> Iterator[Place]:
    start = 0
    for line in text.split("\n"):
        if rule.is_word(line):
            yield start, start + len(line)
        start += len(line) + 1


def _between_spaces(rule: Rule, text: str) -> list[Place]:
    """The places of `Rule.words_between_spaces`."""
    words_of: dict[str, Sequence[bytes]] = {}
    is_part = {char: may_be_in_word(char, rule) for char in set(text)}
    marked = text.translate({ord(char): "x" if part else " " for char, part in is_part.items()})
    found: list[Place] = []
    for run in re.finditer("x+", marked):
        start, end = run.span()
        part = text[start:end]
        words = words_of.get(part)
        if words is None:
            words = rule.words_between_spaces(part)
            words_of[part] = words
        if len(words) == 1:
            found.append(_trimmed(text, start, end))
        elif words:
            found += _several(rule, text, (start, end), words)
    return found


def _within(rule: Rule, text: str, place: Place, words: Sequence[bytes]) -> list[Place]:
    """The places of the words that a dictionary found in this place, where the text may spell them
    otherwise."""
    if len(words) <= 1:
        return [place] * len(words)
    start, end = place
    found = _between_spaces(rule, text[start:end])
    if len(found) == len(words):
        return [(start + first, start + last) for first, last in found]
    return _divided(place, len(words))


def _several(rule: Rule, text: str, place: Place, words: Sequence[bytes]) -> list[Place]:
    """The places of several words with no separator between them, such as l'homme."""
    start, end = place
    if end - start > _LONGEST_RUN:
        return _divided(place, len(words))
    parts = [(start + part.start(), start + part.end()) for part in _BETWEEN.finditer(text[start:end])]
    found = []
    first = 0
    for word in words:
        last = _last_part(rule, text, parts[first:], word)
        while last is None and first < len(parts):  # this part holds no word
            first += 1
            last = _last_part(rule, text, parts[first:], word)
        if last is None:
            return _divided(place, len(words))
        found.append(_trimmed(text, parts[first][0], parts[first + last][1]))
        first += last + 1
    return found


def _last_part(rule: Rule, text: str, parts: Sequence[Place], word: bytes) -> int | None:
    """The number of the part with which the word ends that begins with the first; None if none
    does."""
    for number, (_, end) in enumerate(parts):
        start, _ = parts[0]
        if rule.words_between_spaces(text[start:end]) == [word]:
            return number
    return None


def _divided(place: Place, n: int) -> list[Place]:
    """``n`` places that share this one."""
    start, end = place
    edges = [start + number * (end - start) // n for number in range(n + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def _trimmed(text: str, start: int, end: int) -> Place:
    """The place without marks before the first letter and after the last."""
    while start < end - 1 and not text[start].isalnum():
        start += 1
    while start < end - 1 and not _ends_word(text[end - 1]):
        end -= 1
    return start, end


def _ends_word(char: str) -> bool:
    return char.isalnum() or char == _JOINER or unicodedata.category(char).startswith("M")

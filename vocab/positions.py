"""Where the words that a vocabulary counts stand in a text.

`rules` and `segmenters` say what the words are; nothing here decides that. A text is cut at the
characters that separate words by every rule, and the rule is asked about each part.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from wikitopics.vocab import segmenters
from wikitopics.vocab.rules import BY_DICTIONARY, Rule, may_be_in_word
from wikitopics.vocab.vocabulary import Vocabulary

Place = tuple[int, int]
"""Where a word begins, and where it ends: characters from the start of the text."""

_BETWEEN = re.compile("[^'\"\u2019\u02bc\u05f3\u05f4\u200c]+")
"""A part of a word, or of several, without the marks that may stand between two letters."""
_JOINER = "\u200d"
_LONGEST_RUN = 120
"""The most characters without a separator in which several words are looked for."""


def known_words(vocabulary: Vocabulary, text: str) -> list[tuple[int, int, int]]:
    """(start, end, word id) of each word and each phrase that `Vocabulary.count` counts, in the
    order of the text; none overlaps another. A place is empty where one character stands for
    several words.

    ``start`` and ``end`` are characters of ``text``. Raises `VocabularyError` as `count` does.
    """
    token = text.strip()
    token_id = vocabulary.id_of(token) if vocabulary.rule.tokens else None
    if token_id is not None:  # as `count` takes it
        start = text.index(token)
        return [(start, start + len(token), token_id)]
    found = places(vocabulary.rule, text)
    words = vocabulary.split(text)
    if vocabulary.rule.of_titles:
        lengths = [1] * len(words)
    else:
        lengths = [1 + word.count(" ") for word in words]  # a phrase is several words
    if sum(lengths) != len(found):
        raise AssertionError("a text has other words than its parts")
    id_of = {word: vocabulary.id_of(word) for word in set(words)}
    known = []
    first = 0
    for word, length in zip(words, lengths, strict=True):
        last = first + length - 1
        word_id = id_of[word]
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
        return _by_dictionary(rule, valid)
    return _between_spaces(rule, valid)


def _lines(rule: Rule, text: str) -> Iterator[Place]:
    start = 0
    for line in text.split("\n"):
        if rule.is_word(line):
            yield start, start + len(line)
        start += len(line) + 1


def _between_spaces(rule: Rule, text: str) -> list[Place]:
    """The places of `Rule.words_between_spaces`."""
    separating = {ord(char) for char in set(text) if not may_be_in_word(char, rule)}
    with_spaces = text.translate(dict.fromkeys(separating, " "))
    found: list[Place] = []
    known: dict[str, Sequence[Place]] = {}
    for run in re.finditer("[^ ]+", with_spaces):
        start, end = run.span()
        part = text[start:end]
        inside = known.get(part)
        if inside is None:
            inside = _in_run(rule, part)
            known[part] = inside
        for first, last in inside:
            found.append((start + first, start + last))
    return found


def _in_run(rule: Rule, run: str) -> list[Place]:
    """The places of the words of a run of characters that separate none: one word as a rule, none,
    or several, such as l'homme."""
    words = rule.words_between_spaces(run)
    if len(words) == 1:
        return [_trimmed(run, 0, len(run))]
    if len(run) > _LONGEST_RUN:
        return _divided((0, len(run)), len(words))
    parts = [part.span() for part in _BETWEEN.finditer(run)]
    found = []
    first = 0
    for word in words:
        last = _last_part(rule, run, parts[first:], word)
        while last is None and first < len(parts):  # this part holds no word
            first += 1
            last = _last_part(rule, run, parts[first:], word)
        if last is None:
            return _divided((0, len(run)), len(words))
        found.append(_trimmed(run, parts[first][0], parts[first + last][1]))
        first += last + 1
    return found


def _by_dictionary(rule: Rule, text: str) -> list[Place]:
    """The places of the words that a dictionary finds."""
    found: list[Place] = []
    known: dict[tuple[str, str], Sequence[Place]] = {}
    for start, end, word in segmenters.placed_words(text, rule.language):
        part = text[start:end]
        inside = known.get((part, word))
        if inside is None:
            inside = _within(rule, part, rule.words_between_spaces(word))
            known[part, word] = inside
        for first, last in inside:
            found.append((start + first, start + last))
    return found


def _within(rule: Rule, part: str, words: Sequence[bytes]) -> list[Place]:
    """The places of the words that a dictionary found as this part of a text, which may spell them
    otherwise."""
    if not words:
        return []
    found = _between_spaces(rule, part)
    if len(found) == len(words):
        return found
    return _divided((0, len(part)), len(words))


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
    return list(pairwise(edges))


def _trimmed(text: str, start: int, end: int) -> Place:
    """The place without marks before the first letter and after the last."""
    while start < end - 1 and not text[start].isalnum():
        start += 1
    while start < end - 1 and not _ends_word(text[end - 1]):
        end -= 1
    return start, end


def _ends_word(char: str) -> bool:
    return char.isalnum() or char == _JOINER or unicodedata.category(char).startswith("M")

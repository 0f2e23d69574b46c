"""Building a vocabulary from documents: the words that tell subjects apart."""

import heapq
import math
import operator
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from numbers import Real
from typing import Any, Self, SupportsIndex

from wikitopics.vocab.rules import Rule
from wikitopics.vocab.segmenters import VocabularyError
from wikitopics.vocab.vocabulary import Vocabulary, file_text

_DATA = resources.files("wikitopics.vocab") / "data"


class BadDocuments(VocabularyError):
    """The documents from which to build a vocabulary have too few words."""


def _listed(text: str) -> list[str]:
    """The words of a file of stop words, in which a line may be a comment."""
    return [word for line in text.splitlines() if line[:1] != "#" for word in line.split()]


ENGLISH_STOP_WORDS = frozenset(
    _listed((_DATA / "stop_words" / "english.txt").read_text(encoding="utf-8"))
)
"""English words that say nothing about a subject; an English vocabulary leaves them out."""
STOP_WORDS = {"en": ENGLISH_STOP_WORDS}
"""By the code of their language."""

SIZE = 8000
_MAX_OCCURRENCES = 5
_MIN_NPMI, _MIN_NPMI_WITH_STOP_WORD = 0.5, 0.65
"""Of 4,000 articles, these let in "civil war" and "new york", but not "his wife" or "directed
by"."""
_MIN_DOCUMENTS = 3
"""The fewest documents of a phrase."""


@dataclass(frozen=True, slots=True)
class Built:
    """A vocabulary and how it was built."""

    vocabulary: Vocabulary
    """In alphabetical order (by code point)."""
    documents: int
    """The number of documents read that have at least one word."""
    distinct_words: int
    """The number of distinct words (and, for phrases, pairs) counted; the rarest may have been
    dropped meanwhile."""


@dataclass(frozen=True, slots=True)
class VocabularyRecipe:
    """Which words of some texts may enter a vocabulary."""

    rule: Rule
    stop_words: Collection[str] = frozenset()
    """Words that are left out."""
    max_df: int | float | None = None
    """The most documents in which a word may be: a whole number of them, or a share; None: 0.2.
    Without stop words, the frequent words themselves must go: 0.1 removes most of a language's
    function words."""
    min_df: int | float | None = None
    """The fewest documents, likewise; None: two, and one in 2,500."""
    min_letters: int = 3
    """The fewest letters of a word; one that stands for a syllable counts twice."""
    phrases: bool = False
    """Whether frequent pairs of words count as words."""

    @classmethod
    def of_language(
        cls,
        code: str | None,
        stop_words: Iterable[str] | None = None,
        *,
        digits: bool = False,
        **more: Any,
    ) -> Self:
        """For the language of this code, such as "de"; None: texts that may be English.

        ``stop_words`` take the place of the language's own. ``digits``: whether words may hold
        digits.
        ``more``: the fields that are not as usual. Raises `UnseparatedWords`.
        """
        rule = Rule.of_language(code or "en", digits=digits)
        if stop_words is None:
            stop_words = ENGLISH_STOP_WORDS if rule.language == "en" else ()
        left_out = {word.decode() for word in rule.words_between_spaces("\n".join(stop_words))}
        # A dictionary may spell them in another way.
        left_out |= {words[0] for words in map(rule.split, stop_words) if len(words) == 1}
        return cls(rule, frozenset(left_out), **more)

    def limits(self, documents: int) -> tuple[int, int]:
        """The fewest and the most, of this many documents, in which a word may occur."""
        least = max(2, -(-documents // 2500)) if self.min_df is None else self.min_df
        least = math.ceil(least * documents) if isinstance(least, float) else least
        most = (0.2 if self.stop_words else 0.1) if self.max_df is None else self.max_df
        if isinstance(most, float):  # a share of few documents may be less than one of them
            most = max(int(most * documents), least)
        return least, most


def read_stop_words(name: str) -> Collection[str]:
    """The stop words that a command line names: "none", the code of a language, or a file.

    Raises BadVocabulary for a file that cannot be read.
    """
    if name == "none" or name in STOP_WORDS:
        return STOP_WORDS.get(name, ())
    return _listed(file_text(name))


def document_limit(value: object) -> int | float:
    """A whole number of documents, or a share of them. Raises ValueError for anything else."""
    if (
        isinstance(value, SupportsIndex)
        and not isinstance(value, bool)
        and operator.index(value) >= 1
    ):
        return operator.index(value)
    if isinstance(value, Real) and not isinstance(value, SupportsIndex) and 0 < float(value) <= 1:
        return float(value)
    raise ValueError(
        f"{value!r:.40} is neither a number of documents, such as 5, nor a share of them, such as "
        "0.05"
    )


def build_vocabulary(
    documents: Iterable[str],
    recipe: VocabularyRecipe,
    *,
    size: int = SIZE,
    max_candidates: int = 2_000_000,
) -> Built:
    """The ``size`` best words of these documents: `best_words` of their counts."""
    telling = lru_cache(1 << 17)(lambda word: _says_something(word.decode(), recipe))
    counted = (_counted(recipe, recipe.rule.words(document), telling) for document in documents)
    return best_words(counted, recipe, size=size, max_candidates=max_candidates)


def _counted(
    recipe: VocabularyRecipe, words: Sequence[bytes], telling: Callable[[bytes], bool]
) -> Counter[bytes]:
    """How often a document has each word, and each pair that may be a phrase: one of its words says
    something."""
    counts = Counter(words)
    if recipe.phrases:
        counts.update(
            b" ".join((one, other))
            for one, other in pairwise(words)
            if min(len(one), len(other)) >= recipe.min_letters
            and one != other
            and (telling(one) or telling(other))
        )
    return counts


def best_words(
    documents: Iterable[Mapping[bytes, int]],
    recipe: VocabularyRecipe,
    *,
    size: int = SIZE,
    max_candidates: int = 2_000_000,
) -> Built:
    """The ``size`` best words, without those that say nothing about a subject. A document maps
    words to their counts.

    A word's score is its number of occurrences, where the first in a document counts half and those
    after the fifth count nothing. A subject's own words recur within an article (theorem, reactor),
    words of style rarely do (abruptly, thoroughly), and no single article can lift a word. Ties go
    to the word that comes first in the alphabet, so the result does not depend on the order of the
    documents.

    Words are left out if the recipe leaves them out, or if they occur in too few or too many
    documents.

    Memory is bounded by ``max_candidates`` distinct words: whenever there are more, the rarest are
    dropped, and a dropped word starts again from zero (lossy counting). This affects only words far
    below those kept.

    Raises BadDocuments if fewer than two words remain.
    """
    frequency: Counter[bytes] = Counter()
    repeats: Counter[bytes] = Counter()
    count = 0
    floor = 0
    for counts in documents:
        if not counts:
            continue
        count += 1
        frequency.update(counts.keys())
        repeats.update({word: min(n, _MAX_OCCURRENCES) - 1 for word, n in counts.items() if n > 1})
        while len(frequency) > max_candidates:
            floor += 1
            frequency = Counter({word: n for word, n in frequency.items() if n > floor})
            repeats = Counter({word: n for word, n in repeats.items() if word in frequency})
    min_documents, max_documents = recipe.limits(count)
    values = {word: n / 2 + repeats[word] for word, n in frequency.items()}
    if recipe.phrases:
        _choose_phrases(recipe, values, frequency, count, min_documents)
    scores = (
        (-value, word.decode("utf-8"))
        for word, value in values.items()
        if min_documents <= frequency[word] <= max_documents and value >= min_documents / 2
    )
    best = heapq.nsmallest(
        size, ((score, word) for score, word in scores if _says_something(word, recipe))
    )
    # A possessive's possessive and the like leave what no vocabulary can hold.
    words = sorted(word for _, word in best if recipe.rule.is_phrase(word))
    if len(words) < 2:
        word = "link" if recipe.rule.of_titles else "word"
        least = f"at least {min_documents:,}"
        span = least if count <= max_documents else f"{least} and at most {max_documents:,}"
        raise BadDocuments(
            f"too little text: {count:,} {'document' if count == 1 else 'documents'}, "
            f"{'one' if words else 'no'} usable {word}, and at least two are needed. A usable "
            f"{word} occurs in {span} documents. About 10,000 documents give a good vocabulary"
        )
    return Built(Vocabulary.from_words(words, recipe.rule), count, len(frequency))


def _choose_phrases(
    recipe: VocabularyRecipe,
    values: dict[bytes, float],
    frequency: Mapping[bytes, int],
    documents: int,
    min_documents: int,
) -> None:
    """Remove the pairs that are no phrases, and take the others' values from their words.

    In a phrase, the words follow one another far more often than by chance: the normalised
    pointwise mutual information (Bouma 2009) of being neighbours is at least 0.5, with a stop word
    0.65. No word of a phrase is in over half of the documents, as "of" is.
    """
    pairs = {pair: pair.split(b" ") for pair in values if b" " in pair}
    times = {word: frequency[word] / 2 + value for word, value in values.items()}
    total = sum(n for word, n in times.items() if word not in pairs)
    for pair, words in pairs.items():
        n = times[pair]
        has_stop_word = any(word.decode() in recipe.stop_words for word in words)
        least = _MIN_NPMI_WITH_STOP_WORD if has_stop_word else _MIN_NPMI
        first, second = (times.get(word, n) for word in words)
        if (
            frequency[pair] < max(min_documents, _MIN_DOCUMENTS)
            or max(frequency[word] for word in words) > documents / 2
            or math.log(n * total / (first * second)) < least * math.log(total / n)
        ):
            del values[pair]
            continue
        for word in words:
            values[word] -= values[pair]


def _says_something(word: str, recipe: VocabularyRecipe) -> bool:
    """Whether a word is long enough, and neither a stop word nor made of them, as "don't" is; or a
    title."""
    if recipe.rule.of_titles:
        return True
    if len(word) > recipe.rule.longest or _letters(word) < recipe.min_letters:
        return False
    stop_words = recipe.stop_words
    if not stop_words or word in stop_words:
        return not stop_words
    return any(
        _letters(part) >= recipe.min_letters and part not in stop_words for part in word.split("'")
    )


def _letters(word: str) -> int:
    """How many letters a word has; one that stands for a syllable, as in Korean, Amharic or Hindi,
    is two."""
    return len(word) + sum(
        unicodedata.category(char) == "Lo" and unicodedata.bidirectional(char) == "L"
        for char in word
    )

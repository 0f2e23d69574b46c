"""Build a vocabulary from documents: the words that tell subjects apart."""

import heapq
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from wikitopics.vocab.errors import BadDocuments
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.stopwords import ENGLISH
from wikitopics.vocab.vocabulary import Vocabulary

SIZE = 8000
MIN_LETTERS = 3
_MAX_OCCURRENCES = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A vocabulary and how it was built."""

    vocabulary: Vocabulary
    """In alphabetical order (by code point)."""
    documents: int
    """The number of documents read that hold at least one word."""
    distinct_words: int
    """The number of distinct words counted; the rarest may have been dropped on the way."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The usual settings for texts in one language."""

    rule: Rule
    stop_words: Collection[str]
    """Stop words, which are left out."""
    max_share: float
    """Words in more than this share of the documents are left out too."""

    @classmethod
    def of_language(cls, code: str | None) -> "Recipe":
        """For the language of this code, such as "de"; None: texts that may be English.

        Without a list of stop words, the frequent words themselves must go: 0.1 removes most of a language's
        function words.
        """
        if code is None or code.partition("-")[0] == "en":
            return cls(Rule.of_language("en"), ENGLISH, 0.2)
        return cls.without_list(Rule.of_language(code))

    @classmethod
    def without_list(cls, rule: Rule) -> "Recipe":
        """For texts in a language without a known list of stop words."""
        return cls(rule, frozenset(), 0.1)


def build_vocabulary(
    documents: Iterable[str], recipe: Recipe, *, size: int = SIZE, max_candidates: int = 2_000_000
) -> Built:
    """The ``size`` best words of these documents: `best_words` of their counts."""
    counted = (Counter(recipe.rule.words(document)) for document in documents)
    return best_words(counted, recipe, size=size, max_candidates=max_candidates)


def best_words(
    documents: Iterable[Mapping[bytes, int]],
    recipe: Recipe,
    *,
    size: int = SIZE,
    max_candidates: int = 2_000_000,
) -> Built:
    """The ``size`` best words, without those that say nothing about a subject. A document maps words to their
    counts.

    A word's score is its number of occurrences, where the first in a document counts half and those after the
    fifth count nothing. A subject's own words recur within an article (theorem, reactor), words of style
    rarely do (abruptly, thoroughly), and no single article can lift a word. Ties go to the word that comes
    first in the alphabet, so the result does not depend on the order of the documents.

    Words are left out if they have fewer than three letters (a letter that stands for a syllable counts
    twice), if the recipe leaves them out, or if they occur in fewer than two documents or fewer than one in
    2,500.

    Memory is bounded by ``max_candidates`` distinct words: whenever there are more, the rarest are dropped,
    and a dropped word starts again from zero (lossy counting). This affects only words far below those kept.

    Raises BadDocuments if fewer than two words remain.
    """
    frequency: Counter[bytes] = Counter()
    repeats: Counter[bytes] = Counter()
    count = 0
    floor = 0
    for found in documents:
        if not found:
            continue
        count += 1
        frequency.update(found.keys())
        repeats.update({word: min(n, _MAX_OCCURRENCES) - 1 for word, n in found.items() if n > 1})
        while len(frequency) > max_candidates:
            floor += 1
            frequency = Counter({word: n for word, n in frequency.items() if n > floor})
            repeats = Counter({word: n for word, n in repeats.items() if word in frequency})
    min_documents = max(2, -(-count // 2500))
    max_documents = max(int(recipe.max_share * count), min_documents)
    scores = (
        (-(n / 2 + repeats[word]), word.decode("utf-8"))
        for word, n in frequency.items()
        if min_documents <= n <= max_documents
    )
    kept = heapq.nsmallest(size, ((score, word) for score, word in scores if _says_something(word, recipe)))
    # A possessive's possessive and the like leave what no vocabulary can hold.
    words = sorted(word for _, word in kept if recipe.rule.is_word(word))
    if len(words) < 2:
        word = "link" if recipe.rule.of_titles else "word"
        raise BadDocuments(
            f"too little text: {count:,} {'document' if count == 1 else 'documents'}, "
            f"{'one' if words else 'no'} usable {word}, and at least two are needed. A usable {word} occurs "
            "in several documents, but not in most. About 10,000 documents give a good vocabulary"
        )
    return Built(Vocabulary.from_words(words, recipe.rule), count, len(frequency))


def _says_something(word: str, recipe: Recipe) -> bool:
    """Whether a word is long enough, and neither a stop word nor made of them, as "don't" is; or a title."""
    if recipe.rule.of_titles:
        return True
    if len(word) > recipe.rule.longest or _letters(word) < MIN_LETTERS:
        return False
    stop_words = recipe.stop_words
    return not stop_words or any(
        _letters(part) >= MIN_LETTERS and part not in stop_words for part in word.split("'")
    )


def _letters(word: str) -> int:
    return sum(1 + _is_syllable(char) for char in word)


def _is_syllable(char: str) -> bool:
    """Whether a letter stands for a whole syllable, as in Korean, Amharic or Hindi."""
    return unicodedata.category(char) == "Lo" and unicodedata.bidirectional(char) == "L"

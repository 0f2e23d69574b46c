"""Building a vocabulary from documents: the words that tell subjects apart."""

import heapq
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple, Self, SupportsIndex

from wikitopics.vocab.counting import words_of
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.segmenters import VocabularyError
from wikitopics.vocab.stop_words import (
    ENGLISH_STOP_WORDS,
    MIN_LETTERS,
    STOP_WORDS,
    fault_of,
    listed,
)
from wikitopics.vocab.vocabulary import Vocabulary, explained, file_text


class BadDocuments(VocabularyError):
    """The documents from which to build a vocabulary have too few words."""


SIZE = 8000
_MAX_OCCURRENCES = 5
"""More occurrences in one document do not raise the score of a word."""
_MIN_NPMI = 0.5
"""The least normalised pointwise mutual information of the two words of a phrase."""
_MIN_NPMI_WITH_STOP_WORD = 0.65
"""Likewise if one of them is a stop word. In 4,000 articles, these two limits find "civil war" and
"new york", but not "his wife" or "directed by"."""
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
    reasons: Mapping[str, str]
    """For each word that was asked about, a sentence: why it is in the vocabulary, or not."""


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
    """The fewest documents in which a word must be: a whole number, or a share; None: one in 2,500,
    but at least two."""
    min_letters: int = MIN_LETTERS
    """The fewest letters of a word; one that stands for a syllable counts twice."""
    phrases: bool = False
    """Whether frequent pairs of words count as words."""

    @classmethod
    def of_language(
        cls,
        code: str | None,
        stop_words: Collection[str] | None = None,
        *,
        digits: bool = False,
        tokens: bool = False,
        **more: Any,
    ) -> Self:
        """For the language of this code, such as "de"; None: texts that may be English.

        ``stop_words`` take the place of the language's own. ``digits``: whether words may hold
        digits. ``tokens``: whether documents are lists of tokens, which are words as they are, and
        so are stop words. ``more``: the fields that are not as usual. Raises `UnseparatedWords`.
        """
        rule = replace(Rule.of_language(code or "en", digits=digits), tokens=tokens)
        if stop_words is None:
            stop_words = ENGLISH_STOP_WORDS if rule.language == "en" else ()
        if tokens:
            return cls(rule, frozenset(stop_words), **more)
        # Each stop word as it is written, and as the rule's dictionary spells it, if it has one.
        left_out = {word.decode() for word in rule.words_between_spaces("\n".join(stop_words))}
        for stop_word in stop_words:
            words = rule.split(stop_word)
            if len(words) == 1:
                left_out.add(words[0])
        return cls(rule, frozenset(left_out), **more)

    def fault_of(self, word: str) -> str:
        """Why a word says nothing about a subject, as in "is a stop word"; "" if it may say
        something."""
        return fault_of(word, self.rule, self.stop_words, self.min_letters)

    def limits(self, documents: int) -> tuple[int, int]:
        """The fewest and the most, of this many documents, in which a word may occur."""
        if self.min_df is None:
            least = max(2, math.ceil(documents / 2500))
        elif isinstance(self.min_df, float):
            least = math.ceil(self.min_df * documents)
        else:
            least = self.min_df
        most = self.max_df
        if most is None:
            most = 0.2 if self.stop_words else 0.1
        if isinstance(most, float):  # a share of few documents may be less than one of them
            most = max(int(most * documents), least)
        return least, most


def read_stop_words(name: str) -> Collection[str]:
    """The stop words that a command line names: "none", the code of a language, or a file.

    Raises BadVocabulary for a file that cannot be read.
    """
    if name == "none":
        return ()
    if name in STOP_WORDS:
        return STOP_WORDS[name]
    return listed(file_text(name))


def document_limit(value: object) -> int | float:
    """A whole number of documents, or a share of them. Raises ValueError for anything else."""
    if isinstance(value, SupportsIndex):  # a whole number, or True and False
        number = operator.index(value)
        if number >= 1 and not isinstance(value, bool):
            return number
    elif isinstance(value, Real):
        share = float(value)
        if 0 < share <= 1:
            return share
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
    asked: Collection[str] = (),
) -> Built:
    """The ``size`` best words of these documents: `best_words` of their counts."""

    @lru_cache(1 << 17)
    def says_something(word: bytes) -> bool:
        return not recipe.fault_of(word.decode())

    counted = (
        _counted(recipe, words, says_something) for words in words_of(recipe.rule, documents)
    )
    return best_words(counted, recipe, size=size, max_candidates=max_candidates, asked=asked)


def _counted(
    recipe: VocabularyRecipe, words: Sequence[bytes], says_something: Callable[[bytes], bool]
) -> Counter[bytes]:
    """How often a document has each word, and each pair that may be a phrase: one of its words says
    something."""
    counts = Counter(words)
    if recipe.phrases:
        pairs = []
        for first, second in pairwise(words):
            if first == second or min(len(first), len(second)) < recipe.min_letters:
                continue
            if says_something(first) or says_something(second):
                pairs.append(first + b" " + second)
        counts.update(pairs)
    return counts


def best_words(
    documents: Iterable[Mapping[bytes, int]],
    recipe: VocabularyRecipe,
    *,
    size: int = SIZE,
    max_candidates: int = 2_000_000,
    asked: Collection[str] = (),
) -> Built:
    """The ``size`` best words, without those that say nothing about a subject. A document maps
    words to their counts.

    A word's score is its number of occurrences, where the first in a document counts half and those
    after the fifth count nothing. A subject's own words recur within an article (theorem, reactor),
    words of style rarely do (abruptly, thoroughly), and no single article can lift a word. Of words
    with the same score, those that come first in the alphabet are the best, so the result does not
    depend on the order of the documents.

    Words are left out if the recipe leaves them out, or if they occur in too few or too many
    documents.

    Memory is bounded by ``max_candidates`` distinct words: whenever there are more, the rarest are
    dropped, and a dropped word starts again from zero (lossy counting). This affects only words far
    below those kept.

    ``asked``: words of which to say why they are in the vocabulary, or not.

    Raises BadDocuments if fewer than two words remain.
    """
    frequency, repeats, n_documents, dropped = _counts_in(documents, max_candidates)
    min_documents, max_documents = recipe.limits(n_documents)
    scores = {word: n / 2 + repeats[word] for word, n in frequency.items()}
    if recipe.phrases:
        _choose_phrases(recipe, scores, frequency, n_documents, min_documents)
    candidates = _Candidates(
        recipe,
        frequency,
        scores,
        n_documents,
        min_documents,
        max_documents,
        dropped=dropped,
        size=size,
    )
    best = heapq.nsmallest(size, candidates.usable())
    # The rule cuts off one possessive 's: a text's "a's's" was counted as "a's". A vocabulary
    # cannot hold that word, since the rule reads "a's" as "a".
    words = sorted(word for _, word in best if recipe.rule.is_phrase(word))
    if len(words) < 2:
        raise _too_little_text(candidates, words)
    in_documents = [frequency[word.encode()] for word in words]
    vocabulary = Vocabulary.from_words(words, recipe.rule).counted_in(n_documents, in_documents)
    reasons = {word: explained(vocabulary, word, candidates.reason_against) for word in asked}
    return Built(vocabulary, n_documents, len(frequency), reasons)


class _Counts(NamedTuple):
    """How often words occur in some documents."""

    frequency: Counter[bytes]
    """The number of documents that have the word."""
    repeats: Counter[bytes]
    """The occurrences of the word after the first in each document, up to the fifth."""
    n_documents: int
    """The number of documents that have a word."""
    dropped: bool
    """Whether the rarest words were dropped meanwhile."""


def _counts_in(documents: Iterable[Mapping[bytes, int]], max_candidates: int) -> _Counts:
    """The words of all documents, without the rarest whenever there are too many: see
    `best_words`."""
    frequency: Counter[bytes] = Counter()
    repeats: Counter[bytes] = Counter()
    n_documents = 0
    floor = 0  # words in at most so many documents were dropped last; it only rises
    for counts in documents:
        if not counts:
            continue
        n_documents += 1
        frequency.update(counts.keys())
        repeats.update({word: min(n, _MAX_OCCURRENCES) - 1 for word, n in counts.items() if n > 1})
        while len(frequency) > max_candidates:
            floor += 1
            frequency = Counter({word: n for word, n in frequency.items() if n > floor})
            repeats = Counter({word: n for word, n in repeats.items() if word in frequency})
    return _Counts(frequency, repeats, n_documents, dropped=floor > 0)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The words counted in some documents, of which the best are chosen."""

    recipe: VocabularyRecipe
    frequency: Mapping[bytes, int]
    """The number of documents that have the word, or the pair of words."""
    scores: Mapping[bytes, float]
    """As in `best_words`, without pairs that are no phrases."""
    n_documents: int
    min_documents: int
    max_documents: int
    dropped: bool
    """Whether the rarest were dropped meanwhile."""
    size: int
    """How many are kept at most."""

    def usable(self) -> Iterator[tuple[float, str]]:
        """The words that may enter the vocabulary, each with its negative score."""
        for word, score in self.scores.items():
            # The score is at least half of the frequency, unless phrases took it from the word: one
            # that occurs little outside of phrases is left out, too.
            is_frequent = (
                self.frequency[word] >= self.min_documents and score >= self.min_documents / 2
            )
            if is_frequent and self.frequency[word] <= self.max_documents:
                text = word.decode("utf-8")
                if not self.recipe.fault_of(text):
                    yield -score, text

    def reason_against(self, word: str) -> str:
        """Why the best words are without this one, or without this phrase: the end of a sentence
        that begins with the word."""
        if " " in word and not self.recipe.phrases:
            return "is several words, and phrases were not asked for"
        if word.count(" ") > 1:
            return "is more than two words, and only pairs are found"
        fault = self.recipe.fault_of(word)
        if fault:
            return fault
        token = word.encode()
        found = self.frequency.get(token, 0)
        if not found:
            rarely = ", or so rarely that it was no longer counted" if self.dropped else ""
            return f"occurs in none of the {self.n_documents:,} documents{rarely}"
        occurs = f"occurs in {found:,} of {self.n_documents:,} documents"
        if " " in word:
            least = max(self.min_documents, _MIN_DOCUMENTS)
            if found < least:
                return f"{occurs}; a phrase must be in at least {least:,}"
            if token not in self.scores:
                return f"{occurs}, but its words do not belong together often enough for a phrase"
        if found < self.min_documents:
            return f"{occurs}; words in fewer than {self.min_documents:,} are left out"
        if found > self.max_documents:
            return f"{occurs}; words in more than {self.max_documents:,} are left out"
        score = self.scores[token]
        if score < self.min_documents / 2:
            return f"{occurs}, but hardly ever outside of phrases"
        rank = 1 + sum(other < (-score, word) for other in self.usable())
        return f"{occurs}, but is number {rank:,} by score, and only {self.size:,} are kept"


def _too_little_text(candidates: _Candidates, words: Sequence[str]) -> BadDocuments:
    """The error for documents in which only these words, fewer than two, are usable."""
    n_documents = candidates.n_documents
    documents_read = "1 document" if n_documents == 1 else f"{n_documents:,} documents"
    found = "one" if words else "no"
    unit = "link" if candidates.recipe.rule.of_titles else "word"
    limits = f"at least {candidates.min_documents:,}"
    if n_documents > candidates.max_documents:
        limits += f" and at most {candidates.max_documents:,}"
    return BadDocuments(
        f"too little text: {documents_read}, {found} usable {unit}, and at least two are needed. A "
        f"usable {unit} occurs in {limits} documents. About 10,000 documents give a good vocabulary"
    )


def _choose_phrases(
    recipe: VocabularyRecipe,
    scores: dict[bytes, float],
    frequency: Mapping[bytes, int],
    n_documents: int,
    min_documents: int,
) -> None:
    """Remove the pairs that are no phrases, and take the scores of the others from their words.

    In a phrase, the words follow one another far more often than by chance: the normalised
    pointwise mutual information (Bouma 2009) of being neighbours is at least 0.5, with a stop word
    0.65. No word of a phrase is in over half of the documents, as "of" is.
    """
    pairs = {pair: pair.split(b" ") for pair in scores if b" " in pair}
    # A score counts half of the first occurrence in each document. With the other half, it is the
    # number of occurrences, up to five in each document.
    occurrences = {word: frequency[word] / 2 + score for word, score in scores.items()}
    total = sum(n for word, n in occurrences.items() if word not in pairs)
    for pair, words in pairs.items():
        is_rare = frequency[pair] < max(min_documents, _MIN_DOCUMENTS)
        is_everywhere = max(frequency[word] for word in words) > n_documents / 2
        if is_rare or is_everywhere:
            del scores[pair]
            continue
        n = occurrences[pair]
        # Both words are there: no word is rarer than its pair, so none is dropped before the pair.
        first, second = (occurrences[word] for word in words)
        has_stop_word = any(word.decode() in recipe.stop_words for word in words)
        least_npmi = _MIN_NPMI_WITH_STOP_WORD if has_stop_word else _MIN_NPMI
        information = math.log(n * total / (first * second))
        # The normalised information is this divided by the largest possible one, log(total / n).
        # That may be 0, so the limit is multiplied by it instead.
        if information < least_npmi * math.log(total / n):
            del scores[pair]
            continue
        for word in words:
            scores[word] -= scores[pair]

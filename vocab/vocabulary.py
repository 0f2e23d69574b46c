"""A fixed list of words: counting them in texts, and choosing those that tell subjects apart."""

import hashlib
import heapq
import math
import operator
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from wikitopics.vocab.rules import NEWEST, SIGN, Rule, is_printable, rule_of
from wikitopics.vocab.segmenters import VocabularyError as VocabularyError

# Errors of vocabularies; each message is one line for people.


class UnknownVocabulary(VocabularyError):
    """No vocabulary of that name is shipped."""


class BadVocabulary(VocabularyError):
    """The word list cannot be used: unreadable, empty, or with lines that are not words."""


class BadDocuments(VocabularyError):
    """The documents from which to build a vocabulary have too few words."""


# Counting without a vocabulary: every new word gets the next number.


class Lexicon:
    """The words of some texts, numbered in order of appearance, without those too long to be
    words."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._numbers: dict[str, int] = {}

    @property
    def words(self) -> tuple[str, ...]:
        """All words so far, by number."""
        return tuple(self._numbers)

    def count(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(ids, counts) as `Vocabulary.count`, but of every word."""
        words = Counter(word.decode("utf-8") for word in self._rule.words(text))
        known = sorted(
            (self._numbers.setdefault(word, len(self._numbers)), count)
            for word, count in words.items()
            if len(word) <= self._rule.longest
        )
        ids, counts = np.array(known, np.int32).reshape(-1, 2).T.copy()
        return ids, counts


_DATA = resources.files("wikitopics.vocab") / "data"
_MAX_FILE_BYTES = 64 * 2**20


class Vocabulary:
    """An immutable word list; a word's id is its position, from 0.

    Build one with `load`, `from_file` or `from_words`.
    """

    def __init__(
        self,
        words: Sequence[str],
        rule: Rule | str = "1",
        origin: str = "the vocabulary",
        first: int = 0,
        *,
        strict: bool = True,
    ) -> None:
        """Raises BadVocabulary for fewer than two words, duplicates, or entries that no text can
        match.

        Without ``strict``, as for words counted elsewhere, words need not match any text: `count`
        never finds those that cannot. ``origin`` and the line of the ``first`` word, 0 for words
        that are not lines, are for errors. Raises ValueError for an unknown rule.
        """
        self.rule = Rule.parse(rule) if isinstance(rule, str) else rule
        """The word rule; ``str`` gives "1", "2", or "2" and a language."""
        self.words: tuple[str, ...] = _checked(words, self.rule, origin, first, strict)
        # Ids from 1 here, so that filter(None, …) keeps exactly the words that are known.
        self._numbers = {
            word.encode("utf-8"): number for number, word in enumerate(self.words, start=1)
        }
        for number, word in enumerate(self.words, start=1):
            self._numbers.setdefault(self.rule.misread(word).encode("utf-8"), number)
        self._lengths = {} if self.rule.of_titles else _lengths(self._numbers)
        self.fingerprint: str = hashlib.sha256("\n".join(self.words).encode("utf-8")).hexdigest()
        """SHA-256 (hexadecimal) of the newline-joined words. It does not cover the rule: compare
        that too."""

    @classmethod
    def load(cls, name: str | Path) -> Self:
        """A shipped vocabulary by name, otherwise one from a file (`from_file`).

        Raises UnknownVocabulary, which lists the available ones.
        """
        if isinstance(name, Path) or (name not in shipped() and os.path.exists(name)):
            return cls.from_file(name)
        if name not in shipped():
            known = ", ".join(shipped())
            raise UnknownVocabulary(
                f"no vocabulary is called {name!r}. Available: {known} (or name a file)"
            )
        return cls.from_lines(
            (_DATA / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:-1], name
        )

    @classmethod
    def from_file(cls, path: str | Path, *, strict: bool = True) -> Self:
        """A vocabulary from a UTF-8 text file, one word per line, preceded by its rule.

        Raises BadVocabulary, naming the line.
        """
        lines = _file_text(path).replace("\r\n", "\n").removesuffix("\n").split("\n")
        return cls.from_lines(lines, str(path), strict=strict)

    @classmethod
    def from_lines(
        cls,
        lines: Sequence[str],
        origin: str = "the vocabulary",
        *,
        strict: bool = True,
    ) -> Self:
        """The inverse of `lines`; ``origin`` is for errors. Raises BadVocabulary, naming the
        line."""
        try:
            rule = rule_of(lines)
        except ValueError as error:
            raise BadVocabulary(f"{origin}, line 1: {error}") from None
        above = bool(lines) and lines[0].startswith(SIGN)
        return cls(lines[above:], rule, origin, 1 + above, strict=strict)

    @classmethod
    def from_words(cls, words: Iterable[str], rule: Rule | str = "1") -> Self:
        """A vocabulary of these words in this order, for texts read by ``rule``. Raises
        BadVocabulary."""
        return cls(tuple(words), rule)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of its file: the words, preceded by the rule unless it is rule 1."""
        return (*self.rule.lines, *self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and (self.words, self.rule) == (
            other.words,
            other.rule,
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} words, {self.fingerprint[:12]}, rule {self.rule}>"

    def split(self, text: str) -> list[str]:
        """The words of ``text`` in order, known or not, with known phrases: an analyzer for
        scikit-learn's CountVectorizer."""
        pairs = [(word, self._numbers.get(word)) for word in self._read(text)]
        return [
            word.decode("utf-8") if number is None else self.words[number - 1]
            for word, number in pairs
        ]

    def count(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Count the vocabulary's words in ``text``. A word counted in a phrase is not counted by
        itself.

        Returns (ids, counts): the ids found, ascending and each once, and how often each occurs (at
        least 1). Both arrays are empty if none occurs.
        """
        known = filter(None, map(self._numbers.get, self._read(text)))
        numbers, counts = np.unique(np.fromiter(known, dtype=np.int32), return_counts=True)
        return numbers - np.int32(1), counts.astype(np.int32)

    def _read(self, text: str) -> Iterable[bytes]:
        words = self.rule.words(text)
        return _joined(words, self._lengths, self._numbers) if self._lengths else words

    def n_words_in(self, text: str) -> int:
        """How many words a text has, in the vocabulary or not."""
        return len(self.rule.words(text))


def _lengths(words: Iterable[bytes]) -> dict[bytes, list[int]]:
    """The numbers of words in the phrases among these, by their first word, the largest first."""
    lengths: dict[bytes, set[int]] = {}
    for phrase in words:
        if b" " in phrase:
            lengths.setdefault(phrase.partition(b" ")[0], set()).add(phrase.count(b" ") + 1)
    return {first: sorted(numbers, reverse=True) for first, numbers in lengths.items()}


def _joined(
    words: Sequence[bytes], lengths: Mapping[bytes, Sequence[int]], known: Container[bytes]
) -> Iterator[bytes]:
    """The words, with known phrases joined from left to right, the longest first."""
    place = 0
    while place < len(words):
        step, token = 1, words[place]
        for length in lengths.get(token, ()):
            phrase = b" ".join(words[place : place + length])
            if phrase in known:
                step, token = length, phrase
                break
        yield token
        place += step


def _file_text(path: str | Path) -> str:
    """The text of a UTF-8 file. Raises BadVocabulary, naming the line."""
    if os.path.exists(path) and not os.path.isfile(
        path
    ):  # opening a pipe would wait for its other end
        raise BadVocabulary(
            f"{path}: cannot be read: a folder, a pipe or a device, not a regular file"
        )
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise BadVocabulary(f"{str(path) or repr('')}: no such file or folder") from None
    except OSError as error:
        raise BadVocabulary(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > _MAX_FILE_BYTES:
        raise BadVocabulary(
            f"{path}: over {_MAX_FILE_BYTES >> 20} MiB is too large for a word list"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadVocabulary(f"{path}, line {line}: not UTF-8 text; save it as UTF-8") from error


def shipped() -> tuple[str, ...]:
    """Names of the vocabularies that come with the package."""
    return tuple(sorted(item.name[:-4] for item in _DATA.iterdir() if item.name.endswith(".txt")))


def _checked(
    lines: Sequence[str],
    rule: Rule,
    origin: str,
    first: int,
    strict: bool,
) -> tuple[str, ...]:
    """The lines as words, the first of them in line ``first``; 0: they are no lines. Raises
    BadVocabulary for a line that is not a word."""
    first_seen: dict[str, int] = {}
    unit = "line" if first else "word"
    for number, line in enumerate(lines, start=first or 1):
        place = f"{origin}, {unit} {number}"
        if not line.strip():
            raise BadVocabulary(f"{place}: blank; expected a word")
        if line in first_seen:
            raise BadVocabulary(f"{place}: {_short(line)} repeats {unit} {first_seen[line]}")
        if not strict and not is_printable(line):
            raise BadVocabulary(
                f"{place}: {_short(line)} has a character that cannot be printed; remove it"
            )
        if strict and not rule.is_phrase(line):
            raise BadVocabulary(
                f"{place}: {_short(line)} can never match a word of a text; {_cure(line, rule)}"
            )
        first_seen[line] = number
    if len(first_seen) < 2:
        count = "no word" if not first_seen else "only one word"
        raise BadVocabulary(f"{origin}: {count}; a topic model needs at least two")
    return tuple(first_seen)


def _cure(line: str, rule: Rule) -> str:
    """What to do about a line that is not a word."""
    if rule.of_titles:
        return "expected one title per line"
    composed = unicodedata.normalize("NFC", line)
    if line.startswith("#"):
        return f"a word rule is named in the first line, as `{SIGN}{NEWEST}`"
    if rule.is_word(line.lower()):
        return "write it in lower case"
    if rule.is_word(composed):
        return "write it in Unicode's composed form (NFC)"
    if Rule(NEWEST).is_word(composed):
        return f"words with combining marks or apostrophes need `{SIGN}{NEWEST}` as the first line"
    if Rule(NEWEST, digits=True).is_word(composed):
        return (
            f"words with digits need `{SIGN}{NEWEST} digits` as the first line, or in Python "
            "digits=True"
        )
    return "expected one word of letters"


def _short(line: str) -> str:
    return repr(line) if len(line) <= 40 else repr(line[:40]) + "…"


# Building a vocabulary from documents: the words that tell subjects apart.


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
    return _listed(_file_text(name))


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

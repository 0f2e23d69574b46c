"""A fixed list of words, and counting them in texts."""

import copy
import hashlib
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Self

import numpy as np

from wikitopics.vocab.counting import Counted, WordCounter, words_of
from wikitopics.vocab.rules import NEWEST, SIGN, Rule, is_printable, rule_of
from wikitopics.vocab.segmenters import VocabularyError as VocabularyError
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS, fault_of
from wikitopics.vocab.tables import phrase_lengths

# Errors of vocabularies; each message is one line for people.


class UnknownVocabulary(VocabularyError):
    """No vocabulary of that name is shipped."""


class BadVocabulary(VocabularyError):
    """The word list cannot be used: unreadable, empty, or with lines that are not words."""


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

    def count_all(self, texts: Iterable[str]) -> Iterator[Counted]:
        """The words of each text as `Vocabulary.count_all`, but every word."""
        for found in words_of(self._rule, texts):
            words = Counter(word.decode("utf-8") for word in found)
            count_of: dict[int, int] = {}
            for word, count in words.items():
                if len(word) <= self._rule.longest:
                    next_number = len(self._numbers)
                    # A known word keeps its number.
                    number = self._numbers.setdefault(word, next_number)
                    count_of[number] = count
            yield _counted(count_of)


_DATA = resources.files("wikitopics.vocab") / "data"
_MAX_FILE_BYTES = 64 * 2**20
_MOST_COUNT = 2**31 - 1
_SHOWN = 5
"""The most words that a `repr`, or a sentence, names."""


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

        Without ``strict``, as for words that another program counted, entries may be words that no
        text can match; `count` never finds these. Errors name the ``origin`` of the words and the
        line of the bad one. ``first`` is the line of the first word; if it is 0, errors number the
        words, not lines. Raises ValueError for an unknown rule.
        """
        self.rule = Rule.parse(rule) if isinstance(rule, str) else rule
        """The word rule; ``str`` gives "1", "2", or "2" and a language."""
        self.words: tuple[str, ...] = _checked(words, self.rule, origin, first, strict)
        self._ids = {word.encode("utf-8"): id for id, word in enumerate(self.words)}
        # A misread spelling stands for its word, unless the vocabulary has that spelling as a word.
        for id, word in enumerate(self.words):
            self._ids.setdefault(self.rule.misread(word).encode("utf-8"), id)
        self._phrase_lengths = {} if self.rule.of_titles else phrase_lengths(self._ids)
        self.fingerprint: str = hashlib.sha256("\n".join(self.words).encode("utf-8")).hexdigest()
        """SHA-256 (hexadecimal) of the newline-joined words. It does not cover the rule: compare
        that too."""
        self.n_documents = 0
        """The number of documents behind `document_frequencies`; 0: these are not known."""
        self._documents: tuple[int, ...] = ()

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
        text = (_DATA / f"{name}.txt").read_text(encoding="utf-8")
        vocabulary = cls.from_lines(text.removesuffix("\n").split("\n"), name)
        numbers = (_DATA / "documents" / f"{name}.txt").read_text(encoding="utf-8")
        n_documents, *of_words = map(int, numbers.split())
        return vocabulary.counted_in(n_documents, of_words)

    @classmethod
    def from_file(cls, path: str | Path, *, strict: bool = True) -> Self:
        """A vocabulary from a UTF-8 text file, one word per line, preceded by its rule.

        Raises BadVocabulary, naming the line.
        """
        text = file_text(path).replace("\r\n", "\n")
        return cls.from_lines(text.removesuffix("\n").split("\n"), str(path), strict=strict)

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
        if lines and lines[0].startswith(SIGN):
            return cls(lines[1:], rule, origin, first=2, strict=strict)
        return cls(lines, rule, origin, first=1, strict=strict)

    @classmethod
    def from_words(cls, words: Iterable[str], rule: Rule | str = "1") -> Self:
        """A vocabulary of these words in this order, for texts read by ``rule``. Raises
        BadVocabulary."""
        return cls(tuple(words), rule)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of its file: the words, preceded by the rule unless it is rule 1."""
        return (*self.rule.lines, *self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.id_of(word) is not None

    def id_of(self, word: str) -> int | None:
        """The id of a word as `split` gives it; None if the vocabulary does not have it."""
        id = self._ids.get(word.encode("utf-8", "replace"))
        if id is None or self.words[id] != word:
            return None
        return id

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return False
        return self.words == other.words and self.rule == other.rule

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        leading = list(self.document_frequencies or self.words)[:_SHOWN]
        more = ", …" if len(self) > len(leading) else ""
        return f"<Vocabulary of {self.extent}, rule {self.rule}: {', '.join(leading)}{more}>"

    @property
    def extent(self) -> str:
        """How large it is, as in "8,000 words (320 phrases)"."""
        if self.rule.of_titles:
            return f"{len(self):,} titles"
        n_phrases = len(self.phrases)
        if not n_phrases:
            return f"{len(self):,} words"
        noun = "phrase" if n_phrases == 1 else "phrases"
        return f"{len(self):,} words ({n_phrases:,} {noun})"

    @property
    def phrases(self) -> tuple[str, ...]:
        """The entries that are several words, such as "new york", in their order."""
        if not self._phrase_lengths:
            return ()
        return tuple(word for word in self.words if " " in word)

    @property
    def document_frequencies(self) -> dict[str, int]:
        """In how many documents each word is, the most widespread first; empty if not known.

        Known for a session's vocabulary, of the documents trained on (`StoredSession.vocabulary`);
        for one that comes with the program, and one just built, of those it was built from. A file
        does not tell.
        """
        if not self.n_documents:
            return {}
        frequencies = dict(zip(self.words, self._documents, strict=True))
        return dict(sorted(frequencies.items(), key=lambda item: -item[1]))

    def counted_in(self, n_documents: int, documents: Iterable[int]) -> Self:
        """The same vocabulary that knows in how many of ``n_documents`` each of its words is."""
        counted = copy.copy(self)
        counted.n_documents = n_documents
        counted._documents = tuple(documents)
        return counted

    def as_read(self, word: str) -> str:
        """A word or a phrase as it is read in a text: "York's" as "york"; "" if it has no word."""
        if self.rule.of_titles:
            return word
        return " ".join(self.split(word))

    def why(self, word: str) -> str:
        """Why a word or a phrase is in the vocabulary, or not: a sentence, with the number of
        documents if that is known.

        The word is read as in a text. What cannot be told from the words, such as which word was
        too rare where they were chosen, is said to be unknown.
        """
        return explained(self, word, self._reason_against)

    def _reason_against(self, word: str) -> str:
        """What can be told of a word, or of a phrase, that the vocabulary does not have."""
        if self.rule.of_titles:
            return f"is none of the {len(self):,} titles"
        if " " in word:
            if not self.phrases:
                return "is several words, and the vocabulary has no phrases"
            return f"is several words, but none of the {len(self.phrases):,} phrases"
        may_be_english = self.rule.number == 1 or self.rule.language == "en"
        stop_words = ENGLISH_STOP_WORDS if may_be_english else ()
        fault = fault_of(word, self.rule, stop_words)
        if fault:
            return f"{fault}; such words are usually left out"
        return (
            f"is none of the {len(self):,} words, but could be one. Words chosen by counting leave "
            "out those in too few or too many documents, and those that tell subjects apart less "
            "well; which of these it was is not recorded"
        )

    def split(self, text: str) -> list[str]:
        """The words of ``text`` in order, known or not, with known phrases: an analyzer for
        scikit-learn's CountVectorizer."""
        words = []
        for word in self._read(text):
            id = self._ids.get(word)
            as_listed = word.decode("utf-8") if id is None else self.words[id]
            words.append(as_listed)
        return words

    def count(self, text: str) -> Counted:
        """Count the vocabulary's words in ``text``. A word counted in a phrase is not counted by
        itself.

        Returns (ids, counts): the ids found, ascending and each once, and how often each occurs (at
        least 1). Both arrays are empty if none occurs.
        """
        return next(self.count_all([text]))

    def count_all(self, texts: Iterable[str]) -> Iterator[Counted]:
        """What `count` returns for each text: sooner than one by one."""
        if self.rule.of_titles or self.rule.tokens:
            return map(self._counted_in, texts)
        return self._counter.count(texts)

    @cached_property
    def _counter(self) -> WordCounter:
        return WordCounter(self.rule, self._ids)

    def _counted_in(self, text: str) -> Counted:
        """What `count` returns, for a rule of titles or tokens."""
        return _counted(Counter(self._ids[word] for word in self._read(text) if word in self._ids))

    def count_tokens(self, tokens: Iterable[str] | Mapping[str, int]) -> Counted:
        """Count the vocabulary's words among tokens that are taken as they are: nothing is split,
        folded or joined. A mapping has the count of each token.

        Returns what `count` returns. A count is at most 2**31 - 1.
        """
        counts_of: Counter[int] = Counter()
        for token, count in Counter(tokens).items():
            id = self._ids.get(token.encode("utf-8", "replace"))
            if id is not None and count > 0:
                counts_of[id] = min(counts_of[id] + count, _MOST_COUNT)
        return _counted(counts_of)

    def _read(self, text: str) -> Iterable[bytes]:
        """The words of a text, with known phrases as one; a text that is a known token is one."""
        if self.rule.tokens and text.strip() in self:
            return [text.strip().encode("utf-8", "replace")]
        words = self.rule.words(text)
        if not self._phrase_lengths:
            return words
        return _joined(words, self._phrase_lengths, self._ids)

    def n_words_in(self, text: str) -> int:
        """How many words a text has, in the vocabulary or not."""
        return len(self.rule.words(text))


def _counted(count_of: Mapping[int, int]) -> Counted:
    """The ids of words, ascending, and their counts."""
    ids = sorted(count_of)
    counts = [count_of[id] for id in ids]
    return np.array(ids, np.int32), np.array(counts, np.int32)


def explained(vocabulary: Vocabulary, word: str, reason_against: Callable[[str], str]) -> str:
    """Why a word or a phrase is in the vocabulary, or not, as `Vocabulary.why`.

    ``reason_against`` completes "it …" for one that is not, as it is read in a text.
    """
    rule = vocabulary.rule
    as_read = vocabulary.as_read(word)
    if word in vocabulary and as_read != word:
        return f"{_short(word)} is in the vocabulary, but no text has this word by rule {rule}."
    if not as_read:
        digits = " and digits, with at least one letter" if rule.digits else ""
        return f"{_short(word)} is no word: by rule {rule}, a word is made of letters{digits}."
    subject = _short(word)
    if as_read != word:
        subject += f" is read as {_short(as_read)}, which"
    if as_read in vocabulary:
        sentence = f"{subject} is in the vocabulary"
        if vocabulary.n_documents:
            found = vocabulary.document_frequencies[as_read]
            sentence += f": in {found:,} of {vocabulary.n_documents:,} documents"
    else:
        sentence = f"{subject} is not in the vocabulary: it {reason_against(as_read)}"
        known = [one for one in vocabulary.split(word) if one in vocabulary]
        if known:
            sentence += f". It is counted as {_listed(known)}"
    longer = [phrase for phrase in vocabulary.phrases if f" {as_read} " in f" {phrase} "]
    others = [phrase for phrase in longer if phrase != as_read]
    if others:
        sentence += f". In these phrases, it is not counted alone: {_listed(others)}"
    return f"{sentence}."


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(map(_short, words[:_SHOWN]))
    more = len(words) - _SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def _joined(
    words: Sequence[bytes], lengths: Mapping[bytes, Sequence[int]], known: Container[bytes]
) -> list[bytes]:
    """The words, with known phrases joined from left to right, the longest first."""
    joined: list[bytes] = []
    done = 0  # the words up to here are joined
    beginnings = [place for place, word in enumerate(words) if word in lengths]
    for place in beginnings:
        if place < done:  # it is inside a phrase
            continue
        for length in lengths[words[place]]:
            phrase = b" ".join(words[place : place + length])
            if phrase in known:
                joined += words[done:place]
                joined.append(phrase)
                done = place + length
                break
    joined += words[done:]
    return joined


def file_text(path: str | Path) -> str:
    """The text of a UTF-8 file. Raises BadVocabulary, naming the line."""
    # Opening a pipe would wait for its other end.
    if os.path.exists(path) and not os.path.isfile(path):
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
    files = [item.name for item in _DATA.iterdir() if item.name.endswith(".txt")]
    return tuple(sorted(file.removesuffix(".txt") for file in files))


def _checked(
    lines: Sequence[str],
    rule: Rule,
    origin: str,
    first: int,
    strict: bool,
) -> tuple[str, ...]:
    """The words, if all of them are. ``first`` is the number of the first line; 0: words are
    numbered, from 1. Raises BadVocabulary for a line that is not a word."""
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
    if rule.of_titles or rule.tokens:
        unit = "title" if rule.of_titles else "token"
        return f"expected one {unit} per line, without blanks around it or control characters"
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
    if len(line) <= 40:
        return repr(line)
    return repr(line[:40]) + "…"

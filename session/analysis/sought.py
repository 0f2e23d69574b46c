"""What somebody seeks: the words that they typed, what stands for these, and where they are."""

import difflib
import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from wikitopics.model.naming import first_forms
from wikitopics.session.analysis.inference import counted_words
from wikitopics.session.analysis.text_words import WORD, TextWords, folded
from wikitopics.vocab import Vocabulary

MOST_CHARACTERS = 1000
"""What is sought is cut to so many characters: `similar` is for texts."""
MOST_WORDS = 32
"""The most different words that are sought."""
SHORTEST_START = 3
"""The least letters of a part of a word that finds words of the vocabulary beginning with it."""
MOST_ALIKE = 50
"""The most words of the vocabulary that stand for one that it does not have."""
MOST_COMPARED = 5
"""The most words for which others are suggested: each is compared with the whole vocabulary."""
SUGGESTED = 3
"""The most words that are suggested where nothing is found."""

Span = tuple[int, int]
"""Where a part of a text begins and ends."""


class Unit(NamedTuple):
    """A word that is sought, or a phrase of the vocabulary."""

    word: str
    id: int | None
    """Its number in the vocabulary; None: it has none."""
    keys: tuple[int, ...]
    """What follows each other in a title or a snippet with this word: see `TextWords.keys`."""


def is_short(text: str, n_words: int) -> bool:
    """Whether a text of so many words may be looked for in titles."""
    return len(text) <= MOST_CHARACTERS and n_words <= MOST_WORDS


class Sought:
    """Words as somebody typed them: what is sought for them in topics, texts and titles.

    Raises `BadUsage` if nothing here separates the words of the vocabulary's language.
    """

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = " ".join(text.split())[:MOST_CHARACTERS]
        self._vocabulary = vocabulary
        self.text_words = TextWords(vocabulary.rule)
        (self.counted,) = counted_words(vocabulary, [self.text])
        """Those words that the vocabulary has, and how often each is in the text."""

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The different words, in order: first those that the vocabulary has."""
        keys = self.text_words.keys
        ids, _ = self.counted
        id_of = {self._vocabulary.words[id]: id for id in ids.tolist()}
        known = [word for word in dict.fromkeys(self._vocabulary.split(self.text)) if word in id_of]
        units = [Unit(word, id_of[word], keys(word)) for word in known]
        covered = {key for unit in units for key in unit.keys}
        typed = (
            self.text.split() if self.text_words.of_characters else self.text_words.of(self.text)
        )
        others = list(dict.fromkeys(typed))
        telling = [word for word in others if word not in self.text_words.stop_words]
        if not telling and not units:
            telling = others
        for word in telling:
            its_keys = keys(word)
            if not covered.issuperset(its_keys):
                units.append(Unit(word, None, its_keys))
        return tuple(units[:MOST_WORDS])

    def spans(self, text: str) -> list[Span]:
        """Where the words are in a title or a snippet, in order: to mark them."""
        found = [match.span() for match in self._whole.finditer(text)]
        if self.text_words.of_characters:
            for unit in self.units:
                pattern = re.compile(re.escape(unit.word), re.IGNORECASE)
                found += [match.span() for match in pattern.finditer(text)]
        else:
            words = {word for unit in self.units for word in self.text_words.of(unit.word)}
            for run in WORD.finditer(text):
                if folded(run[0]) in words:
                    found.append(run.span())
        return _joined(found)

    def excerpt(self, text: str, most: int) -> str:
        """The part of a snippet around the first of the words, in at most so many characters."""
        spans = self.spans(text)
        start = 0
        if spans and spans[0][1] > most:
            first, _ = spans[0]
            latest = max(first - most // 4, 1)
            start = text.rfind(" ", 0, latest) + 1
        before = "…" if start else ""
        after = "…" if len(text) - start > most else ""
        end = start + most - len(before) - len(after)
        return f"{before}{text[start:end]}{after}"

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        """All that is sought, as a part of a title."""
        if len(self.text) < 2:
            return re.compile("(?!)")  # which is nowhere: one letter is in every text
        return re.compile(re.escape(self.text), re.IGNORECASE)

    @cached_property
    def groups(self) -> tuple[tuple[Unit, list[int]], ...]:
        """Each word with those of the vocabulary that stand for it: itself, or, if the vocabulary
        does not have it, its other forms and the words that begin with it. In a session of links,
        the titles that have it."""
        words = self._vocabulary.words
        if self._vocabulary.rule.of_titles:
            whole = Unit(self.text, None, self.text_words.keys(self.text))
            sought = self.text.casefold()
            ids = [id for id, title in enumerate(words) if sought and sought in title.casefold()]
            return ((whole, ids[:MOST_ALIKE]),)
        groups = []
        for unit in self.units:
            if unit.id is not None:
                ids = [unit.id]
            else:
                alike = [id for id, word in enumerate(words) if _stands_for(word, unit.word)]
                ids = alike[:MOST_ALIKE]
            groups.append((unit, ids))
        return tuple(groups)

    def suggestion(self, titles: Sequence[str]) -> str:
        """What may have been meant, for people: "did you mean 'engine'?"; "" for no idea."""
        of_titles = [title.casefold() for title in titles]
        known = [*self._vocabulary.words, *of_titles, *" ".join(of_titles).split()]
        typed = [self.text.casefold(), *(unit.word for unit in self.units)]
        for word in typed[:MOST_COMPARED]:
            near = difflib.get_close_matches(word, known, n=SUGGESTED, cutoff=0.75)
            if near:
                return f"did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?"
        return ""


def _stands_for(word: str, sought: str) -> bool:
    """Whether a word of the vocabulary may be meant by one that it does not have."""
    # All that stand for it begin with the same letters, and most words do not.
    if len(sought) < SHORTEST_START or not word.startswith(sought[:SHORTEST_START]):
        return False
    return word.startswith(sought) or len(first_forms([word, sought])) == 1


def _joined(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, those that overlap as one."""
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            before, end = joined.pop()
            joined.append((before, max(end, stop)))
        elif start < stop:
            joined.append((start, stop))
    return joined

"""The word rules: what counts as a word. A rule belongs to the vocabulary whose words it found.

Rule 1, of `english` and of every vocabulary that names none: `wikitopics.vocab.words`. Rule 2, of every
vocabulary of words built today: `wikitopics.vocab.marked`. Rule "links": the text is a list of titles, one a
line, and each title counts as a word. A file names its rule in a first line, ``# rule 2``, or ``# rule 2 tr``
where the language decides what a letter or an apostrophe means.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self

from wikitopics.vocab import marked, words

NEWEST = 2
LINKS: Final = "links"
LONGEST_WORD = 40
LONGEST_TITLE = 255
SIGN = "# rule "
"""The beginning of a first line that names the rule."""
_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Invisible, but parts of words: the non-joiner of Persian, and the joiner."""
_LANGUAGE = re.compile(r"[a-z]{2,8}(-[a-z0-9]{1,8}){0,3}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, for one language if the rule depends on it. Make one with `parse` or `of_language`.

    ``str`` writes it as a vocabulary's first line has it: "1", "2", "2 tr", "links".
    """

    number: int | Literal["links"] = 1
    language: str = ""
    """One of `LANGUAGES`, else ""."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of ``str``. Raises ValueError for an unknown rule."""
        if text == LINKS:
            return cls(LINKS)
        number, _, language = text.partition(" ")
        if number not in ("1", "2") or (language and (number == "1" or not _LANGUAGE.fullmatch(language))):
            raise ValueError(
                f"there is no word rule {text[:40]!r}: give 1, 2, 2 and a language, as in 2 tr, or links"
            )
        return cls(int(number), _known(language))

    @classmethod
    def of_language(cls, code: str) -> Self:
        """The newest rule, for texts in the language of this code, such as "de"; "" if it is not known."""
        return cls(NEWEST, _known(code.lower()))

    @property
    def of_titles(self) -> bool:
        """Whether titles of articles take the place of words."""
        return self.number == LINKS

    @property
    def longest(self) -> int:
        """The most characters of a word; longer ones are addresses and hostile input, not words of any
        language."""
        return LONGEST_TITLE if self.of_titles else LONGEST_WORD

    @property
    def lines(self) -> tuple[str, ...]:
        """The first line of a vocabulary's file; none for the first rule."""
        return () if self.number == 1 else (f"{SIGN}{self}",)

    def words(self, text: str) -> list[bytes]:
        """The words of ``text`` in order, lower-cased, each encoded as UTF-8; or its titles as they are."""
        if self.of_titles:
            return [line.encode("utf-8", "replace") for line in text.split("\n") if self.is_word(line)]
        return words.words(text) if self.number == 1 else marked.words(text, self.language)

    def is_word(self, text: str) -> bool:
        """Whether ``text`` is exactly what `words` can return."""
        if self.of_titles:
            return bool(text) and text == text.strip() and is_printable(text)
        if self.number == 1:
            return words.is_word(text)
        return self.words(text) == [text.encode("utf-8", "replace")]

    def misread(self, word: str) -> str:
        """How a text in capital letters spells this word when read by a rule that does not know its
        language."""
        return word.replace("ı", "i") if self.number == 2 and not self.language else word

    def __str__(self) -> str:
        return f"{self.number} {self.language}".strip()


def is_printable(text: str) -> bool:
    """Whether a word or a title can be shown in a line; it may have joiners."""
    return text.isprintable() or text.translate(_JOINERS).isprintable()


def rule_of(lines: Sequence[str]) -> Rule:
    """The rule of a vocabulary's lines. Raises ValueError for an unknown rule."""
    named = bool(lines) and lines[0].startswith(SIGN)
    return Rule.parse(lines[0].removeprefix(SIGN)) if named else Rule()


def _known(code: str) -> str:
    base = code.partition("-")[0]
    return base if base in marked.LANGUAGES else ""

"""The word rules: what counts as a word. A rule belongs to the vocabulary whose words it defines.

Rule 1, of `english` and of every vocabulary that names none: a word is a maximal run of Unicode
letters (``str.isalpha``), lower-cased. Digits, including letter-like ones (superscripts, fractions,
Roman numerals), separate words, and so do combining marks. Soft hyphens and other invisible marks
are left out.

Rule 2, of every vocabulary of words built today: letters with their marks, apostrophes inside
words, the Turkish i. A word is a run of letters and combining marks that begins with a letter, in
lower case and composed (NFC). Everything but the following separates words, digits among it.

======================
====================================================================================
between two letters     an apostrophe belongs to the word: ``п'ять``, ``don't``, ``aujourd'hui``; '
’ ʼ ׳ are
                        one. So do the zero-width non-joiner of Persian and the gershayim of Hebrew,
                        which ``"`` may stand for.
anywhere in a word      the zero-width joiner, as in Sinhala. Soft hyphens, the stretching of Arabic
(tatweel)
                        and marks of direction are left out.
in French, Italian,     what is cut short before a vowel is a word of its own: ``l'homme`` is ``l``
and Catalan                 ``homme``.
in English              the possessive is cut off: ``country's`` is ``country``.
in Turkish,             I is ı and İ is i. In other languages both are i.
Azerbaijani, Gagauz,
Crimean Tatar
======================
====================================================================================

Rule "links": the text is a list of titles, one a line, and each title counts as a word.

Rule 3, of Japanese, Chinese and Thai: rule 2, once `segmenters` have separated the words.

Rule 2 "digits", for texts whose words may hold digits: 0 to 9 count as letters (``5g``,
``covid19``), but a word has a letter, too.

A file names its rule in a first line, ``# rule 2``, or ``# rule 2 tr`` where the language decides
what a letter or an apostrophe means, and ``# rule 2 digits`` or ``# rule 2 tr digits`` where words
may hold digits. ``# rule 3 ja (sudachipy 0.7.0, sudachidict_core 20261015)`` also tells what
separated its words; another version may separate some differently, but it is the same rule.

Words are UTF-8 bytes: `bytes.translate` and `bytes.split` tokenise 8 kB in about 60 microseconds. A
regular expression takes five times as long over the same text.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, Literal, Self

from wikitopics.vocab import segmenters

NEWEST = 2
"""The newest rule of languages with spaces between words."""
BY_DICTIONARY = 3
LINKS: Final = "links"
DIGITS: Final = " digits"
"""The end of a rule whose words may hold digits."""
LONGEST_WORD = 40
LONGEST_TITLE = 255
SIGN = "# rule "
"""The beginning of a first line that names the rule."""
_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Invisible, but parts of words: the non-joiner of Persian, and the joiner."""
FORM = (
    r"links|1|(2)(?: (?!digits)([a-z]{2,8})(?:-[a-z0-9]{1,8}){0,3})?( digits)?"
    rf"|(3) ({'|'.join(segmenters.PACKAGES)})(?: \(([A-Za-z0-9][A-Za-z0-9_., +!-]{{,200}})\))?"
)
"""How a rule is written, as a regular expression."""

# Rule 1.

_ASCII = bytes(range(128))
INVISIBLE = frozenset("\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff").union(
    *(map(chr, range(*ends)) for ends in ((0x202A, 0x202F), (0x2061, 0x2065), (0x2066, 0x206A)))
)
"""Marks of where a line may break, or of a direction, which part no word: the crawler leaves them
out."""
_LETTERS = bytes(
    b if b > 127 else ord(chr(b).lower()) if chr(b).isalpha() else 32 for b in range(256)
)
# With more kinds of separators than this, one pass over the characters is cheaper than a replace
# for each.
_MAX_REPLACES = 48


def _words_of_letters(text: str) -> list[bytes]:
    """The words of ``text`` in order, lower-cased, each encoded as UTF-8."""
    data = text.encode("utf-8", "replace")
    if len(data) == len(text):
        return data.translate(_LETTERS).split()
    others = set(data.translate(None, _ASCII).decode("utf-8"))
    data = _replaced(
        data, {char: "" if char in INVISIBLE else " " for char in others if not char.isalpha()}
    )
    words = data.translate(_LETTERS).split()
    if any(char.lower() != char for char in others):
        # Lower-case after splitting: the lower case of some letters (dotted I) holds non-letters.
        return [
            word if word.isascii() else word.decode("utf-8").lower().encode("utf-8")
            for word in words
        ]
    return words


def _replaced(data: bytes, instead: Mapping[str, str]) -> bytes:
    """UTF-8 with other characters ``instead`` of some."""
    if len(instead) > _MAX_REPLACES:
        return data.decode().translate({ord(char): new for char, new in instead.items()}).encode()
    for char, new in instead.items():
        data = data.replace(char.encode(), new.encode())
    return data


# Rule 2.

DOTTED = frozenset({"tr", "az", "crh", "gag"})
"""Languages with a dotted and a dotless i."""
CUT_SHORT = {
    language: frozenset(word.encode() for word in text.split())
    for language, text in {
        "fr": "c d j l m n s t qu jusqu lorsqu puisqu quoiqu",
        "it": "c d l m n s t v gl un all dall dell nell sull coll quell quest bell nessun",
        "ca": "d l m n s t",
    }.items()
}
"""The parts before an apostrophe that are words of their own."""
POSSESSIVES = {"en": b"'s"}
"""The ends of words that are cut off."""
LANGUAGES = DOTTED | CUT_SHORT.keys() | POSSESSIVES.keys()
"""The languages in which this rule differs from its form in all others."""

_APOSTROPHE = b"'"
_DIGITS = b"0123456789"
_LETTERS_AND_APOSTROPHES = _LETTERS[: ord("'")] + _APOSTROPHE + _LETTERS[ord("'") + 1 :]
_WITH_DIGITS = bytes(b if b in _DIGITS else _LETTERS_AND_APOSTROPHES[b] for b in range(256))
_APOSTROPHES = frozenset("\u2019\u02bc\u05f3")
_GERSHAYIM = "\u05f4".encode()
_NON_JOINER = "\u200c".encode()
_EDGES = (b" ", _APOSTROPHE, _GERSHAYIM, _NON_JOINER)
_JOINER = "\u200d"
_LEFT_OUT = INVISIBLE.union("\u034f\u0640", map(chr, range(0xFE00, 0xFE10)))
_HEBREW = b"\xd7"
"""The first bytes of the Hebrew letters."""
_MOST_KINDS = 1 << 14

# The kinds of a character beyond ASCII. A plain letter is none of them, unless it is in upper case
# or has to be composed with others.
_SEPARATOR, _APOSTROPHE_TOO, _NOTHING, _BETWEEN, _UPPER, _TO_MEND = 1, 2, 4, 8, 16, 32
_INSTEAD = {_SEPARATOR: " ", _APOSTROPHE_TOO: "'", _NOTHING: ""}


@lru_cache(_MOST_KINDS)
def _kind(char: str) -> int:
    if char in _APOSTROPHES:
        return _APOSTROPHE_TOO
    if char in _LEFT_OUT:
        return _NOTHING
    if char.encode() in _EDGES:
        return _BETWEEN
    if char == _JOINER or unicodedata.category(char)[0] == "M":
        return _TO_MEND
    if not char.isalpha():
        return _SEPARATOR
    is_part = "\u1100" <= char <= "\u11ff"  # of a Korean syllable
    composed = unicodedata.is_normalized("NFC", char) and not is_part
    return (_UPPER if char.lower() != char else 0) | (0 if composed else _TO_MEND)


def _words_with_marks(text: str, language: str, digits: bool) -> list[bytes]:
    """The words of ``text`` in order, each encoded as UTF-8.

    ``language``: one of `LANGUAGES`, "" for all others. ``digits``: whether words may hold digits.
    """
    if (
        language in DOTTED or "\u0307" in text
    ):  # whether an I is dotted is visible only once it is composed
        text = unicodedata.normalize("NFC", text)
    data = text.encode("utf-8", "replace")
    others: dict[str, int] = {}
    if len(data) != len(text):
        others = {char: _kind(char) for char in set(data.translate(None, _ASCII).decode())}
        data = _replaced(
            data, {char: _INSTEAD[kind] for char, kind in others.items() if kind in _INSTEAD}
        )
        if b'"' in data and any("\u05d0" <= char <= "\u05ea" for char in others):
            data = _with_gershayim(data)
    if language in DOTTED:
        data = data.replace("İ".encode(), b"i").replace(b"I", "ı".encode())
    data = data.translate(_WITH_DIGITS if digits else _LETTERS_AND_APOSTROPHES)
    for mark in [char.encode() for char, kind in others.items() if kind == _BETWEEN] + [
        _APOSTROPHE
    ]:
        data = _between_letters(data, mark, CUT_SHORT.get(language, frozenset()))
    if any(kind & _UPPER for kind in others.values()):
        data = data.decode().lower().replace("i\u0307", "i").encode()
    words = data.split()
    if (end := POSSESSIVES.get(language)) is not None:
        words = [word.removesuffix(end) for word in words]
    if digits:
        words = [word for word in words if word.strip(_DIGITS + _APOSTROPHE)]
    return _mended(words) if any(kind & _TO_MEND for kind in others.values()) else words


def _with_gershayim(data: bytes) -> bytes:
    """The data with a proper gershayim for each quotation mark between two Hebrew letters."""
    pieces = data.split(b'"')
    signs = (_GERSHAYIM if a[-2:-1] == b[:1] == _HEBREW else b" " for a, b in pairwise(pieces))
    return b"".join(map(bytes.__add__, chain([b""], signs), pieces))


def _between_letters(data: bytes, mark: bytes, cut_short: Set[bytes]) -> bytes:
    """The data with a space for each ``mark`` that is not between two letters or that ends an
    elided word."""
    first, *rest = data.split(mark)
    if not rest:
        return data
    parts = [first]
    for left, right in zip([first, *rest], rest, strict=False):
        stays = left and right and not left.endswith(_EDGES) and not right.startswith(_EDGES)
        if cut_short and mark == _APOSTROPHE and left[left.rfind(b" ") + 1 :] in cut_short:
            stays = False
        parts += [mark if stays else b" ", right]
    return b"".join(parts)


def _mended(words: list[bytes]) -> list[bytes]:
    """The words composed, without anything before their first letter or digit."""
    distinct = b" ".join(set(words)).decode()
    composed = unicodedata.normalize("NFC", distinct)
    while "i\u0307" in composed:
        composed = unicodedata.normalize("NFC", composed.replace("i\u0307", "i"))
    mended = [
        next((word[start:] for start, char in enumerate(word) if char.isalnum()), "").encode()
        for word in composed.split(" ")
    ]
    now = dict(zip(distinct.encode().split(b" "), mended, strict=True))
    return [word for word in map(now.__getitem__, words) if word]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, for one language if the rule depends on it. Make one with `parse` or `of_language`.

    ``str`` writes it as a vocabulary's first line has it: "1", "2", "2 tr", "2 tr digits", "links".
    """

    number: int | Literal["links"] = 1
    language: str = ""
    """One of `LANGUAGES` for rule 2, or of `segmenters.PACKAGES` for rule 3, else ""."""
    digits: bool = False
    """Whether words may hold digits."""
    versions: str = field(default="", compare=False)
    """What separated the words of the vocabulary when it was built; "" if that is not known."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of ``str``. Raises ValueError for an unknown rule."""
        if text == LINKS:
            return cls(LINKS)
        form = re.fullmatch(FORM, text)
        if form is None:
            raise ValueError(
                f"there is no word rule {text[:40]!r}: give 1, 2, 2 and a language, as in 2 tr, 3 "
                f"and a language ({', '.join(segmenters.PACKAGES)}), 2 with digits, as in 2 "
                "digits, or links"
            )
        if form[4]:
            return cls(BY_DICTIONARY, form[5], versions=form[6] or "")
        return cls(NEWEST, _known(form[2] or ""), bool(form[3])) if form[1] else cls()

    @classmethod
    def of_language(cls, code: str, *, digits: bool = False) -> Self:
        """The newest rule, for texts in the language of this code, such as "de"; "" if it is not
        known.

        Raises `UnseparatedWords` for a language without spaces whose words nothing here separates,
        or separates only without digits.
        """
        if unspaced := segmenters.unspaced_code(code.lower()):
            if digits:
                raise segmenters.UnseparatedWords(
                    f"words of {segmenters.UNSPACED[unspaced]} hold no digits"
                )
            return cls(BY_DICTIONARY, unspaced, versions=segmenters.versions(unspaced))
        return cls(NEWEST, _known(code.lower()), digits)

    @property
    def of_titles(self) -> bool:
        """Whether titles of articles take the place of words."""
        return self.number == LINKS

    @property
    def longest(self) -> int:
        """The most characters of a word; longer ones are addresses and hostile input, not words of
        any language."""
        return LONGEST_TITLE if self.of_titles else LONGEST_WORD

    @property
    def lines(self) -> tuple[str, ...]:
        """The first line of a vocabulary's file; none for the first rule."""
        return () if self.number == 1 else (f"{SIGN}{self}",)

    def words(self, text: str) -> list[bytes]:
        """The words of ``text`` in order, lower-cased, each encoded as UTF-8; or its titles as they
        are."""
        if self.of_titles:
            return [
                line.encode("utf-8", "replace") for line in text.split("\n") if self.is_word(line)
            ]
        if self.number == BY_DICTIONARY:
            text = segmenters.spaced_text(text, self.language)
        return self.words_between_spaces(text)

    def split(self, text: str) -> list[str]:
        """The same words as text, not bytes."""
        return [word.decode() for word in self.words(text)]

    def words_between_spaces(self, text: str) -> list[bytes]:
        """The words of a text that has spaces between them, whatever its language."""
        if self.number == 1:
            return _words_of_letters(text)
        return _words_with_marks(text, self.language, self.digits)

    def is_word(self, text: str) -> bool:
        """Whether ``text`` is exactly what `words` can return, as far as can be told without a
        dictionary."""
        if self.of_titles:
            return bool(text) and text == text.strip() and is_printable(text)
        # The dotted I is the only letter whose lower case is a letter and a mark.
        read = text.replace("i\u0307", "\u0130") if self.number == 1 else text
        return self.words_between_spaces(read) == [text.encode("utf-8", "replace")]

    def is_phrase(self, text: str) -> bool:
        """Whether ``text`` is a word, or several with one space between each two and not too
        long."""
        may_have_spaces = not self.of_titles and len(text) <= LONGEST_TITLE
        return all(map(self.is_word, text.split(" ") if may_have_spaces else [text]))

    def misread(self, word: str) -> str:
        """How a text in capital letters spells this word when read by a rule that does not know its
        language."""
        return word.replace("ı", "i") if self.number == 2 and not self.language else word

    def __str__(self) -> str:
        form = f"{self.number} {self.language}".strip() + (DIGITS if self.digits else "")
        return f"{form} ({self.versions})" if self.versions else form


def is_printable(text: str) -> bool:
    """Whether a word or a title can be shown in a line; it may have joiners."""
    return text.isprintable() or text.translate(_JOINERS).isprintable()


def rule_of(lines: Sequence[str]) -> Rule:
    """The rule of a vocabulary's lines. Raises ValueError for an unknown rule."""
    named = bool(lines) and lines[0].startswith(SIGN)
    return Rule.parse(lines[0].removeprefix(SIGN)) if named else Rule()


def _known(code: str) -> str:
    base = code.partition("-")[0]
    return base if base in LANGUAGES else ""

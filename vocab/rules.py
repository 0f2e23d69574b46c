"""The word rules: what counts as a word. A rule belongs to the vocabulary whose words it defines.

Rule 1, of `english` and of every vocabulary that names none: a word is a maximal run of Unicode
letters (``str.isalpha``), lower-cased. Digits, including letter-like ones (superscripts, fractions,
Roman numerals), separate words, and so do combining marks. Soft hyphens and other invisible marks
are left out.

Rule 2, of every vocabulary of words built today: letters with their marks, apostrophes inside
words, the Turkish i. A word is a run of letters and combining marks that begins with a letter, in
lower case and composed (NFC). Everything but the following separates words, digits among it.

- An apostrophe between two letters belongs to the word: ``п'ять``, ``don't``, ``aujourd'hui``; each
  of ' ’ ʼ ׳ is one. So do the zero-width non-joiner of Persian and the gershayim of Hebrew, which
  ``"`` may stand for.
- The zero-width joiner, as in Sinhala, belongs to the word anywhere in it. Soft hyphens, the
  stretching of Arabic (tatweel) and marks of direction are left out.
- In French, Italian and Catalan, what is cut short before a vowel is a word of its own: ``l'homme``
  is ``l`` and ``homme``.
- In English, the possessive is cut off: ``country's`` is ``country``.
- In Turkish, Azerbaijani, Gagauz and Crimean Tatar, I is ı and İ is i. In other languages both are
  i.

Rule "links": the text is a list of titles, one a line, and each title counts as a word.

Rule 3, of Japanese, Chinese and Thai: rule 2, once `segmenters` have separated the words.

Rule 2 "digits", for texts whose words may hold digits: 0 to 9 count as letters (``5g``,
``covid19``), but a word has a letter, too.

Rule "tokens 2" and the like, of documents that are lists of tokens: tokens are taken as they are,
and the rule named behind them says how a text that is not such a list is split.

A file names its rule in a first line, ``# rule 2``, or ``# rule 2 tr`` where the language decides
what a letter or an apostrophe means, and ``# rule 2 digits`` or ``# rule 2 tr digits`` where words
may hold digits. ``# rule 3 ja (sudachipy 0.7.0, sudachidict_core 20261015)`` also tells what
separated its words; another version may separate some differently, but it is the same rule.

Words are UTF-8 bytes: `bytes.translate` and `bytes.split` tokenise 8 kB in about 60 microseconds. A
regular expression takes five times as long over the same text.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Literal, Self

from wikitopics.vocab import segmenters
from wikitopics.vocab.characters import (
    DOT_ABOVE,
    FIRST_HEBREW,
    GERSHAYIM,
    INVISIBLE,
    IS_APOSTROPHE,
    IS_LEFT_OUT,
    IS_TO_COMPOSE,
    IS_UPPER,
    LAST_HEBREW,
    NON_JOINER,
    ONLY_BETWEEN_LETTERS,
    SEPARATES,
    kind,
)

NEWEST = 2
"""The newest rule of languages with spaces between words."""
BY_DICTIONARY = 3
"""The rule of languages whose words `segmenters` separate."""
LINKS: Final = "links"
DIGITS: Final = " digits"
"""The end of a rule whose words may hold digits."""
OF_TOKENS: Final = "tokens "
"""The beginning of a rule whose words are tokens that are taken as they are."""
LONGEST_WORD = 40
LONGEST_TITLE = 255
_MOST_COUNT_DIGITS = 10
SIGN = "# rule "
"""The beginning of a first line that names the rule."""
_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Invisible, but parts of words: the non-joiner of Persian, and the joiner."""
_LANGUAGE = r"(?!digits)(?P<language>[a-z]{2,8})(?:-[a-z0-9]{1,8}){0,3}"
"""The code of a language, such as "zh-hant"; "digits" is not one."""
_VERSIONS = r"(?P<versions>[A-Za-z0-9][A-Za-z0-9_., +!-]{,200})"
FORM = (
    r"links"
    rf"|(?P<tokens>{OF_TOKENS})?(?:"
    r"1"
    rf"|2(?: {_LANGUAGE})?(?P<digits> digits)?"
    rf"|3 (?P<unspaced>{'|'.join(segmenters.PACKAGES)})(?: \({_VERSIONS}\))?"
    r")"
)
"""How a rule is written, as a regular expression."""

# Rule 1.

_ASCII = bytes(range(128))


def _lower_or_space(byte: int) -> int:
    """An ASCII letter in lower case, a space for another ASCII character, and other bytes as they
    are."""
    if byte not in _ASCII:
        return byte
    char = chr(byte)
    return ord(char.lower()) if char.isalpha() else ord(" ")


_LETTERS = bytes(map(_lower_or_space, range(256)))
"""The table for `bytes.translate` that leaves only letters."""
_MAX_REPLACES = 48
"""The most characters that are replaced one after another. For more, one pass over the text is
cheaper."""


def _words_of_letters(text: str) -> list[bytes]:
    """The words of ``text`` in order, lower-cased, each encoded as UTF-8."""
    data = text.encode("utf-8", "replace")
    is_ascii = len(data) == len(text)
    if is_ascii:
        return data.translate(_LETTERS).split()
    beyond_ascii = set(data.translate(None, delete=_ASCII).decode("utf-8"))
    instead = {char: " " for char in beyond_ascii if not char.isalpha()}
    instead |= dict.fromkeys(beyond_ascii & INVISIBLE, "")
    words = _replaced(data, instead).translate(_LETTERS).split()
    if any(char.lower() != char for char in beyond_ascii):
        # Lower-case after splitting: the lower case of some letters (dotted I) holds non-letters.
        return [_lower(word) for word in words]
    return words


def _lower(word: bytes) -> bytes:
    """The word in lower case, if its ASCII letters are."""
    if word.isascii():
        return word
    return word.decode("utf-8").lower().encode("utf-8")


def _replaced(data: bytes, instead: Mapping[str, str]) -> bytes:
    """UTF-8 in which each of some characters is replaced by what is ``instead`` of it."""
    if len(instead) > _MAX_REPLACES:
        table = {ord(char): new for char, new in instead.items()}
        return data.decode().translate(table).encode()
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
"""The languages for which rule 2 has something of its own."""

_APOSTROPHE = b"'"
_DIGITS = b"0123456789"


def _keeping(kept: bytes, table: bytes) -> bytes:
    """The table for `bytes.translate`, but with these bytes as they are."""
    return bytes(byte if byte in kept else table[byte] for byte in range(256))


_LETTERS_AND_APOSTROPHES = _keeping(_APOSTROPHE, _LETTERS)
_WITH_DIGITS = _keeping(_DIGITS, _LETTERS_AND_APOSTROPHES)
_DOTTED_I = "i" + DOT_ABOVE
"""What the lower case of a dotted capital I (U+0130) is, where it is not composed."""
_GERSHAYIM = GERSHAYIM.encode()
_EDGES = (b" ", _APOSTROPHE, _GERSHAYIM, NON_JOINER.encode())
"""All that a text has besides letters, once its other characters are spaces: a mark beside one of
these is not between two letters."""
_HEBREW = b"\xd7"
"""The first of the two bytes of every Hebrew letter."""
_INSTEAD = {SEPARATES: " ", IS_APOSTROPHE: "'", IS_LEFT_OUT: ""}
"""What takes the place of characters of some kinds."""


def _words_with_marks(text: str, language: str, digits: bool) -> list[bytes]:
    """The words of ``text`` in order, each encoded as UTF-8.

    ``language``: one of `LANGUAGES`, "" for all others. ``digits``: whether words may hold digits.
    """
    # Whether an I has a dot can be seen only once the I and the dot are composed.
    if language in DOTTED or DOT_ABOVE in text:
        text = unicodedata.normalize("NFC", text)
    data = text.encode("utf-8", "replace")
    others: dict[str, int] = {}  # the kinds of the characters beyond ASCII
    is_ascii = len(data) == len(text)
    if not is_ascii:
        beyond_ascii = set(data.translate(None, delete=_ASCII).decode())
        others = {char: kind(char) for char in beyond_ascii}
        data = _replaced(
            data, {char: _INSTEAD[bits] for char, bits in others.items() if bits in _INSTEAD}
        )
        if b'"' in data and any(FIRST_HEBREW <= char <= LAST_HEBREW for char in others):
            data = _with_gershayim(data)
    if language in DOTTED:
        data = data.replace("İ".encode(), b"i").replace(b"I", "ı".encode())
    table = _WITH_DIGITS if digits else _LETTERS_AND_APOSTROPHES
    data = data.translate(table)
    # By now all kinds of apostrophes are one. They and the other marks that belong to a word only
    # between two letters separate words elsewhere.
    for char, bits in others.items():
        if bits == ONLY_BETWEEN_LETTERS:
            data = _between_letters(data, char.encode())
    cut_short = CUT_SHORT.get(language, frozenset())
    data = _between_letters(data, _APOSTROPHE, cut_short)
    if any(bits & IS_UPPER for bits in others.values()):
        # The lower case of İ is an i and a dot above, of which the i stays.
        data = data.decode().lower().replace(_DOTTED_I, "i").encode()
    words = data.split()
    if language in POSSESSIVES:
        possessive = POSSESSIVES[language]
        words = [word.removesuffix(possessive) for word in words]
    if digits:  # a word has a letter, too
        words = [word for word in words if word.strip(_DIGITS + _APOSTROPHE)]
    if any(bits & IS_TO_COMPOSE for bits in others.values()):
        return _composed(words)
    return words


def _with_gershayim(data: bytes) -> bytes:
    """The data with a gershayim for each quotation mark between two Hebrew letters, and a space for
    each other one."""
    first, *others = data.split(b'"')
    parts = [first]
    left = first
    for right in others:
        follows_hebrew = left[-2:-1] == _HEBREW  # the last letter's first byte
        precedes_hebrew = right[:1] == _HEBREW
        between = _GERSHAYIM if follows_hebrew and precedes_hebrew else b" "
        parts.append(between)
        parts.append(right)
        left = right
    return b"".join(parts)


def _between_letters(data: bytes, mark: bytes, cut_short: Set[bytes] = frozenset()) -> bytes:
    """The data with a space for each ``mark`` that is not between two letters, and for each that
    follows one of the words ``cut_short``: these are words of their own."""
    first, *others = data.split(mark)
    parts = [first]
    left = first
    for right in others:
        stays = left and right and not left.endswith(_EDGES) and not right.startswith(_EDGES)
        if stays and cut_short:
            last_word = left[left.rfind(b" ") + 1 :]
            stays = last_word not in cut_short
        between = mark if stays else b" "
        parts.append(between)
        parts.append(right)
        left = right
    return b"".join(parts)


def _composed(words: list[bytes]) -> list[bytes]:
    """The words composed, each from its first letter or digit on; those without one are left
    out."""
    if not words:
        return []
    distinct = list(set(words))
    # All at once, since that is quicker.
    text = unicodedata.normalize("NFC", b" ".join(distinct).decode())
    # More than once, since an i may have several dots.
    while _DOTTED_I in text:
        text = unicodedata.normalize("NFC", text.replace(_DOTTED_I, "i"))
    composed = [_from_first_letter(word).encode() for word in text.split(" ")]
    composed_of = dict(zip(distinct, composed, strict=True))
    return [composed_of[word] for word in words if composed_of[word]]


def _from_first_letter(word: str) -> str:
    """The word without the marks and apostrophes that it begins with."""
    for start, char in enumerate(word):
        if char.isalnum():
            return word[start:]
    return ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, for one language if the rule depends on it. Make one with `parse` or `of_language`.

    ``str`` writes it as a vocabulary's first line has it: "1", "2", "2 tr", "2 tr digits", "links",
    "tokens 2 en".
    """

    number: int | Literal["links"] = 1
    language: str = ""
    """One of `LANGUAGES` for rule 2, or of `segmenters.PACKAGES` for rule 3, else ""."""
    digits: bool = False
    """Whether words may hold digits."""
    tokens: bool = False
    """Whether the documents are lists of tokens, which are words as they are. What else the rule
    says is then how a text is split."""
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
        tokens = form["tokens"] is not None
        if text.removeprefix(OF_TOKENS) == "1":
            return cls(tokens=tokens)
        if form["unspaced"]:
            versions = form["versions"] or ""
            return cls(BY_DICTIONARY, form["unspaced"], tokens=tokens, versions=versions)
        language = _known(form["language"] or "")
        return cls(NEWEST, language, digits=form["digits"] is not None, tokens=tokens)

    @classmethod
    def of_language(cls, code: str, *, digits: bool = False) -> Self:
        """The newest rule, for texts in the language of this code, such as "de"; "" if it is not
        known.

        Raises `UnseparatedWords` for a language without spaces whose words nothing here separates,
        or separates only without digits.
        """
        unspaced = segmenters.unspaced_code(code.lower())
        if unspaced:
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
        return LONGEST_TITLE if self.of_titles or self.tokens else LONGEST_WORD

    @property
    def lines(self) -> tuple[str, ...]:
        """The first line of a vocabulary's file; none for the first rule."""
        if self.number == 1:
            return ()
        return (f"{SIGN}{self}",)

    def words(self, text: str) -> list[bytes]:
        """The words of ``text`` in order, lower-cased, each encoded as UTF-8; or its titles as they
        are."""
        if self.of_titles:
            titles = [line for line in text.split("\n") if self.is_word(line)]
            return [title.encode("utf-8", "replace") for title in titles]
        return self.words_between_spaces(self.spaced(text))

    def spaced(self, text: str) -> str:
        """The text with spaces between its words, if its language writes none."""
        if self.number == BY_DICTIONARY:
            return segmenters.spaced_text(text, self.language)
        return text

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
        if self.of_titles or self.tokens:
            return bool(text) and text == text.strip() and is_printable(text)
        in_text = text
        if self.number == 1:
            # The dotted I (İ) is the only letter whose lower case is a letter and a mark. Rule 1
            # separates words at a mark, so a word with these two comes from a text with İ.
            in_text = text.replace(_DOTTED_I, "\u0130")
        return self.words_between_spaces(in_text) == [text.encode("utf-8", "replace")]

    def is_phrase(self, text: str) -> bool:
        """Whether ``text`` is a word, or several with one space between each two and not too
        long."""
        if self.of_titles or self.tokens or len(text) > LONGEST_TITLE:
            return self.is_word(text)
        return all(map(self.is_word, text.split(" ")))

    def misread(self, word: str) -> str:
        """The word that this rule finds where a text has this word in capital letters. These have I
        for ı, which a rule that does not know that the text is Turkish reads as i."""
        if self.number == NEWEST and not self.language and not self.tokens:
            return word.replace("ı", "i")
        return word

    def __str__(self) -> str:
        form = f"{self.number} {self.language}".strip()
        if self.digits:
            form += DIGITS
        if self.versions:
            form += f" ({self.versions})"
        return OF_TOKENS + form if self.tokens else form


def may_be_in_word(char: str, rule: Rule) -> bool:
    """Whether words that this character stands between may be one word; otherwise it separates
    them, whatever is around it. Not for a rule of titles."""
    if rule.number == 1:
        return char.isalpha() or char in INVISIBLE
    if not char.isascii():
        return kind(char) != SEPARATES
    return char.isalpha() or char in "'\"" or (rule.digits and char.isdigit())


def is_printable(text: str) -> bool:
    """Whether a word or a title can be shown in a line; it may have joiners."""
    return text.isprintable() or text.translate(_JOINERS).isprintable()


def token_lines(tokens: Mapping[str, int] | Iterable[str]) -> str:
    """Tokens as the text of a document, one a line: with their counts behind a tab, if these are
    given."""
    if isinstance(tokens, Mapping):
        return "\n".join(f"{token}\t{count}" for token, count in tokens.items())
    return "\n".join(tokens)


def tokens_in(text: str) -> Counter[str]:
    """The tokens of `token_lines`, and how often each is there: the inverse, but for the order. A
    count that is none is taken for 1."""
    tokens: Counter[str] = Counter()
    for line in text.split("\n"):
        token, _, count = line.partition("\t")
        if token:
            is_count = count.isascii() and count.isdecimal() and len(count) <= _MOST_COUNT_DIGITS
            tokens[token] += int(count) if is_count else 1
    return tokens


def rule_of(lines: Sequence[str]) -> Rule:
    """The rule of a vocabulary's lines. Raises ValueError for an unknown rule."""
    if lines and lines[0].startswith(SIGN):
        return Rule.parse(lines[0].removeprefix(SIGN))
    return Rule()


def _known(code: str) -> str:
    """The language of a code such as "fr-ca", if this rule differs for it, otherwise ""."""
    base = code.partition("-")[0]
    return base if base in LANGUAGES else ""

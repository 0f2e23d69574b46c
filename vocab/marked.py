"""Word rule 2: letters with their marks, apostrophes inside words, the Turkish i.

A word is a run of letters and combining marks that begins with a letter, in lower case and composed (NFC).

======================  ====================================================================================
between two letters     an apostrophe belongs to the word: ``п'ять``, ``don't``, ``aujourd'hui``; ' ’ ʼ ׳ are
                        one. So do the zero-width non-joiner of Persian and the gershayim of Hebrew, which
                        ``"`` may stand for.
anywhere in a word      the zero-width joiner, as in Sinhala. Soft hyphens, the stretching of Arabic (tatweel)
                        and marks of direction are left out.
in French, Italian,     what is cut short before a vowel is a word of its own: ``l'homme`` is ``l`` and
Catalan                 ``homme``.
in English              the possessive is cut off: ``country's`` is ``country``.
in Turkish,             I is ı and İ is i. In other languages both are i.
Azerbaijani, Gagauz,
Crimean Tatar
======================  ====================================================================================

Everything else, digits among it, separates words.
"""

import unicodedata
from collections.abc import Set

from wikitopics.vocab.words import ASCII, INVISIBLE, replaced

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
_TO_WORDS = bytes(
    b if b > 127 or b == ord(_APOSTROPHE) else ord(chr(b).lower()) if chr(b).isalpha() else 32
    for b in range(256)
)
_APOSTROPHES = frozenset("\u2019\u02bc\u05f3")
_GERSHAYIM = "\u05f4".encode()
_NON_JOINER = "\u200c".encode()
_EDGES = (b" ", _APOSTROPHE, _GERSHAYIM, _NON_JOINER)
_JOINER = "\u200d"
_LEFT_OUT = INVISIBLE.union("\u034f\u0640", map(chr, range(0xFE00, 0xFE10)))
_HEBREW = b"\xd7"
"""The first bytes of the Hebrew letters."""
_MOST_KINDS = 1 << 14

# The kinds of a character beyond ASCII. A plain letter is none of them, unless it is in upper case or has to
# be composed with others.
_SEPARATOR, _APOSTROPHE_TOO, _NOTHING, _BETWEEN, _UPPER, _TO_MEND = 1, 2, 4, 8, 16, 32
_INSTEAD = {_SEPARATOR: " ", _APOSTROPHE_TOO: "'", _NOTHING: ""}


class _Kinds(dict[str, int]):
    """The kind of each character met so far; as quick as a dict."""

    def __missing__(self, char: str) -> int:
        if len(self) >= _MOST_KINDS:
            self.clear()
        kind = self[char] = _kind(char)
        return kind


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


_KINDS = _Kinds()


def words(text: str, language: str = "") -> list[bytes]:
    """The words of ``text`` in order, each encoded as UTF-8.

    ``language``: one of `LANGUAGES`, "" for all others.
    """
    if language in DOTTED or "\u0307" in text:  # whether an I is dotted is visible only once it is composed
        text = unicodedata.normalize("NFC", text)
    data = text.encode("utf-8", "replace")
    others: dict[str, int] = {}
    if len(data) != len(text):
        others = {char: _KINDS[char] for char in set(data.translate(None, ASCII).decode())}
        data = replaced(data, {char: _INSTEAD[kind] for char, kind in others.items() if kind in _INSTEAD})
        if b'"' in data and any("\u05d0" <= char <= "\u05ea" for char in others):
            data = _with_gershayim(data)
    if language in DOTTED:
        data = data.replace("İ".encode(), b"i").replace(b"I", "ı".encode())
    data = data.translate(_TO_WORDS)
    for mark in [char.encode() for char, kind in others.items() if kind == _BETWEEN] + [_APOSTROPHE]:
        data = _between_letters(data, mark, CUT_SHORT.get(language, frozenset()))
    if any(kind & _UPPER for kind in others.values()):
        data = data.decode().lower().replace("i\u0307", "i").encode()
    found = data.split()
    if (end := POSSESSIVES.get(language)) is not None:
        found = [word.removesuffix(end) for word in found]
    return _mended(found) if any(kind & _TO_MEND for kind in others.values()) else found


def _with_gershayim(data: bytes) -> bytes:
    """The data with a proper gershayim for each quotation mark between two Hebrew letters."""
    first, *rest = data.split(b'"')
    parts = [first]
    for left, right in zip([first, *rest], rest, strict=False):
        between = left[-2:-1] == right[:1] == _HEBREW
        parts += [_GERSHAYIM if between else b" ", right]
    return b"".join(parts)


def _between_letters(data: bytes, mark: bytes, cut_short: Set[bytes]) -> bytes:
    """The data with a space for each ``mark`` that is not between two letters or that ends an elided word."""
    first, *rest = data.split(mark)
    if not rest:
        return data
    parts = [first]
    for left, right in zip([first, *rest], rest, strict=False):
        kept = left and right and not left.endswith(_EDGES) and not right.startswith(_EDGES)
        if cut_short and mark == _APOSTROPHE and left[left.rfind(b" ") + 1 :] in cut_short:
            kept = False
        parts += [mark if kept else b" ", right]
    return b"".join(parts)


def _mended(found: list[bytes]) -> list[bytes]:
    """The words composed, without anything before their first letter."""
    distinct = b" ".join(set(found)).decode()
    composed = unicodedata.normalize("NFC", distinct)
    while "i\u0307" in composed:
        composed = unicodedata.normalize("NFC", composed.replace("i\u0307", "i"))
    mended = [word if word[:1].isalpha() else _from_first_letter(word) for word in composed.split(" ")]
    now = dict(zip(distinct.encode().split(b" "), (word.encode() for word in mended), strict=True))
    return [word for word in map(now.__getitem__, found) if word]


def _from_first_letter(word: str) -> str:
    return next((word[place:] for place, char in enumerate(word) if char.isalpha()), "")

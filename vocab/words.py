"""Text to words: the one definition shared by counting and building.

A word is a maximal run of Unicode letters (``str.isalpha``), lower-cased. Digits, including letter-like ones
(superscripts, fractions, Roman numerals), separate words, and so do combining marks. Soft hyphens and other
invisible marks are left out. Words are UTF-8 bytes:
`bytes.translate` and `bytes.split` tokenise 8 kB in about 60 microseconds, and a regular expression takes
five times as long over the same text.
"""

from collections.abc import Mapping

ASCII = bytes(range(128))
INVISIBLE = frozenset("\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff").union(
    *(map(chr, range(*ends)) for ends in ((0x202A, 0x202F), (0x2061, 0x2065), (0x2066, 0x206A)))
)
"""Marks of where a line may break, or of a direction, which part no word: the crawler leaves them out."""
_TO_WORDS = bytes(b if b > 127 else ord(chr(b).lower()) if chr(b).isalpha() else 32 for b in range(256))
# With more kinds of separators than this, one pass over the characters is cheaper than a replace for each.
_MAX_REPLACES = 48


def words(text: str) -> list[bytes]:
    """The words of ``text`` in order, lower-cased, each encoded as UTF-8."""
    data = text.encode("utf-8", "replace")
    if len(data) == len(text):
        return data.translate(_TO_WORDS).split()
    others = set(data.translate(None, ASCII).decode("utf-8"))
    data = replaced(data, {char: "" if char in INVISIBLE else " " for char in others if not char.isalpha()})
    found = data.translate(_TO_WORDS).split()
    if any(char.lower() != char for char in others):
        # Lower-case after splitting: the lower case of some letters (dotted I) holds non-letters.
        return [word if word.isascii() else word.decode("utf-8").lower().encode("utf-8") for word in found]
    return found


def replaced(data: bytes, instead: Mapping[str, str]) -> bytes:
    """UTF-8 with other characters ``instead`` of some."""
    if len(instead) > _MAX_REPLACES:
        return data.decode().translate({ord(char): new for char, new in instead.items()}).encode()
    for char, new in instead.items():
        data = data.replace(char.encode(), new.encode())
    return data


def is_word(text: str) -> bool:
    """Whether ``text`` is exactly what `words` can return: one run of letters, in lower case."""
    return words(text) == [text.encode("utf-8", "replace")] or (
        # The dotted I is the only letter whose lower case is a letter and a mark.
        "i\u0307" in text and words(text.replace("i\u0307", "\u0130")) == [text.encode("utf-8", "replace")]
    )

"""Text from strangers, made harmless for terminals; every room uses it in its errors."""

import unicodedata

_KEEP = frozenset("\u200c\u200d")
"""Joiners: Persian and Indic titles are misspelt without them, and they are harmless."""
_SOFT_HYPHEN = "\u00ad"
"""Where a word may be broken; within a line, nothing."""


def visible(text: str) -> str:
    """``text`` with everything that a terminal could obey escaped, e.g. ``\\x1b`` or ``\\u202e``.

    Control characters, bidirectional overrides, line separators and lone surrogates are printed as
    escapes and have no effect. Soft hyphens are left out.
    """
    if text.isprintable():  # it contains nothing to escape, and this test is quick
        return text
    return "".join(map(_shown, text.replace(_SOFT_HYPHEN, "")))


def _shown(ch: str) -> str:
    if ch in _KEEP or unicodedata.category(ch) not in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}:
        return ch
    if ch.isascii():
        return f"\\x{ord(ch):02x}"
    return ch.encode("ascii", "backslashreplace").decode()

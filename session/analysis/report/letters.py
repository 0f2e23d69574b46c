"""How much room letters take in a drawing, where no font can be asked, and text cut to fit."""

import unicodedata

from rich.cells import cell_len, set_cell_size

BOLDER = 1.13
"""How much wider letters are when they are bold."""

_WIDE = frozenset("mwMW@%…—")
_THIN = frozenset("fijlrtI .,:;'’!|()[]·-")


def breadth(text: str) -> float:
    """The most width that the text takes in the usual sans-serif fonts, in heights of its
    letters."""
    return sum(map(_breadth, text))


def _breadth(letter: str) -> float:
    if letter in _WIDE or unicodedata.east_asian_width(letter) in ("W", "F"):
        return 1.02
    if letter in _THIN:
        return 0.42
    return 0.78 if letter.isupper() else 0.65


def cut(text: str, most: int = 90) -> str:
    """The text, cut to at most ``most`` letters; a wide letter counts twice."""
    if cell_len(text) <= most:
        return text
    return set_cell_size(text, most - 1).rstrip(" ,") + "…"

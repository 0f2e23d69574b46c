"""Foreign text in matplotlib's fonts: as it is, never as a formula, and in a font that has its
letters."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any

from matplotlib import font_manager, rcParams
from matplotlib.ft2font import FT2Font

from wikitopics.session.analysis.report.letters import cut
from wikitopics.session.escapes import visible

AS_IT_IS: dict[str, Any] = {"parse_math": False, "usetex": False}
"""What stands between dollar signs is otherwise a formula, and may be a wrong one."""
_ANY = "Last Resort"
"""A font that has a sign for every letter, but the same for all letters of a script."""
_UNKNOWN = "?"
_OWN = ("wikitopics", "contextlib")
"""The packages whose lines no warning names."""
_LACKING: ContextVar[set[str] | None] = ContextVar("lacking", default=None)
"""The letters that no font has, of the picture that is being drawn; None: of no picture."""


def told(text: str, most: int) -> str:
    """The text in one line of at most ``most`` letters, without what is no letter."""
    return cut(visible(" ".join(text.split())), most)


def lettered(text: str) -> dict[str, Any]:
    """The arguments by which matplotlib writes this text: with the user's fonts, and after these
    with others that are installed. Warns of letters that none of them has, as `one_warning` does.
    """
    lacking = {letter for letter in text if ord(letter) > 126}
    families = list(rcParams["font.family"])
    for family in families:
        font = font_manager.FontProperties(family=[family])
        lacking -= _letters(font_manager.findfont(font))
    if lacking:
        for family, path in _installed():
            known = lacking & _letters(path)
            if known:
                families.append(family)
                lacking -= known
    for letter in lacking:
        text = text.replace(letter, _UNKNOWN)
    with one_warning() as told_at_end:
        told_at_end |= lacking
    return {"text": text, "fontfamily": families, **AS_IT_IS}


@contextlib.contextmanager
def one_warning() -> Iterator[set[str]]:
    """Yield a set that takes letters that no installed font has. At the end of the outermost block,
    such as one that draws a picture, one warning tells them, in the line that called this program.
    """
    outer = _LACKING.get()
    if outer is not None:
        yield outer
        return
    letters: set[str] = set()
    token = _LACKING.set(letters)
    try:
        yield letters
    finally:
        _LACKING.reset(token)
    if letters:
        warnings.warn(
            f"no installed font has {cut(''.join(sorted(letters)), 40)!r}: install one for your "
            "script, such as Noto Sans",
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """How far up the stack, from the caller on, the line is that called this program."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None:
        package, _, _ = frame.f_globals.get("__name__", "").partition(".")
        if package not in _OWN:
            break
        frame = frame.f_back
        level += 1
    return level


@cache
def _letters(path: str) -> frozenset[str]:
    return frozenset(map(chr, FT2Font(path).get_charmap()))


@cache
def _installed() -> list[tuple[str, str]]:
    """(family, path) of fonts of the usual weight, those without serifs first."""
    fonts = [
        (font.name, font.fname)
        for font in font_manager.fontManager.ttflist
        if font.style == "normal" and font.weight in (400, "normal") and _ANY not in font.name
    ]
    return sorted(fonts, key=lambda font: ("Sans" not in font[0], font))

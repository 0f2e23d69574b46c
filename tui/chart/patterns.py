"""Patterns that tell lines apart without colour: dots for each line, or in ASCII a sign. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.chart.raster import braille, cells

_DOTS = ("1", "111100", "1000", "11111100100", "110000", "1111111111100")
"""Along the line: solid, dashes, dots, dash-dots, short dashes far apart, long dashes."""
PATTERNS = tuple(np.array([dot == "1" for dot in dots]) for dots in _DOTS)
SIGNS = ("", "o", "x", "+", "*", "#")
"""The signs of lines in ASCII; the first draws the line's direction."""
SAMPLE = 5
"""Cells of the pattern shown beside a name."""


def dashed(lit: NDArray[np.bool_], pattern: int) -> NDArray[np.bool_]:
    """The dots of a line, (rows, columns), that this pattern keeps. It follows the line, so steep parts
    have as many gaps as flat ones."""
    if not pattern % len(PATTERNS):
        return lit
    heights = lit.sum(axis=0)
    along = np.cumsum(heights) - heights + np.cumsum(lit, axis=0) - 1
    dots = PATTERNS[pattern % len(PATTERNS)]
    left: NDArray[np.bool_] = lit & dots[along % len(dots)]
    return left


def with_signs(
    codes: NDArray[np.uint16], owners: NDArray[np.int8], patterns: Sequence[int]
) -> NDArray[np.uint16]:
    """The cells of an ASCII picture, with each series drawn in its sign."""
    for series, pattern in enumerate(patterns):
        sign = SIGNS[pattern % len(SIGNS)]
        if sign:
            codes[owners == series] = ord(sign)
    return codes


def sample(pattern: int, *, ascii_only: bool = False) -> str:
    """A few cells of a line with this pattern, for the legend."""
    if ascii_only:
        return (SIGNS[pattern % len(SIGNS)] or "-") * (SAMPLE - 2)
    lit = np.zeros((4, 2 * SAMPLE), np.bool_)
    lit[1] = True
    return "".join(chr(code) if code else " " for code in braille(cells(dashed(lit, pattern), 4, 2))[0])

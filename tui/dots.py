"""From a series to dots: each dot column shows the range of the values that fall into it. Pure.

Patterns tell lines apart without colour: dots for each line, or in ASCII a sign.

The cost after binning depends on the size of the picture only, not on the length of history, and no
spike is lost, however many points share a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.axes import Axis, Floats, scaled

# What is drawn for a cell, by the number that `cells` makes of its dots.

_BRAILLE_BASE = 0x2800
_BRAILLE_BITS = (0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80)
"""What each dot adds to the code point, row by row."""


def _braille(cell: int) -> int:
    """The code point of a cell of 4 by 2 dots; 0 if it is empty."""
    if cell == 0:
        return 0
    return _BRAILLE_BASE + sum(bit for dot, bit in enumerate(_BRAILLE_BITS) if cell & (1 << dot))


BRAILLE = np.array([_braille(cell) for cell in range(256)], dtype=np.uint16)
"""The code points of cells of 4 by 2 dots."""
_ASCII_SIGNS = (
    "\0",  # empty
    "'",  # top
    "-",  # middle
    "|",  # top and middle
    ".",  # bottom
    ".",  # top and bottom
    "|",  # middle and bottom
    "|",  # all three
)
ASCII = np.array([ord(sign) for sign in _ASCII_SIGNS], dtype=np.uint16)
"""The code points of cells of 3 by 1 dots; the lowest bit of a cell is its dot at the top."""

_DOTS = (
    "1",  # solid
    "111100",  # dashes
    "1000",  # dots
    "11111100100",  # dash-dots
    "110000",  # short dashes far apart
    "1111111111100",  # long dashes
)
PATTERNS = tuple(np.array([dot == "1" for dot in dots]) for dots in _DOTS)
"""The dots of a line that are drawn, one after the other, again and again."""
SIGNS = ("", "o", "x", "+", "*", "#")
"""The signs of lines in ASCII; the first draws the line's direction."""
SAMPLE = 5
"""Cells of the pattern shown beside a name."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The range of y that each line covers in each dot column, on the y axis's scale; NaN if
    empty."""

    low: Floats
    """(S, columns)"""
    high: Floats


def spans(
    lines: Sequence[tuple[Floats, Floats]],
    axis: Axis,
    columns: int,
    *,
    log_y: bool = False,
) -> Spans:
    """Minimum and maximum of each line's y in each of ``columns`` equal parts of the x axis.

    lines: x and y of each; x ascends. Columns between two neighbouring points are filled by the
    straight line between them (on the axes as drawn); a NaN in y stays a gap. Only the columns'
    edges are put on the axis's scale, never the points, so a log axis costs no more
    than a linear one.
    """
    scaled_edges = axis.low + (axis.high - axis.low) * np.arange(columns + 1) / columns
    edges = 10.0**scaled_edges if axis.log else scaled_edges.copy()
    # Rounding must not leave out the first or the last point.
    slack = 1e-12 * max(abs(edges[0]), abs(edges[-1]))
    edges[0] -= slack
    edges[-1] += slack
    low = np.full((len(lines), columns), np.nan)
    high = np.full((len(lines), columns), np.nan)
    # The points before and after each edge that a line crosses.
    x_left = np.full((len(lines), columns + 1), np.nan)
    y_left = np.full((len(lines), columns + 1), np.nan)
    x_right = np.full((len(lines), columns + 1), np.nan)
    y_right = np.full((len(lines), columns + 1), np.nan)
    for line, (x, y) in enumerate(lines):
        # The number of the first point at or behind each edge; it differs between the two edges of
        # a column that has points in it.
        after = np.searchsorted(x, edges)
        filled = np.flatnonzero(np.diff(after))
        if filled.size:
            # The points of a filled column reach from its first one to the first one of the next
            # filled column, as columns between them have none.
            starts = after[filled]
            points = y[: after[-1]]
            low[line, filled] = np.fmin.reduceat(points, starts)
            high[line, filled] = np.fmax.reduceat(points, starts)
        # The edges with a point on either side.
        crossed = np.flatnonzero((after > 0) & (after < x.size))
        right = after[crossed]
        x_left[line, crossed] = x[right - 1]
        y_left[line, crossed] = y[right - 1]
        x_right[line, crossed] = x[right]
        y_right[line, crossed] = y[right]
    high = scaled(high, log_y)
    # A logarithmic axis has no place for a minimum of 0: there it is NaN, and the column's maximum
    # takes its place.
    low = np.fmin(scaled(low, log_y), high)
    # Each column's range extends to where the line crosses its two edges, so that lines look
    # continuous.
    x_left = scaled(x_left, axis.log)
    x_right = scaled(x_right, axis.log)
    y_left = scaled(y_left, log_y)
    y_right = scaled(y_right, log_y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        way = (scaled_edges - x_left) / (x_right - x_left)
        at_edge = y_left + way * (y_right - y_left)
    for edge in (at_edge[:, :-1], at_edge[:, 1:]):
        np.fmin(low, edge, out=low)
        np.fmax(high, edge, out=high)
    return Spans(low, high)


def dots(spans_: Spans, axis: Axis, rows: int) -> NDArray[np.bool_]:
    """(S, rows, columns), row 0 on top: the dots that the spans cover on this y axis, clipped to
    the picture."""
    span = axis.high - axis.low
    low = (spans_.low - axis.low) / span
    high = (spans_.high - axis.low) / span
    drawn = (high >= 0) & (low <= 1)  # NaN is not drawn
    bottom = np.minimum(np.floor(low * rows), rows - 1)
    top = np.floor(high * rows)
    # (rows, 1), to be compared with (S, 1, columns)
    height = np.arange(rows)[::-1, None]
    bottom = bottom[:, None, :]
    top = top[:, None, :]
    covered: NDArray[np.bool_] = (height >= bottom) & (height <= top) & drawn[:, None, :]
    return covered


def cells(covered: NDArray[np.bool_], down: int, across: int) -> NDArray[np.uint8]:
    """(…, down * H, across * W) dots to (…, H, W) cells with one bit per dot, the top row's
    first."""
    dots_ = covered.view(np.uint8)
    *lines, height, width = dots_.shape
    out = np.zeros((*lines, height // down, width // across), np.uint8)
    for bit in range(down * across):
        row, column = divmod(bit, across)
        out |= dots_[..., row::down, column::across] << bit
    return out


def runs(codes: NDArray[np.uint32], owners: NDArray[np.int8]) -> list[list[tuple[str, int]]]:
    """(H, W) cells, row by row, as pieces of text with the owner of each; an empty cell joins the
    piece before it."""
    width = codes.shape[1]
    is_drawn = codes > 0
    # For each cell, the column of the last drawn cell up to it, or column 0. An accumulated maximum
    # carries each drawn column on to the right, until the next one is larger.
    nearest = np.maximum.accumulate(np.where(is_drawn, np.arange(width), 0), axis=1)
    owners = np.take_along_axis(owners, nearest, axis=1)
    # Numpy keeps a string of n letters as n code points, so that a row can be viewed as one string.
    code_points = np.where(is_drawn, codes, ord(" ")).astype(np.uint32)
    lines = code_points.view(f"U{width}")[:, 0].tolist()
    is_start = np.ones(owners.shape, np.bool_)
    is_start[:, 1:] = owners[:, 1:] != owners[:, :-1]
    row_of, start_of = np.nonzero(is_start)
    owner_of = owners[row_of, start_of].tolist()
    firsts = np.searchsorted(row_of, np.arange(len(lines) + 1)).tolist()
    starts = start_of.tolist()
    rows = []
    for line, (first, last) in zip(lines, pairwise(firsts), strict=True):
        edges = [*starts[first:last], width]
        spans_ = zip(pairwise(edges), owner_of[first:last], strict=True)
        rows.append([(line[start:end], owner) for (start, end), owner in spans_])
    return rows


def dashed(lit: NDArray[np.bool_], pattern: int) -> NDArray[np.bool_]:
    """The dots of a line, (rows, columns), that this pattern keeps. The pattern follows the line:
    steep parts have as many gaps as flat ones."""
    number = pattern % len(PATTERNS)
    if number == 0:
        return lit  # solid
    # How many dots of the line come before each dot: those in the columns at its left, and in its
    # own column those above it.
    in_column = lit.sum(axis=0)
    at_left = np.cumsum(in_column) - in_column
    above = np.cumsum(lit, axis=0) - 1
    along = at_left + above
    dots = PATTERNS[number]
    dashes: NDArray[np.bool_] = lit & dots[along % len(dots)]
    return dashes


def sample(pattern: int, *, ascii_only: bool = False) -> str:
    """A few cells of a line with this pattern, for the legend."""
    if ascii_only:
        sign = SIGNS[pattern % len(SIGNS)] or "-"
        return sign * (SAMPLE - 2)
    lit = np.zeros((4, 2 * SAMPLE), np.bool_)
    lit[1] = True
    (row,) = BRAILLE[cells(dashed(lit, pattern), 4, 2)].tolist()
    return "".join(chr(code) if code else " " for code in row)

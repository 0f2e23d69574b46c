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

from wikitopics.tui.axes import Axis, Floats, own_space

_BRAILLE_BASE = 0x2800
_BRAILLE_BITS = np.array([0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80], dtype=np.uint16)
"""What each dot adds to the code point, row by row."""
BRAILLE = _BRAILLE_BASE + ((np.arange(256)[:, None] >> np.arange(8) & 1) @ _BRAILLE_BITS).astype(
    np.uint16
)
BRAILLE[0] = 0
"""The code point of each cell of 4 by 2 dots; 0 where it is empty."""
ASCII = np.frombuffer(b"\0'-|..||", np.uint8).astype(np.uint16)
"""The same for cells of 3 by 1 dots."""

_DOTS = ("1", "111100", "1000", "11111100100", "110000", "1111111111100")
"""Along the line: solid, dashes, dots, dash-dots, short dashes far apart, long dashes."""
PATTERNS = tuple(np.array([dot == "1" for dot in dots]) for dots in _DOTS)
SIGNS = ("", "o", "x", "+", "*", "#")
"""The signs of lines in ASCII; the first draws the line's direction."""
SAMPLE = 5
"""Cells of the pattern shown beside a name."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The range of y that each line covers in each dot column, in the y axis's own space; NaN if
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
    edges are transformed to the axis's own space, never the points, so a log axis costs no more
    than a linear one.
    """
    own_edges = axis.low + (axis.high - axis.low) * np.arange(columns + 1) / columns
    edges = 10.0**own_edges if axis.log else own_edges.copy()
    slack = 1e-12 * max(abs(edges[0]), abs(edges[-1]))
    edges[0] -= slack
    edges[-1] += slack
    low, high = np.full((2, len(lines), columns), np.nan)
    # The points before and after each edge that a line crosses.
    x_left, y_left, x_right, y_right = np.full((4, len(lines), columns + 1), np.nan)
    for line, (x, y) in enumerate(lines):
        behind = np.searchsorted(x, edges)
        filled = np.flatnonzero(np.diff(behind))
        if filled.size:
            starts, inside = behind[filled], y[: behind[-1]]
            low[line, filled] = np.fmin.reduceat(inside, starts)
            high[line, filled] = np.fmax.reduceat(inside, starts)
        crossed = np.flatnonzero((behind > 0) & (behind < x.size))
        right = behind[crossed]
        x_left[line, crossed], y_left[line, crossed] = x[right - 1], y[right - 1]
        x_right[line, crossed], y_right[line, crossed] = x[right], y[right]
    high = own_space(high, log_y)
    low = np.fmin(own_space(low, log_y), high)
    # Each column's range extends to where the line crosses its two edges, so that lines look
    # continuous.
    x_left, x_right = own_space(x_left, axis.log), own_space(x_right, axis.log)
    y_left, y_right = own_space(y_left, log_y), own_space(y_right, log_y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at_edge = y_left + (own_edges - x_left) / (x_right - x_left) * (y_right - y_left)
    for edge in (at_edge[:, :-1], at_edge[:, 1:]):
        np.fmin(low, edge, out=low)
        np.fmax(high, edge, out=high)
    return Spans(low, high)


def dots(spans_: Spans, axis: Axis, rows: int) -> NDArray[np.bool_]:
    """(S, rows, columns), row 0 on top: the dots that the spans cover on this y axis, clipped to
    the picture."""
    span = axis.high - axis.low
    low, high = (spans_.low - axis.low) / span, (spans_.high - axis.low) / span
    drawn = (high >= 0) & (low <= 1)  # NaN is not drawn
    bottom, top = np.minimum(np.floor(low * rows), rows - 1), np.floor(high * rows)
    height = np.arange(rows)[::-1, None]
    covered: NDArray[np.bool_] = (
        (height >= bottom[:, None]) & (height <= top[:, None]) & drawn[:, None]
    )
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
    nearest = np.maximum.accumulate(np.where(codes > 0, np.arange(width), 0), axis=1)
    owners = np.take_along_axis(owners, nearest, axis=1)
    lines = np.where(codes > 0, codes, ord(" ")).astype(np.uint32).view(f"U{width}")[:, 0].tolist()
    other = owners[:, 1:] != owners[:, :-1]
    rows = []
    for row, line in enumerate(lines):
        edges = [0, *(np.flatnonzero(other[row]) + 1).tolist(), width]
        whose = owners[row, edges[:-1]].tolist()
        pieces = (line[start:end] for start, end in pairwise(edges))
        rows.append(list(zip(pieces, whose, strict=True)))
    return rows


def dashed(lit: NDArray[np.bool_], pattern: int) -> NDArray[np.bool_]:
    """The dots of a line, (rows, columns), that this pattern keeps. The pattern follows the line:
    steep parts have as many gaps as flat ones."""
    if not pattern % len(PATTERNS):
        return lit
    heights = lit.sum(axis=0)
    along = np.cumsum(heights) - heights + np.cumsum(lit, axis=0) - 1
    dots = PATTERNS[pattern % len(PATTERNS)]
    dashes: NDArray[np.bool_] = lit & dots[along % len(dots)]
    return dashes


def sample(pattern: int, *, ascii_only: bool = False) -> str:
    """A few cells of a line with this pattern, for the legend."""
    if ascii_only:
        return (SIGNS[pattern % len(SIGNS)] or "-") * (SAMPLE - 2)
    lit = np.zeros((4, 2 * SAMPLE), np.bool_)
    lit[1] = True
    return "".join(
        chr(code) if code else " " for code in BRAILLE[cells(dashed(lit, pattern), 4, 2)][0]
    )

"""From a series to dots: each dot column shows the range of the values that fall into it.

The cost after binning depends on the size of the picture only, not on the length of history, and
no spike is lost however many points share a column.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tui.chart.axes import Floats

_BRAILLE_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint16)
_BRAILLE_BASE = 0x2800


@dataclass(frozen=True, slots=True)
class Spans:
    """For each dot column the covered range of positions, bottom 0 to top 1; NaN where empty."""

    low: Floats
    high: Floats


def spans(x: Floats, y: Floats, columns: int) -> Spans:
    """Minimum and maximum of ``y`` in each of ``columns`` equal parts of 0..1 of ``x``.

    ``x`` ascends (positions; NaN and values outside are left out); columns between two points are
    filled by the straight line between them unless a NaN in ``y`` lies between: a gap stays a gap.
    """
    low = np.full(columns, np.nan)
    high = np.full(columns, np.nan)
    placed = np.isfinite(x)
    x, y = x[placed], y[placed]
    known = np.isfinite(y)
    if not known.any():
        return Spans(low, high)
    piece = np.cumsum(~known)[known]
    x, y = x[known], y[known]
    inside = (x >= 0) & (x <= 1)
    column = np.minimum((x[inside] * columns).astype(np.int64), columns - 1)
    if column.size:
        starts = np.flatnonzero(np.r_[True, np.diff(column) > 0])
        low[column[starts]] = np.minimum.reduceat(y[inside], starts)
        high[column[starts]] = np.maximum.reduceat(y[inside], starts)
    _join(x, y, piece, low, high)
    return Spans(low, high)


def _join(x: Floats, y: Floats, piece: NDArray[np.int64], low: Floats, high: Floats) -> None:
    """Extend each column's range to where the line crosses its two edges, so that lines look whole."""
    columns = low.size
    edges = np.arange(columns + 1) / columns
    right = np.searchsorted(x, edges, side="right")
    crossed = (right > 0) & (right < x.size)
    before, after = np.maximum(right - 1, 0), np.minimum(right, x.size - 1)
    crossed &= piece[before] == piece[after]
    if not crossed.any():
        return
    at_edge = np.where(crossed, np.interp(edges, x, y), np.nan)
    for edge in (at_edge[:-1], at_edge[1:]):
        np.fmin(low, edge, out=low)
        np.fmax(high, edge, out=high)


def dots(spans_: Spans, rows: int) -> NDArray[np.bool_]:
    """(rows, columns), row 0 on top: which dots the spans cover, clipped to the picture."""
    drawn = np.isfinite(spans_.low) & (spans_.high >= 0) & (spans_.low <= 1)
    low = np.where(drawn, spans_.low, 2.0)
    high = np.where(drawn, spans_.high, -1.0)
    bottom = np.clip((low * rows).astype(np.int64), 0, rows - 1)
    top = np.clip((high * rows).astype(np.int64), 0, rows - 1)
    height = (rows - 1 - np.arange(rows))[:, None]
    covered: NDArray[np.bool_] = (height >= bottom) & (height <= top) & drawn
    return covered


def braille(covered: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """(4H, 2W) dots to (H, W) characters' code points; 0 where a cell is empty."""
    rows, columns = covered.shape
    cells = covered.reshape(rows // 4, 4, columns // 2, 2).transpose(0, 2, 1, 3)
    bits = (cells * _BRAILLE_BITS).sum(axis=(2, 3), dtype=np.uint16)
    return np.where(bits > 0, bits + _BRAILLE_BASE, 0).astype(np.uint16)


def ascii_cells(covered: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """(3H, W) dots to (H, W) ASCII code points; 0 where a cell is empty."""
    rows, columns = covered.shape
    cells = covered.reshape(rows // 3, 3, columns)
    top, middle, bottom = cells[:, 0], cells[:, 1], cells[:, 2]
    code = np.zeros((rows // 3, columns), dtype=np.uint16)
    code[top] = ord("'")
    code[bottom] = ord(".")
    code[middle] = ord("-")
    code[(top & middle) | (middle & bottom)] = ord("|")
    return code

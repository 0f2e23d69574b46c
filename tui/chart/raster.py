"""From a series to dots: each dot column shows the range of the values that fall into it.

The cost after binning depends on the size of the picture only, not on the length of history, and
no spike is lost however many points share a column.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tui.chart.axes import Axis, Floats, own_space

_BRAILLE_BASE = 0x2800
_BRAILLE_BITS = np.array([0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80], dtype=np.uint16)
"""What each dot adds to the code point, row by row."""
_BRAILLE = _BRAILLE_BASE + ((np.arange(256)[:, None] >> np.arange(8) & 1) @ _BRAILLE_BITS).astype(np.uint16)
_BRAILLE[0] = 0
_ASCII = np.frombuffer(b"\0'-|..||", np.uint8).astype(np.uint16)
"""What three dots look like, the topmost in the lowest bit."""


@dataclass(frozen=True, slots=True)
class Spans:
    """For each dot column the covered range of y, in the y axis's own space; NaN where empty."""

    low: Floats
    high: Floats


def spans(x: Floats, y: Floats, axis: Axis, columns: int, *, log_y: bool = False) -> Spans:
    """Minimum and maximum of ``y`` in each of ``columns`` equal parts of the x axis.

    ``x`` ascends. Columns between two neighbouring points are filled by the straight line (on the axes
    as drawn) between them; a NaN in ``y`` is a gap and stays one. Only the columns' edges are taken to
    the axis's own space, never the points: a log axis costs what a linear one costs.
    """
    own_edges = axis.low + (axis.high - axis.low) * np.arange(columns + 1) / columns
    edges = 10.0**own_edges if axis.log else own_edges.copy()
    slack = 1e-12 * max(abs(edges[0]), abs(edges[-1]))
    edges[0] -= slack
    edges[-1] += slack
    bounds = np.searchsorted(x, edges)
    end = int(np.searchsorted(x, edges[-1], side="right"))
    starts = bounds[:-1]
    filled = np.append(starts[1:], end) > starts
    low = np.full(columns, np.nan)
    high = np.full(columns, np.nan)
    if filled.any():
        low[filled] = np.fmin.reduceat(y[:end], starts[filled])
        high[filled] = np.fmax.reduceat(y[:end], starts[filled])
    high = own_space(high, log_y)
    low = np.fmin(own_space(low, log_y), high)
    _join(x, y, axis, own_edges, log_y, low, high)
    return Spans(low, high)


def _join(
    x: Floats, y: Floats, axis: Axis, own_edges: Floats, log_y: bool, low: Floats, high: Floats
) -> None:
    """Extend each column's range to where the line crosses its two edges, so that lines look whole."""
    if x.size < 2:
        return
    after = np.searchsorted(x, 10.0**own_edges if axis.log else own_edges, side="right")
    crossed = (after > 0) & (after < x.size)
    left, right = np.clip(after - 1, 0, x.size - 1), np.clip(after, 0, x.size - 1)
    x_left, x_right = own_space(x[left], axis.log), own_space(x[right], axis.log)
    y_left, y_right = own_space(y[left], log_y), own_space(y[right], log_y)
    with np.errstate(divide="ignore", invalid="ignore"):
        way = (own_edges - x_left) / (x_right - x_left)
        at_edge = np.where(crossed, y_left + way * (y_right - y_left), np.nan)
    for edge in (at_edge[:-1], at_edge[1:]):
        np.fmin(low, edge, out=low)
        np.fmax(high, edge, out=high)


def dots(spans_: Spans, axis: Axis, rows: int) -> NDArray[np.bool_]:
    """(rows, columns), row 0 on top: which dots the spans cover on this y axis, clipped to the picture."""
    span = axis.high - axis.low
    low, high = (spans_.low - axis.low) / span, (spans_.high - axis.low) / span
    drawn = np.isfinite(low) & np.isfinite(high) & (high >= 0) & (low <= 1)
    bottom = np.clip(np.where(drawn, low, 0.0) * rows, 0, rows - 1).astype(np.int64)
    top = np.clip(np.where(drawn, high, 0.0) * rows, 0, rows - 1).astype(np.int64)
    height = (rows - 1 - np.arange(rows))[:, None]
    covered: NDArray[np.bool_] = (height >= bottom) & (height <= top) & drawn
    return covered


def cells(covered: NDArray[np.bool_], down: int, across: int) -> NDArray[np.uint8]:
    """(down * H, across * W) dots to (H, W) cells: a bit for each dot, those of the top row first."""
    dots_ = covered.view(np.uint8)
    out = np.zeros((dots_.shape[0] // down, dots_.shape[1] // across), np.uint8)
    for bit in range(down * across):
        row, column = divmod(bit, across)
        out |= dots_[row::down, column::across] << bit
    return out


def braille(covered: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """(4H, 2W) dots to (H, W) characters' code points; 0 where a cell is empty."""
    return _BRAILLE[cells(covered, 4, 2)]


def ascii_cells(covered: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """(3H, W) dots to (H, W) ASCII code points; 0 where a cell is empty."""
    return _ASCII[cells(covered, 3, 1)]


def runs(codes: NDArray[np.uint32], owners: NDArray[np.int8]) -> list[list[tuple[str, int]]]:
    """(H, W) cells row by row as pieces of text, each with whose it is; what is empty goes with what is
    before it."""
    width = codes.shape[1]
    before = np.maximum.accumulate(np.where(codes > 0, np.arange(width), 0), axis=1)
    owners = np.take_along_axis(owners, before, axis=1)
    lines = np.where(codes > 0, codes, ord(" ")).astype(np.uint32).view(f"U{width}")[:, 0].tolist()
    other = owners[:, 1:] != owners[:, :-1]
    rows = []
    for row, line in enumerate(lines):
        edges = [0, *(np.flatnonzero(other[row]) + 1).tolist(), width]
        whose = owners[row, edges[:-1]].tolist()
        pieces = (line[start:end] for start, end in pairwise(edges))
        rows.append(list(zip(pieces, whose, strict=True)))
    return rows

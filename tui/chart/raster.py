"""From a series to dots: each dot column shows the range of the values that fall into it.

The cost after binning depends on the size of the picture only, not on the length of history, and
no spike is lost however many points share a column.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tui.chart.axes import Axis, Floats, own_space

_BRAILLE_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint16)
_BRAILLE_BASE = 0x2800


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

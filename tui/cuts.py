"""The part that a chart shows: the later part of its lines, with the early fall cut off. Pure."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.axes import Axis, Floats
from wikitopics.tui.dots import Spans

LATER = 1 / 3
"""From this share of the x axis on, nothing is ever cut off. On a logarithmic axis that covers more
than a decade and a half, this holds only for its last decade, which begins later."""
SMALLEST = 1 / 150
"""The minimum share of the whole range to show: a line that has settled is not magnified
further."""
WORTH = 1.6
"""Nothing is cut off if that would enlarge the picture by no more than this factor. It is above the
1.5 that a straight line would be enlarged by, where nothing is gained by cutting."""


def fit(covered: Spans, x_axis: Axis) -> tuple[float, float, int] | None:
    """The range of y to show: its bottom and top on the y axis's scale, and the first column in
    which a line is inside it. None: nothing is to be cut off.

    The range is what the lines cover in the later part of the x axis, and the last values of those
    that end before it. It is extended so that only the beginning of a line can lie outside: all
    that comes after a line has entered it is shown. So a cut never hides that something got worse.
    """
    low = covered.low
    high = covered.high
    if not low.size:
        return None
    lowest, highest = _range(low, high)

    columns = np.arange(low.shape[1])
    later_from = LATER
    if x_axis.log:
        last_decade_from = 1 - 1 / (x_axis.high - x_axis.low)
        later_from = max(LATER, last_decade_from)
    # In the reversed columns, argmax finds the first that is not empty.
    empty_at_the_end = np.isfinite(low)[:, ::-1].argmax(axis=1)
    last_columns = len(columns) - 1 - empty_at_the_end
    # Where the later part begins for each line; for one that ends before, its last column.
    later_columns = np.minimum(int(len(columns) * later_from), last_columns)
    bottom, top = _range(low, high, columns >= later_columns[:, None])
    if not np.isfinite([bottom, top]).all():
        return None
    lacking = max(SMALLEST * (highest - lowest) - (top - bottom), 0.0)
    bottom = max(lowest, bottom - lacking)
    top = min(highest, top + lacking)

    inside = (low >= bottom) & (high <= top)
    # The column in which each line enters the range; 0 for a line that never does, all of which is
    # then shown.
    enters = inside.argmax(axis=1)
    lowest_after, highest_after = _range(low, high, columns >= enters[:, None])
    bottom = min(bottom, lowest_after)
    top = max(top, highest_after)
    if highest - lowest <= WORTH * (top - bottom):
        return None
    ever_enters = inside.any(axis=1)
    return bottom, top, int(enters[ever_enters].min())


class Cut(NamedTuple):
    """Where the beginning of a line is out of sight."""

    column: int
    """The last one that is out of sight."""
    above: bool
    """Whether the line comes from above the picture, not from below."""


def first_cut(covered: Spans, axis: Axis) -> Cut | None:
    """Of the lines that begin out of sight, the cut of the one that comes into sight first."""
    above = covered.high > axis.high
    below = covered.low < axis.low
    first: Cut | None = None
    for line_above, line_below in zip(above, below, strict=True):
        outside = np.flatnonzero(line_above | line_below)
        if outside.size:
            column = int(outside[-1])
            if first is None or column < first.column:
                first = Cut(column, bool(line_above[column]))
    return first


def _range(
    low: Floats, high: Floats, where: NDArray[np.bool_] | None = None
) -> tuple[float, float]:
    """The lowest and highest of (lines, columns), with NaN where nothing is known."""
    if where is not None:
        low = np.where(where, low, np.nan)
        high = np.where(where, high, np.nan)
    return float(np.fmin.reduce(low, axis=None)), float(np.fmax.reduce(high, axis=None))

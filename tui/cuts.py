"""The part that a chart shows: the later part of its lines, with the early fall cut off. Pure."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.axes import Axis, Floats
from wikitopics.tui.dots import Spans

LATER = 1 / 3
"""From this share of the x axis on, nothing is ever cut off; on a long logarithmic axis, one of
over a decade and a half, only in its last decade."""
SMALLEST = 1 / 150
"""The minimum share of the whole range to show: a line that has settled is not magnified
further."""
WORTH = 1.6
"""Nothing is cut off if that would enlarge the picture by no more than this factor: the later part
of a straight line would be enlarged by 1.5, and nothing is gained by cutting it."""


def fit(covered: Spans, x_axis: Axis) -> tuple[float, float, int] | None:
    """The part to show: its bottom and top on the y axis's scale, and the column in which the
    first line enters that range; None for the whole.

    That is the range of y in the later part of the x axis, with the ends of lines that end before
    that part. Only the beginning of a line can lie outside the range: once the line has entered it,
    all of the line is shown. So a cut never hides that something got worse.
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
    from_the_end = np.isfinite(low)[:, ::-1].argmax(axis=1)
    ends = len(columns) - 1 - from_the_end  # the last column of each line
    later_columns = np.minimum(int(len(columns) * later_from), ends)
    bottom, top = _range(low, high, columns >= later_columns[:, None])
    if not np.isfinite([bottom, top]).all():
        return None
    room = max(SMALLEST * (highest - lowest) - (top - bottom), 0.0)
    bottom = max(lowest, bottom - room)
    top = min(highest, top + room)

    inside = (low >= bottom) & (high <= top)
    enters = inside.argmax(axis=1)  # the column in which each line enters the range
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
    above: bool


def first_cut(covered: Spans, axis: Axis) -> Cut | None:
    """Where the first of the lines that begin out of sight comes into sight."""
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

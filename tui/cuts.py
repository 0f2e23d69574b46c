"""The part that a chart shows: the later part of its lines, with the early fall cut off. Pure."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.axes import Axis, Floats
from wikitopics.tui.dots import Spans

LATER = 1 / 3
"""From this share of the x axis on, nothing is ever cut off; on a logarithmic axis of over a decade
and a half, from the last decade on."""
SMALLEST = 1 / 150
"""The minimum share of the whole range to show: a line that has settled is not magnified
further."""
WORTH = 1.6
"""Nothing is cut off if that would enlarge the picture by no more than this. A straight line would
gain 1.5."""


def fit(covered: Spans, x_axis: Axis) -> tuple[float, float, int] | None:
    """The part to show: its bottom and top in the y axis's own space, and the column in which the
    first line enters that range; None for the whole.

    It is the range of y in the later part of the x axis, and where lines end before it. Only the
    beginning of
    a line can lie outside: once it has entered the range, all of it is shown. So a cut never hides
    that something got worse.
    """
    low, high = covered.low, covered.high
    if not low.size:
        return None
    columns = np.arange(low.shape[1])
    later_from = max(LATER, 1 - 1 / (x_axis.high - x_axis.low)) if x_axis.log else LATER
    ends = (
        len(columns) - 1 - np.isfinite(low)[:, ::-1].argmax(axis=1)
    )  # a line may end before the others
    late = columns >= np.minimum(int(len(columns) * later_from), ends)[:, None]
    whole, later = _range(low, high), _range(low, high, late)
    if not np.isfinite(later).all():
        return None
    room = max(SMALLEST * (whole[1] - whole[0]) - (later[1] - later[0]), 0.0)
    bottom, top = max(whole[0], later[0] - room), min(whole[1], later[1] + room)
    inside = (low >= bottom) & (high <= top)
    enters = inside.argmax(axis=1)
    after = _range(low, high, columns >= enters[:, None])
    bottom, top = min(bottom, after[0]), max(top, after[1])
    if whole[1] - whole[0] <= WORTH * (top - bottom):
        return None
    return bottom, top, int(enters[inside.any(axis=1)].min())


class Cut(NamedTuple):
    """Where the beginning of a line is out of sight."""

    column: int
    above: bool


def first_cut(covered: Spans, axis: Axis) -> Cut | None:
    """Where the first of the lines that begin out of sight comes into sight."""
    above, below = covered.high > axis.high, covered.low < axis.low
    width, outside = covered.low.shape[1], above | below
    last = [
        (width - 1 - int(one[::-1].argmax()), line) for line, one in enumerate(outside) if one.any()
    ]
    if not last:
        return None
    column, line = min(last)
    return Cut(column, bool(above[line, column]))


def _range(
    low: Floats, high: Floats, where: NDArray[np.bool_] | None = None
) -> tuple[float, float]:
    """The lowest and highest of (lines, columns), with NaN where nothing is known."""
    if where is not None:
        low, high = np.where(where, low, np.nan), np.where(where, high, np.nan)
    return float(np.fmin.reduce(low, axis=None)), float(np.fmax.reduce(high, axis=None))

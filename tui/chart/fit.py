"""Which part of y a chart shows: that of the later part of its lines, the early fall cut. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tui.chart.axes import Axis
from tui.chart.raster import Spans

LATER = 1 / 3
"""From here on along the x axis nothing is ever cut."""
SMALLEST = 1 / 40
"""Of the whole range: a line that has come to rest is not blown up any further."""
WORTH = 1.6
"""A cut that makes the picture no more than so much larger is not made. A straight line would gain 1.5."""


def fitted_range(covered: Sequence[Spans]) -> tuple[float, float] | None:
    """The range of y to show, in the y axis's own space; None where it is the whole one.

    It is that of the last two thirds of the x axis. Only how a line begins can lie outside: from where it
    first comes into the range, all of it is shown. So a cut never hides that something became worse.
    """
    lines = [one for one in covered if np.isfinite(one.low).any()]
    start = int(len(lines[0].low) * LATER) if lines else 0
    late = [one for one in (_behind(line, start) for line in lines) if np.isfinite(one.low).any()]
    if not late:
        return None
    whole, later = _range(lines), _range(late)
    room = max(SMALLEST * (whole[1] - whole[0]) - (later[1] - later[0]), 0.0)
    low, high = max(whole[0], later[0] - room), min(whole[1], later[1] + room)
    rest = _range([_behind(line, _entry(line, low, high)) for line in lines])
    low, high = min(low, rest[0]), max(high, rest[1])
    return (low, high) if whole[1] - whole[0] > WORTH * (high - low) else None


def leaves(spans: Spans, axis: Axis) -> tuple[int, bool] | None:
    """The last column in which the line is outside the axis, and whether it is above; None: it never is."""
    with np.errstate(invalid="ignore"):
        above, below = spans.high > axis.high, spans.low < axis.low
    columns = np.flatnonzero(above | below)
    return (int(columns[-1]), bool(above[columns[-1]])) if columns.size else None


def _range(lines: Sequence[Spans]) -> tuple[float, float]:
    return (
        min(float(np.nanmin(one.low)) for one in lines),
        max(float(np.nanmax(one.high)) for one in lines),
    )


def _behind(line: Spans, column: int) -> Spans:
    return Spans(line.low[column:], line.high[column:])


def _entry(line: Spans, low: float, high: float) -> int:
    """The first column in which the line lies in the range as a whole; 0 where it never does."""
    with np.errstate(invalid="ignore"):
        inside: NDArray[np.bool_] = (line.low >= low) & (line.high <= high)
    return int(np.argmax(inside))

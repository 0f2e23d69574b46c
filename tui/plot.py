"""A line chart as pure data: its axes, what it shows, and its finished picture in a rectangle of
cells."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.text import LARGEST_IN_FULL, measured, short

Floats = NDArray[np.float64]


def _times(minute: Sequence[int], hours: Sequence[int], days: Sequence[int]) -> list[float]:
    """These lengths of time in seconds; ``minute``: numbers both of seconds and of minutes."""
    return [
        *minute,
        *(60 * n for n in minute),
        *(3_600 * n for n in hours),
        *(86_400 * n for n in days),
    ]


ROUND_TIMES = _times((1, 2, 5, 10, 15, 30), (1, 2, 3, 6, 12), (1, 2, 5, 10, 20, 50, 100))
"""Lengths of time that people count in, in seconds."""
EVEN_TIMES = (
    _times((1, 2, 5, 10, 20, 30), (1, 2, 5, 10), (1, 2, 5, 10, 20, 50, 100)),
    _times((1, 3, 10, 30), (1, 3, 10), (1, 3, 10, 30, 100)),
    _times((1, 10), (1, 10), (1, 10, 100)),
)
"""Choices of lengths of time about equally far apart on a logarithmic axis, from many to few."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A range in the axis's own space: log10 of the values if ``log``, otherwise the values."""

    low: float
    high: float
    log: bool = False

    def position(self, values: Floats) -> Floats:
        """0 at the low end, 1 at the high end; NaN if a value has no place (log of 0)."""
        return (own_space(values, self.log) - self.low) / (self.high - self.low)

    def value(self, position: float) -> float:
        """The value at a position: the inverse of `position`."""
        own = self.own(position)
        return 10.0**own if self.log else own

    def own(self, position: float) -> float:
        """The same in the axis's own space."""
        return self.low + position * (self.high - self.low)


DECADES = 250
"""An axis holds values up to ten to this power: ranges, margins and labels beyond would be no
floats."""


def own_space(values: Floats, log: bool) -> Floats:
    """Values in the axis's own space; values that the axis cannot hold become NaN."""
    values = np.asarray(values, dtype=np.float64)
    if not log:
        return np.where(np.abs(values) < 10.0**DECADES, values, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log10(values)
    return np.where(np.abs(out) < DECADES, out, np.nan)


def fitted(own: Floats, log: bool, margin: float = 0.0) -> Axis:
    """An axis around all finite numbers of ``own`` (in own space), widened by ``margin`` of its
    range.

    It reaches below 0 only if one of them does.
    """
    finite = own[np.isfinite(own)]
    if not finite.size:
        return Axis(0.0, 1.0, log)
    low, high = float(finite.min()), float(finite.max())
    pad = margin * (high - low)
    if high - low < 1e-12 * max(1.0, abs(high)):
        pad = 0.15 if log else 0.5 * max(abs(high), 1.0)
    return Axis(low - pad if log or low < 0 else max(low - pad, 0.0), high + pad, log)


def ticks(
    axis: Axis,
    most: int,
    label: Callable[[float], str],
    *,
    time: bool = False,
) -> list[tuple[float, str]]:
    """At most ``most`` round values as (position, label), low to high. With ``time``, the values
    are in seconds and round in minutes, hours or days."""
    if most < 1:
        return []
    if time:
        values = _time_ticks(axis, most)
    else:
        values = _log_ticks(axis, most) if axis.log else _linear_ticks(axis, most)
    positions = axis.position(np.array(values, np.float64)).tolist()
    placed = zip(positions, values, strict=True)
    return [(at, label(value)) for at, value in placed if -1e-9 <= at <= 1 + 1e-9]


def _time_ticks(axis: Axis, most: int) -> list[float]:
    if axis.log:
        for times in EVEN_TIMES:
            inside = [t for t in times if axis.low - 1e-9 <= math.log10(t) <= axis.high + 1e-9]
            if len(inside) <= most:
                break
        if len(inside) > 2:
            return inside[-most:]
        # A short stretch looks linear.
        return [t for t in _time_ticks(Axis(10.0**axis.low, 10.0**axis.high), most) if t > 0]
    raw = (axis.high - axis.low) / most
    step = next((t for t in ROUND_TIMES if t >= raw), 86_400 * _round_up(raw / 86_400))
    return _linear_ticks(axis, most, step if raw >= 1 else None)


def _linear_ticks(axis: Axis, most: int, step: float | None = None) -> list[float]:
    step = step or _round_up((axis.high - axis.low) / most)
    first = math.ceil(axis.low / step - 1e-9)
    last = math.floor(axis.high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(axis: Axis, most: int) -> list[float]:
    if axis.high - axis.low < 0.5:
        # Less than half a decade looks linear, so round numbers suit it better than powers of ten.
        low, high = 10.0**axis.low, 10.0**axis.high
        return [value for value in _linear_ticks(Axis(low, high), most) if value > 0]
    low, high = math.floor(axis.low), math.ceil(axis.high)
    for mantissas in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = [m * 10.0**e for e in range(low, high + 1) for m in mantissas]
        inside = [v for v in values if axis.low - 1e-9 <= math.log10(v) <= axis.high + 1e-9]
        if len(inside) <= most:
            return inside
    stride = -(-len(inside) // most)
    return inside[::-1][::stride][::-1]


def _round_up(raw: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(raw))
    for mantissa in (1.0, 2.0, 2.5, 5.0):
        if raw <= mantissa * power * (1 + 1e-9):
            return mantissa * power
    return 10.0 * power


def ago(seconds: float) -> str:
    """Axis labels of time before now: -90 -> "1m30", 0 -> "now"."""
    return duration(-seconds) if seconds < -0.5 else "now"


def duration(seconds: float) -> str:
    """Axis labels of time: 40 -> "40s", 5400 -> "1h30", 129600 -> "1d12h"."""
    if not abs(seconds) < LARGEST_IN_FULL:
        return short(seconds) + "s"
    for limit, unit, part, of_part in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, ""),
        (60, "m", 1, ""),
    ):
        if seconds >= limit:
            whole, rest = divmod(round(seconds / part), limit // part)
            return f"{whole}{unit}" + (f"{rest:02d}{of_part}" if rest else "")
    return f"{seconds:.1f}".removesuffix(".0") + "s"


def plain(value: float) -> str:
    """Axis labels of values: whole numbers up to 9,999 in full, otherwise shortened."""
    if value == 0:
        return "0"
    if not abs(value) < 10_000:
        return short(value)
    return f"{value:,.0f}" if value == round(value) else measured(value).rstrip("0").rstrip(".")


# From a series to dots: each dot column shows the range of the values that fall into it. Patterns
# tell
# lines apart without colour: dots for each line, or in ASCII a sign. Pure.
#
# The cost after binning depends on the size of the picture only, not on the length of history, and
# no spike is lost, however many points share a column.

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


# The part that a chart shows: the later part of its lines, with the early fall cut off. Pure.

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


# What a chart shows, and its finished picture in a rectangle of cells. Pure: no screen, no colours.

MARGIN = 0.06
"""The part of the y axis above and below the lines."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line: ``x`` ascends, ``y`` may hold NaN (a gap)."""

    name: str
    x: Floats
    y: Floats
    number: int = 0
    """Its place among all series, shown or not, so that a model keeps its colour when others are
    hidden."""
    band: bool = False
    """Whether it is a faint band from the least to the most, behind the lines and without a
    label."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """The contents of a chart, handed over as a whole."""

    series: tuple[Series, ...] = ()
    marks: tuple[float, ...] = ()
    """Values of x with a faint vertical line, where the trainer was started again."""
    turns: tuple[tuple[float, bool], ...] = ()
    """Values of x where something began (true) or ended, marked on the axis."""
    x_name: str = "articles"
    label_x: Callable[[float], str] = plain
    needless: str = ""
    """An ending of the labels of x that is left out where all of them have it, as ":00"."""
    value: Callable[[float], str] = plain
    """Formats a measured value for end labels and the crosshair."""
    tell_x: Callable[[float], str] = plain
    """Formats x for the crosshair, e.g. "at 4,096 articles"."""
    whole_y: bool = False
    """Whether y counts things, so that there are no labels between whole numbers."""
    time_x: bool = False
    """Whether x is in seconds."""
    faded: bool = False
    """Whether the drawing is grey, because it does not show the present."""
    change: Callable[[float, float], str] | None = None
    """Formats the change from one value to another for end labels, "" if it is too small; None:
    without."""
    best: float = math.nan
    """The best value so far, which gets a faint line; NaN: none."""
    better: str = ""
    """Whether a "higher" or a "lower" value is better; "" if neither is."""
    in_words: str = ""
    """What the values mean, in words."""
    empty: tuple[str, ...] = ("nothing measured yet",)
    """Lines shown in the middle while there is nothing to draw."""

    @cached_property
    def all_x(self) -> Floats:
        """Every measured x of the lines, once."""
        xs = [s.x[np.isfinite(s.y)] for s in self.series if not s.band]
        same = len(xs) > 1 and all(np.array_equal(xs[0], other) for other in xs[1:])
        return np.unique(np.concatenate(xs[:1] if same else xs)) if xs else np.empty(0)


@dataclass(frozen=True, slots=True)
class Frame:
    """How to draw; two equal frames of the same series give the same picture."""

    width: int
    height: int
    log_x: bool = True
    log_y: bool = False
    window: tuple[float, float] | None = None
    """Part of the x axis in its own space; None: all of it."""
    ascii_only: bool = False
    fit_y: bool = False
    """Whether the later part of the lines is shown; a zoomed window is shown whole."""
    patterns: tuple[int, ...] = ()
    """The number of each series' dot pattern; empty: all lines are solid."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Cells of the plotting area, row 0 on top, and the labels around it."""

    codes: NDArray[np.uint16]
    """(H, W) code points; 0: empty."""
    owners: NDArray[np.int8]
    """(H, W) index of the series that colours the cell, -1 for none."""
    x_axis: Axis
    y_axis: Axis
    x_ticks: tuple[tuple[int, str], ...]
    """(column, label)"""
    y_ticks: tuple[tuple[int, str], ...]
    """(row, label)"""
    ends: tuple[int | None, ...]
    """The row where each series ends within the window; None if nothing of it is in sight."""
    cut: Cut | None = None

    def row(self, y: float) -> int | None:
        """The row of a value on the y axis; None outside the picture."""
        position = float(self.y_axis.position(np.array([y]))[0])
        return _row(position, self.codes.shape[0]) if 0 <= position <= 1 else None

    def column(self, x: float) -> int:
        """The column of a value on the x axis; may lie outside."""
        position = float(self.x_axis.position(np.array([x]))[0])
        if not np.isfinite(position):
            return -1
        columns = self.codes.shape[1]
        return min(math.floor(position * columns), columns - 1) if position <= 1 else 10**6


def plot(drawing: Drawing, frame: Frame) -> Plot:
    """Draw the series into ``frame``. The picture is empty if there is nothing to draw."""
    series, width, height = drawing.series, max(frame.width, 1), max(frame.height, 1)
    across, down = (1, 3) if frame.ascii_only else (2, 4)
    x_axis = _x_axis(series, frame)
    covered = spans([(s.x, s.y) for s in series], x_axis, width * across, log_y=frame.log_y)
    y_axis, cut = fitted(np.array((covered.low, covered.high)), frame.log_y, margin=MARGIN), None
    part = fit(covered, x_axis) if frame.fit_y and frame.window is None else None
    if part is not None:
        *ends, start = part
        y_axis = fitted(np.array(ends), frame.log_y, margin=MARGIN)
        cut = first_cut(covered, y_axis)
        if x_axis.log:  # half of it would be empty
            x_axis = replace(x_axis, low=x_axis.own(start / (width * across)))
            covered = spans([(s.x, s.y) for s in series], x_axis, width * across, log_y=frame.log_y)
            cut = first_cut(covered, y_axis) or (cut and cut._replace(column=0))
    lit = dots(covered, y_axis, height * down)
    for line, pattern in zip(lit, frame.patterns, strict=False) if not frame.ascii_only else ():
        line[:] = dashed(line, pattern)
    _thin_out(lit, [one.band for one in series], down, across)
    of_each = cells(lit, down, across)
    together = np.bitwise_or.reduce(of_each, axis=0)
    owners = np.full((height, width), -1, dtype=np.int8)
    for index, one in enumerate(of_each):
        owners[one > 0] = index
    codes = (ASCII if frame.ascii_only else BRAILLE)[together]
    for index, one in enumerate(series if frame.ascii_only else ()):
        if one.band:
            codes[owners == index] = ord(":")
    for index, pattern in enumerate(frame.patterns if frame.ascii_only else ()):
        if (sign := SIGNS[pattern % len(SIGNS)]) and not series[index].band:
            codes[owners == index] = ord(sign)
    return Plot(
        codes=codes,
        owners=owners,
        x_axis=x_axis,
        y_axis=y_axis,
        x_ticks=_x_labels(x_axis, width, drawing),
        y_ticks=_y_labels(y_axis, height, drawing),
        ends=tuple(
            None if one.band else row
            for one, row in zip(series, _end_rows(covered, y_axis, height), strict=True)
        ),
        cut=cut and cut._replace(column=cut.column // across),
    )


class Words(NamedTuple):
    """Words in the plotting area."""

    row: int
    column: int
    text: str


EARLIER = "⋯ earlier"


def words_in(chart: Plot, best: str, best_row: int | None) -> list[Words]:
    """The words for which there is room: each is whole, and covers neither a line nor other words.

    ``best``: the words for the best value, for its row.
    """
    placed: list[Words] = []
    height, width = chart.codes.shape
    free = chart.codes == 0

    def place(text: str, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Place this at the first of the places that is free, with a blank on both sides."""
        for row in rows:
            for column in columns:
                around = slice(max(column - 1, 0), column + len(text) + 1)
                if column + len(text) <= width and free[row, around].all():
                    placed.append(Words(row, column, text))
                    free[row, around] = False
                    return

    if chart.cut is not None:
        rows = range(height) if chart.cut.above else range(height - 1, -1, -1)
        place(EARLIER, rows, [max(chart.cut.column - len(EARLIER), 0)])
    if best_row is not None:
        place(best, [best_row], range(1, max(width - len(best), 1)))
    return placed


def ticks_below(ticks: Sequence[tuple[int, str]], left: int, width: int) -> str:
    """The labels of the x axis in one line, each below its column of ``width`` after the ``left``
    cells of the y axis; a label without room beside the one before it is left out."""
    line, end = "", -1
    for column, label in ticks:
        start = min(max(left + column - len(label) // 2, 0), left + width - len(label))
        if start > end:
            line = line.ljust(start) + label
            end = len(line)
    return line


def _x_axis(series: Sequence[Series], frame: Frame) -> Axis:
    if frame.window is not None:
        return Axis(frame.window[0], frame.window[1], frame.log_x)
    ends = []
    for (
        one
    ) in series:  # x ascends, so its ends suffice; a log axis begins at the first positive value
        first = int(np.searchsorted(one.x, 0.0, side="right")) if frame.log_x else 0
        if first < one.x.size:
            ends.append(one.x[[first, -1]])
    return fitted(
        own_space(np.concatenate(ends), frame.log_x) if ends else np.empty(0), frame.log_x
    )


def _thin_out(lit: NDArray[np.bool_], bands: Sequence[bool], down: int, across: int) -> None:
    """Leave every second dot of the bands, and none in the cells of a line."""
    if not any(bands):
        return
    chosen = np.array(bands)
    height, width = lit.shape[1:]
    lines = (
        lit[~chosen]
        .any(axis=0)
        .reshape(height // down, down, width // across, across)
        .any(axis=(1, 3))
    )
    free = ~np.repeat(np.repeat(lines, down, axis=0), across, axis=1)
    if across > 1:
        free &= (np.arange(height)[:, None] + np.arange(width)) % 2 == 0
    lit[chosen] &= free


def _row(position: float, height: int) -> int:
    """The row of a position on the y axis, or the nearest one."""
    return height - 1 - min(max(int(position * height), 0), height - 1)


def _end_rows(covered: Spans, axis: Axis, height: int) -> tuple[int | None, ...]:
    """The row of each line's rightmost dots; None if it has none."""
    middles = ((covered.low + covered.high) / 2 - axis.low) / (axis.high - axis.low)
    ends = (line[np.isfinite(line)][-1:] for line in middles)
    return tuple(_row(float(end[0]), height) if end.size else None for end in ends)


def _x_labels(axis: Axis, width: int, drawing: Drawing) -> tuple[tuple[int, str], ...]:
    """As many labels as there is room for. On a linear axis, they are evenly far apart."""
    placed = ticks(axis, max(width // 8, 2), drawing.label_x, time=drawing.time_x)
    columns = [min(int(position * width), width - 1) for position, _ in placed]
    texts = [text for _, text in placed]
    if drawing.needless and all(text.endswith(drawing.needless) for text in texts):
        texts = [text.removesuffix(drawing.needless) for text in texts]
    labels = tuple(zip(columns, texts, strict=True))
    if axis.log:
        return _one_by_one(labels)
    for stride in range(1, len(labels) + 1):
        every = labels[::-1][::stride][::-1]  # the newest always has one
        if _have_room(every, width):
            return every
    return ()


def _have_room(labels: Sequence[tuple[int, str]], width: int) -> bool:
    """Whether all labels can stand below their columns, as `ticks_below` writes them."""
    end = -2
    for column, text in labels:
        start = min(max(column - len(text) // 2, -1), width - len(text))
        if start <= end:
            return False
        end = start + len(text)
    return True


def _one_by_one(labels: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Those that have room beside the one before."""
    placed: list[tuple[int, str]] = []
    free = -2
    for column, text in labels:
        start = column - len(text) // 2
        if start > free:
            placed.append((column, text))
            free = start + len(text) + 1
    return tuple(placed)


def _y_labels(axis: Axis, height: int, drawing: Drawing) -> tuple[tuple[int, str], ...]:
    by_row: dict[int, str] = {}
    for position, text in ticks(axis, max(height // 3, 3), plain):
        value = axis.value(position)
        if drawing.whole_y and abs(value - round(value)) > 1e-6:
            continue
        by_row.setdefault(_row(position, height), text)
    return tuple(sorted(by_row.items()))

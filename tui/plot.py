"""What a line chart shows, and its finished picture in a rectangle of cells. Pure: no screen, no
colours."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from wikitopics.tui.axes import Axis, Floats, every_nth, fitted, plain, scaled, ticks
from wikitopics.tui.cuts import Cut, first_cut, fit
from wikitopics.tui.dots import ASCII, BRAILLE, SIGNS, Spans, cells, dashed, dots, spans

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


class Pin(NamedTuple):
    """Something that happened, marked beside the lines."""

    x: float
    sign: str
    text: str


@dataclass(frozen=True, eq=False)
class Drawing:
    """The contents of a chart, handed over as a whole."""

    series: tuple[Series, ...] = ()
    marks: tuple[float, ...] = ()
    """Values of x with a faint vertical line, where the trainer was started again."""
    turns: tuple[tuple[float, bool], ...] = ()
    """Values of x where something began (true) or ended, marked on the axis."""
    pins: tuple[Pin, ...] = ()
    """The newest first."""
    x_name: str = "articles"
    label_x: Callable[[float], str] = plain
    needless: str = ""
    """An ending, such as ":00", which the labels of x are drawn without if all of them have it."""
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
        xs = [line.x[np.isfinite(line.y)] for line in self.series if not line.band]
        if not xs:
            return np.empty(0)
        # All models are usually measured at the same x; to join them would take long.
        if all(np.array_equal(xs[0], other) for other in xs[1:]):
            return np.unique(xs[0])
        return np.unique(np.concatenate(xs))


@dataclass(frozen=True, slots=True)
class Frame:
    """How to draw; two equal frames of the same series give the same picture."""

    width: int
    height: int
    log_x: bool = True
    log_y: bool = False
    window: tuple[float, float] | None = None
    """The part of the x axis in sight, as two values on the axis's scale; None: all of it."""
    ascii_only: bool = False
    fit_y: bool = False
    """Whether the y axis is fitted to the later part of the lines. A zoomed window is shown
    whole."""
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
        position = float(self.y_axis.position(np.array([y])).item())
        return _row(position, self.codes.shape[0]) if 0 <= position <= 1 else None

    def column(self, x: float) -> int:
        """The column of a value on the x axis; negative for one that is left of the picture, and
        more than any picture has for one that is right of it."""
        position = float(self.x_axis.position(np.array([x])).item())
        if not np.isfinite(position):  # the axis cannot hold it, such as 0 on a logarithmic one
            return -1
        if position > 1:
            return 10**6
        columns: int = self.codes.shape[1]
        return min(math.floor(position * columns), columns - 1)


def plot(drawing: Drawing, frame: Frame) -> Plot:
    """Draw the series into ``frame``. The picture is empty if there is nothing to draw."""
    series = drawing.series
    width = max(frame.width, 1)
    height = max(frame.height, 1)
    # The dots of a cell.
    across, down = (1, 3) if frame.ascii_only else (2, 4)
    columns = width * across
    lines = [(line.x, line.y) for line in series]

    x_axis = _x_axis(series, frame)
    covered = spans(lines, x_axis, columns, log_y=frame.log_y)
    y_axis = fitted(np.array((covered.low, covered.high)), frame.log_y, margin=MARGIN)
    cut = None
    later_range = fit(covered, x_axis) if frame.fit_y and frame.window is None else None
    if later_range is not None:
        bottom, top, first_inside = later_range
        y_axis = fitted(np.array([bottom, top]), frame.log_y, margin=MARGIN)
        cut = first_cut(covered, y_axis)
        if x_axis.log:
            # Without what is cut off, half of a logarithmic axis would be empty: it begins with
            # what is shown.
            x_axis = replace(x_axis, low=x_axis.scaled_value(first_inside / columns))
            covered = spans(lines, x_axis, columns, log_y=frame.log_y)
            # The columns of the cut have moved, too. If none of what is cut off lies within the new
            # axis, the cut is at its left end.
            cut_on_new_axis = first_cut(covered, y_axis)
            if cut_on_new_axis is not None:
                cut = cut_on_new_axis
            elif cut is not None:
                cut = cut._replace(column=0)
    if cut is not None:
        cut = cut._replace(column=cut.column // across)  # from dots to cells

    lit = dots(covered, y_axis, height * down)
    if not frame.ascii_only:
        # In place; without patterns, all lines stay solid.
        for line, pattern in zip(lit, frame.patterns, strict=False):
            line[:] = dashed(line, pattern)
    _thin_out(lit, [line.band for line in series], down, across)
    of_each = cells(lit, down, across)
    owners = np.full((height, width), -1, dtype=np.int8)
    for index, line_cells in enumerate(of_each):
        owners[line_cells > 0] = index
    together = np.bitwise_or.reduce(of_each, axis=0)
    if frame.ascii_only:
        codes = ASCII[together]
        _put_signs(codes, owners, series, frame.patterns)
    else:
        codes = BRAILLE[together]

    return Plot(
        codes=codes,
        owners=owners,
        x_axis=x_axis,
        y_axis=y_axis,
        x_ticks=_x_labels(x_axis, width, drawing),
        y_ticks=_y_labels(y_axis, height, drawing),
        ends=_end_rows(series, covered, y_axis, height),
        cut=cut,
    )


def _put_signs(
    codes: NDArray[np.uint16],
    owners: NDArray[np.int8],
    series: Sequence[Series],
    patterns: Sequence[int],
) -> None:
    """Replace the cells of bands by their sign, and those of lines whose pattern has one."""
    for index, line in enumerate(series):
        if line.band:
            codes[owners == index] = ord(":")
        elif index < len(patterns):
            sign = SIGNS[patterns[index] % len(SIGNS)]
            if sign:
                codes[owners == index] = ord(sign)


class Words(NamedTuple):
    """Words in the plotting area."""

    row: int
    column: int
    text: str
    sign: int | None = None
    """The column of a pin's sign among them; None for words without one."""


EARLIER = "⋯ earlier"
MOST_PINS = 4
"""The most pins: the newest that have room."""
ROOM_FOR_WORDS = 12
"""The height of a plotting area from which pins have words."""
BESIDE = 3
"""The most rows between a line and the words of a pin, which otherwise has its sign alone."""


class _Room:
    """The cells of a picture that are free for words, and the words placed so far."""

    def __init__(self, codes: NDArray[np.integer]) -> None:
        self._free = codes == 0
        self.placed: list[Words] = []

    def place(
        self, rows: Iterable[int], choices: Sequence[tuple[str, int]], sign: int | None = None
    ) -> bool:
        """Place one of these (text, column) in the first of the rows in which one is free, with a
        blank on both sides; returns whether there is one."""
        _, width = self._free.shape
        for row in rows:
            for text, column in choices:
                around = slice(max(column - 1, 0), column + len(text) + 1)
                if 0 <= column <= width - len(text) and self._free[row, around].all():
                    self.placed.append(Words(row, column, text, sign))
                    self._free[row, around] = False
                    return True
        return False


def words_in(chart: Plot, best: str, best_row: int | None, pins: Sequence[Pin] = ()) -> list[Words]:
    """The words for which there is room: each is whole, and covers neither a line nor other words.

    ``best``: the words for the best value, for its row. ``pins``: the newest first; each stands in
    its column, as near to a line as it can.
    """
    height, width = chart.codes.shape
    room = _Room(chart.codes)
    if chart.cut is not None:
        # From the edge of the picture that the line comes from.
        rows = range(height) if chart.cut.above else range(height - 1, -1, -1)
        room.place(rows, [(EARLIER, max(chart.cut.column - len(EARLIER), 0))])
    if best_row is not None:
        room.place([best_row], [(best, column) for column in range(1, max(width - len(best), 1))])
    n_pinned = 0
    for pin in pins:
        if n_pinned < MOST_PINS:
            n_pinned += _place_pin(chart, room, pin)
    return room.placed


def _place_pin(chart: Plot, room: _Room, pin: Pin) -> bool:
    """Place a pin with its words, or if there is no room its sign alone; returns whether it has a
    place."""
    height, width = chart.codes.shape
    column = chart.column(pin.x)
    if not 0 <= column < width:
        return False
    lit = np.flatnonzero(chart.codes[:, column])
    if not lit.size:
        return False
    away = np.abs(np.arange(height)[:, None] - lit).min(axis=1)
    nearest = np.argsort(away, kind="stable").tolist()
    if height >= ROOM_FOR_WORDS and cell_len(pin.text) == len(pin.text):
        after = (f"{pin.sign} {pin.text}", column)
        before = (f"{pin.text} {pin.sign}", column - len(pin.text) - 1)
        beside = [row for row in nearest if away[row] <= BESIDE]
        if room.place(beside, [after, before], column):
            return True
    signs = [words.sign for words in room.placed if words.sign is not None]
    if any(abs(sign - column) <= 1 for sign in signs):
        return False  # two signs beside each other would look like one
    return room.place(nearest, [(pin.sign, column)], column)


def ticks_below(ticks: Sequence[tuple[int, str]], left: int, width: int) -> str:
    """The labels of the x axis in one line, each below its column of ``width`` after the ``left``
    cells of the y axis; a label without room beside the one before it is left out."""
    line = ""
    end = -1
    for column, label in ticks:
        centred = left + column - len(label) // 2
        last_start = left + width - len(label)
        start = min(max(centred, 0), last_start)
        if start > end:
            line = line.ljust(start) + label
            end = len(line)
    return line


def _x_axis(series: Sequence[Series], frame: Frame) -> Axis:
    if frame.window is not None:
        low, high = frame.window
        return Axis(low, high, frame.log_x)
    ends: list[float] = []
    for line in series:
        # As x ascends, the first and the last suffice.
        first = 0
        if frame.log_x:  # the first that is positive
            first = int(np.searchsorted(line.x, 0.0, side="right"))
        if first < line.x.size:
            ends += line.x[[first, -1]].tolist()
    return fitted(scaled(np.array(ends), frame.log_x), frame.log_x)


def _thin_out(lit: NDArray[np.bool_], bands: Sequence[bool], down: int, across: int) -> None:
    """Leave every second dot of the bands, and none in the cells of a line."""
    if not any(bands):
        return
    is_band = np.array(bands)
    _, height, width = lit.shape
    any_line = lit[~is_band].any(axis=0)
    # Axes 1 and 3 are the dots within a cell, down and across.
    by_cell = any_line.reshape(height // down, down, width // across, across)
    has_line = by_cell.any(axis=(1, 3))
    # What is known of each cell is repeated for each of its dots.
    free = ~np.repeat(np.repeat(has_line, down, axis=0), across, axis=1)
    if across > 1:  # like the dark squares of a chessboard
        free &= (np.arange(height)[:, None] + np.arange(width)) % 2 == 0
    lit[is_band] &= free


def _row(position: float, height: int) -> int:
    """The row of a position on the y axis, or the nearest one."""
    from_bottom = min(max(int(position * height), 0), height - 1)
    return height - 1 - from_bottom


def _end_rows(
    series: Sequence[Series],
    covered: Spans,
    axis: Axis,
    height: int,
) -> tuple[int | None, ...]:
    """The row of each line's rightmost dots; None for a band, or if it has no dots."""
    # The middle of what each line covers in each column, as a position on the axis.
    middles = ((covered.low + covered.high) / 2 - axis.low) / (axis.high - axis.low)
    rows: list[int | None] = []
    for line, middle in zip(series, middles, strict=True):
        known = middle[np.isfinite(middle)]
        if line.band or not known.size:
            rows.append(None)
        else:
            rows.append(_row(float(known[-1]), height))
    return tuple(rows)


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
    for n in range(1, len(labels) + 1):
        some = tuple(every_nth(labels, n))
        if _have_room(some, width):
            return some
    return ()


def _have_room(labels: Sequence[tuple[int, str]], width: int) -> bool:
    """Whether all labels can stand below their columns, as `ticks_below` writes them. Here, cells
    are counted from the plotting area, and the first label may begin in the cell before it, which
    is the y axis's."""
    first_start = -1
    end = first_start - 1
    for column, text in labels:
        centred = column - len(text) // 2
        start = min(max(centred, first_start), width - len(text))
        if start <= end:
            return False
        end = start + len(text)
    return True


def _one_by_one(labels: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """The labels for which there is room beside the label placed before them."""
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

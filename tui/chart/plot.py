"""What a chart shows, and its finished picture in a rectangle of cells. Pure: no screen, no colours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.chart.axes import Axis, Floats, fitted, own_space, plain, ticks
from wikitopics.tui.chart.fit import Cut, cuts, fit
from wikitopics.tui.chart.raster import Spans, ascii_signs, braille, cells, dashed, dots, spans, with_signs

MARGIN = 0.06
"""The part of the y axis above and below the lines."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line: ``x`` ascends, ``y`` may hold NaN (a gap)."""

    name: str
    x: Floats
    y: Floats


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
    value: Callable[[float], str] = plain
    """Formats a measured value for end labels and the crosshair."""
    tell_x: Callable[[float], str] = plain
    """Formats x for the crosshair, e.g. "at 4,096 articles"."""
    inks: tuple[int, ...] = ()
    """The number of each series' colour, so that a model keeps its colour when others are hidden."""
    whole_y: bool = False
    """Whether y counts things, so that there are no labels between whole numbers."""
    time_x: bool = False
    """Whether x is in seconds."""
    faded: bool = False
    """Whether the drawing is grey, because it does not show the present."""
    empty: tuple[str, ...] = ("nothing measured yet",)
    """Lines shown in the middle while there is nothing to draw."""

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(bool(np.isfinite(s.y).any()) for s in self.series)

    @cached_property
    def all_x(self) -> Floats:
        """Every measured x, once."""
        known = [s.x[np.isfinite(s.y)] for s in self.series]
        same = len(known) > 1 and all(np.array_equal(known[0], other) for other in known[1:])
        return np.unique(np.concatenate(known[:1] if same else known)) if known else np.empty(0)

    @property
    def has_negative(self) -> bool:
        """Whether a value has no logarithm. (Zeros are gaps on a logarithmic axis.)"""
        return any(bool((s.y < 0).any()) for s in self.series)


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
    cuts: tuple[Cut, ...] = ()

    def column(self, x: float) -> int:
        """The column of a value on the x axis; may lie outside."""
        position = float(self.x_axis.position(np.array([x]))[0])
        if not np.isfinite(position):
            return -1
        return min(int(position * self.codes.shape[1]), self.codes.shape[1] - 1) if position <= 1 else 10**6


def plot(drawing: Drawing, frame: Frame) -> Plot:
    """Draw the series into ``frame``. The picture is empty if there is nothing to draw."""
    series, width, height = drawing.series, max(frame.width, 1), max(frame.height, 1)
    across, down = (1, 3) if frame.ascii_only else (2, 4)
    x_axis = _x_axis(series, frame)
    covered = spans([(s.x, s.y) for s in series], x_axis, width * across, log_y=frame.log_y)
    y_axis, cut = fitted(np.array((covered.low, covered.high)), frame.log_y, margin=MARGIN), []
    part = fit(covered, x_axis) if frame.fit_y and frame.window is None else None
    if part is not None:
        y_axis = fitted(np.array((part.bottom, part.top)), frame.log_y, margin=MARGIN)
        cut = cuts(covered, y_axis)
        if x_axis.log:  # half of it would be empty
            x_axis = replace(x_axis, low=x_axis.own(part.start / (width * across)))
            covered = spans([(s.x, s.y) for s in series], x_axis, width * across, log_y=frame.log_y)
            still = {one.line: one.column for one in cuts(covered, y_axis)}
            cut = [one._replace(column=still.get(one.line, 0)) for one in cut]
    lit = dots(covered, y_axis, height * down)
    for line, pattern in zip(lit, frame.patterns, strict=False) if not frame.ascii_only else ():
        line[:] = dashed(line, pattern)
    of_each = cells(lit, down, across)
    together = np.bitwise_or.reduce(of_each, axis=0)
    owners = np.full((height, width), -1, dtype=np.int8)
    for index, one in enumerate(of_each):
        owners[one > 0] = index
    if frame.ascii_only:
        codes = with_signs(ascii_signs(together), owners, frame.patterns)
    else:
        codes = braille(together)
    return Plot(
        codes=codes,
        owners=owners,
        x_axis=x_axis,
        y_axis=y_axis,
        x_ticks=_x_labels(x_axis, width, drawing),
        y_ticks=_y_labels(y_axis, height, drawing),
        ends=_end_rows(covered, y_axis, height),
        cuts=tuple(one._replace(column=one.column // across) for one in cut),
    )


def _x_axis(series: Sequence[Series], frame: Frame) -> Axis:
    if frame.window is not None:
        return Axis(frame.window[0], frame.window[1], frame.log_x)
    ends = []
    for one in series:  # x ascends, so its ends suffice; a log axis begins at the first positive value
        first = int(np.searchsorted(one.x, 0.0, side="right")) if frame.log_x else 0
        if first < one.x.size:
            ends.append(one.x[[first, -1]])
    return fitted(own_space(np.concatenate(ends), frame.log_x) if ends else np.empty(0), frame.log_x)


def _end_rows(covered: Spans, axis: Axis, height: int) -> tuple[int | None, ...]:
    """The row of each line's rightmost dots; None if it has none."""
    rows: list[int | None] = []
    for low, high in zip(covered.low, covered.high, strict=True):
        known = np.flatnonzero(np.isfinite(low))
        if not known.size:
            rows.append(None)
            continue
        middle = float(low[known[-1]] + high[known[-1]]) / 2
        position = (middle - axis.low) / (axis.high - axis.low)
        rows.append(height - 1 - min(max(int(position * height), 0), height - 1))
    return tuple(rows)


def _x_labels(axis: Axis, width: int, drawing: Drawing) -> tuple[tuple[int, str], ...]:
    placed: list[tuple[int, str]] = []
    free = -2
    for position, text in ticks(axis, max(width // 8, 2), drawing.label_x, time=drawing.time_x):
        column = min(int(position * width), width - 1)
        if column - len(text) // 2 > free:
            placed.append((column, text))
            free = column - len(text) // 2 + len(text) + 1
    return tuple(placed)


def _y_labels(axis: Axis, height: int, drawing: Drawing) -> tuple[tuple[int, str], ...]:
    by_row: dict[int, str] = {}
    for position, text in ticks(axis, max(height // 3, 3), plain):
        value = axis.value(position)
        if drawing.whole_y and abs(value - round(value)) > 1e-6:
            continue
        row = height - 1 - min(int(position * height), height - 1)
        by_row.setdefault(row, text)
    return tuple(sorted(by_row.items()))

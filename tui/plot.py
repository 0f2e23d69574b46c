"""A finished line chart: `Plot` is its picture in a rectangle of cells, and a widget draws it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from wikitopics.tui.axes import (
    Axis,
    Cut,
    Floats,
    Spans,
    ascii_signs,
    braille,
    cells,
    cuts,
    dashed,
    dots,
    fit,
    fitted,
    own_space,
    plain,
    runs,
    sample,
    spans,
    ticks,
    with_signs,
)
from wikitopics.tui.inks import SERIES, Line, Lines, Part, folded, squeezed

# What a chart shows, and its finished picture in a rectangle of cells. Pure: no screen, no colours.

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


# The chart's picture: lines over their axes, drawn row by row. It knows series, not sessions.

END_LABEL_MOST = 24
SHORTEST_NAME = 6
"""Cells of an end label that belong to the name. The value is never cut, however long it is."""


class Picture(Lines):
    """Lines over a linear or logarithmic axis, labelled with their last values. Whoever changes an attribute
    calls `redraw`."""

    drawing = Drawing()
    log_x = True
    log_y = False
    fit_y = False
    """Whether y is fitted to the later part of the lines, with their early fall cut off."""
    named = True
    """Whether end labels show the names of lines beside the values."""
    window: tuple[float, float] | None = None
    """The part of the x axis in sight, in logarithms if it is logarithmic; None: all of it."""
    cross: float | None = None
    """The crosshair's x."""
    left = 0
    """Cells of the labels of the y axis."""
    _plot: Plot | None = None
    _plotted: tuple[Drawing, Frame] | None = None
    _labels: list[tuple[float, str]] | None = None
    """The last value of each line, and the label at its right end."""

    def redraw(self) -> None:
        self._labels = None
        super().redraw()

    @property
    def logs_y(self) -> bool:
        """Whether y is logarithmic: requested, and possible with these values."""
        return self.log_y and not self.drawing.has_negative

    def _end_labels(self) -> list[tuple[float, str]]:
        if self._labels is None:
            patterns = self.patterns()
            self._labels = [self._end_label(s) for s in self.drawing.series]
            if self.named and any(patterns):
                samples = [sample(pattern, ascii_only=self.ascii_only) for pattern in patterns]
                self._labels = [
                    (value, f"{drawn} {text}")
                    for drawn, (value, text) in zip(samples, self._labels, strict=True)
                ]
        return self._labels

    def patterns(self) -> tuple[int, ...]:
        """The number of each series' pattern. With colour, only lines of the same colour differ in
        pattern."""
        each = 1 if self.ascii_only or self.app.has_class("-few-colours") else SERIES
        return tuple(self._number(i) // each for i in range(len(self.drawing.series)))

    def _end_label(self, series: Series) -> tuple[float, str]:
        """Name, last value in sight and its direction, e.g. "lda 1,187 ▼"."""
        known = series.y[: np.searchsorted(series.x, self._last_x(), side="right")][-64:]
        known = known[np.isfinite(known)]
        if not known.size:
            return float("nan"), squeezed(series.name, END_LABEL_MOST)
        told = " " + self.drawing.value(float(known[-1]))
        if known.size > 1 and known[-1] != known[-2]:
            told += " ▲" if known[-1] > known[-2] else " ▼"
        if not self.named:
            return float(known[-1]), told.lstrip()
        room = max(END_LABEL_MOST - len(told), SHORTEST_NAME)
        return float(known[-1]), squeezed(series.name, room) + told

    def _last_x(self) -> float:
        """The right end of the range in sight."""
        if self.window is None:
            return float("inf")
        high = self.window[1] + 1e-9 * (self.window[1] - self.window[0])
        return 10.0**high if self.log_x else high

    def frame(self) -> Frame:
        right = max((cell_len(text) for _, text in self._end_labels()), default=0) + 1
        size = self.size
        right = right if right < size.width // 2 else 0
        return Frame(
            width=max(size.width - self.left - 1 - right, 4),
            height=max(size.height - 2, 1),
            log_x=self.log_x,
            log_y=self.logs_y,
            window=self.window,
            ascii_only=self.ascii_only,
            fit_y=self.fit_y,
            patterns=self.patterns(),
        )

    def current_plot(self) -> Plot | None:
        width, height = self.size
        if width < 8 or height < 3:
            return None
        frame, drawing = self.frame(), self.drawing
        if self._plot is None or self._plotted != (drawing, frame):
            self._plot = plot(drawing, frame)
            left = max((len(text) for _, text in self._plot.y_ticks), default=0)
            if left != self.left:  # the width of the labels is known only after the first drawing
                self.left = left
                frame = self.frame()
                self._plot = plot(drawing, frame)
            self._plotted = drawing, frame
        return self._plot

    def lines(self, width: int, height: int) -> list[Line]:
        chart = self.current_plot()
        if chart is None or self.drawing.nothing:
            return self._blank(width, height)
        rows = chart.codes.shape[0]
        ends = self._placed_ends(chart, width)
        y_ticks = dict(chart.y_ticks)
        broken = {0 if cut.above else rows - 1 for cut in chart.cuts}
        lines: list[Line] = []
        for row, drawn in enumerate(self._cells(chart)):
            label = y_ticks.get(row, "")
            edge: Part = ("┤" if label else "│", "faint")
            if row in broken:
                edge = ("≈", "accent")
            lines.append([(label.rjust(self.left), "muted"), edge, *drawn, *ends[row]])
        return [*lines, *self._bottom(chart, width)]

    def _blank(self, width: int, height: int) -> list[Line]:
        told = [piece for line in self.drawing.empty for piece in folded(line, width) or [""]]
        above: list[Line] = [[] for _ in range((height - len(told)) // 2)]
        return [*above, *([(" " * ((width - cell_len(text)) // 2) + text, "muted")] for text in told)]

    def _cells(self, chart: Plot) -> list[Line]:
        """The plotting area, row by row: lines hide the crosshair, which hides the marks."""
        codes, owners = chart.codes.astype(np.uint32), chart.owners.copy()
        lines = len(self.drawing.series)
        upright = [(chart.column(x), "┊", lines) for x in self.drawing.marks]
        if self.cross is not None:
            upright.append((chart.column(self.cross), "│", lines + 1))
        for column, sign, owner in upright:
            if 0 <= column < codes.shape[1]:
                free = chart.codes[:, column] == 0
                codes[free, column], owners[free, column] = ord(sign), owner
        for cut in chart.cuts:
            row = 0 if cut.above else -1
            codes[row, cut.column], owners[row, cut.column] = ord("↑" if cut.above else "↓"), cut.line
        inks = [*map(self._ink, range(lines)), "faint", "accent", ""]  # the last is for no series, -1
        return [[(text, inks[owner]) for text, owner in row] for row in runs(codes, owners)]

    def _ink(self, index: int) -> str:
        if self.drawing.faded:
            return "faint"
        return f"series{self._number(index) % SERIES}"

    def _number(self, index: int) -> int:
        """The number of a series among all series, shown or not."""
        inks = self.drawing.inks
        return inks[index] if index < len(inks) else index

    def _placed_ends(self, chart: Plot, whole: int) -> list[Line]:
        """The label of each row: where its line ends, moved apart where labels collide."""
        labels, (height, width) = self._end_labels(), chart.codes.shape
        placed: list[Line] = [[] for _ in range(height)]
        if whole - self.left - 1 - width <= 1:
            return placed
        # The higher value is placed higher, even where rows are shared.
        ends = [(-labels[i][0], row, i) for i, row in enumerate(chart.ends) if row is not None]
        wanted = [(row, i) for _, row, i in sorted(ends)]
        lowest = 0
        for order, (row, i) in enumerate(wanted):
            highest = height - (len(wanted) - order)
            row = min(max(row, lowest), max(highest, lowest))
            if row < height:
                placed[row] = [(" " + labels[i][1], self._ink(i))]
            lowest = row + 1
        return placed

    def _bottom(self, chart: Plot, whole: int) -> list[Line]:
        width = chart.codes.shape[1]
        rule = ["─"] * width
        text = [" "] * (width + self.left + 1)
        for column, label in chart.x_ticks:
            rule[column] = "┬"
            start = min(max(self.left + 1 + column - len(label) // 2, 0), len(text) - len(label))
            text[start : start + len(label)] = label
        labels: Line = [("".join(text).rstrip(), "muted")]
        name = f"  {self.drawing.x_name}"
        if whole - len(labels[0][0]) >= len(name):
            labels.append((name, "faint"))
        return [[(" " * self.left + "└", "faint"), *self._turned(chart, rule)], labels]

    def _turned(self, chart: Plot, rule: list[str]) -> Line:
        """The axis, with a sign where something began or ended; if both, the sign for beginning."""
        signs: dict[int, Part] = {}
        for x, begins in sorted(self.drawing.turns, key=lambda turn: turn[1]):
            signs[chart.column(x)] = ("▴", "good") if begins else ("▾", "muted")
        return [signs.get(column, (line, "faint")) for column, line in enumerate(rule)]

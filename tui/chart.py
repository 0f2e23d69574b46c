"""The chart: lines over their axes, drawn row by row, with a crosshair and a zoom window. It knows
series, not sessions."""

from dataclasses import replace
from typing import Literal

import numpy as np
from rich.cells import cell_len
from textual import events
from textual.geometry import Offset
from textual.message import Message

from wikitopics.tui.dots import runs, sample
from wikitopics.tui.inks import SERIES, Line, Lines
from wikitopics.tui.plot import Drawing, Frame, Plot, Series, plot, ticks_below, words_in
from wikitopics.tui.text import folded, squeezed

# The picture.

HALF = 0.6
"""A measurement up to this fraction of x counts as at half of x, since few are at exactly half."""
TALL = 9
"""The height from which a chart spends its first line on what the values mean."""
END_LABEL_MOST = 24
SHORTEST_NAME = 6
"""Cells of an end label that belong to the name. The value is never cut, however long it is."""


class Picture(Lines):
    """Lines over a linear or logarithmic axis, labelled with their last values. Whoever changes an
    attribute calls `redraw`."""

    DEFAULT_CLASSES = "panel"

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

    @property
    def logs_y(self) -> bool:
        """Whether y is logarithmic: requested, and possible, as no value is negative. (Zeros are
        gaps.)"""
        return self.log_y and not any((s.y < 0).any() for s in self.drawing.series)

    def _end_labels(self) -> list[tuple[float, Line]]:
        """The last value of each line, and the label at its right end."""
        patterns = self.patterns()
        labels: list[tuple[float, Line]] = []
        for series, pattern in zip(self.drawing.series, patterns, strict=True):
            if series.band:
                labels.append((float("nan"), []))
                continue
            line = sample(pattern, ascii_only=self.ascii_only) + " "
            labels.append(self._end_label(series, line if self.named and any(patterns) else ""))
        return labels

    def patterns(self) -> tuple[int, ...]:
        """The number of each series' pattern. With colour, only lines of the same colour differ in
        pattern."""
        each = 1 if self.ascii_only or self.app.has_class("-few-colours") else SERIES
        return tuple(series.number // each for series in self.drawing.series)

    def _end_label(self, series: Series, legend: str) -> tuple[float, Line]:
        """The last value in sight, and the label: the name, that value and, as far as there is
        room, how it has changed since half of x, e.g. "lda 1,187 -3.1% since 33k"."""
        right = float("inf")  # the end of the range in sight
        if self.window is not None:
            right = self.window[1] + 1e-9 * (self.window[1] - self.window[0])
            right = 10.0**right if self.log_x else right
        ink = self._ink(series)
        known = np.flatnonzero(
            np.isfinite(series.y[: np.searchsorted(series.x, right, side="right")])
        )
        if not known.size:
            return float("nan"), [(legend + squeezed(series.name, END_LABEL_MOST), ink)]
        drawing, now = self.drawing, float(series.y[known[-1]])
        text = drawing.value(now)
        if self.named:
            name = squeezed(series.name, max(END_LABEL_MOST - len(text) - 1, SHORTEST_NAME))
            text = f"{legend}{name} {text}"
        half = known[series.x[known] <= HALF * series.x[known[-1]]][-1:]
        if drawing.change is None or not half.size:
            return now, [(text, ink)]
        then, since = float(series.y[half[0]]), drawing.label_x(float(series.x[half[0]]))
        change, verdict = drawing.change(then, now), "muted"
        if change and drawing.better:
            verdict = "good" if (now > then) == (drawing.better == "higher") else "warn"
        more: Line = [(f" {change or 'steady'}", verdict)]
        more += [
            *([(" worse", verdict)] if verdict == "warn" else []),
            (f" since {since}", "muted"),
        ]
        while (
            more and cell_len(text) + sum(len(part) for part, _ in more) > self.size.width * 2 // 5
        ):
            more.pop()
        return now, [(text, ink), *more]

    @property
    def _headed(self) -> bool:
        """Whether the first line says what the values mean."""
        return self.named and bool(self.drawing.in_words) and self.size.height >= TALL

    def frame(self) -> Frame:
        width, height = self.size
        labels = (sum(cell_len(text) for text, _ in label) for _, label in self._end_labels())
        right, height = max(labels, default=0) + 1, height - 2 - self._headed
        size = max(width - self.left - 1 - (right if right < width // 2 else 0), 4), max(height, 1)
        scales = self.log_x, self.logs_y
        return Frame(*size, *scales, self.window, self.ascii_only, self.fit_y, self.patterns())

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
        if chart is None or not any(np.isfinite(s.y).any() for s in self.drawing.series):
            pieces = [piece for line in self.drawing.empty for piece in folded(line, width) or [""]]
            centred = [" " * ((width - cell_len(piece)) // 2) + piece for piece in pieces]
            above: list[Line] = [[]] * ((height - len(pieces)) // 2)
            return above + [[(piece, "muted")] for piece in centred]
        ends = self._placed_ends(chart, width)
        y_ticks = dict(chart.y_ticks)
        lines: list[Line] = [[(f" {self.drawing.in_words}", "muted")]] if self._headed else []
        for row, drawn in enumerate(self._cells(chart)):
            label = y_ticks.get(row, "")
            edge = ("┤" if label else "│", "faint")
            lines.append([(label.rjust(self.left), "muted"), edge, *drawn, *ends[row]])
        return [*lines, *self._bottom(chart, width)]

    def _cells(self, chart: Plot) -> list[Line]:
        """The plotting area, row by row: lines hide words, which hide the crosshair and, last, the
        marks."""
        codes, owners = chart.codes.astype(np.uint32), chart.owners.copy()
        width, lines = codes.shape[1], len(self.drawing.series)

        upright = [(chart.column(x), "┊", lines) for x in self.drawing.marks]
        if self.cross is not None:
            upright.append((chart.column(self.cross), "│", lines + 1))
        for column, sign, owner in upright:
            if 0 <= column < width:
                blank = chart.codes[:, column] == 0
                codes[blank, column], owners[blank, column] = ord(sign), owner
        best_row = chart.row(self.drawing.best)
        placed = words_in(chart, f"best {self.drawing.value(self.drawing.best)}", best_row)
        if best_row is not None:
            after = next(
                (words.column + len(words.text) for words in placed if words.row == best_row), 0
            )
            dotted = (np.arange(width) - after) % 2 == 1
            dotted &= chart.codes[best_row] == 0
            codes[best_row, dotted], owners[best_row, dotted] = ord("·"), lines
        for row, column, text in placed:
            end = column + len(text)
            codes[row, max(column - 1, 0) : end + 1] = 0
            codes[row, column:end] = [ord(sign) for sign in text]
            owners[row, column:end] = lines
        inks = [
            *map(self._ink, self.drawing.series),
            "faint",
            "accent",
            "",
        ]  # the last is for no series, -1
        return [[(text, inks[owner]) for text, owner in row] for row in runs(codes, owners)]

    def _ink(self, series: Series) -> str:
        return "faint" if self.drawing.faded or series.band else f"series{series.number % SERIES}"

    def _placed_ends(self, chart: Plot, whole: int) -> list[Line]:
        """The label in each row, if any: in the row where its line ends, moved if labels would
        collide."""
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
                placed[row] = [(" ", ""), *labels[i][1]]
            lowest = row + 1
        return placed

    def _bottom(self, chart: Plot, whole: int) -> list[Line]:
        width = chart.codes.shape[1]
        rule = ["─"] * width
        for column, _ in chart.x_ticks:
            rule[column] = "┬"
        labels: Line = [(ticks_below(chart.x_ticks, self.left + 1, width), "muted")]
        name = f"  {self.drawing.x_name}"
        if whole - len(labels[0][0]) >= len(name):
            labels.append((name, "faint"))
        axis: Line = [(" " * self.left + "└", "faint"), *((sign, "faint") for sign in rule)]
        # A sign where something began or ended; if both, the sign for beginning.
        for x, begins in sorted(self.drawing.turns, key=lambda turn: turn[1]):
            if 0 <= (column := chart.column(x)) < width:
                axis[column + 1] = ("▴", "good") if begins else ("▾", "muted")
        return [axis, labels]


# The chart widget: a picture with a movable crosshair and a zoom window.

Scale = Literal["log_x", "log_y", "fit_y"]
ZOOM = 0.6
SMALLEST_WINDOW = 1e-4


class Chart(Picture, can_focus=True):
    """A picture with a crosshair and a zoom."""

    class Pointed(Message):
        """The crosshair moved or disappeared: `pointed` tells the values there."""

    _held = False
    """Whether the crosshair was set by a key or a click, and so stays when the mouse leaves."""

    def draw(self, drawing: Drawing) -> None:
        """Show this drawing from now on."""
        newest = max((float(s.x[-1]) for s in drawing.series if s.x.size), default=0.0)
        if (
            drawing.x_name != self.drawing.x_name or (self.cross or 0.0) > newest
        ):  # as when a replay begins
            self.window, self.cross = None, None
        self.drawing = drawing
        self._changed()

    def _changed(self) -> None:
        self.redraw()
        self.post_message(self.Pointed())

    def toggle(self, which: Scale) -> None:
        if which == "log_x":
            self.window = None
        setattr(self, which, not getattr(self, which))
        self._changed()

    def scales(self) -> str:
        """What the axes do not say: whether y is logarithmic, and how to see what is cut off."""
        chart = self.current_plot()
        cut = chart is not None and chart.cut is not None
        return " · log y" * self.logs_y + " · Y whole curve" * cut

    # Crosshair and zoom -------------------------------------------------------------------------

    def step(self, columns: int) -> None:
        """Move the crosshair to the next measured point at least this many columns away."""
        x = self.drawing.all_x
        chart = self.current_plot()
        if not x.size or chart is None:
            return
        width = chart.codes.shape[1]
        here = float(x[-1]) if self.cross is None else self.cross
        with np.errstate(divide="ignore", invalid="ignore"):
            position = chart.x_axis.position(x)
        inside = np.isfinite(position)
        if self.window is None:
            inside &= position >= -1e-9  # not in the part that is cut off
        x, position = x[inside], position[inside]
        if not x.size:
            return
        if self.cross is None and self.window is None:
            self.cross = here
        else:
            goal = float(chart.x_axis.position(np.array([here]))[0]) + columns / width
            index = np.searchsorted(position, goal - 1e-9)
            if columns < 0:
                index = np.searchsorted(position, goal + 1e-9, side="right") - 1
            self.cross = float(x[min(max(int(index), 0), x.size - 1)])
        self._held = True
        if self.window is not None:  # shift it to keep the crosshair in sight
            own = float(np.log10(self.cross)) if self.log_x and self.cross > 0 else self.cross
            low, high = self.window
            shift = min(own - low, 0.0) + max(own - high, 0.0)
            self.window = (low + shift, high + shift)
        self._changed()

    def zoom(self, way: int) -> None:
        """Show a smaller (1) or larger (-1) range, around the crosshair or at the right end."""
        chart = self.current_plot()
        if chart is None or not self.drawing.series:
            return
        axis, factor = chart.x_axis, ZOOM**way
        centre = 1.0 if self.cross is None else float(axis.position(np.array([self.cross]))[0])
        centre = min(max(centre, 0.0), 1.0)
        span = axis.high - axis.low
        low = axis.low + span * centre * (1 - factor)
        high = low + span * factor
        full = plot(self.drawing, replace(self.frame(), window=None)).x_axis
        if high - low >= full.high - full.low:
            self.window = None
        elif high - low > SMALLEST_WINDOW * (full.high - full.low):
            shift = max(full.low - low, 0.0) - max(high - full.high, 0.0)
            self.window = (low + shift, high + shift)
        self._changed()

    def reset(self) -> None:
        """Show the whole range, without a crosshair."""
        self.window, self.cross, self._held = None, None, False
        self._changed()

    def pointed(self) -> str:
        """The values at the crosshair, e.g. "at 4,096 articles: lda 1,402"."""
        if self.cross is None:
            return ""
        values = []
        for s in self.drawing.series:
            if not s.band and (known := np.isfinite(s.y)).any():
                nearest = np.abs(s.x[known] - self.cross).argmin()
                value = self.drawing.value(float(s.y[known][nearest]))
                values.append(f"{s.name} {value}" if len(self.drawing.series) > 1 else value)
        told = f"{self.drawing.tell_x(self.cross)}: {'  '.join(values)}" if values else ""
        if (chart := self.current_plot()) is not None:
            here, turns = chart.column(self.cross), self.drawing.turns
            signs = {
                "a restart": self.drawing.marks,
                "topics born or split": [x for x, begins in turns if begins],
                "topics died or merged": [x for x, begins in turns if not begins],
            }
            told += "".join(
                f" · {words}" for words, xs in signs.items() if here in map(chart.column, xs)
            )
        return told

    # Mouse ------------------------------------------------------------------------------------

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if not self._held:
            self._point_at(event.get_content_offset(self))

    def on_click(self, event: events.Click) -> None:
        self._held = True
        self._point_at(event.get_content_offset(self))

    def on_leave(self, event: events.Leave) -> None:
        if not self._held and self.cross is not None:
            self.cross = None
            self._changed()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.zoom(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.zoom(-1)

    def _point_at(self, offset: Offset | None) -> None:
        chart, x = self.current_plot(), self.drawing.all_x
        if offset is None or chart is None or not x.size:
            return
        at = chart.x_axis.value((offset.x - self.left - 1 + 0.5) / chart.codes.shape[1])
        own, goal = (
            (np.log(np.maximum((x, np.full_like(x, at)), 1e-300))) if self.log_x else (x, at)
        )
        nearest = float(x[np.abs(own - goal).argmin()])
        if self.cross != nearest:
            self.cross = nearest
            self._changed()

"""The chart: lines over their axes, drawn row by row, with a crosshair and a zoom window. It knows
series, not sessions."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from rich.cells import cell_len
from textual import events
from textual.geometry import Offset
from textual.message import Message

from wikitopics.tui.dots import runs, sample
from wikitopics.tui.inks import SERIES, Line, Lines, line_cells
from wikitopics.tui.plot import Drawing, Frame, Plot, Series, plot, ticks_below, words_in
from wikitopics.tui.text import folded, squeezed

# The picture.

TINY = 1e-300
"""What stands for 0 on a logarithmic axis."""
HALF = 0.6
"""A measurement up to this fraction of x counts as at half of x, since few are at exactly half."""
TALL = 9
"""The height from which a chart spends its first line on what the values mean."""
END_LABEL_MOST = 24
"""Cells of the name and the value of an end label."""
SHORTEST_NAME = 6
"""Cells of an end label that belong to the name. The value is never cut, however long it is."""


class PlainChart(Lines):
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
            legend = ""
            if self.named and any(patterns):
                legend = sample(pattern, ascii_only=self.ascii_only) + " "
            labels.append(self._end_label(series, legend))
        return labels

    def patterns(self) -> tuple[int, ...]:
        """The number of each series' pattern. With colour, only lines of the same colour differ in
        pattern."""
        without_colour = self.ascii_only or self.app.has_class("-few-colours")
        colours = 1 if without_colour else SERIES
        return tuple(series.number // colours for series in self.drawing.series)

    def _end_label(self, series: Series, legend: str) -> tuple[float, Line]:
        """The last value in sight, and the label: the name, that value and, as far as there is
        room, how it has changed since half of x, e.g. "lda 1,187 -3.1% since 33k"."""
        right = float("inf")  # the end of the range in sight
        if self.window is not None:
            low, high = self.window
            right = high + 1e-9 * (high - low)
            if self.log_x:
                right = 10.0**right
        ink = self._ink(series)
        in_sight = np.searchsorted(series.x, right, side="right")
        known = np.isfinite(series.y[:in_sight])
        x = series.x[:in_sight][known]
        y = series.y[:in_sight][known]
        if not y.size:
            return float("nan"), [(legend + squeezed(series.name, END_LABEL_MOST), ink)]

        now = float(y[-1])
        text = self.drawing.value(now)
        if self.named:
            name = squeezed(series.name, max(END_LABEL_MOST - len(text) - 1, SHORTEST_NAME))
            text = f"{legend}{name} {text}"
        before_half = np.flatnonzero(x <= HALF * x[-1])
        if not before_half.size:
            return now, [(text, ink)]
        half = before_half[np.abs(x[before_half] - x[-1] / 2).argmin()]
        change = self._change(float(y[half]), now, float(x[half]))
        room = self.size.width * 2 // 5 - cell_len(text)
        while change and sum(len(part) for part, _ in change) > room:
            change.pop()
        return now, [(text, ink), *change]

    def _change(self, then: float, now: float, x: float) -> Line:
        """How a line has changed since its value was ``then``, at ``x``."""
        drawing = self.drawing
        if drawing.change is None:
            return []
        change = drawing.change(then, now)
        since = (f" since {drawing.label_x(x)}", "muted")
        if not change:
            return [(" steady", "muted"), since]
        if not drawing.better:
            return [(f" {change}", "muted"), since]
        has_risen = now > then
        if has_risen == (drawing.better == "higher"):
            return [(f" {change}", "good"), since]
        return [(f" {change}", "warn"), (" worse", "warn"), since]

    @property
    def _headed(self) -> bool:
        """Whether the first line says what the values mean."""
        return self.named and bool(self.drawing.in_words) and self.size.height >= TALL

    def frame(self) -> Frame:
        """How it is drawn now: in the cells that the labels leave."""
        width, height = self.size
        width -= self.left + 1
        height -= 3 if self._headed else 2
        label_widths = [line_cells(label) for _, label in self._end_labels()]
        right = max(label_widths, default=0) + 1
        if right < self.size.width // 2:
            width -= right
        return Frame(
            max(width, 4),
            max(height, 1),
            log_x=self.log_x,
            log_y=self.logs_y,
            window=self.window,
            ascii_only=self.ascii_only,
            fit_y=self.fit_y,
            patterns=self.patterns(),
        )

    def current_plot(self) -> Plot | None:
        """The picture as it is drawn now; None if there is no room for one."""
        width, height = self.size
        if width < 8 or height < 3:
            return None
        frame = self.frame()
        drawing = self.drawing
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
        if chart is None or not any(np.isfinite(line.y).any() for line in self.drawing.series):
            return self._empty_lines(width, height)
        ends = self._placed_ends(chart, width)
        y_ticks = dict(chart.y_ticks)
        lines: list[Line] = [[(f" {self.drawing.in_words}", "muted")]] if self._headed else []
        for row, drawn in enumerate(self._cells(chart)):
            label = y_ticks.get(row, "")
            edge = "┤" if label else "│"
            lines.append([(label.rjust(self.left), "muted"), (edge, "faint"), *drawn, *ends[row]])
        return [*lines, *self._bottom(chart, width)]

    def _empty_lines(self, width: int, height: int) -> list[Line]:
        """The words in the middle while there is nothing to draw."""
        pieces: list[str] = []
        for line in self.drawing.empty:
            pieces += folded(line, width) or [""]
        above = (height - len(pieces)) // 2
        lines: list[Line] = [[] for _ in range(above)]
        for piece in pieces:
            indent = " " * ((width - cell_len(piece)) // 2)
            lines.append([(indent + piece, "muted")])
        return lines

    def _cells(self, chart: Plot) -> list[Line]:
        """The plotting area, row by row: lines hide words, which hide the crosshair and, last, the
        marks."""
        codes = chart.codes.astype(np.uint32)
        owners = chart.owners.copy()
        _, width = codes.shape
        # Whose ink a cell has: a line's, by its index, or one of these.
        inks = [self._ink(series) for series in self.drawing.series]
        inks += ["faint", "accent", ""]
        faint = len(self.drawing.series)
        accent = faint + 1
        # The last is that of owner -1, of cells that are empty.

        upright = [(chart.column(x), "┊", faint) for x in self.drawing.marks]
        if self.cross is not None:
            upright.append((chart.column(self.cross), "│", accent))
        for column, sign, owner in upright:
            if 0 <= column < width:
                blank = chart.codes[:, column] == 0
                codes[blank, column] = ord(sign)
                owners[blank, column] = owner
        best_row = chart.row(self.drawing.best)
        best = f"best {self.drawing.value(self.drawing.best)}"
        placed = words_in(chart, best, best_row, self.drawing.pins)
        if best_row is not None:
            after = 0
            for words in placed:
                if words.row == best_row:
                    after = words.column + len(words.text)
                    break
            dotted = (np.arange(width) - after) % 2 == 1
            dotted &= chart.codes[best_row] == 0
            codes[best_row, dotted] = ord("·")
            owners[best_row, dotted] = faint
        for row, column, text, sign_at in placed:
            end = column + len(text)
            codes[row, max(column - 1, 0) : end + 1] = 0
            codes[row, column:end] = [ord(sign) for sign in text]
            owners[row, column:end] = faint
            if sign_at is not None:
                owners[row, sign_at] = accent
        return [[(text, inks[owner]) for text, owner in row] for row in runs(codes, owners)]

    def _ink(self, series: Series) -> str:
        if self.drawing.faded or series.band:
            return "faint"
        return f"series{series.number % SERIES}"

    def _placed_ends(self, chart: Plot, whole: int) -> list[Line]:
        """The label in each row, if any: in the row where its line ends, moved if labels would
        collide."""
        height, width = chart.codes.shape
        placed: list[Line] = [[] for _ in range(height)]
        if whole - self.left - 1 - width <= 1:
            return placed
        ends: list[tuple[float, int, Line]] = []
        for row, (value, label) in zip(chart.ends, self._end_labels(), strict=True):
            if row is not None:
                ends.append((value, row, label))
        # The higher value is placed higher, even where rows are shared.
        ends.sort(key=lambda end: (-end[0], end[1]))
        first_free = 0
        for order, (_, row, label) in enumerate(ends):
            last_possible = height - (len(ends) - order)  # the others need a row each below it
            row = min(max(row, first_free), max(last_possible, first_free))
            if row < height:
                placed[row] = [(" ", ""), *label]
            first_free = row + 1
        return placed

    def _bottom(self, chart: Plot, whole: int) -> list[Line]:
        """The x axis, and the line of its labels and its name."""
        _, width = chart.codes.shape
        rule: Line = [("─", "faint")] * width
        for column, _ in chart.x_ticks:
            rule[column] = ("┬", "faint")
        # A sign where something began or ended; if both, the sign for beginning.
        for x, begins in sorted(self.drawing.turns, key=lambda turn: turn[1]):
            column = chart.column(x)
            if 0 <= column < width:
                rule[column] = ("▴", "good") if begins else ("▾", "muted")
        corner = (" " * self.left + "└", "faint")

        ticks = ticks_below(chart.x_ticks, self.left + 1, width)
        labels: Line = [(ticks, "muted")]
        name = f"  {self.drawing.x_name}"
        if whole - len(ticks) >= len(name):
            labels.append((name, "faint"))
        return [[corner, *rule], labels]


# The chart widget with a movable crosshair and a zoom window.

Scale = Literal["log_x", "log_y", "fit_y"]
ZOOM = 0.6
"""What a step of the zoom leaves of the range in sight."""
SMALLEST_WINDOW = 1e-4
"""The minimum range in sight, as a share of the whole."""


class Chart(PlainChart, can_focus=True):
    """A chart with a crosshair and a zoom."""

    class Pointed(Message):
        """The crosshair moved or disappeared: `pointed` tells the values there."""

    _held = False
    """Whether the crosshair was set by a key or a click, and so stays when the mouse leaves."""

    def draw(self, drawing: Drawing) -> None:
        """Show this drawing from now on."""
        newest = max((float(line.x[-1]) for line in drawing.series if line.x.size), default=0.0)
        is_too_late = self.cross is not None and self.cross > newest  # as when a replay begins
        if drawing.x_name != self.drawing.x_name or is_too_late:
            self.window = None
            self.cross = None
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
        words = ""
        if self.logs_y:
            words += " · log y"
        if chart is not None and chart.cut is not None:
            words += " · Y whole curve"
        return words

    # Crosshair and zoom -------------------------------------------------------------------------

    def step(self, columns: int) -> None:
        """Move the crosshair to the next measured point at least this many columns away."""
        x = self.drawing.all_x
        chart = self.current_plot()
        if not x.size or chart is None:
            return
        _, width = chart.codes.shape
        here = float(x[-1]) if self.cross is None else self.cross
        with np.errstate(divide="ignore", invalid="ignore"):
            position = chart.x_axis.position(x)
        inside = np.isfinite(position)
        if self.window is None:
            inside &= position >= -1e-9  # not in the part that is cut off
        x = x[inside]
        position = position[inside]
        if not x.size:
            return
        if self.cross is None and self.window is None:
            self.cross = here
        else:
            goal = float(chart.x_axis.position(np.array([here])).item()) + columns / width
            if columns < 0:
                index = int(np.searchsorted(position, goal + 1e-9, side="right")) - 1
            else:
                index = int(np.searchsorted(position, goal - 1e-9))
            self.cross = float(x[min(max(index, 0), x.size - 1)])
        self._held = True
        self._keep_in_sight(self.cross)
        self._changed()

    def _keep_in_sight(self, cross: float) -> None:
        """Shift the window, if there is one, so that the crosshair is in it."""
        if self.window is None:
            return
        scaled = float(np.log10(cross)) if self.log_x and cross > 0 else cross
        low, high = self.window
        shift = 0.0
        if scaled < low:
            shift = scaled - low
        elif scaled > high:
            shift = scaled - high
        self.window = (low + shift, high + shift)

    def zoom(self, way: int) -> None:
        """Show a smaller (1) or larger (-1) range, around the crosshair or at the right end."""
        chart = self.current_plot()
        if chart is None or not self.drawing.series:
            return
        axis = chart.x_axis
        factor = ZOOM**way
        centre = 1.0
        if self.cross is not None:
            centre = float(axis.position(np.array([self.cross])).item())
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
        self.window = None
        self.cross = None
        self._held = False
        self._changed()

    def pointed(self) -> str:
        """The values at the crosshair, e.g. "at 4,096 articles: lda 1,402"."""
        if self.cross is None:
            return ""
        values = []
        for line in self.drawing.series:
            known = np.isfinite(line.y)
            if not line.band and known.any():
                nearest = np.abs(line.x[known] - self.cross).argmin()
                value = self.drawing.value(float(line.y[known][nearest]))
                if len(self.drawing.series) > 1:
                    value = f"{line.name} {value}"
                values.append(value)
        words = ""
        if values:
            words = f"{self.drawing.tell_x(self.cross)}: {'  '.join(values)}"
        chart = self.current_plot()
        if chart is not None:
            turns = self.drawing.turns
            signs = {
                "a restart": self.drawing.marks,
                "topics born or split": [x for x, begins in turns if begins],
                "topics died or merged": [x for x, begins in turns if not begins],
            }
            here = chart.column(self.cross)
            for meaning, xs in signs.items():
                if any(chart.column(x) == here for x in xs):
                    words += f" · {meaning}"
        return words

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
        chart = self.current_plot()
        x = self.drawing.all_x
        if offset is None or chart is None or not x.size:
            return
        _, width = chart.codes.shape
        middle_of_cell = offset.x - self.left - 1 + 0.5
        goal = chart.x_axis.value(middle_of_cell / width)
        if self.log_x:
            distances = np.abs(np.log(np.maximum(x, TINY)) - math.log(max(goal, TINY)))
        else:
            distances = np.abs(x - goal)
        nearest = float(x[distances.argmin()])
        if self.cross != nearest:
            self.cross = nearest
            self._changed()

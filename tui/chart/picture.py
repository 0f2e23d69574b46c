"""The chart's picture: lines over their axes, drawn row by row. It knows series, not sessions."""

import numpy as np
from rich.cells import cell_len

from wikitopics.tui.chart.plot import Drawing, Frame, Plot, Series, plot
from wikitopics.tui.chart.raster import runs, sample
from wikitopics.tui.inks import SERIES, Line, Lines, Part
from wikitopics.tui.words import folded, squeezed

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
        for row, cells in enumerate(self._cells(chart)):
            label = y_ticks.get(row, "")
            edge: Part = ("┤" if label else "│", "faint")
            if row in broken:
                edge = ("≈", "accent")
            lines.append([(label.rjust(self.left), "muted"), edge, *cells, *ends[row]])
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

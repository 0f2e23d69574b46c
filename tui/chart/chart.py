"""The chart as a widget: draws by line, moves a crosshair, zooms. Knows series, not sessions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip

from tui.chart.axes import Floats, plain
from tui.chart.plot import Frame, Plot, Series, plot
from tui.inks import SERIES, Drawn, Part
from tui.words import folded, squeezed

ZOOM = 0.6
SMALLEST_WINDOW = 1e-4
END_LABEL_MOST = 24
SHORTEST_NAME = 6
"""Cells of an end label that the name has, however long the value is: the value is never cut."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What the chart shows, handed over as a whole."""

    series: tuple[Series, ...] = ()
    marks: tuple[float, ...] = ()
    """Values of x with a faint vertical line (the trainer was started again there)."""
    x_name: str = "articles"
    label_x: Callable[[float], str] = plain
    label_y: Callable[[float], str] = plain
    value: Callable[[float], str] = plain
    """How a measured value is written in end labels and at the crosshair."""
    tell_x: Callable[[float], str] = plain
    """How x is written at the crosshair, e.g. "at 4,096 articles"."""
    inks: tuple[int, ...] = ()
    """For each series the number of its colour, so that a model keeps its colour when others hide."""
    whole_y: bool = False
    time_x: bool = False
    faded: bool = False
    """Grey: what is shown is not of now."""
    empty: tuple[str, ...] = ("nothing measured yet",)
    """Lines in the middle of the picture while there is nothing to draw."""

    @property
    def has_negative(self) -> bool:
        """Whether some value has no logarithm. (Zeros are gaps on a logarithmic axis.)"""
        return any(bool((s.y < 0).any()) for s in self.series)


class EndLabel(NamedTuple):
    """What stands at the right end of a line."""

    value: float
    text: str


class Chart(Drawn, can_focus=True):
    """Lines over a linear or logarithmic axis, with values at their ends."""

    class Pointed(Message):
        """The crosshair moved or went away; ``text`` tells the values there ("" for none)."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawing = Drawing()
        self.log_x = True
        self.log_y = False
        self.ascii_only = False
        self.window: tuple[float, float] | None = None
        self.cross: float | None = None
        self._held = False
        """The crosshair was set by a key or a click and stays when the mouse leaves."""
        self._strips: list[Strip] | None = None
        self._plot: Plot | None = None
        self._plotted: tuple[Drawing, Frame] | None = None
        self._left = 0
        self._measured: Floats | None = None
        self._labels: list[EndLabel] | None = None

    # Handing over ---------------------------------------------------------------------------

    def draw(self, drawing: Drawing) -> None:
        """Show this from now on."""
        if drawing.x_name != self.drawing.x_name:
            self.window, self.cross = None, None
        self.drawing = drawing
        self._measured = None
        self._changed()

    def _changed(self) -> None:
        self._strips = self._labels = None
        self.refresh()
        self.post_message(self.Pointed(self.pointed()))

    def notify_style_update(self) -> None:
        self._strips = None
        super().notify_style_update()

    def toggle_log_x(self) -> None:
        self.window = None
        self.log_x = not self.log_x
        self._changed()

    def toggle_log_y(self) -> None:
        self.log_y = not self.log_y
        self._changed()

    @property
    def logs_y(self) -> bool:
        """Whether y is logarithmic: asked for, and possible with these values."""
        return self.log_y and not self.drawing.has_negative

    def scales(self) -> str:
        """Which axes are logarithmic, e.g. " [log x log y]"."""
        logs = " ".join(name for name, on in (("log x", self.log_x), ("log y", self.logs_y)) if on)
        return f" [{logs}]" if logs else ""

    # Crosshair and zoom -------------------------------------------------------------------------

    def _all_x(self) -> Floats:
        """Every measured x, once; kept until other series are drawn."""
        if self._measured is None:
            known = [s.x[np.isfinite(s.y)] for s in self.drawing.series]
            same = len(known) > 1 and all(np.array_equal(known[0], other) for other in known[1:])
            self._measured = np.unique(np.concatenate(known[:1] if same else known)) if known else np.empty(0)
        return self._measured

    def step(self, columns: int) -> None:
        """Move the crosshair to the next measured point at least so many columns away."""
        x = self._all_x()
        chart = self._current_plot()
        if not x.size or chart is None:
            return
        width = chart.codes.shape[1]
        here = float(x[-1]) if self.cross is None else self.cross
        with np.errstate(divide="ignore", invalid="ignore"):
            position = chart.x_axis.position(x)
        inside = np.isfinite(position)
        x, position = x[inside], position[inside]
        if not x.size:
            return
        if self.cross is None and self.window is None:
            self.cross = here
        else:
            goal = float(chart.x_axis.position(np.array([here]))[0]) + columns / width
            index = (
                int(np.searchsorted(position, goal - 1e-9))
                if columns > 0
                else int(np.searchsorted(position, goal + 1e-9, side="right")) - 1
            )
            self.cross = float(x[min(max(index, 0), x.size - 1)])
        self._held = True
        self._follow()
        self._changed()

    def _follow(self) -> None:
        """Shift the window so that the crosshair stays in sight."""
        if self.window is None or self.cross is None:
            return
        own = float(np.log10(self.cross)) if self.log_x and self.cross > 0 else self.cross
        low, high = self.window
        if own < low:
            self.window = (own, own + high - low)
        elif own > high:
            self.window = (own - (high - low), own)

    def zoom(self, factor: float) -> None:
        """Show ``factor`` of the present range, around the crosshair or at the right end."""
        chart = self._current_plot()
        if chart is None or not self.drawing.series:
            return
        axis = chart.x_axis
        centre = 1.0 if self.cross is None else float(axis.position(np.array([self.cross]))[0])
        centre = min(max(centre, 0.0), 1.0)
        span = axis.high - axis.low
        low = axis.low + span * centre * (1 - factor)
        high = low + span * factor
        full = plot(self.drawing.series, replace(self._frame(), window=None), plain, plain).x_axis
        if high - low >= full.high - full.low:
            self.window = None
        elif high - low > SMALLEST_WINDOW * (full.high - full.low):
            shift = max(full.low - low, 0.0) - max(high - full.high, 0.0)
            self.window = (low + shift, high + shift)
        self._changed()

    def reset(self) -> None:
        """The whole range, no crosshair."""
        self.window, self.cross, self._held = None, None, False
        self._changed()

    def pointed(self) -> str:
        """The values at the crosshair, e.g. "at 4,096 articles: lda 1,402"."""
        if self.cross is None:
            return ""
        told = []
        for s in self.drawing.series:
            nearest = _nearest(s, self.cross)
            if nearest is None:
                continue
            value = self.drawing.value(float(s.y[nearest]))
            told.append(f"{s.name} {value}" if len(self.drawing.series) > 1 else value)
        return f"{self.drawing.tell_x(self.cross)}: {'  '.join(told)}" if told else ""

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
        self.zoom(ZOOM)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.zoom(1 / ZOOM)

    def _point_at(self, place: Offset | None) -> None:
        chart, x = self._current_plot(), self._all_x()
        if place is None or chart is None or not x.size:
            return
        width = chart.codes.shape[1]
        at = chart.x_axis.value((place.x - self._left - 1 + 0.5) / width)
        if self.log_x:
            nearest = int(np.abs(np.log(np.maximum(x, 1e-300)) - np.log(max(at, 1e-300))).argmin())
        else:
            nearest = int(np.abs(x - at).argmin())
        if self.cross != float(x[nearest]):
            self.cross = float(x[nearest])
            self._changed()

    # Drawing --------------------------------------------------------------------------------------

    def _end_labels(self) -> list[EndLabel]:
        if self._labels is None:
            self._labels = [self._end_label(s) for s in self.drawing.series]
        return self._labels

    def _end_label(self, series: Series) -> EndLabel:
        """Name, last value in sight and which way it went, e.g. "lda 1,187 ▼"."""
        known = series.y[: np.searchsorted(series.x, self._last_x(), side="right")][-64:]
        known = known[np.isfinite(known)]
        if not known.size:
            return EndLabel(float("nan"), squeezed(series.name, END_LABEL_MOST, ascii_only=self.ascii_only))
        told = " " + self.drawing.value(float(known[-1]))
        if known.size > 1 and known[-1] != known[-2]:
            up = bool(known[-1] > known[-2])
            told += (" ^" if up else " v") if self.ascii_only else (" ▲" if up else " ▼")
        room = max(END_LABEL_MOST - len(told), SHORTEST_NAME)
        return EndLabel(float(known[-1]), squeezed(series.name, room, ascii_only=self.ascii_only) + told)

    def _last_x(self) -> float:
        """The right end of what is in sight."""
        if self.window is None:
            return float("inf")
        high = self.window[1] + 1e-9 * (self.window[1] - self.window[0])
        return 10.0**high if self.log_x else high

    def _frame(self) -> Frame:
        right = max((cell_len(label.text) for label in self._end_labels()), default=0) + 1
        right = right if right < self.size.width // 2 else 0
        return Frame(
            width=max(self.size.width - self._left - 1 - right, 4),
            height=max(self.size.height - 2, 1),
            log_x=self.log_x,
            log_y=self.logs_y,
            window=self.window,
            ascii_only=self.ascii_only,
            whole_y=self.drawing.whole_y,
            time_x=self.drawing.time_x,
        )

    def _current_plot(self) -> Plot | None:
        if self.size.width < 8 or self.size.height < 3:
            return None
        if self._plot is None or self._plotted != (self.drawing, self._frame()):
            for _ in range(2):  # the labels' width is known only after the first drawing
                frame = self._frame()
                self._plot = plot(self.drawing.series, frame, self.drawing.label_x, self.drawing.label_y)
                left = max((len(text) for _, text in self._plot.y_ticks), default=0)
                if left == self._left:
                    break
                self._left = left
            self._plotted = (self.drawing, self._frame())
        return self._plot

    def render_line(self, y: int) -> Strip:
        if self._strips is None or len(self._strips) != self.size.height:
            self._strips = self._paint()
        return self._strips[y] if y < len(self._strips) else self.strip([], self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._strips = None

    def _paint(self) -> list[Strip]:
        size = self.size
        chart = self._current_plot()
        if chart is None or not self._all_x().size:
            return self._blank()
        height, width = chart.codes.shape
        ends = self._placed_ends(chart, height)
        y_ticks = dict(chart.y_ticks)
        marks = {chart.column(x) for x in self.drawing.marks}
        cross = chart.column(self.cross) if self.cross is not None else None
        tick, wall = ("+", "|") if self.ascii_only else ("┤", "│")
        lines = []
        for row in range(height):
            label = y_ticks.get(row, "")
            segments = list(
                self.strip(
                    [(label.rjust(self._left), "muted"), (tick if label else wall, "faint")],
                    self._left + 1,
                )
            )
            segments += self._cells(chart, row, marks, cross)
            if row in ends:
                text, ink = ends[row]
                segments.append(Segment(" " + text, self.pen(ink)))
            lines.append(Strip(segments).adjust_cell_length(size.width, self.pen()))
        return [*lines, *self._bottom(chart, width, size.width)][: size.height]

    def _blank(self) -> list[Strip]:
        width, height = self.size
        lines = [piece for line in self.drawing.empty for piece in folded(line, width) or [""]]
        told = dict(enumerate(lines, start=max((height - len(lines)) // 2, 0)))
        strips = []
        for y in range(height):
            text = told.get(y, "")
            strips.append(self.strip([(" " * ((width - cell_len(text)) // 2) + text, "muted")], width))
        return strips

    def _cells(self, chart: Plot, row: int, marks: set[int], cross: int | None) -> list[Segment]:
        base = self.pen()
        styles = [self.pen(self._ink(i)) for i in range(len(self.drawing.series))]
        faint, strong = self.pen("faint"), self.pen("accent")
        bar, broken = ("|", ":") if self.ascii_only else ("│", "┊")
        out: list[Segment] = []
        text, style = "", base
        for column, (code, owner) in enumerate(
            zip(chart.codes[row].tolist(), chart.owners[row].tolist(), strict=True)
        ):
            if code:
                char, mine = chr(code), styles[owner]
            elif column == cross:
                char, mine = bar, strong
            elif column in marks:
                char, mine = broken, faint
            else:
                char, mine = " ", style
            if mine is not style:
                if text:
                    out.append(Segment(text, style))
                text, style = "", mine
            text += char
        return [*out, Segment(text, style)]

    def _ink(self, index: int) -> str:
        if self.drawing.faded:
            return "faint"
        inks = self.drawing.inks
        return f"series{(inks[index] if index < len(inks) else index) % SERIES}"

    def _placed_ends(self, chart: Plot, height: int) -> dict[int, tuple[str, str]]:
        """Row -> (label, ink): each label where its line ends, moved apart where they collide."""
        labels = self._end_labels()
        if self.size.width - self._left - 1 - chart.codes.shape[1] <= 1:
            return {}
        # The higher value stands higher, also where rows are shared.
        ends = [(-labels[i].value, row, i) for i, row in enumerate(chart.ends) if row is not None]
        wanted = [(row, i) for _, row, i in sorted(ends)]
        placed: dict[int, tuple[str, str]] = {}
        for order, (row, i) in enumerate(wanted):
            lowest = max(placed, default=-1) + 1
            highest = height - (len(wanted) - order)
            placed[min(max(row, lowest), max(highest, lowest))] = (labels[i].text, self._ink(i))
        return placed

    def _bottom(self, chart: Plot, width: int, whole: int) -> list[Strip]:
        corner, line, tick = ("+", "-", "+") if self.ascii_only else ("└", "─", "┬")
        rule = [line] * width
        text = [" "] * (width + self._left + 1)
        for column, label in chart.x_ticks:
            rule[column] = tick
            start = min(max(self._left + 1 + column - len(label) // 2, 0), len(text) - len(label))
            text[start : start + len(label)] = label
        parts: list[Part] = [(" " * self._left + corner + "".join(rule), "faint")]
        labels = "".join(text).rstrip()
        name = f"  {self.drawing.x_name}"
        room = whole - len(labels)
        names: Sequence[Part] = [(name, "faint")] if room >= len(name) else []
        return [self.strip(parts, whole), self.strip([(labels, "muted"), *names], whole)]


def _nearest(series: Series, x: float) -> int | None:
    """Index of the measured point closest to ``x``; None where nothing is measured."""
    at = int(np.searchsorted(series.x, x))
    for reach in (2, 64, series.x.size):
        around = np.arange(max(at - reach, 0), min(at + reach, series.x.size))
        around = around[np.isfinite(series.y[around])]
        if around.size:
            return int(around[np.abs(series.x[around] - x).argmin()])
    return None

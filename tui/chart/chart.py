"""The chart widget: a picture with a movable crosshair and a zoom window."""

from dataclasses import replace
from typing import Literal

import numpy as np
from textual import events
from textual.geometry import Offset
from textual.message import Message

from wikitopics.tui.chart.picture import Picture
from wikitopics.tui.chart.plot import Drawing, Series, plot

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
        if drawing.x_name != self.drawing.x_name:
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
        """Which axes are logarithmic or cut, e.g. " [log x, y cut]"."""
        said = (("log x", self.log_x), ("log y", self.logs_y), ("cut", self.cut()))
        words = ", ".join(word for word, on in said if on)
        return f" [{words}]" if words else ""

    def cut(self) -> bool:
        """Whether the beginning of a line is cut off."""
        chart = self.current_plot()
        return chart is not None and bool(chart.cuts)

    def cut_off(self) -> str:
        """How to see what is out of sight: "Y: all, up to 5,012", or ""."""
        chart = self.current_plot()
        if chart is None or not chart.cuts:
            return ""
        above = chart.cuts[0].above
        reached = [cut.reach for cut in chart.cuts if cut.above == above]
        way, far = ("up", max(reached)) if above else ("down", min(reached))
        return f"Y: all, {way} to {self.drawing.value(far)}"

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
        """Shift the window to keep the crosshair in sight."""
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
        chart = self.current_plot()
        if chart is None or not self.drawing.series:
            return
        axis = chart.x_axis
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
        chart, x = self.current_plot(), self.drawing.all_x
        if place is None or chart is None or not x.size:
            return
        width = chart.codes.shape[1]
        at = chart.x_axis.value((place.x - self.left - 1 + 0.5) / width)
        if self.log_x:
            nearest = int(np.abs(np.log(np.maximum(x, 1e-300)) - np.log(max(at, 1e-300))).argmin())
        else:
            nearest = int(np.abs(x - at).argmin())
        if self.cross != float(x[nearest]):
            self.cross = float(x[nearest])
            self._changed()


def _nearest(series: Series, x: float) -> int | None:
    """Index of the measured point closest to ``x``; None if nothing is measured."""
    at = int(np.searchsorted(series.x, x))
    for reach in (2, 64, series.x.size):
        around = np.arange(max(at - reach, 0), min(at + reach, series.x.size))
        around = around[np.isfinite(series.y[around])]
        if around.size:
            return int(around[np.abs(series.x[around] - x).argmin()])
    return None

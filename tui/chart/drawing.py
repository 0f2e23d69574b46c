"""The contents of a chart, whatever it shows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wikitopics.tui.chart.axes import plain
from wikitopics.tui.chart.plot import Series


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """The contents of a chart, handed over as a whole."""

    series: tuple[Series, ...] = ()
    marks: tuple[float, ...] = ()
    """Values of x with a faint vertical line, where the trainer was started again."""
    turns: tuple[tuple[float, bool], ...] = ()
    """Values of x where something began (true) or ended, marked on the axis."""
    x_name: str = "articles"
    label_x: Callable[[float], str] = plain
    label_y: Callable[[float], str] = plain
    value: Callable[[float], str] = plain
    """Formats a measured value for end labels and the crosshair."""
    tell_x: Callable[[float], str] = plain
    """Formats x for the crosshair, e.g. "at 4,096 articles"."""
    inks: tuple[int, ...] = ()
    """The number of each series' colour, so that a model keeps its colour when others are hidden."""
    whole_y: bool = False
    time_x: bool = False
    faded: bool = False
    """Whether the drawing is grey, because it does not show the present."""
    empty: tuple[str, ...] = ("nothing measured yet",)
    """Lines shown in the middle while there is nothing to draw."""

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(bool(np.isfinite(s.y).any()) for s in self.series)

    @property
    def has_negative(self) -> bool:
        """Whether a value has no logarithm. (Zeros are gaps on a logarithmic axis.)"""
        return any(bool((s.y < 0).any()) for s in self.series)

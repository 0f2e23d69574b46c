"""What a chart shows, whatever it is of."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tui.chart.axes import plain
from tui.chart.plot import Series


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What the chart shows, handed over as a whole."""

    series: tuple[Series, ...] = ()
    marks: tuple[float, ...] = ()
    """Values of x with a faint vertical line (the trainer was started again there)."""
    turns: tuple[tuple[float, bool], ...] = ()
    """Values of x at which something began (true) or ended: signs on the axis."""
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
    def nothing(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(bool(np.isfinite(s.y).any()) for s in self.series)

    @property
    def has_negative(self) -> bool:
        """Whether some value has no logarithm. (Zeros are gaps on a logarithmic axis.)"""
        return any(bool((s.y < 0).any()) for s in self.series)

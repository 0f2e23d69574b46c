"""What all pictures on matplotlib's axes have in common: their ink and ground, their room, foreign
text, and names that do not overlap.

It needs the extra `report`.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from numpy.typing import NDArray
from rich.cells import cell_len

from wikitopics.session.analysis.report.fonts import AS_IT_IS, lettered, told
from wikitopics.session.analysis.report.letters import BOLDER, breadth, cut

LONGEST = 30
"""The most letters of a name beside a picture."""
SMALL = 9.0
"""The height of small letters, in points."""
LINE = 1.45
"""The height of a line, in heights of its letters."""
MUTED = 0.65
"""The opacity of what matters less."""


def new_axes(width: float, height: float) -> Axes:
    """The axes of a new figure, which a notebook shows; in inches."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()


def ink(axes: Axes) -> Any:
    return axes.xaxis.label.get_color()


def paper_of(axes: Axes) -> NDArray[np.float64]:
    """The red, green and blue of the ground."""
    for patch in (axes.patch, axes.figure.patch):
        colour = np.array(to_rgba(patch.get_facecolor()))
        if colour[3] > 0.5 and patch.get_visible():
            return colour[:3]
    ink_is_dark = luminance(to_rgb(ink(axes))) < 0.5
    return np.ones(3) if ink_is_dark else np.zeros(3)


def luminance(colour: Sequence[float] | NDArray[np.float64]) -> float:
    return float(np.dot((0.299, 0.587, 0.114), colour))


def room_of(axes: Axes) -> tuple[float, float]:
    """The width and height of the axes in points, once the figure is laid out."""
    axes.figure.canvas.figure.draw_without_rendering()
    box = axes.get_window_extent()
    points = 72 / axes.figure.dpi
    return box.width * points, box.height * points


def leave_note(axes: Axes) -> None:
    """Leave only the axes' label."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)


def leave_grid(axes: Axes) -> None:
    """Leave lines only where they help to read a value."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(visible=True, axis="y", linewidth=0.6, alpha=0.3)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)


def note(axes: Axes, *parts: str) -> None:
    """Say this below the picture, in lines that are at most as wide."""
    width, _ = room_of(axes)
    text = "; ".join(filter(None, parts))
    lines = textwrap.wrap(text, max(int(width / SMALL / 0.55), 20))
    axes.set_xlabel("\n".join(lines), loc="left", fontsize=SMALL, alpha=MUTED)


def largest_of(shown: int, number: int, what: str) -> str:
    return f"the {shown} largest of {number:,} {what}" if shown < number else ""


def write(axes: Axes, x: float, y: float, text: str, room: float | None = None, **how: Any) -> None:
    """Write foreign text, cut to so many points."""
    written = lettered(told(text, 200))
    whole = written.pop("text")
    drawn = axes.text(x, y, whole, **{"color": ink(axes), **how, **written})
    letter = float(drawn.get_fontsize())
    # This is the most that it may take: mostly, that is enough to know.
    if room is None or breadth(whole) * BOLDER * letter <= room:
        return
    points = 72 / axes.figure.dpi
    most = cell_len(whole)
    while most > 1 and drawn.get_window_extent().width * points > room:
        most -= 1
        drawn.set_text(cut(whole, most))


def name_ticks(axis: Any, places: Sequence[float], names: Sequence[str]) -> None:
    """Label the places of an axis with foreign text."""
    written = [lettered(name) for name in names]
    axis.set_ticks(places, [one["text"] for one in written])
    for tick, one in zip(axis.get_major_ticks(), written, strict=False):
        for label in (tick.label1, tick.label2):
            label.set(**AS_IT_IS, fontfamily=one["fontfamily"])


def percent(share: float) -> str:
    if share < 0.0005:
        return "0"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


@dataclass(frozen=True, slots=True)
class End:
    """The last point of a line."""

    name: str
    x: float
    y: float
    colour: str
    dashes: str = "solid"


def label_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Name lines at their ends, to the right of the axes. No name covers another."""
    from scipy.optimize import isotonic_regression

    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # they stay as they are
    _, height = room_of(axes)
    least = SMALL * 1.25 / height
    upwards = sorted(ends, key=lambda end: end.y)
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = to_axes.transform([(end.x, end.y) for end in upwards])[:, 1]
    steps = least * np.arange(len(ends))
    # The nearest places that are at least a line apart.
    places = isotonic_regression(wanted - steps).x + steps
    for end, place in zip(upwards, places.tolist(), strict=True):
        written = lettered(told(end.name, LONGEST))
        axes.annotate(
            written.pop("text"),
            (end.x, end.y),
            (1.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            color=ink(axes),
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "linestyle": end.dashes,
                "linewidth": 1,
                "relpos": (0, 0.5),
                "shrinkA": 2,
                "shrinkB": 0,
            },
            **written,
        )

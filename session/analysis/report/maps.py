"""The report's map of one model: each topic is a circle with its name, on the land of its area.

The map is laid out in pixels, on a grid of small cells, so that no name or circle covers another.
"""

import math
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.cartography import arranged, filled, lands, nearest_to_all, pushed

if TYPE_CHECKING:
    from wikitopics.session.analysis.report.contents import ReportModel

CELL = 4
"""The width and height of a cell of the grid, in pixels."""
SMOOTH = 2.5
"""The standard deviation, in cells, of the filter that smooths borders."""
BEND = 4
"""One in this many points of an outline is kept."""
SHORTEST = 24
"""Outlines with fewer points are not drawn, so that there are no tiny lakes; around a topic, one
has more."""
LETTERS = 9.5, 15.0
"""The smallest and the largest height of letters; the largest topic has the largest letters."""
BOLD, BOLDER = 13.0, 1.13
"""The height from which letters are bold, and how much wider that makes them."""
LINE = 1.15
"""The height of a line, in heights of its letters."""
LINES, LONGEST = 3, 20
"""The most lines of a name, and the most letters of a line."""
WORD = 17
"""Words of up to this many letters, including a comma after the word, are never broken."""

_WIDE, _THIN = frozenset("mwMW@%…—"), frozenset("fijlrtI .,:;'’!|()[]·-")


@dataclass(frozen=True, slots=True)
class Format:
    """The size of a drawing."""

    width: int
    upright: bool
    """Whether the direction in which places are farthest apart, the first one, goes down."""
    circle: float
    """The radius of the circle of a topic with the mean share, if there are at most 100 topics."""
    largest: float
    """The largest radius."""
    filled: float
    """The part of the sheet that circles and names cover, which determines the height."""
    reach: int
    """How far land reaches beyond circles and names."""
    edge: int
    """The width of the empty edge, which leaves room for coasts."""


WIDE = Format(1360, False, 27, 74, 0.36, 20, 28)
NARROW = Format(388, True, 18, 48, 0.45, 10, 12)
FLATTEST = 0.4
"""The smallest ratio of a drawing's height to its width."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A topic's circle with its name on it, or the name of an area, which has no circle."""

    area: int
    lines: Sequence[str]
    letter: float
    """The height of its letters."""
    radius: float
    """0 for an area."""
    place: tuple[float, float]
    """Its wanted place, from 0 to 1 along the longer and the shorter side of the map."""

    @property
    def bold(self) -> bool:
        return self.letter >= BOLD or not self.radius

    @property
    def first(self) -> float:
        """How far below the middle the baseline of its first line is."""
        return (0.36 - (len(self.lines) - 1) * LINE / 2) * self.letter

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the box around its circle and name."""
        width = max(map(breadth, self.lines)) * self.letter * (BOLDER if self.bold else 1)
        return max(width, 2 * self.radius), max(
            len(self.lines) * LINE * self.letter, 2 * self.radius
        )

    @property
    def cells(self) -> tuple[int, int]:
        """The rows and columns of the grid that its box takes, with some room around it."""
        width, height = self.size
        return math.ceil(height / CELL) + 1, math.ceil(width / CELL) + 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is on a map."""

    width: int
    height: int
    marks: Sequence[Mark]
    """The marks of the model's topics, in the order of the topics, then those of its areas."""
    centres: Sequence[tuple[float, float]]
    """The middle of each mark's box, from the top left."""
    land: NDArray[np.int64]
    """The area that each cell belongs to, -1 for none."""


def layout(model: "ReportModel", form: Format) -> Layout:
    """The map of a model's topics; there must be at least one."""
    marks = list(_marks(model, form))
    # Names of areas come first, so that they are in the middle of their topics; then the largest
    # topics.
    order = sorted(range(len(marks)), key=lambda i: (marks[i].radius > 0, -marks[i].radius))
    boxes = [marks[i].cells for i in order]
    edge = form.edge // CELL
    columns = form.width // CELL - 2 * edge
    covered = sum(height * width for height, width in boxes) / columns
    rows = math.ceil(max(covered / form.filled, columns * FLATTEST))
    while True:
        wanted = np.array([marks[i].place for i in order])[:, :: 1 if form.upright else -1] * (
            rows,
            columns,
        )
        centred = pushed(wanted, boxes, (rows, columns))
        corners = [
            corner for corner in arranged(centred, boxes, (rows, columns)) if corner is not None
        ]
        if len(corners) == len(boxes):
            break
        rows = math.ceil(1.1 * rows)
    corners = [(top + edge, left + edge) for top, left in corners]
    shape = rows + 2 * edge, columns + 2 * edge
    centres = {
        i: ((left + width / 2) * CELL, (top + height / 2) * CELL)
        for i, (top, left), (height, width) in zip(order, corners, boxes, strict=True)
    }
    land = lands(corners, boxes, [marks[i].area for i in order], shape, form.reach / CELL)
    return Layout(
        shape[1] * CELL,
        shape[0] * CELL,
        marks,
        [centres[i] for i in range(len(marks))],
        land,
    )


def _marks(model: "ReportModel", form: Format) -> Iterable[Mark]:
    shares = np.maximum([topic.row.share for topic in model.topics], 1e-9)
    usual = form.circle * min(
        1.0, (100 / len(shares)) ** 0.3
    )  # with more topics there is less room for each
    radii = np.minimum(usual * np.sqrt(shares / shares.mean()), form.largest)
    small, large = LETTERS
    letters = (
        small + (large - small) * (radii - radii.min()) / max(float(np.ptp(radii)), 1e-9)
    ).round(1)
    places = filled(np.array([topic.place for topic in model.topics]))
    where = {topic.row.topic: place for topic, place in zip(model.topics, places, strict=True)}
    for topic, radius, letter in zip(model.topics, radii.tolist(), letters.tolist(), strict=True):
        x, y = where[topic.row.topic].tolist()
        yield Mark(topic.area, wrapped(topic.row.name, letter, 2 * radius), letter, radius, (x, y))
    if len(model.groups) > 1:
        for area, topics in model.groups:
            letter = round(
                small + 1.5 + (large - small - 1.5) * min(1.0, (area.share / 0.12) ** 0.5), 1
            )
            x, y = nearest_to_all(np.array([where[topic.row.topic] for topic in topics])).tolist()
            name = f"{area.name.upper()} {area.share:.0%}"
            yield Mark(area.number, wrapped(name, letter), letter, 0.0, (x, y))


def breadth(text: str) -> float:
    """The most width that the text takes in the usual sans-serif fonts, in heights of its
    letters."""
    return sum(map(_breadth, text))


def _breadth(letter: str) -> float:
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.02
    if letter in _THIN:
        return 0.42
    return 0.78 if letter.isupper() else 0.65


def wrapped(name: str, letter: float, across: float = 0.0) -> list[str]:
    """A name in up to three lines, broken so that it and a circle ``across`` wide take little room.
    A name that is too long is cut."""
    longest = max(map(len, name.split()), default=1)
    ways = [
        [line.rstrip(",") for line in textwrap.wrap(name, most, max_lines=LINES, placeholder="…")]
        for most in range(min(longest, WORD), LONGEST + 1)
    ]

    def room(lines: list[str]) -> tuple[bool, float]:
        width, height = max(map(breadth, lines)) * letter, len(lines) * LINE * letter
        return lines[-1].endswith("…"), (max(width, across) + CELL) * (max(height, across) + CELL)

    return min((lines for lines in ways if lines), key=room, default=["…"])


def coasts(land: NDArray[np.int64], areas: Sequence[int]) -> Iterable[tuple[int, str]]:
    """The smooth outlines of each area's land, as an SVG path in pixels."""
    from contourpy import contour_generator
    from scipy.ndimage import gaussian_filter

    sea = math.ceil(3 * SMOOTH)  # around the sheet, so that every outline is closed
    for area in areas:
        own = gaussian_filter(np.pad(land == area, sea).astype(np.float64), SMOOTH)
        lines: Any = contour_generator(z=own, name="mpl2014").lines(0.5)[0]
        places = ((line[:-1] - sea + 0.5) * CELL for line in lines if len(line) >= SHORTEST)
        yield area, "".join(map(_curve, places))


def _curve(points: NDArray[np.float64]) -> str:
    """A closed curve through the middles of the sides of a polygon, whose corners are some of the
    points."""
    corners = points[::BEND].round().astype(int)
    middles = (corners + np.roll(corners, -1, axis=0)) // 2
    path = "M{} {}".format(*middles[-1])
    for before, corner, after in zip(np.roll(middles, 1, axis=0), corners, middles, strict=True):
        path += "q{} {} {} {}".format(*(corner - before), *(after - before))
    return path.replace(" -", "-") + "z"

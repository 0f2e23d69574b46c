"""The report's map of one model: each topic is a circle with its name, on the land of its area.

The map is laid out in pixels, on a grid of small cells, so that no name or circle covers another.
"""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.cartography import arranged, lands, name_places, pushed
from wikitopics.session.analysis.report.letters import BOLDER, breadth

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
SMALLEST = 9.5
"""The smallest height of letters."""
LARGEST = 15.0
"""The largest height of letters, which the largest topic has."""
BOLD = 13.0
"""The height from which letters are bold."""
LINE = 1.15
"""The height of a line, in heights of its letters."""
LINES = 3
"""The most lines of a name."""
LONGEST = 20
"""The most letters of a line."""
WORD = 17
"""Words of up to this many letters, including a comma after the word, are never broken."""


@dataclass(frozen=True, slots=True)
class Format:
    """The size of a drawing."""

    width: int
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


WIDE = Format(
    width=1360,
    circle=27,
    largest=74,
    filled=0.36,
    reach=20,
    edge=28,
)
NARROW = Format(
    width=388,
    circle=18,
    largest=48,
    filled=0.45,
    reach=10,
    edge=12,
)
GRID = 100
"""The rows and columns of the grid on which islands are found."""
REACH = 0.08
"""How far land reaches there beyond topics, as a part of the map."""
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
    """Its wanted place, from 0 to 1: x to the right, y upwards."""

    @property
    def bold(self) -> bool:
        """Whether its letters are bold, as those of areas always are."""
        return self.letter >= BOLD or not self.radius

    @property
    def first(self) -> float:
        """How far below the middle the baseline of its first line is."""
        lines_above = (len(self.lines) - 1) * LINE / 2
        return (0.36 - lines_above) * self.letter

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the box around its circle and name."""
        width = max(map(breadth, self.lines)) * self.letter
        if self.bold:
            width *= BOLDER
        height = len(self.lines) * LINE * self.letter
        diameter = 2 * self.radius
        return max(width, diameter), max(height, diameter)

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
    in_order = [marks[i] for i in order]
    boxes = [mark.cells for mark in in_order]
    edge = form.edge // CELL
    columns = form.width // CELL - 2 * edge
    covered = sum(height * width for height, width in boxes) / columns
    rows = math.ceil(max(covered / form.filled, columns * FLATTEST))
    x, y = np.array([mark.place for mark in in_order]).T
    places = np.stack([1 - y, x], axis=1)
    while True:
        centred = pushed(places * (rows, columns), boxes, (rows, columns))
        arrangement = arranged(centred, boxes, (rows, columns))
        corners = [
            (corner[0] + edge, corner[1] + edge) for corner in arrangement if corner is not None
        ]
        if len(corners) == len(boxes):
            break
        rows = math.ceil(1.1 * rows)
    all_rows = rows + 2 * edge
    all_columns = columns + 2 * edge
    centres = {}
    for i, (top, left), (height, width) in zip(order, corners, boxes, strict=True):
        centres[i] = ((left + width / 2) * CELL, (top + height / 2) * CELL)
    areas = [mark.area for mark in in_order]
    return Layout(
        width=all_columns * CELL,
        height=all_rows * CELL,
        marks=marks,
        centres=[centres[i] for i in range(len(marks))],
        land=lands(corners, boxes, areas, (all_rows, all_columns), form.reach / CELL),
    )


def _marks(model: "ReportModel", form: Format) -> Iterator[Mark]:
    """The circles of the topics with their names; then, if there are several groups, the names of
    areas."""
    shares = np.maximum([topic.row.share for topic in model.topics], 1e-9)
    crowding = min(1.0, (100 / len(shares)) ** 0.3)  # with more topics, each has less room
    radii = np.minimum(form.circle * crowding * np.sqrt(shares / shares.mean()), form.largest)
    spread = max(float(np.ptp(radii)), 1e-9)
    letters = SMALLEST + (LARGEST - SMALLEST) * (radii - radii.min()) / spread
    letters = letters.round(1)
    for topic, radius, letter in zip(model.topics, radii.tolist(), letters.tolist(), strict=True):
        lines = wrapped(topic.row.name, letter, 2 * radius)
        yield Mark(topic.area, lines, letter, radius, topic.place)
    if len(model.groups) > 1:
        smallest = SMALLEST + 1.5  # of the names of areas
        named = {area.number: area for area, _ in model.groups if not area.is_other}
        places = np.array([topic.place for topic in model.topics])
        cells = np.minimum((places * GRID).astype(np.int64), GRID - 1)
        areas = np.array([topic.area for topic in model.topics])
        for number, across, up in name_places(cells, areas, (GRID, GRID), REACH * GRID):
            if number not in named:
                continue
            area = named[number]
            relative_size = min(1.0, (area.share / 0.12) ** 0.5)
            letter = round(smallest + (LARGEST - smallest) * relative_size, 1)
            lines = wrapped(f"{area.name.upper()} {area.share:.0%}", letter)
            yield Mark(number, lines, letter, 0.0, (across / GRID, up / GRID))


def wrapped(name: str, letter: float, across: float = 0.0) -> list[str]:
    """A name in up to three lines, broken so that it and a circle ``across`` wide take little room.
    A name that is too long is cut."""
    longest_word = max(map(len, name.split()), default=1)
    ways = []
    for most in range(min(longest_word, WORD), LONGEST + 1):
        lines = textwrap.wrap(name, most, max_lines=LINES, placeholder="…")
        if lines:
            ways.append([line.rstrip(",") for line in lines])

    def cost(lines: list[str]) -> tuple[bool, float]:
        """(whether the name is cut, the room that it takes)"""
        is_cut = lines[-1].endswith("…")
        width = max(max(map(breadth, lines)) * letter, across)
        height = max(len(lines) * LINE * letter, across)
        return is_cut, (width + CELL) * (height + CELL)

    return min(ways, key=cost, default=["…"])


def coasts(land: NDArray[np.int64], areas: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The smooth outlines of each area's land, as an SVG path in pixels."""
    from contourpy import contour_generator
    from scipy.ndimage import gaussian_filter

    sea = math.ceil(3 * SMOOTH)  # around the sheet, so that every outline is closed
    for area in areas:
        height = gaussian_filter(np.pad(land == area, sea).astype(np.float64), SMOOTH)
        contours: Any = contour_generator(z=height, name="mpl2014").lines(0.5)
        outlines, _ = contours
        path = ""
        for outline in outlines:
            if len(outline) >= SHORTEST:
                points = outline[:-1]  # the last one is the first one again
                path += _curve((points - sea + 0.5) * CELL)
        yield area, path


def _curve(points: NDArray[np.float64]) -> str:
    """A closed curve through the middles of the sides of a polygon, whose corners are some of the
    points: a quadratic curve around each corner, as a path of SVG."""
    corners = points[::BEND].round().astype(int)
    middles = (corners + np.roll(corners, -1, axis=0)) // 2  # each between a corner and the next
    x, y = middles[-1]
    path = f"M{x} {y}"
    for before, corner, after in zip(np.roll(middles, 1, axis=0), corners, middles, strict=True):
        control_x, control_y = corner - before
        end_x, end_y = after - before
        path += f"q{control_x} {control_y} {end_x} {end_y}"
    return path.replace(" -", "-") + "z"

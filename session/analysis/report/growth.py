"""The growth of the map of articles as an animated SVG, for an `<img>` of any page.

A pure function of arrays, without randomness: the same map gives the same picture. It is animated
by CSS alone, and without that, or for those who prefer less motion, it shows the finished map.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.cartography import OTHER_COLOUR, arranged
from wikitopics.session.analysis.report.letters import BOLDER, breadth
from wikitopics.session.analysis.report.map_page import Area, one_line
from wikitopics.session.storage.places import WHOLE

MOST_DOTS = 60_000
"""The most articles drawn, evenly chosen in the order of reading: more could not be told apart. A
dot takes 6 to 14 bytes, so that the picture has less than 1 MB."""
STEPS = 60
"""The number of steps in which the map grows."""
GROWS_SECONDS = 12
HOLDS_SECONDS = 6
"""How long the finished map is shown, before it grows again."""
ARRIVES = 2.5
"""How much larger a dot is when it appears."""
SETTLES = 4
"""The number of steps in which it shrinks."""
QUICKENING = 1.6
"""The exponent by which articles come ever faster, as the first ones are worth watching."""
WIDTH = 1200
HEIGHT = 900
SIDE = 24
TOP = 84
BOTTOM = 44
"""The edges around the map, with its heading and its last line."""
LINE = 30
"""The height of the line that counts articles."""
FINER = 4
"""Places are told in this part of a unit."""
COVERED = 0.5
"""The part of the map that dots would cover if none covered another."""
SMALLEST_DOT = 0.9
LARGEST_DOT = 3.0
"""Radii."""
NAMED = 0.03
"""The part of all articles after which an area's name appears; for a smaller area two thirds of its
own are enough."""
SMALLEST_NAME = 15.0
LARGEST_NAME = 30.0
"""Heights of the letters of names."""
CELL = 5
"""The width and height of the cells in which names are kept apart."""
LONGEST_NAME = 60
LONGEST_HEADING = 80
MOST_NAMES = 30
"""The areas with the most articles have names."""

_INVALID = dict.fromkeys((0xFFFE, 0xFFFF))
"""Characters that no XML may contain, beside those that `one_line` replaces."""

_STYLE = """\
svg{background:#fff;font-family:system-ui,sans-serif;fill:#333}
.back{fill:#fff}
.map{fill:none;stroke-linecap:round;stroke-opacity:.85;stroke-width:%(width)s}
.name{font-weight:700;text-anchor:middle;fill:#111;paint-order:stroke;stroke:#fff;\
stroke-width:4px;stroke-linejoin:round}
.small{font-size:15px;fill:#666}
@media (prefers-color-scheme:dark){svg{background:#14171c;fill:#ccc}.back{fill:#14171c}\
.name{fill:#f4f4f4;stroke:#14171c}.small{fill:#999}}
@media (prefers-reduced-motion:no-preference){
.step{animation:%(period)ss infinite both}
.count{animation:count %(period)ss steps(%(steps)d) infinite}
@keyframes count{0%%{transform:translateY(0)}%(grown)s%%,to{transform:translateY(-%(last)dpx)}}
%(frames)s}
"""


def growth_svg(
    heading: str,
    places: NDArray[np.uint16],
    owners: NDArray[np.integer],
    areas: Sequence[Area],
    *,
    noun: str = "articles",
    credit: str = "",
) -> str:
    """The picture.

    ``places``: (n, 2) in the order of reading, x to the right and y upwards. ``owners``: (n,) the
    index of each article's area; -1 for none. ``noun``: what the articles are called. ``credit``: a
    line about the source and its licence. Raises ValueError if shapes or numbers do not fit
    together.
    """
    n = len(places)
    if places.shape != (n, 2) or places.dtype != np.uint16:
        raise ValueError("places must be uint16 of shape (n, 2)")
    if owners.shape != (n,):
        raise ValueError(f"owners must have one entry for each of the {n} places")
    if n and not (owners.min() >= -1 and owners.max() < len(areas)):
        raise ValueError(f"owners must be indices of the {len(areas)} areas, or -1")
    counts = _counts(n)
    n_dots = min(n, MOST_DOTS)
    chosen = np.arange(n_dots) * n // max(n_dots, 1)
    steps_of_dots = np.searchsorted(counts, chosen, side="right")
    names = _named(owners, areas, counts)
    told = _line(noun, LONGEST_NAME)
    described = f"{n:,} {told}, each near those that are about the same, in the order of reading"
    if n_dots < n:
        described += f"; {n_dots:,} of them, evenly chosen, are drawn"
    small = [f"{n_dots:,} of {n:,} {told} are drawn"] if n_dots < n else []
    if credit:
        small.append(_line(credit, 160))
    period = GROWS_SECONDS + HOLDS_SECONDS
    grown = 100 * GROWS_SECONDS / period
    width = 2 * FINER * _radius(n_dots)
    style = _STYLE % {
        "width": f"{width:.1f}",
        "period": period,
        "steps": STEPS,
        "grown": f"{grown:.2f}",
        "last": STEPS * LINE,
        "frames": "\n".join(_keyframes(grown, width)),
    }
    title = escape(_line(heading, LONGEST_HEADING)) or "Map"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>{title}</title>",
        f"<desc>{escape(described)}</desc>",
        f"<style>\n{style}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{SIDE}" y="44" font-size="28" font-weight="700">{title}</text>',
        *_counter(counts, told),
        f'<g class="map" transform="scale({1 / FINER})">',
        *_dots(places[chosen], owners[chosen], steps_of_dots, areas),
        "</g>",
        *_names(names),
        f'<text class="small" x="{SIDE}" y="{HEIGHT - 16}">{escape(" · ".join(small))}</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _counts(n: int) -> NDArray[np.int64]:
    """(STEPS + 1,) how many articles are on the map after each step, 0 to n."""
    parts = np.linspace(0, 1, STEPS + 1) ** QUICKENING
    return np.rint(parts * n).astype(np.int64)


def _radius(n_dots: int) -> float:
    room = (WIDTH - 2 * SIDE) * (HEIGHT - TOP - BOTTOM)
    radius = float(np.sqrt(COVERED * room / (np.pi * max(n_dots, 1))))
    return min(max(radius, SMALLEST_DOT), LARGEST_DOT)


def _keyframes(grown: float, width: float) -> Iterator[str]:
    """How what comes with each step appears, in percents of the period: its dots are large at
    first, and settle."""
    for step in range(1, STEPS + 1):
        begin = grown * (step - 1) / STEPS
        seen = begin + grown / STEPS
        settled = begin + SETTLES * grown / STEPS
        yield (
            f"@keyframes s{step}{{0%,{begin:.2f}%{{opacity:0;stroke-width:{ARRIVES * width:.1f}}}"
            f"{seen:.2f}%{{opacity:1}}{settled:.2f}%,to{{opacity:1;stroke-width:{width:.1f}}}}}"
        )
        yield f".s{step}{{animation-name:s{step}}}"


def _counter(counts: NDArray[np.int64], noun: str) -> Iterator[str]:
    """The number of articles, one under the other, moved up by a line at each step; if nothing
    moves, the last one is seen."""
    yield f'<svg y="{TOP - LINE}" width="{WIDTH}" height="{LINE}" font-size="20">'
    yield f'<g class="count" transform="translate(0 {-STEPS * LINE})">'
    for step, count in enumerate(counts.tolist()):
        y = step * LINE + 20
        yield f'<text x="{SIDE}" y="{y}">{count:,} {escape(noun)}</text>'
    yield "</g></svg>"


def _dots(
    places: NDArray[np.uint16],
    owners: NDArray[np.integer],
    steps: NDArray[np.int64],
    areas: Sequence[Area],
) -> Iterator[str]:
    """The dots of each step as a group, with a path for each colour: far fewer elements than
    dots."""
    points = np.rint(_on_sheet(places / WHOLE) * FINER).astype(np.int64)
    # Along rows of a few units, so that the way from one dot to the next is short.
    rows = points[:, 1] // (FINER * 8)
    along = np.where(rows % 2 == 0, points[:, 0], -points[:, 0])
    order = np.lexsort((along, rows, owners, steps))
    points = points[order]
    steps = steps[order]
    owners = owners[order]
    for step in range(1, STEPS + 1):
        first, last = np.searchsorted(steps, [step, step + 1])
        if first == last:
            continue
        yield f'<g class="step s{step}">'
        starts = first + np.flatnonzero(np.diff(owners[first:last], prepend=-2))
        for start, stop in zip(starts, [*starts[1:], last], strict=True):
            owner = int(owners[start])
            colour = areas[owner].colour if owner >= 0 else OTHER_COLOUR
            yield f'<path stroke="{escape(colour)}" d="{_path(points[start:stop])}"/>'
        yield "</g>"


def _path(points: NDArray[np.int64]) -> str:
    """A line of no length for each point, which round ends make a dot."""
    x, y = points[0].tolist()
    parts = [f"M{x} {y}h0"]
    for across, down in np.diff(points, axis=0).tolist():
        separator = "" if down < 0 else " "
        parts.append(f"m{across}{separator}{down}h0")
    return "".join(parts)


def _on_sheet(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) x to the right and y downwards, in units of the picture."""
    x = SIDE + (WIDTH - 2 * SIDE) * places[:, 0]
    y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - places[:, 1])
    return np.stack([x, y], axis=1)


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of an area."""

    text: str
    place: tuple[float, float]
    step: int
    """The step with which it appears."""
    letter: float
    """The height of its letters."""

    @property
    def cells(self) -> tuple[int, int]:
        """The rows and columns that it takes."""
        width = breadth(self.text) * BOLDER * self.letter
        return int(1.3 * self.letter / CELL) + 1, int(width / CELL) + 2


def _named(
    owners: NDArray[np.integer], areas: Sequence[Area], counts: NDArray[np.int64]
) -> list[_Name]:
    """The names of the areas, those of most articles first."""
    n = len(owners)
    sizes = np.bincount(owners[owners >= 0], minlength=len(areas))
    largest = max(int(sizes.max(initial=0)), 1)
    found = []
    for number in np.argsort(-sizes, kind="stable")[:MOST_NAMES].tolist():
        size = int(sizes[number])
        if not size:
            continue
        enough = max(min(round(NAMED * n), 2 * size // 3), 1)
        read = int(np.flatnonzero(owners == number)[enough - 1])
        step = int(np.searchsorted(counts, read, side="right"))
        relative_size = (size / largest) ** 0.5
        letter = SMALLEST_NAME + (LARGEST_NAME - SMALLEST_NAME) * relative_size
        area = areas[number]
        for place in (area.place, *area.others):
            found.append(_Name(_line(area.name, LONGEST_NAME), place, step, letter))
    return found


def _names(names: Sequence[_Name]) -> Iterator[str]:
    """The names on their lands; none overlaps another, and one without room is left out."""
    shape = (HEIGHT - TOP - BOTTOM) // CELL, (WIDTH - 2 * SIDE) // CELL
    boxes = [name.cells for name in names]
    centres = []
    for name in names:
        x, y = name.place
        centres.append((1 - y, x))
    centres_of_boxes = np.array(centres).reshape(-1, 2) * shape
    corners = arranged(centres_of_boxes, boxes, shape)
    for name, corner, (rows, columns) in zip(names, corners, boxes, strict=True):
        if corner is not None:
            row, column = corner
            x = SIDE + (column + columns / 2) * CELL
            y = TOP + (row + rows / 2) * CELL + 0.36 * name.letter
            yield (
                f'<g class="step s{name.step}"><text class="name" x="{x:.0f}" y="{y:.0f}" '
                f'font-size="{name.letter:.1f}">{escape(name.text)}</text></g>'
            )


def _line(text: str, most: int) -> str:
    """One line of at most so many characters, which cannot break the picture."""
    return one_line(text.translate(_INVALID), most)

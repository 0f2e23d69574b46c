"""Articles by their places on the map: those in a window, and the next one in a direction. Pure.

Places are (n, 2) uint16 as a session stores them, in 65,535ths of the map, y upwards. The map is
divided into a grid of squares, so that a window or a step looks only at the articles around it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.storage.places import Places
from wikitopics.tui.atlas import ASPECT, Direction

LargestTopics = NDArray[np.int16]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]

UNITS = 65_536
"""The number of places in each direction, from 0 to 65,535; so wide a window is."""
SQUARES = 256
"""The number of squares of the grid in each direction."""
SIDE = UNITS // SQUARES
"""Of a square, in units of places."""
INSIDE = 0.15
"""How far inside a window, as a part of it, a place is once the window has moved to show it."""
MOST_ZOOM = 256.0
"""Dots are then about as far apart as places can be."""
UNSORTED = 1 / 16
"""The part of the articles that may be unsorted before all are sorted again."""
FEW = 2_048
"""So many may always be."""
FIRST_REACH = 4.0
"""How far the search for the next article begins to reach, in cell widths."""
BOTH_SIDES = (-1.0, 1.0)
"""As far to one side as to the other, in parts of this reach."""

NOWHERE = np.empty((0, 2), np.uint16)
"""No places."""


class Window(NamedTuple):
    """The part of the map in sight: its middle, from 0 to 1, and how many times it is enlarged."""

    x: float = 0.5
    y: float = 0.5
    zoom: float = 1.0

    @classmethod
    def around(cls, x: float, y: float, zoom: float) -> Self:
        """A window as near to this middle as the edges of the map allow."""
        zoom = min(max(zoom, 1.0), MOST_ZOOM)
        half = 0.5 / zoom
        return cls(min(max(x, half), 1 - half), min(max(y, half), 1 - half), zoom)

    @property
    def side(self) -> float:
        """Its width and height, in units of places."""
        return UNITS / self.zoom

    @property
    def corners(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Its lower left and upper right corner, in units of places."""
        left, bottom = self.corner
        return (left, bottom), (left + self.side, bottom + self.side)

    @property
    def corner(self) -> tuple[float, float]:
        """Its lower left corner."""
        half = self.side / 2
        return self.x * UNITS - half, self.y * UNITS - half

    def enlarged(self, factor: float, at: tuple[float, float]) -> Window:
        """Enlarged by a factor; what is at this place, from 0 to 1, stays where it is on the
        screen."""
        zoom = min(max(self.zoom * factor, 1.0), MOST_ZOOM)
        kept = self.zoom / zoom
        x = at[0] + (self.x - at[0]) * kept
        y = at[1] + (self.y - at[1]) * kept
        return Window.around(x, y, zoom)

    def showing(self, x: float, y: float) -> Window:
        """The window moved no farther than it must to show a place."""
        reach = (0.5 - INSIDE) / self.zoom
        nearest_x = min(max(self.x, x - reach), x + reach)
        nearest_y = min(max(self.y, y - reach), y + reach)
        return Window.around(nearest_x, nearest_y, self.zoom)

    def towards(self, other: Window, part: float) -> Window:
        """The window at this part, from 0 to 1, of the way to another: one frame of a movement."""
        zoom = self.zoom * (other.zoom / self.zoom) ** part
        # The middle moves with the width of the window, so that a zoom has one fixed point.
        change = 1 / other.zoom - 1 / self.zoom
        moved = part if abs(change) < 1e-9 else (1 / zoom - 1 / self.zoom) / change
        x = self.x + (other.x - self.x) * moved
        y = self.y + (other.y - self.y) * moved
        return Window.around(x, y, zoom)


class PlacedArticles(NamedTuple):
    """Some articles: their numbers in the order they were added, places, and largest topics."""

    numbers: Numbers
    places: Places
    topics: LargestTopics

    def part(self, which: slice | NDArray[np.integer]) -> PlacedArticles:
        return PlacedArticles(self.numbers[which], self.places[which], self.topics[which])


class Articles:
    """All articles on the map, sorted by the squares of the grid; some new ones not yet. It never
    changes: with more articles it is another one."""

    def __init__(self, places: Places, topics: NDArray[np.integer]) -> None:
        """places: (n, 2); topics: (n,) the largest topic of each"""
        self.late = _numbered(0, NOWHERE, np.empty(0, np.int16))
        """Those that are not sorted yet."""
        self._sort(_numbered(0, places, topics))

    def __len__(self) -> int:
        return len(self._sorted.numbers) + len(self.late.numbers)

    def with_more(self, places: Places, topics: NDArray[np.integer]) -> Articles:
        """These, and new articles, which get the next numbers."""
        more = copy(self)
        late = _joined([self.late, _numbered(len(self), places, topics)])
        if len(late.numbers) > max(FEW, UNSORTED * len(self._sorted.numbers)):
            more._sort(_joined([self._sorted, late]))
            late = _numbered(0, NOWHERE, late.topics[:0])
        more.late = late
        return more

    def _sort(self, articles: PlacedArticles) -> None:
        numbers, places, topics = articles
        rows = places[:, 1] // SIDE
        columns = places[:, 0] // SIDE
        squares = rows * np.uint16(SQUARES) + columns
        order = np.argsort(squares, kind="stable")
        # By columns, so that all x follow each other.
        by_columns = np.asfortranarray(places[order])
        self._sorted = PlacedArticles(numbers[order], by_columns, topics[order])
        counts = np.bincount(squares, minlength=SQUARES * SQUARES)
        self._starts = np.concatenate([[0], np.cumsum(counts)])

    def inside(self, low: tuple[float, float], high: tuple[float, float]) -> PlacedArticles:
        """The articles with places from ``low`` to ``high``, and some around them."""
        found = self.sorted_inside(low, high)
        return _joined([found, self.late]) if len(self.late.numbers) else found

    def sorted_inside(self, low: tuple[float, float], high: tuple[float, float]) -> PlacedArticles:
        """The same without late articles."""
        first_column, first_row = (_square(value) for value in low)
        last_column, last_row = (_square(value) for value in high)
        if last_column - first_column >= SQUARES // 2:
            # Whole rows follow each other, so that nothing has to be copied.
            first_column = 0
            last_column = SQUARES - 1
            first_rows = np.array([first_row])
            last_rows = np.array([last_row])
        else:
            first_rows = np.arange(first_row, last_row + 1)
            last_rows = first_rows
        begins = self._starts[first_rows * SQUARES + first_column].tolist()
        ends = self._starts[last_rows * SQUARES + last_column + 1].tolist()
        pieces = [slice(*span) for span in zip(begins, ends, strict=True) if span[0] < span[1]]
        if len(pieces) == 1:
            return self._sorted.part(pieces[0])
        pieces.append(slice(0, 0))  # there may be none
        return _joined([self._sorted.part(piece) for piece in pieces])

    def within(self, window: Window) -> PlacedArticles:
        """The articles in a window, by number; slow if there are very many."""
        left, bottom = window.corner
        found = self.inside(*window.corners)
        x, y = found.places.T.astype(np.float32)
        is_in = (x >= left) & (x < left + window.side) & (y >= bottom) & (y < bottom + window.side)
        order = np.flatnonzero(is_in)[np.argsort(found.numbers[is_in])]
        return found.part(order)


def _numbered(first: int, places: Places, topics: NDArray[np.integer]) -> PlacedArticles:
    numbers = np.arange(first, first + len(places), dtype=np.int32)
    return PlacedArticles(numbers, places, np.asarray(topics, np.int16))


def _square(value: float) -> int:
    return min(max(int(value) // SIDE, 0), SQUARES - 1)


def _joined(parts: list[PlacedArticles]) -> PlacedArticles:
    return PlacedArticles(
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.topics for part in parts]),
    )


# From article to article.


def toward(
    articles: Articles,
    here: tuple[int, int],
    direction: Direction,
    window: Window,
    size: tuple[int, int],
    least: float = 0.0,
) -> int | None:
    """The number of the next article from a place, (x, y), in this direction; None if there is
    none.

    An article that is more ahead than aside comes before any that is not; among these the one with
    the least distance ahead plus twice that aside, as seen on the screen. size: columns and rows
    that the window is drawn on. least: how far ahead it must be, in cell widths; it is always
    farther than 0
    """
    is_across = direction in ("left", "right")
    sign = 1.0 if direction in ("right", "up") else -1.0

    def ways(right: Floats, up: Floats) -> tuple[Floats, Floats]:
        """How far ahead, and how far aside."""
        if is_across:
            return sign * right, np.abs(up)
        return sign * up, np.abs(right)

    def straight(right: Floats, up: Floats) -> Floats:
        ahead, aside = ways(right, up)
        allowed = (ahead > 0) & (ahead >= least) & (aside <= ahead)
        return np.where(allowed, ahead + 2 * aside, np.inf)

    def any_ahead(right: Floats, up: Floats) -> Floats:
        ahead, aside = ways(right, up)
        allowed = (ahead > 0) & (ahead >= least)
        return np.where(allowed, ahead + 2 * aside, np.inf)

    ahead_only = (0.0, 1.0) if sign > 0 else (-1.0, 0.0)
    sides = (ahead_only, BOTH_SIDES) if is_across else (BOTH_SIDES, ahead_only)
    for cost in (straight, any_ahead):
        number = _least(articles, here, window, size, cost, sides)
        if number is not None:
            return number
    return None


def nearest_to(
    articles: Articles, here: tuple[int, int], window: Window, size: tuple[int, int]
) -> int | None:
    """The number of the article nearest to a place, as seen on the screen."""
    return _least(articles, here, window, size, np.hypot, (BOTH_SIDES, BOTH_SIDES))


def _least(
    articles: Articles,
    here: tuple[int, int],
    window: Window,
    size: tuple[int, int],
    cost: Callable[[Floats, Floats], Floats],
    sides: tuple[tuple[float, float], tuple[float, float]],
) -> int | None:
    """The article with the least cost, of equal ones the first.

    cost: of cell widths to the right and upwards; it is at least each of them. sides: how far to
    look to either side, as parts of how far the search reaches
    """
    width, height = size
    across = width / window.side  # cell widths in a unit
    upwards = ASPECT * height / window.side
    x, y = here
    (left, right), (below, above) = sides
    farthest = 2 * UNITS * max(across, upwards)
    reach = FIRST_REACH
    while True:
        low = (x + left * reach / across, y + below * reach / upwards)
        high = (x + right * reach / across, y + above * reach / upwards)
        found = articles.inside(low, high)
        if len(found.numbers):
            offsets = found.places.astype(np.float64) - (x, y)
            costs = cost(offsets[:, 0] * across, offsets[:, 1] * upwards)
            best = float(costs.min())
            # Whatever the search has not reached yet is farther away than that.
            if best <= reach or (reach >= farthest and np.isfinite(best)):
                return int(found.numbers[costs == best].min())
        if reach >= farthest:
            return None
        reach *= 2

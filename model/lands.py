"""Lands of a map: where each area is, its islands, and labels on them that never overlap.

A map is a grid of cells, given by row and column from the top left; `land` is (rows, columns), the
area of each cell, or `SEA`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Matrix, Vector

Cells = NDArray[np.int64]

SEA = -1
MARGIN = 0.04
"""Of the map, left free at each side when places are stretched to fill it."""
NAMED = 3
"""An island of more topics than this carries its area's name, even if it is not the largest."""
REACH = 2.0
"""The deviation, in cells, of the normal distribution by which each place is spread."""
COAST = 0.25
"""What a cell needs to be land, as a part of what a place has in its own cell."""


@dataclass(frozen=True, slots=True)
class Island:
    """A connected piece of an area's land.

    cells: its size. topics: the numbers, in order, of the places that lie on it. row, column: its
    cell that is farthest from every coast
    """

    area: int
    cells: int
    topics: tuple[int, ...]
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Label:
    """Where the name of an area lies: the box's top left cell, and its island."""

    area: int
    island: Island
    row: int
    column: int


def with_scale(places: Matrix) -> Matrix:
    """(n, 2) the places from 0 to 1: as they are, or stretched to fill the map if they are of a map
    without a scale, as sessions of earlier versions have."""
    if not len(places) or (places.min() >= 0 and places.max() <= 1):
        return places
    return stretched(places)


def stretched(places: Matrix, margin: float = MARGIN) -> Matrix:
    """(n, 2) the places from ``margin`` to 1 - ``margin`` along both sides of the map; in the
    middle along a side where they do not differ."""
    low = places.min(axis=0, initial=np.inf)
    width = places.max(axis=0, initial=-np.inf) - low
    part = np.where(width > 0, (places - low) / np.maximum(width, 1e-9), 0.5)
    result: Matrix = margin + (1 - 2 * margin) * part
    return result


def cells_of(places: Matrix, shape: tuple[int, int]) -> Cells:
    """(n, 2) the row and column of each place, (n, 2) with x to the right and y upwards, 0 to 1."""
    rows, columns = shape
    column = np.clip((places[:, 0] * columns).astype(np.int64), 0, columns - 1)
    row = np.clip(((1 - places[:, 1]) * rows).astype(np.int64), 0, rows - 1)
    return np.stack([row, column], axis=1)


def land_of(
    places: Matrix,
    areas: NDArray[np.integer],
    shape: tuple[int, int],
    weights: Vector | None = None,
    aspect: float = 1.0,
    coast: float = COAST,
) -> Cells:
    """The land: each cell belongs to the area with the most places around it, if these are enough.

    areas: (n,) of each place. weights: (n,) of each place. aspect: a cell's height in widths.
    coast: see `COAST`
    """
    from scipy.ndimage import gaussian_filter

    land = np.full(shape, SEA, np.int64)
    spread = 2 * np.pi * REACH * REACH / aspect  # in its own cell, a place has 1 / spread
    most = np.full(shape, coast / spread)
    cells = cells_of(places, shape)
    if weights is None:
        weights = np.ones(len(places))
    for area in np.unique(areas).tolist():
        own = areas == area
        count = np.zeros(shape)
        np.add.at(count, tuple(cells[own].T), weights[own])
        around = gaussian_filter(count, (REACH / aspect, REACH), mode="constant")
        is_more = around > most
        land[is_more] = area
        most[is_more] = around[is_more]
    return land


def islands(land: Cells, cells: Cells, areas: NDArray[np.integer]) -> list[Island]:
    """The islands of all areas, by area, and each area's largest first.

    cells: (U, 2) the rows and columns of topics; areas: (U,) their areas
    """
    return [island for island, _ in _with_masks(land, cells, areas)]


def named_islands(found: Iterable[Island]) -> list[Island]:
    """Those of these `islands` that carry their area's name: the largest of each area, then others
    of more than `NAMED` topics; the largest first."""
    largest = []
    others = []
    seen: set[int] = set()
    for island in found:
        if island.area not in seen:
            seen.add(island.area)
            largest.append(island)
        elif len(island.topics) > NAMED:
            others.append(island)
    return [
        *sorted(largest, key=lambda island: -island.cells),
        *sorted(others, key=lambda island: -island.cells),
    ]


def _with_masks(
    land: Cells, cells: Cells, areas: NDArray[np.integer]
) -> list[tuple[Island, NDArray[np.bool_]]]:
    """The `islands`, each with its cells: (rows, columns), whether a cell is on it."""
    from scipy.ndimage import distance_transform_edt, label

    found = []
    for area in sorted(set(land[land != SEA].tolist())):
        numbered, n = label(land == area, np.ones((3, 3), np.int64))
        sizes = np.bincount(numbered.ravel(), minlength=n + 1)[1:]
        of_topics = numbered[cells[:, 0], cells[:, 1]]
        for number in (1 + np.argsort(-sizes, kind="stable")).tolist():
            mask = numbered == number
            topics = np.flatnonzero((of_topics == number) & (areas == area))
            from_coast = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
            row, column = divmod(int(from_coast.argmax()), land.shape[1])
            size = int(sizes[number - 1])
            island = Island(area, size, tuple(topics.tolist()), row, column)
            found.append((island, mask))
    return found


def labels(
    land: Cells,
    cells: Cells,
    areas: NDArray[np.integer],
    boxes: Mapping[int, tuple[int, int]],
    *,
    taken: NDArray[np.bool_] | None = None,
    aspect: float = 1.0,
) -> list[Label]:
    """Where the areas' names lie: on the `named_islands`, so that no two overlap.

    A box lies where most of it is on the island, then as near as possible to the cell that is
    farthest from the coast; its middle is always on the island. An island for which there is no
    such place has no label, nor has one whose label would be nearer to another with the same name
    than that name is wide.

    boxes: the height and width of each area's name, with the space that it keeps free; areas
    without a box have no label. taken: cells that labels leave free
    """
    occupied = np.zeros(land.shape, np.bool_) if taken is None else taken.copy()
    masks = dict(_with_masks(land, cells, areas))
    placed: list[Label] = []
    for island in named_islands(masks):
        box = boxes.get(island.area)
        if box is None:
            continue
        corner = _corner(island, masks[island], occupied, box, aspect)
        if corner is None:
            continue
        row, column = corner
        height, width = box
        to_same_name = [
            math.hypot(aspect * (label.row - row), label.column - column)
            for label in placed
            if label.area == island.area
        ]
        if min(to_same_name, default=width) < width:
            continue
        occupied[row : row + height, column : column + width] = True
        placed.append(Label(island.area, island, row, column))
    return placed


def _corner(
    island: Island,
    mask: NDArray[np.bool_],
    occupied: NDArray[np.bool_],
    box: Sequence[int],
    aspect: float,
) -> tuple[int, int] | None:
    """The top left cell of a box on an island; None if there is no room."""
    height, width = box
    rows, columns = mask.shape
    if height > rows or width > columns:
        return None
    on_island = _sums(mask, height, width)
    is_free = _sums(occupied, height, width) == 0
    tops = np.arange(rows - height + 1)[:, None]
    lefts = np.arange(columns - width + 1)
    half_height = height // 2
    half_width = width // 2
    middle_is_on_it = mask[
        half_height : half_height + len(tops), half_width : half_width + len(lefts)
    ]
    down = aspect * (tops + half_height - island.row)
    across = lefts + half_width - island.column
    squared = down * down + across * across
    allowed = is_free & middle_is_on_it
    if not allowed.any():
        return None
    off_island = height * width - on_island
    # Which of two boxes is nearer counts only if equally much of both is on the island.
    farthest = aspect * rows + columns
    cost = np.where(allowed, np.sqrt(squared) + farthest * off_island, np.inf)
    row, column = divmod(int(cost.argmin()), len(lefts))
    return row, column


def _sums(cells: NDArray[np.bool_], height: int, width: int) -> Cells:
    """(rows - height + 1, columns - width + 1) how many of these cells are in a box, by the box's
    top left cell."""
    summed = np.zeros((cells.shape[0] + 1, cells.shape[1] + 1), np.int64)
    summed[1:, 1:] = cells.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
    to_right = summed[height:, width:] - summed[:-height, width:]
    to_left = summed[height:, :-width] - summed[:-height, :-width]
    result: Cells = to_right - to_left
    return result

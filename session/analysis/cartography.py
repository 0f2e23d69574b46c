"""Maps drawn from the places of topics: labels that never overlap, and land around the labels of an
area.

A map is a grid of cells; a cell may be a few pixels of a page, or a letter of a terminal. Cells are
given by row and column from the top left.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lands import islands, labels, land_of, named_islands

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

COLOURS = (
    "#578db2",
    "#edb333",
    "#b95115",
    "#1fdcb4",
    "#ad9cf0",
    "#f17775",
    "#835cbe",
    "#ac8b26",
    "#2abaa4",
    "#9b6072",
    "#937be2",
    "#9ccf7f",
    "#d1afe2",
    "#e683cc",
    "#74a77e",
    "#bc668d",
    "#698857",
    "#c0ab49",
    "#949494",
)
"""The colour of each area, by its number, on a light or a dark background; the last one is of the
topics in no area.

The others are as far apart as possible both for people who see all colours and for those who lack
one kind of cone, the first ones farthest. A colour never says anything that a name does not say
too.
"""
OTHER_COLOUR = COLOURS[-1]
EVEN = 0.5
"""How far places are moved towards an even spread: 0 leaves them as they are."""
PUSHES = 400
"""The most steps in which boxes are pushed apart."""
PUSH = 0.25
"""The part of an overlap by which each of the two boxes moves in a step."""
HOME = 0.05
"""The part of the way back to its centre that a box moves in the first step; it falls to 0 halfway
through the steps."""


def filled(places: Floats) -> Floats:
    """(n, 2) the places, 0 to 1 in both directions, spread more evenly, so that labels find room
    nearby.

    Neighbours stay neighbours: the order along each direction does not change.
    """
    if len(places) < 2:
        return np.full_like(places, 0.5)
    low = places.min(axis=0)
    high = places.max(axis=0)
    scaled = (places - low) / np.maximum(high - low, 1e-9)
    order = places.argsort(axis=0, kind="stable")
    ranks = order.argsort(axis=0, kind="stable")  # of each place, along each direction
    even = ranks / (len(places) - 1)
    spread: Floats = (1 - EVEN) * scaled + EVEN * even
    return spread


def pushed(centres: Floats, boxes: Sequence[tuple[int, int]], shape: tuple[int, int]) -> Floats:
    """(n, 2) the centres moved until few boxes overlap: all of them a little, rather than a few of
    them far.

    So neighbours stay neighbours, and a small change of the centres changes the map little. The
    parameters are those of `arranged`.
    """
    half = np.array(boxes) / 2
    least = half
    most = np.maximum(np.array(shape) - half, half)
    first, second = np.triu_indices(len(half), 1)  # of each pair of boxes
    needed = half[first] + half[second]
    moved = np.clip(centres, least, most)
    for step in range(PUSHES):
        apart = moved[first] - moved[second]
        lacking = needed - np.abs(apart)
        overlapping = np.flatnonzero((lacking[:, 0] > 0) & (lacking[:, 1] > 0))
        if not len(overlapping):
            break
        # Each pair is pushed apart along the axis that needs less of a push.
        axis = (lacking[overlapping] / needed[overlapping]).argmin(axis=1)
        direction = np.where(apart[overlapping, axis] > 0, 1, -1)
        distance = PUSH * direction * lacking[overlapping, axis]
        push = np.zeros_like(moved)
        np.add.at(push, (first[overlapping], axis), distance)
        np.add.at(push, (second[overlapping], axis), -distance)
        home = HOME * max(0.0, 1 - 2 * step / PUSHES)
        moved = np.clip(moved + push + home * (centres - moved), least, most)
    return moved


def arranged(
    centres: Floats,
    boxes: Sequence[tuple[int, int]],
    shape: tuple[int, int],
    aspect: float = 1.0,
    before: Sequence[tuple[int, int] | None] = (),
) -> list[tuple[int, int] | None]:
    """The top left cell of each box, as near to its centre as possible without overlaps.

    The first boxes choose first; None: no room is left. ``centres``: (n, 2) rows and columns.
    ``boxes``: heights and widths, with the space that each keeps free around itself. ``aspect``: a
    cell's height in widths. ``before``: the top left cells at which boxes stay, if there is still
    room; None for a box that had none.
    """
    n_rows, n_columns = shape
    taken = np.zeros(shape, np.bool_)
    corners: list[tuple[int, int] | None] = []
    earlier = before or [None] * len(boxes)
    # Heights and widths for which there is no room: nor is there for anything at least as large.
    too_large = {(n_rows + 1, 1), (1, n_columns + 1)}
    for centre, (height, width), corner in zip(centres, boxes, earlier, strict=True):
        if any(
            height >= least_height and width >= least_width
            for least_height, least_width in too_large
        ):
            corners.append(None)
            continue
        if corner is not None:
            top, left = corner
            inside = taken[top : top + height, left : left + width]
            if inside.shape == (height, width) and not inside.any():
                inside[:] = True
                corners.append(corner)
                continue
        nearest = _nearest_room(taken, centre, (height, width), aspect)
        corners.append(nearest)
        if nearest is None:
            too_large.add((height, width))
        else:
            top, left = nearest
            taken[top : top + height, left : left + width] = True
    return corners


def _nearest_room(
    taken: NDArray[np.bool_], centre: Floats, box: tuple[int, int], aspect: float
) -> tuple[int, int] | None:
    """The top left cell of a box of this height and width that is as near as possible to its centre
    and overlaps no cell that is taken; None if there is no room."""
    height, width = box
    row, column = centre
    # How many cells are taken above and to the left of each corner of cells; from it, how many are
    # taken within the box wherever it may lie.
    n_rows, n_columns = taken.shape
    summed = np.zeros((n_rows + 1, n_columns + 1), np.int32)
    summed[1:, 1:] = taken.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)
    up_to_right_edge = summed[height:, width:] - summed[:-height, width:]
    up_to_left_edge = summed[height:, :-width] - summed[:-height, :-width]
    free = up_to_right_edge - up_to_left_edge == 0
    n_tops, n_lefts = free.shape
    down = aspect * (np.arange(n_tops)[:, None] + height / 2 - row)
    across = np.arange(n_lefts) + width / 2 - column
    squared_distance = down**2 + across**2
    best = int(np.where(free, squared_distance, np.inf).argmin())
    top, left = divmod(best, n_lefts)
    return (top, left) if free[top, left] else None


def name_places(
    cells: Cells,
    areas: NDArray[np.integer],
    shape: tuple[int, int],
    reach: float,
    aspect: float = 1.0,
) -> list[tuple[int, float, float]]:
    """The (area, row, column) of areas' names: each in the middle of the topics on its area's
    largest island, and of those on its other islands of several topics. That middle moves little
    when a topic does. Those of the largest islands come first.

    cells: (n, 2) the rows and columns of topics; areas: (n,) their areas. The other parameters are
    those of `lands`
    """
    land = lands(cells.tolist(), [(1, 1)] * len(cells), areas.tolist(), shape, reach, aspect)
    places = []
    with_topics = (island for island in islands(land, cells, areas) if island.topics)
    for island in named_islands(with_topics):
        row, column = cells[list(island.topics)].mean(axis=0).tolist()
        places.append((island.area, row + 0.5, column + 0.5))
    return places


def lands(
    corners: Sequence[tuple[int, int] | None],
    boxes: Sequence[tuple[int, int]],
    areas: Sequence[int],
    shape: tuple[int, int],
    reach: float,
    aspect: float = 1.0,
) -> Cells:
    """The area that each cell belongs to: that of the nearest box if it is within ``reach`` cells,
    else -1.

    ``areas``: the area of each box; the other parameters are those of `arranged`.
    """
    from scipy.ndimage import distance_transform_edt

    land = np.full(shape, -1, np.int64)
    nearest = np.full(shape, reach)
    for area in sorted(set(areas)):
        outside = np.ones(shape, np.bool_)
        for corner, (height, width), area_of_box in zip(corners, boxes, areas, strict=True):
            if area_of_box == area and corner is not None:
                top, left = corner
                outside[top : top + height, left : left + width] = False
        if outside.all():
            continue
        distance = distance_transform_edt(outside, sampling=(aspect, 1.0))
        is_nearer = distance < nearest
        land[is_nearer] = area
        nearest[is_nearer] = distance[is_nearer]
    return land


def names_on_lands(
    counts: NDArray[np.integer],
    topic_cells: Cells,
    topic_areas: NDArray[np.integer],
    boxes: Mapping[int, tuple[int, int]],
    taken: NDArray[np.bool_],
    aspect: float,
) -> list[tuple[int, int, int]]:
    """The (area, row, column) of areas' names, each on the largest island of its area's articles,
    and on its other islands of several topics; none overlaps another or a cell that is taken.

    counts: (H, W, A) the articles of each area in each cell. topic_cells: (U, 2) rows and columns
    of topics, and their areas. boxes, taken, aspect: as in `model.lands.labels`
    """
    height, width, _ = counts.shape
    rows, columns, areas = np.nonzero(counts)
    centres = np.stack([(columns + 0.5) / width, 1 - (rows + 0.5) / height], axis=1)
    weights = counts[rows, columns, areas].astype(np.float64)
    land = land_of(centres, areas, (height, width), weights, aspect)
    placed = labels(land, topic_cells, topic_areas, boxes, taken=taken, aspect=aspect)
    return [(label.area, label.row, label.column) for label in placed]

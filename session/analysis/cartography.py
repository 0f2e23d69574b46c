"""Maps drawn from the places of topics: labels that never overlap, and land around the labels of an
area.

A map is a grid of cells; a cell may be a few pixels of a page, or a letter of a terminal. Cells are
given by row and column from the top left.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

COLOURS = (
    *(
        "#578db2",
        "#edb333",
        "#b95115",
        "#1fdcb4",
        "#ad9cf0",
        "#f17775",
        "#835cbe",
        "#ac8b26",
        "#2abaa4",
    ),
    *(
        "#9b6072",
        "#937be2",
        "#9ccf7f",
        "#d1afe2",
        "#e683cc",
        "#74a77e",
        "#bc668d",
        "#698857",
        "#c0ab49",
    ),
)
"""The colour of each area, by its number, on a light or a dark background.

They are as far apart as possible both for people who see all colours and for those who lack one
kind of cone, the first ones farthest. A colour never says anything that a name does not say too.
"""
EVEN = 0.5
"""How far places are moved towards an even spread: 0 leaves them as they are."""
PUSHES, PUSH, HOME = 400, 0.25, 0.05
"""The most steps in which boxes are pushed apart; the part of an overlap by which each box moves in
a step; and the part of the way back to its centre, which falls to 0 halfway through the steps."""


def filled(places: Floats) -> Floats:
    """(n, 2) the places, 0 to 1 in both directions, spread more evenly, so that labels find room
    nearby.

    Neighbours stay neighbours: the order along each direction does not change.
    """
    if len(places) < 2:
        return np.full_like(places, 0.5)
    low, high = places.min(axis=0), places.max(axis=0)
    scaled = (places - low) / np.maximum(high - low, 1e-9)
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / (len(places) - 1)
    spread: Floats = (1 - EVEN) * scaled + EVEN * ranks
    return spread


def pushed(centres: Floats, boxes: Sequence[tuple[int, int]], shape: tuple[int, int]) -> Floats:
    """(n, 2) the centres moved until few boxes overlap: all of them a little, rather than a few of
    them far.

    So neighbours stay neighbours, and a small change of the centres changes the map little. The
    parameters are those of `arranged`.
    """
    half = np.array(boxes) / 2
    least, most = half, np.maximum(np.array(shape) - half, half)
    one, other = np.triu_indices(len(half), 1)
    room = half[one] + half[other]
    moved = np.clip(centres, least, most)
    for step in range(PUSHES):
        apart = moved[one] - moved[other]
        lacking = room - np.abs(apart)
        pairs = np.flatnonzero((lacking[:, 0] > 0) & (lacking[:, 1] > 0))
        if not len(pairs):
            break
        way = (lacking[pairs] / room[pairs]).argmin(axis=1)  # the shorter one
        by = PUSH * np.where(apart[pairs, way] > 0, 1, -1) * lacking[pairs, way]
        push = np.zeros_like(moved)
        np.add.at(push, (one[pairs], way), by)
        np.add.at(push, (other[pairs], way), -by)
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

    The first boxes choose first; None: no room is left. centres: (n, 2) rows and columns. boxes:
    heights and widths, with the space that each keeps free around itself. aspect: a cell's height
    in widths. before: the top left cells at which boxes stay, if there is still room.
    """
    taken = np.zeros(shape, np.bool_)
    corners: list[tuple[int, int] | None] = []
    rows, columns = np.arange(shape[0])[:, None], np.arange(shape[1])
    earlier = before or [None] * len(boxes)
    too_large = {(shape[0] + 1, 1), (1, shape[1] + 1)}
    for (row, column), (height, width), corner in zip(centres, boxes, earlier, strict=True):
        if any(height >= least[0] and width >= least[1] for least in too_large):
            corners.append(None)
            continue
        if corner is not None:
            top, left = corner
            inside = taken[top : top + height, left : left + width]
            if inside.shape == (height, width) and not inside.any():
                inside[:] = True
                corners.append(corner)
                continue
        summed = np.zeros((shape[0] + 1, shape[1] + 1), np.int32)
        summed[1:, 1:] = taken.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)
        right = summed[height:, width:] - summed[:-height, width:]
        free = right - summed[height:, :-width] + summed[:-height, :-width] == 0
        tops, lefts = rows[: free.shape[0]], columns[: free.shape[1]]
        far = (aspect * (tops + height / 2 - row)) ** 2 + (lefts + width / 2 - column) ** 2
        best = int(np.where(free, far, np.inf).argmin())
        top, left = divmod(best, free.shape[1])
        if not free[top, left]:
            corners.append(None)
            too_large.add((height, width))
            continue
        taken[top : top + height, left : left + width] = True
        corners.append((top, left))
    return corners


def nearest_to_all(places: Floats) -> Floats:
    """The place nearest to all others, by summed distances: the mean of scattered ones may be
    anywhere."""
    apart = np.sqrt(np.square(places[:, None] - places).sum(axis=-1))
    nearest: Floats = places[apart.sum(axis=1).argmin()]
    return nearest


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

    ``areas``: the area of each box.
    """
    from scipy.ndimage import distance_transform_edt

    land, nearest = np.full(shape, -1, np.int64), np.full(shape, reach)
    for area in sorted(set(areas)):
        outside = np.ones(shape, np.bool_)
        for corner, (height, width), own in zip(corners, boxes, areas, strict=True):
            if own == area and corner is not None:
                outside[corner[0] : corner[0] + height, corner[1] : corner[1] + width] = False
        if outside.all():
            continue
        far = distance_transform_edt(outside, sampling=(aspect, 1.0))
        closer = far < nearest
        land[closer], nearest[closer] = area, far[closer]
    return land

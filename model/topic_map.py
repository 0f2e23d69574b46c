"""The map of topics that lives: it stays, or drifts to a map as good as a new one, and no farther
than it must.

U topics are on the map; `far` is (U, U), the distances of topics; `areas` is (U,), the area of each
topic, negative for a topic of none; places are (U, 2), from 0 to 1, x to the right and y upwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel
from wikitopics.model.article_map import aligned
from wikitopics.model.lands import stretched
from wikitopics.model.minibatch import Floats, Ids, Matrix
from wikitopics.model.topic_tsne import FIRST_ROUNDS, ROUNDS, places

NEAREST = 5
"""The number of nearest topics that are to be near on the map."""
AREA_BOND = 0.8
"""The factor on the distances between topics of one area where all topics are laid out, so that
areas have lands."""
AHEAD = 0.02
"""How much more of the near topics than needed a map keeps once topics move, so that it can stay
for a while."""
WAYS = (0.1, 0.2, 0.4, 0.7, 1.0)
"""The parts of the way to another map that are tried."""
SWEEPS = 8
"""How often each topic may move, at most, when the map drifts."""
ROOM = 0.25
"""The least distance of a topic that moves from others, as a part of that between the points of a
square grid."""
TURNS = 8
"""The number of directions in which a topic looks for a place."""
RAW = 4.8
"""The width of t-SNE's map, of which this times the root of U is usual."""
FILLED = 0.8
"""The least part of the map's width and height that its topics take."""


def kept(far: Matrix, at: Matrix) -> float:
    """The part of the nearest topics by distance that are among the nearest on the map."""
    U = len(far)
    k = min(NEAREST, U - 1)
    if k < 1:
        return 1.0
    on_map = np.square(at[:, None] - at).sum(axis=-1)
    is_near = _is_nearest(far, k)
    is_near_on_map = _is_nearest(on_map, k)
    return float((is_near & is_near_on_map).sum() / (k * U))


def _nearest(distance: Matrix, k: int) -> NDArray[np.int32]:
    """(U, k) the nearest topics of each, itself left out."""
    to_others = distance + np.diag(np.full(len(distance), np.inf))
    nearest = np.empty((len(distance), k), np.int32)
    smallest = np.empty(nearest.shape)
    for row, places_of_row, smallest_of_row in zip(to_others, nearest, smallest, strict=True):
        list_smallest(row, places_of_row, smallest_of_row)
    return nearest


def _is_nearest(distance: Matrix, k: int) -> NDArray[np.bool_]:
    """(U, U) whether a topic is among the k nearest of another."""
    result = np.zeros(distance.shape, np.bool_)
    np.put_along_axis(result, _nearest(distance, k), True, axis=1)
    return result


def anew(far: Matrix, areas: NDArray[np.integer]) -> Matrix:
    """(U, 2) a map without an earlier one."""
    start = inside(places(_bound(far, areas), _nowhere(far)))
    return inside(climbed(far, start, areas))


def drifted(far: Matrix, before: Matrix, areas: NDArray[np.integer]) -> Matrix:
    """(U, 2) a map that keeps at least as many near topics as one by t-SNE that is made anew, with
    little movement.

    before: (U, 2) the earlier places, NaN for a topic that is new or has changed its subject; it
    comes to lie among its nearest. With fewer than four places the map is made anew
    """
    is_placed = np.isfinite(before[:, 0])
    if np.count_nonzero(is_placed) < 4:
        return anew(far, areas)
    stays = inside(places(far, before, rounds=0))
    least = kept(far, places(far, _nowhere(far)))
    if kept(far, stays) >= least:
        return stays
    anywhere = np.full(len(far), -1)
    best = stays
    most = -1.0
    for starts in _starts(far, stays, areas, is_placed):
        # Single topics move within the lands of their areas. If that is not enough from any of
        # these starts, they may leave them.
        in_lands = []
        for start in starts:
            found = inside(climbed(far, start, areas, least + AHEAD))
            if kept(far, found) >= least:
                return found
            in_lands.append(found)
        for found in in_lands:
            freely = inside(climbed(far, found, anywhere, least + AHEAD))
            freely_kept = kept(far, freely)
            if freely_kept >= least:
                return freely
            if freely_kept > most:
                best = freely
                most = freely_kept
    return best


def _starts(
    far: Matrix, stays: Matrix, areas: NDArray[np.integer], is_placed: NDArray[np.bool_]
) -> Iterator[Iterator[Matrix]]:
    """Maps from which single topics move, those with the least movement first: the one that stays,
    then those towards t-SNE from there, then those towards t-SNE made anew, first begun as topics
    lie."""
    closer = _bound(far, areas)

    def towards(goal: Matrix) -> Iterator[Matrix]:
        near_stays = aligned(goal, stays, is_placed)
        for way in WAYS:
            yield inside(stays + way * (near_stays - stays))

    def near() -> Iterator[Matrix]:
        yield stays
        yield from towards(places(closer, RAW * np.sqrt(len(far)) * stays, ROUNDS))

    yield near()
    yield towards(places(closer, stays, FIRST_ROUNDS))
    yield towards(places(closer, _nowhere(far)))


def climbed(far: Matrix, at: Matrix, areas: NDArray[np.integer], wanted: float = 1.0) -> Matrix:
    """(U, 2) the map after single topics have moved, while more near topics are kept and fewer than
    are wanted. A topic of an area moves only to where the nearest one is of its area."""
    U = len(far)
    k = min(NEAREST, U - 1)
    if k < 1:
        return at
    near = _nearest(far, k)
    is_near = np.zeros((U, U), np.bool_)
    np.put_along_axis(is_near, near.astype(np.int64), True, axis=1)
    _, number, sizes = np.unique(areas, return_inverse=True, return_counts=True)
    has_land = (areas >= 0) & (sizes[number] > 1)
    lands = np.where(has_land, areas, -1).astype(np.int32)
    # Rounded, so that a map is not asked for one more than the other keeps.
    wanted_number = math.ceil(round(wanted * k * U, 6))
    result = np.array(at, np.float64, order="C")
    climb(near, is_near, lands, ROOM / np.sqrt(U), wanted_number, result)
    return result


def _bound(far: Matrix, areas: NDArray[np.integer]) -> Matrix:
    """(U, U) the distances, reduced between topics of one area."""
    together = (areas[:, None] == areas) & (areas >= 0)
    closer: Matrix = np.where(together, AREA_BOND * far, far)
    return closer


def _nowhere(far: Matrix) -> Matrix:
    return np.full((len(far), 2), np.nan)


def inside(at: Matrix) -> Matrix:
    """(U, 2) the map, stretched along an axis only if it does not fit, or leaves much empty."""
    low = at.min(axis=0, initial=np.inf)
    high = at.max(axis=0, initial=-np.inf)
    fits = (low >= 0) & (high <= 1) & (high - low >= FILLED)
    if not len(at) or fits.all():
        return at
    return np.where(fits, at, stretched(at))


# The loops.


@kernel
def list_smallest(values: Floats, at: Ids, smallest: Floats) -> None:
    """Fill in where the smallest values are, as many as there is room for, and these, ascending; of
    equal ones, the first comes first. Where there are too few below infinity: -1 and infinity."""
    at[:] = -1
    smallest[:] = np.inf
    last = len(at) - 1
    for number in range(len(values)):
        value = values[number]
        if value >= smallest[last]:
            continue
        place = last
        while place > 0 and value < smallest[place - 1]:
            smallest[place] = smallest[place - 1]
            at[place] = at[place - 1]
            place -= 1
        smallest[place] = value
        at[place] = number


@kernel
def list_squares(i: int, x: float, y: float, at: Floats, squares: Floats) -> None:
    """Fill in the squares of the distances of all topics from a place for topic i; infinity for
    itself."""
    for j in range(len(at)):
        across = at[j, 0] - x
        up = at[j, 1] - y
        squares[j] = across * across + up * up
    squares[i] = np.inf


@kernel
def list_nearest_again(
    i: int, at: Floats, nearest: Ids, squares: Floats, distances: Floats
) -> None:
    """Fill in the nearest topics of each on the map, with the squares of their distances, now that
    topic i alone has moved; ``distances``: (U,) is overwritten."""
    U, n = nearest.shape
    for j in range(U):
        x = at[j, 0] - at[i, 0]
        y = at[j, 1] - at[i, 1]
        is_changed = j == i or x * x + y * y <= squares[j, n - 1]
        for place in range(n):
            is_changed |= nearest[j, place] == i
        if is_changed:
            list_squares(j, at[j, 0], at[j, 1], at, distances)
            list_smallest(distances, nearest[j], squares[j])


@kernel
def kept_beside(
    i: int,
    is_near: NDArray[np.bool_],
    nearest: Ids,
    squares: Floats,
    reaches: Floats,
    gains: Ids,
) -> int:
    """How many near topics the map keeps of the other topics, if topic i is far from all of them.

    reaches: (U,) gets the square of the distance below which topic i is among the nearest of
    another, in place of the last of these; gains: (U,) gets how many more are kept then
    """
    U, n = nearest.shape
    k = n - 1
    total = 0
    for j in range(U):
        reaches[j] = 0.0
        gains[j] = 0
        if j == i:
            continue
        # The nearest of topic j without topic i.
        listed = 0
        for place in range(n):
            other = nearest[j, place]
            if other == i or listed == k:
                continue
            listed += 1
            other_is_near = other >= 0 and is_near[j, other]
            total += other_is_near
            if listed == k:
                reaches[j] = squares[j, place]
                gains[j] = int(is_near[j, i]) - int(other_is_near)
    return total


@kernel
def kept_at(
    i: int,
    x: float,
    y: float,
    room: float,
    now: int,
    at: Floats,
    is_near: NDArray[np.bool_],
    lands: Ids,
    beside: int,
    reaches: Floats,
    gains: Ids,
    distances: Floats,
) -> int:
    """How many near topics the map keeps if topic i lies there; -1 if these are certainly not more
    than ``now``, or if that is beside the map, too close to another topic, or in another land than
    its own.

    beside, reaches, gains: as of `kept_beside`; distances: (U,) is overwritten
    """
    if x < 0 or x > 1 or y < 0 or y > 1:
        return -1
    list_squares(i, x, y, at, distances)
    U = len(at)
    k = min(NEAREST, U - 1)
    n_too_close = 0
    total = beside
    for j in range(U):
        n_too_close += distances[j] < room * room
        total += gains[j] * (distances[j] < reaches[j])
    if n_too_close > 0 or total + k <= now:
        return -1
    own = np.empty(k, gains.dtype)
    list_smallest(distances, own, np.empty(k))
    if lands[i] >= 0 and lands[own[0]] != lands[i]:
        return -1
    for other in own:
        total += is_near[i, other]
    return total


@kernel
def best_move(
    i: int,
    room: float,
    now: int,
    near: Ids,
    at: Floats,
    is_near: NDArray[np.bool_],
    lands: Ids,
    nearest: Ids,
    squares: Floats,
) -> tuple[float, float, float, int]:
    """The move of topic i that keeps most more near topics for its length: (how many for its
    length, x, y, how many are kept then). 0: there is none.

    It goes towards the mean of its first near topics, or around one of them, or a little aside.
    """
    U, k = near.shape
    reaches = np.empty(U)
    gains = np.empty(U, near.dtype)
    distances = np.empty(U)
    beside = kept_beside(i, is_near, nearest, squares, reaches, gains)
    x = at[i, 0]
    y = at[i, 1]
    best = 0.0
    best_x = x
    best_y = y
    best_kept = now
    mean_x = 0.0
    mean_y = 0.0
    for place in range(-1, k):
        centre_x = x
        centre_y = y
        n_ways = 0
        n_turns = 2 * TURNS
        if place >= 0:
            centre_x = at[near[i, place], 0]
            centre_y = at[near[i, place], 1]
            mean_x += centre_x
            mean_y += centre_y
            n_ways = 4
            n_turns = TURNS if place < 3 else 0
        for move in range(n_ways + n_turns):
            if move < n_ways:
                way = (move + 1) / n_ways
                new_x = x + way * (mean_x / (place + 1) - x)
                new_y = y + way * (mean_y / (place + 1) - y)
            else:
                turn = move - n_ways
                angle = 2 * math.pi * (turn % TURNS) / TURNS
                radius = 1.2 * room * (1 + turn // TURNS)
                new_x = centre_x + radius * math.cos(angle)
                new_y = centre_y + radius * math.sin(angle)
            kept_then = kept_at(
                i,
                new_x,
                new_y,
                room,
                now,
                at,
                is_near,
                lands,
                beside,
                reaches,
                gains,
                distances,
            )
            if kept_then <= now:
                continue
            length = math.sqrt((new_x - x) ** 2 + (new_y - y) ** 2)
            gain = (kept_then - now) / (length + room)
            if gain > best:
                best = gain
                best_x = new_x
                best_y = new_y
                best_kept = kept_then
    return best, best_x, best_y, best_kept


@kernel
def climb(
    near: Ids, is_near: NDArray[np.bool_], lands: Ids, room: float, wanted: int, at: Floats
) -> None:
    """Move single topics, first those whose moves keep most more near topics for their length."""
    U, k = near.shape
    nearest = np.empty((U, k + 1), near.dtype)
    squares = np.empty((U, k + 1))
    distances = np.empty(U)
    gains = np.empty(U)
    now = int(np.int64(0))  # not a literal: see `part`
    for j in range(U):
        list_squares(j, at[j, 0], at[j, 1], at, distances)
        list_smallest(distances, nearest[j], squares[j])
        for place in range(k):
            if squares[j, place] < np.inf and is_near[j, nearest[j, place]]:
                now += 1
    for _ in range(SWEEPS):
        if now >= wanted:
            return
        for i in range(U):
            gains[i] = -best_move(i, room, now, near, at, is_near, lands, nearest, squares)[0]
        has_moved = False
        for i in np.argsort(gains, kind="mergesort"):
            if now >= wanted:
                return
            if gains[i] == 0:
                break
            gain, x, y, kept_then = best_move(
                i, room, now, near, at, is_near, lands, nearest, squares
            )
            if gain > 0:
                at[i, 0] = x
                at[i, 1] = y
                now = kept_then
                list_nearest_again(i, at, nearest, squares, distances)
                has_moved = True
        if not has_moved:
            break

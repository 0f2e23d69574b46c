"""The map of topics that lives: it stays, or drifts to a map as good as a new one, and no farther
than it must.

U topics are on the map; `far` is (U, U), the distances of topics; places are (U, 2), from 0 to 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.article_map import aligned
from wikitopics.model.kernels import kernel
from wikitopics.model.minibatch import Ids
from wikitopics.model.places import ROUNDS, places

Floats = NDArray[np.float64]

NEAREST = 5
"""The number of nearest topics that are to be near on the map."""
AHEAD = 0.1
"""How much more of the near topics a map should keep that is to stay until the next doubling."""
WAYS = (0.1, 0.2, 0.4, 0.7, 1.0)
"""The parts of the way to another map that are tried."""
SWEEPS = 8
"""How often each topic may move, at most, when the map drifts."""
ROOM = 0.25
"""The least distance of a topic that moves from others, as a part of that between the points of a
square grid."""
TURNS = 8
"""The number of directions from its nearest topic in which a topic looks for a place."""
RAW = 4.8
"""The width of t-SNE's map, of which this times the root of U is usual."""
MARGIN = 0.04
"""Of the map, left free at each side when it is stretched."""
FILLED = 0.8
"""The least part of the map's width and height that its topics take."""


def kept(far: Floats, at: Floats, k: int = NEAREST) -> float:
    """The part of the k nearest topics by distance that are among the k nearest on the map."""
    U = len(far)
    k = min(k, U - 1)
    if k < 1:
        return 1.0
    on_map = np.square(at[:, None] - at).sum(axis=-1)
    is_near = _is_nearest(far, k)
    is_near_on_map = _is_nearest(on_map, k)
    return float((is_near & is_near_on_map).sum() / (k * U))


def _nearest(distance: Floats, k: int) -> NDArray[np.int64]:
    """(U, k) the nearest topics of each, itself left out."""
    to_others = distance + np.diag(np.full(len(distance), np.inf))
    return np.argsort(to_others, axis=1, kind="stable")[:, :k]


def _is_nearest(distance: Floats, k: int) -> NDArray[np.bool_]:
    """(U, U) whether a topic is among the k nearest of another."""
    result = np.zeros(distance.shape, np.bool_)
    np.put_along_axis(result, _nearest(distance, k), True, axis=1)
    return result


def anew(far: Floats) -> Floats:
    """(U, 2) a map without an earlier one."""
    return inside(climbed(far, inside(_new(far))))


def drifted(far: Floats, before: Floats, *, ahead: float = AHEAD) -> Floats:
    """(U, 2) a map that keeps at least as many near topics as t-SNE made anew, with little
    movement.

    before: (U, 2) the earlier places, NaN for a topic that is new or has changed its subject; it
    comes to lie among its nearest. With fewer than four places the map is made anew
    ahead: how much more it should keep, so that it can stay for a while
    """
    is_placed = np.isfinite(before.sum(axis=1))
    if np.count_nonzero(is_placed) < 4 or len(far) < 4:
        return anew(far)
    stays = stayed(far, before)
    fresh = _new(far)
    least = kept(far, fresh)
    # First single topics move; if that is not enough, all do, as little of the way as is enough.
    found = inside(climbed(far, stays, least + ahead))
    if kept(far, found) >= least:
        return found
    goals = (aligned(_from(far, stays, ROUNDS), stays, is_placed), aligned(fresh, stays, is_placed))
    for goal in goals:
        for way in WAYS:
            start = inside(stays + way * (goal - stays))
            found = inside(climbed(far, start, least + ahead))
            if kept(far, found) >= least:
                return found
    return found


def climbed(far: Floats, at: Floats, wanted: float = 1.0) -> Floats:
    """The map after single topics have moved among their nearest, while more near topics are kept
    and fewer than are wanted."""
    U = len(far)
    k = min(NEAREST, U - 1)
    if k < 1:
        return at
    near = _nearest(far, k).astype(np.int32)
    is_near = np.zeros((U, U), np.bool_)
    np.put_along_axis(is_near, near.astype(np.int64), True, axis=1)
    result = np.array(at, np.float64, order="C")
    climb(near, is_near, ROOM / np.sqrt(U), math.ceil(wanted * k * U), result)
    return result


def stayed(far: Floats, before: Floats) -> Floats:
    """(U, 2) the earlier places; topics without one lie among their nearest."""
    return inside(places(far, before, rounds=0))


def _new(far: Floats) -> Floats:
    return places(far, np.full((len(far), 2), np.nan))


def _from(far: Floats, at: Floats, rounds: int) -> Floats:
    """The map by t-SNE from a start, from 0 to 1."""
    return places(far, RAW * np.sqrt(len(far)) * at, rounds)


def inside(at: Floats) -> Floats:
    """The map, stretched along an axis only if it does not fit, or leaves much empty."""
    low = at.min(axis=0, initial=np.inf)
    high = at.max(axis=0, initial=-np.inf)
    fits = (low >= 0) & (high <= 1) & (high - low >= FILLED)
    if not len(at) or fits.all():
        return at
    stretched = (at - low) / np.maximum(high - low, 1e-9)
    framed: Floats = MARGIN + (1 - 2 * MARGIN) * stretched
    return np.where(fits, at, framed)


# The loops.


@kernel
def count_kept(is_near: NDArray[np.bool_], k: int, at: Floats) -> int:
    """How many of the k nearest topics on the map are near."""
    U = at.shape[0]
    total = 0
    nearest = np.empty(k, np.int64)
    squares = np.empty(k)
    for i in range(U):
        squares[:] = np.inf
        for j in range(U):
            if j == i:
                continue
            x = at[j, 0] - at[i, 0]
            y = at[j, 1] - at[i, 1]
            square = x * x + y * y
            if square < squares[k - 1]:
                place = k - 1
                while place > 0 and square < squares[place - 1]:
                    squares[place] = squares[place - 1]
                    nearest[place] = nearest[place - 1]
                    place -= 1
                squares[place] = square
                nearest[place] = j
        for place in range(k):
            if squares[place] < np.inf and is_near[i, nearest[place]]:
                total += 1
    return total


@kernel
def climb(near: Ids, is_near: NDArray[np.bool_], room: float, wanted: int, at: Floats) -> None:
    """Move one topic after another to where most near topics are kept, if that is more than where
    it is; of equal places to the first."""
    U = at.shape[0]
    k = near.shape[1]
    best = count_kept(is_near, k, at)
    for _ in range(SWEEPS):
        has_moved = False
        for i in range(U):
            if best >= wanted:
                return
            x = at[i, 0]
            y = at[i, 1]
            best_x = x
            best_y = y
            found = best
            mean_x = 0.0
            mean_y = 0.0
            # Half the way to the mean of its first nearest topics, and all of it; then around each
            # of the first three.
            for place in range(k):
                mean_x += at[near[i, place], 0]
                mean_y += at[near[i, place], 1]
                n_turns = TURNS if place < 3 else 0
                for turn in range(-2, n_turns):
                    if turn < 0:
                        way = 0.5 if turn == -2 else 1.0
                        new_x = x + way * (mean_x / (place + 1) - x)
                        new_y = y + way * (mean_y / (place + 1) - y)
                    else:
                        angle = 2 * math.pi * turn / TURNS
                        new_x = at[near[i, place], 0] + 1.2 * room * math.cos(angle)
                        new_y = at[near[i, place], 1] + 1.2 * room * math.sin(angle)
                    is_free = 0 <= new_x <= 1 and 0 <= new_y <= 1
                    for j in range(U):
                        across = at[j, 0] - new_x
                        up = at[j, 1] - new_y
                        if j != i and across * across + up * up < room * room:
                            is_free = False
                            break
                    if not is_free:
                        continue
                    at[i, 0] = new_x
                    at[i, 1] = new_y
                    now = count_kept(is_near, k, at)
                    if now > found:
                        found = now
                        best_x = new_x
                        best_y = new_y
            at[i, 0] = best_x
            at[i, 1] = best_y
            if found > best:
                best = found
                has_moved = True
        if not has_moved:
            break

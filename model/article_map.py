"""The map of articles: each in the land of its largest topic, near articles like it.

Some articles, the *landmarks*, are laid out by t-SNE [van der Maaten and Hinton 2008]: neighbours
attract each other, and all repel each other, by a field on a mesh [Linderman and others 2019]. Any
other article is placed among landmarks that stay where they are, whatever other articles there are.
Nothing here is random, and no sum depends on the number of threads. Decision 53 has the forces.
n articles, m landmarks, k neighbours, K topics; places are (n, 2), from 0 to 1.

| symbol | shape and type | meaning |
|---|---|---|
| places | (n, 2) float64 | where articles are, in units in which t-SNE's kernel has width 1 |
| near | (n, k) int32 | the nearest landmarks of each article, `NOBODY` at the end |
| mesh | (rows, columns) float64 | how many landmarks are around each node of the mesh |
| potential | (rows, columns) float64 | the field: the sum of the kernel over all landmarks |
| low, spacing | (2,) float64, number | the place of the first node, and the distance of two |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel, part
from wikitopics.model.lands import stretched
from wikitopics.model.minibatch import Floats, Ids, Vector
from wikitopics.model.near import NOBODY, Index, Rows, nearest

Places = NDArray[np.float64]

NEIGHBOURS = 15
"""The number of nearest articles that attract an article."""
MOST_LANDMARKS = 16_384
ROUNDS = 200
"""The steps of a layout from the topics' places."""
LATER_ROUNDS = 150
"""The steps of one that starts from earlier places."""
FIRST_WIDTH = 0.1
"""The width at which the first layout starts, as a part of that at which it usually ends: groups of
articles still pass through each other."""
LATER_WIDTH = 0.3
"""That of a later one. From the full width, a map that began with few articles would keep what
those had in the wrong place."""
SPACING = 0.5
"""Of the nodes of the mesh. The kernel of the repulsion falls to a quarter at distance 1."""
STEPS = 12
"""In which an article is placed."""
FIRST_MEAN = 5
"""The number of nearest landmarks whose mean is an article's first place."""
DISC = 0.5
"""The radius of a topic's disc, as a part of the distance to the nearest other topic."""
_EMPTY = 4
"""Nodes around the landmarks that are left empty."""
_NEVER_FARTHER = 10
"""By how much more than the root of n a place may be from the middle. Half the root is usual; a few
articles that have little to do with each other would fly apart."""
_WHOLE = 65_535


def started(rows: Rows, topic_places: Places) -> Places:
    """(n, 2) a place in the disc of each article's largest topic, towards its other topics.

    topic_places: (K, 2), NaN for topics that are not on the map
    """
    on_map = np.isfinite(topic_places.sum(axis=1))
    at = np.where(on_map[:, None], topic_places, 0.5)
    radii = DISC * _to_nearest_other(at, on_map)
    leading = rows.leading()
    owners = rows.owners
    leading_of_entry = leading[owners]
    shares = np.square(rows.roots.astype(np.float64))
    shares[rows.topics == leading_of_entry] = 0
    towards = at[rows.topics] - at[leading_of_entry]
    distances = np.sqrt(np.square(towards).sum(axis=1))
    weights = shares / np.maximum(distances, 1e-9)
    pull = np.zeros((len(rows), 2))
    for axis in range(2):
        pull[:, axis] = np.bincount(owners, weights * towards[:, axis], minlength=len(rows))
    # An article that is about nothing else lies in the middle; others lie farther out.
    rest = np.bincount(owners, shares, minlength=len(rows))
    outwards = pull / np.sqrt(np.maximum(rest, 1e-9))[:, None]
    places: Places = at[leading] + radii[leading, None] * outwards
    return places


def _to_nearest_other(at: Places, on_map: NDArray[np.bool_]) -> Vector:
    """(K,) the distance of each topic to the nearest other one on the map, at most 1."""
    from scipy.spatial import KDTree

    distances, _ = KDTree(at[on_map]).query(at, k=2)
    # A topic on the map is itself the nearest one, or lies where the nearest one lies.
    to_nearest: Vector = np.where(on_map, distances[:, 1], distances[:, 0])
    return np.minimum(to_nearest, 1.0)


def chosen_landmarks(n: int, most: int = MOST_LANDMARKS) -> NDArray[np.int64]:
    """(m,) the numbers of the landmarks among n articles: evenly spread; all, if there are few."""
    if n <= most:
        return np.arange(n)
    return np.arange(most) * n // most


def laid_out(rows: Rows, K: int, begin: Places, *, is_later: bool = False) -> Places:
    """(n, 2) the places of articles, from 0 to 1, such that articles with like topics are close.

    begin: (n, 2) where they start, by `started`, or earlier places, to which the map is turned and
    from which, if `is_later`, it moves no farther than it must
    """
    n = len(rows)
    if n <= NEIGHBOURS:
        return fitted(begin, begin)
    near = nearest(rows, Index.of(rows, K), NEIGHBOURS, among_themselves=True)
    part_of_usual_width = LATER_WIDTH if is_later else FIRST_WIDTH
    rounds = LATER_ROUNDS if is_later else ROUNDS
    width = math.sqrt(n) * part_of_usual_width
    width_of_begin = max(float(np.ptp(begin, axis=0).max()), 1e-9)
    places = (begin - begin.mean(axis=0)) * (width / width_of_begin)
    places = descended(places, near, rounds)
    return fitted(places, begin)


def descended(places: Places, near: NDArray[np.int32], rounds: int) -> Places:
    """(n, 2) the places after gradient descent with momentum, and a gain for each coordinate.

    near: (n, k) the neighbours, numbers of places
    """
    n = len(places)
    places = places.copy()
    farthest = math.sqrt(n) + _NEVER_FARTHER
    speed = np.zeros_like(places)
    gain = np.ones_like(places)
    for _ in range(rounds):
        field = Field.of(places)
        slope = np.zeros_like(places)
        attracted(places, near, 1 / (2 * near.size), slope)
        repelled(places, field.low, SPACING, field.potential, 1 / field.total, slope)
        leads_on = slope * speed > 0
        gain = np.maximum(np.where(leads_on, gain + 0.2, 0.8 * gain), 0.01)
        speed = np.clip(0.8 * speed + n * gain * slope, -5, 5)
        places += speed
        places -= places.mean(axis=0)
        places = np.clip(places, -farthest, farthest)
    return places


@dataclass(frozen=True, slots=True)
class Field:
    """The potential of landmarks at each node of a mesh, whose slope repels articles, and what that
    is divided by."""

    low: NDArray[np.float64]
    potential: NDArray[np.float64]
    total: float
    """The sum of the kernel over all pairs of landmarks."""

    @classmethod
    def of(cls, places: Places) -> Field:
        """The field of landmarks at these places."""
        from scipy import fft

        low = places.min(axis=0) - _EMPTY * SPACING
        nodes = np.ceil((places.max(axis=0) - low) / SPACING).astype(np.int64) + _EMPTY
        # Twice as large, so that the convolution does not reach around. In steps of 32 nodes, so
        # that the kernel seldom has to be transformed again.
        shape = (_rounded(2 * int(nodes[0])), _rounded(2 * int(nodes[1])))
        mesh = np.zeros(shape)
        spread(places, low, SPACING, mesh)
        potential = fft.irfft2(fft.rfft2(mesh) * _kernel_on(shape), shape)
        total = float((potential * mesh).sum()) - len(places)
        return cls(low, potential, max(total, 1e-9))


def _rounded(nodes: int) -> int:
    from scipy import fft

    in_steps = math.ceil(nodes / 32) * 32
    return int(fft.next_fast_len(in_steps, real=True))


@lru_cache(maxsize=1)  # the mesh seldom changes its shape
def _kernel_on(shape: tuple[int, int]) -> NDArray[np.complex128]:
    """(rows, columns // 2 + 1) the transform of 1 / (1 + d^2) on a mesh, sharpened by as much as
    B-splines blur: once where places are spread, once where the potential is read."""
    from scipy import fft

    x = fft.fftfreq(shape[0], 1 / shape[0])[:, None] * SPACING
    y = fft.fftfreq(shape[1], 1 / shape[1]) * SPACING
    # A B-spline of second degree is a box convolved with itself twice.
    box = np.sinc(fft.fftfreq(shape[0]))[:, None] * np.sinc(fft.rfftfreq(shape[1]))
    kernel_on_mesh: NDArray[np.complex128] = fft.rfft2(1 / (1 + x * x + y * y)) / box**6
    return kernel_on_mesh


ARTICLE_MARGIN = 0.01
"""Of the map, left free at each side; that of the map of topics is wider (`lands.MARGIN`)."""


def fitted(places: Places, like: Places) -> Places:
    """(n, 2) the places turned, or mirrored, to be like others, then stretched to fill the map."""
    return stretched(aligned(places, like), ARTICLE_MARGIN)


def aligned(places: Places, like: Places, counts: NDArray[np.bool_] | None = None) -> Places:
    """(n, 2) the places moved, turned or mirrored, and scaled, so that the sum of the squares of
    their distances from `like` is least (Procrustes).

    counts: (n,) the places that count in this sum; all are moved alike
    """
    if counts is None:
        counts = np.ones(len(places), np.bool_)
    if not counts.any():
        return places.copy()
    centre = places[counts].mean(axis=0)
    centre_wanted = like[counts].mean(axis=0)
    from_centre = places - centre
    counted = from_centre[counts]
    wanted = like[counts] - centre_wanted
    # Elementwise: a product of such matrices might depend on OpenBLAS's threads.
    products = (counted[:, :, None] * wanted[:, None, :]).sum(axis=0)
    left, sizes, right = np.linalg.svd(products)
    (a, b), (c, d) = left @ right
    scale = float(sizes.sum()) / max(float(np.square(counted).sum()), 1e-30)
    x, y = from_centre.T
    turned = np.stack([x * a + y * c, x * b + y * d], axis=1)
    result: Places = centre_wanted + scale * turned
    return result


def packed(places: Places) -> NDArray[np.uint16]:
    """(n, 2) the places as a session stores them: in 65,535ths of the map."""
    return np.rint(np.clip(places, 0, 1) * _WHOLE).astype(np.uint16)


def unpacked(stored: NDArray[np.uint16]) -> Places:
    """(n, 2) stored places, from 0 to 1."""
    return stored / _WHOLE


class Landmarks:
    """Articles that have their places, among which others are placed.

    It follows from the landmarks' topics and stored places alone, so that it need not be stored.
    """

    def __init__(self, rows: Rows, K: int, places: NDArray[np.uint16]) -> None:
        """places: (m, 2) by `packed`; at least one"""
        self._index = Index.of(rows, K)
        self._scale = math.sqrt(len(rows))
        self._places = unpacked(places) * self._scale
        self._field = Field.of(self._places)

    def placed(self, rows: Rows) -> NDArray[np.uint16]:
        """(n, 2) the places of these articles, each independent of the others.

        An article that shares no topic with any landmark is in the middle; one that the forces
        would push off the map is in the middle of its nearest landmarks.
        """
        near = nearest(rows, self._index, NEIGHBOURS)
        places = np.empty((len(rows), 2))
        field = self._field
        m = len(self._places)
        settled(
            near,
            self._places,
            field.low,
            SPACING,
            field.potential,
            m * NEIGHBOURS / field.total,
            self._scale / 2,
            places,
        )
        return packed(places / self._scale)


def moved(rows: Rows, places: Places, topic_places_before: Places, topic_places: Places) -> Places:
    """(n, 2) the places after articles have moved with their topics, each by the mean of the moves
    weighted by the squares of its proportions. Topics that were not or are not on the map (NaN) do
    not count."""
    move = topic_places - topic_places_before
    counts = np.isfinite(move.sum(axis=1))
    move = np.where(counts[:, None], move, 0.0)
    owners = rows.owners
    weights = np.power(rows.roots.astype(np.float64), 4) * counts[rows.topics]
    sums = np.bincount(owners, weights, minlength=len(rows))
    result = places.copy()
    for axis in range(2):
        by_topics = np.bincount(owners, weights * move[rows.topics, axis], minlength=len(rows))
        result[:, axis] += by_topics / np.maximum(sums, 1e-12)
    return np.clip(result, 0, 1)


# The loops.


@part
def quadratic(x: float) -> tuple[float, float, float]:
    """The weights of three neighbouring nodes for a place at x, within 1/2, of the middle one."""
    return (0.5 * (0.5 - x) * (0.5 - x), 0.75 - x * x, 0.5 * (0.5 + x) * (0.5 + x))


@kernel
def spread(places: Floats, low: Floats, spacing: float, mesh: Floats) -> None:
    """Add each place to the nine nodes around it, as a quadratic B-spline."""
    for i in range(places.shape[0]):
        x = (places[i, 0] - low[0]) / spacing
        y = (places[i, 1] - low[1]) / spacing
        row = math.floor(x + 0.5)
        column = math.floor(y + 0.5)
        below_x, at_x, above_x = quadratic(x - row)
        below_y, at_y, above_y = quadratic(y - column)
        for across in range(3):
            weight = below_x if across == 0 else (at_x if across == 1 else above_x)
            r = row + across - 1
            mesh[r, column - 1] += weight * below_y
            mesh[r, column] += weight * at_y
            mesh[r, column + 1] += weight * above_y


@part
def slopes(x: float) -> tuple[float, float, float]:
    """The derivatives of the weights that `quadratic` gives."""
    return (x - 0.5, -2 * x, x + 0.5)


@part
def force_at(
    x: float, y: float, low: Floats, spacing: float, potential: Floats
) -> tuple[float, float]:
    """The sum of the repulsions at a place: half the slope downwards of the potential, which is
    interpolated between nine nodes; 0 outside the mesh."""
    u = (x - low[0]) / spacing
    v = (y - low[1]) / spacing
    row = math.floor(u + 0.5)
    column = math.floor(v + 0.5)
    along = 0.0
    up = 0.0
    if 1 <= row < potential.shape[0] - 1 and 1 <= column < potential.shape[1] - 1:
        below_x, at_x, above_x = quadratic(u - row)
        below_y, at_y, above_y = quadratic(v - column)
        slope_below_x, slope_at_x, slope_above_x = slopes(u - row)
        slope_below_y, slope_at_y, slope_above_y = slopes(v - column)
        for across in range(3):
            weight = below_x if across == 0 else (at_x if across == 1 else above_x)
            slope = slope_below_x if across == 0 else (slope_at_x if across == 1 else slope_above_x)
            r = row + across - 1
            before = potential[r, column - 1]
            there = potential[r, column]
            after = potential[r, column + 1]
            along += slope * (below_y * before + at_y * there + above_y * after)
            up += weight * (slope_below_y * before + slope_at_y * there + slope_above_y * after)
    return -along / (2 * spacing), -up / (2 * spacing)


@kernel
def repelled(
    places: Floats,
    low: Floats,
    spacing: float,
    potential: Floats,
    factor: float,
    slope: Floats,
) -> None:
    """Add the repulsion at each place, times a factor, to its slope."""
    for i in range(places.shape[0]):
        x, y = force_at(places[i, 0], places[i, 1], low, spacing, potential)
        slope[i, 0] += factor * x
        slope[i, 1] += factor * y


@kernel
def attracted(places: Floats, near: Ids, factor: float, slope: Floats) -> None:
    """Add the attraction of each pair of neighbours to both."""
    for i in range(near.shape[0]):
        for place in range(near.shape[1]):
            j = near[i, place]
            if j == NOBODY:
                break
            x = places[j, 0] - places[i, 0]
            y = places[j, 1] - places[i, 1]
            pull = factor / (1 + x * x + y * y)
            slope[i, 0] += pull * x
            slope[i, 1] += pull * y
            slope[j, 0] -= pull * x
            slope[j, 1] -= pull * y


@kernel
def settled(
    near: Ids,
    landmarks: Floats,
    low: Floats,
    spacing: float,
    potential: Floats,
    factor: float,
    middle: float,
    places: Floats,
) -> None:
    """The place of each article between the attraction of its landmarks and the field of all.

    factor: of the field, if a landmark attracts with 1 / (1 + d^2)
    """
    for i in range(near.shape[0]):
        x = 0.0
        y = 0.0
        found = 0
        for place in range(min(FIRST_MEAN, near.shape[1])):
            j = near[i, place]
            if j == NOBODY:
                break
            x += landmarks[j, 0]
            y += landmarks[j, 1]
            found += 1
        if found == 0:
            places[i, 0] = middle
            places[i, 1] = middle
            continue
        x /= found
        y /= found
        places[i, 0] = x
        places[i, 1] = y
        for _ in range(STEPS):
            push_x, push_y = force_at(x, y, low, spacing, potential)
            sum_x = factor * push_x
            sum_y = factor * push_y
            weights = 0.0
            for place in range(near.shape[1]):
                j = near[i, place]
                if j == NOBODY:
                    break
                along = landmarks[j, 0] - x
                up = landmarks[j, 1] - y
                pull = 1 / (1 + along * along + up * up)
                sum_x += pull * along
                sum_y += pull * up
                weights += pull
            # The step that would end all forces, if the weights stayed as they are.
            x += sum_x / weights
            y += sum_y / weights
        # An article that has little to do with any landmark may be pushed off the map.
        if 0 <= x <= 2 * middle and 0 <= y <= 2 * middle:
            places[i, 0] = x
            places[i, 1] = y

"""t-SNE [van der Maaten and Hinton 2008] of the distances of U topics, from nothing or from earlier
places.

`topic_map.py` makes of it the map that is shown.
"""

from __future__ import annotations

import math

import numpy as np

from wikitopics.compiled import kernel
from wikitopics.model.distances import classical_scaling
from wikitopics.model.minibatch import Floats, Indices, Matrix

PERPLEXITY = 8.0
"""Roughly the number of neighbours that determine a topic's place (the perplexity of t-SNE)."""
FIRST_ROUNDS = 400
"""The steps of the first map."""
ROUNDS = 100
"""The steps of a map that starts from an earlier one."""
MANY = 300
"""The number of topics above which there are fewer steps, so that they take no longer."""
EXAGGERATED = 120
"""The first steps of the first map, in which topics attract each other more strongly, so that
groups form."""
EXAGGERATION = 8.0
"""The factor by which they do."""
BISECTIONS = 30
"""The most steps in which the width of a topic's neighbourhood is found."""
EXACT = 1e-6
"""The error of its entropy with which the search ends."""


def places(far: Matrix, before: Matrix, rounds: int = ROUNDS) -> Matrix:
    """(U, 2) a place for each topic, such that topics at small distances are close together.

    far: (U, U) the distances
    before: (U, 2) earlier places, NaN for a topic without one
    rounds: the steps from there; 0: only topics without a place get one; `FIRST_ROUNDS`: the map is
    made as if anew, but begins as they lie. A map without earlier places takes as many
    """
    U = len(far)
    if U < 4:
        return classical_scaling(far)
    placed = np.flatnonzero(np.isfinite(before).all(axis=1))
    if len(placed) < 4:
        place = classical_scaling(far)
        rounds = FIRST_ROUNDS
    else:
        place = _with_newcomers(far, before, placed)
    exaggerated = 0
    if rounds == FIRST_ROUNDS:
        place = place / max(float(place.std()), 1e-9) * 1e-2
        exaggerated = EXAGGERATED
    if rounds == 0:
        return place
    rounds = round(rounds * min(1.0, MANY / U) ** 2)  # a step takes time U^2
    wanted = _neighbours(far, min(PERPLEXITY, U / 4))
    found = np.ascontiguousarray(place.T)
    descend(wanted, rounds, exaggerated, found)
    return found.T.copy()


def _with_newcomers(far: Matrix, before: Matrix, placed: Indices) -> Matrix:
    """(U, 2) the earlier places of the topics `placed`, and a place for each of the other topics:
    among its three nearest, but not exactly on one of them."""
    place = before.copy()
    newcomers = np.setdiff1d(np.arange(len(before)), placed)
    for topic in newcomers:
        by_distance = np.argsort(far[topic, placed], kind="stable")
        nearest = placed[by_distance[:3]]
        beside = 1e-2 * np.array([np.cos(topic), np.sin(topic)])
        place[topic] = before[nearest].mean(axis=0) + beside
    return place


def _neighbours(far: Matrix, perplexity: float) -> Matrix:
    """(U, U) t-SNE's joint probabilities of pairs of topics."""
    U = len(far)
    squares = np.square(far)
    np.fill_diagonal(squares, np.inf)
    squares -= squares.min(axis=1, keepdims=True)
    near = np.empty((U, U))
    weigh(squares, math.log(perplexity), near)
    joint: Matrix = np.clip((near + near.T) / (2 * U), 1e-12, None)
    return joint


@kernel
def weigh(squares: Floats, wanted: float, near: Floats) -> None:
    """Fill in the probabilities (U, U) with which each topic is near others: normal distributions
    whose precisions are found by bisection, so that the entropy is the one wanted.

    squares: (U, U) of the distances, infinite from a topic to itself
    """
    U = len(squares)
    for i in range(U):
        low = 0.0
        high = np.inf
        precision = 1.0
        for _ in range(BISECTIONS):
            total = 0.0
            weighted = 0.0
            for j in range(U):
                near[i, j] = 0.0 if j == i else math.exp(-squares[i, j] * precision)
                total += near[i, j]
                weighted += 0.0 if j == i else squares[i, j] * near[i, j]
            entropy = math.log(total) + precision * weighted / total
            for j in range(U):
                near[i, j] /= total
            if abs(entropy - wanted) < EXACT:
                break
            if entropy > wanted:
                low = precision
            else:
                high = precision
            precision = 2 * precision if high == np.inf else (low + high) / 2


@kernel
def descend(wanted: Floats, rounds: int, exaggerated: int, place: Floats) -> None:
    """Move the places, (2, U), down the gradient of t-SNE's cost, with momentum, and a gain for
    each coordinate.

    wanted: (U, U) the joint probabilities of pairs that the places are to have
    """
    U = place.shape[1]
    near = np.zeros((U, U))
    speed = np.zeros((2, U))
    gain = np.ones((2, U))
    slope = np.empty((2, U))
    for step in range(rounds):
        attraction = EXAGGERATION if step < exaggerated else 1.0
        momentum = 0.5 if step < exaggerated else 0.8
        total = 0.0
        for i in range(U):
            for j in range(U):
                x = place[0, i] - place[0, j]
                y = place[1, i] - place[1, j]
                near[i, j] = 1 / (1 + x * x + y * y)
            near[i, i] = 0
            for j in range(U):
                total += near[i, j]
        for i in range(U):
            slope_x = 0.0
            slope_y = 0.0
            for j in range(U):
                force = (attraction * wanted[i, j] - near[i, j] / total) * near[i, j]
                slope_x += force * (place[0, i] - place[0, j])
                slope_y += force * (place[1, i] - place[1, j])
            slope[0, i] = 4 * slope_x
            slope[1, i] = 4 * slope_y
        for axis in range(2):
            mean = 0.0
            for i in range(U):
                # The gain grows while the slope leads on in the same direction, and shrinks when it
                # turns.
                downhill = (slope[axis, i] > 0) != (speed[axis, i] > 0)
                grown = gain[axis, i] + 0.2 if downhill else 0.8 * gain[axis, i]
                gain[axis, i] = max(grown, 0.01)
                push = U / 8 * gain[axis, i] * slope[axis, i]
                speed[axis, i] = momentum * speed[axis, i] - push
                place[axis, i] += speed[axis, i]
                mean += place[axis, i] / U
            for i in range(U):
                place[axis, i] -= mean

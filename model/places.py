"""The map of topics: t-SNE [van der Maaten and Hinton 2008] of their distances, which changes as
little from snapshot to snapshot as the topics allow. U topics are on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.distances import classical_scaling

Floats = NDArray[np.float64]
Topics = NDArray[np.int64]

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


def places(far: Floats, before: Floats, rounds: int = ROUNDS) -> Floats:
    """(U, 2) a place for each topic, such that topics at small distances are close together.

    far: (U, U) the distances
    before: (U, 2) earlier places, NaN for a topic without one; the map changes as little as
    possible
    rounds: the most steps; 0: only topics without a place get one. A map without earlier places
    takes steps of its own
    """
    U = len(far)
    if U < 4:
        return classical_scaling(far)
    placed = np.flatnonzero(np.isfinite(before).all(axis=1))
    if len(placed) < 4:
        start = classical_scaling(far)
        place = start / max(float(start.std()), 1e-9) * 1e-2
        rounds = FIRST_ROUNDS
        exaggerated = EXAGGERATED
    else:
        place = _with_newcomers(far, before, placed)
        exaggerated = 0
    if rounds == 0:
        return place
    rounds = round(rounds * min(1.0, MANY / U) ** 2)  # a step takes time U^2
    wanted = _neighbours(far, min(PERPLEXITY, U / 4))
    # Gradient descent with momentum, and a gain for each coordinate.
    speed = np.zeros_like(place)
    gain = np.ones_like(place)
    for step in range(rounds):
        early = step < exaggerated
        attraction = EXAGGERATION if early else 1.0
        momentum = 0.5 if early else 0.8
        slope = _slope(place, attraction * wanted)
        # The gain grows while the slope leads on in the same direction, and shrinks when it turns.
        downhill = (slope > 0) != (speed > 0)
        gain = np.where(downhill, gain + 0.2, 0.8 * gain)
        gain = np.clip(gain, 0.01, None)
        speed = momentum * speed - U / 8 * gain * slope
        place = place + speed
        place -= place.mean(axis=0)
    return place


def _with_newcomers(far: Floats, before: Floats, placed: Topics) -> Floats:
    """The earlier places of the topics `placed`, and a place for each of the other topics: among
    its three nearest, but not exactly on one of them."""
    place = before.copy()
    newcomers = np.setdiff1d(np.arange(len(before)), placed)
    for topic in newcomers:
        by_distance = np.argsort(far[topic, placed], kind="stable")
        nearest = placed[by_distance[:3]]
        beside = 1e-2 * np.array([np.cos(topic), np.sin(topic)])
        place[topic] = before[nearest].mean(axis=0) + beside
    return place


def _slope(place: Floats, wanted: Floats) -> Floats:
    """(U, 2) the gradient of t-SNE's cost at these places; `wanted`: (U, U) the joint probabilities
    of pairs that the places are to have."""
    # The differences of all pairs in each coordinate, (U, U). All is elementwise: products of such
    # small matrices keep other cores busy waiting.
    x, y = place.T[:, :, None] - place.T[:, None]
    near = 1 / (1 + x * x + y * y)
    np.fill_diagonal(near, 0)
    force = (wanted - near / near.sum()) * near
    slope: Floats = 4 * np.stack([(force * x).sum(axis=1), (force * y).sum(axis=1)], axis=1)
    return slope


def _neighbours(far: Floats, perplexity: float) -> Floats:
    """(U, U) t-SNE's joint probabilities of pairs of topics.

    The precision of each topic's normal distribution is found by bisection, so that its neighbours
    have this perplexity.
    """
    from scipy.special import entr

    U = len(far)
    squares = np.square(far)
    np.fill_diagonal(squares, np.inf)
    squares -= squares.min(axis=1, keepdims=True)
    low = np.zeros(U)
    high = np.full(U, np.inf)
    precision = np.ones(U)
    for _ in range(30):
        near = np.exp(-squares * precision[:, None])
        near /= near.sum(axis=1, keepdims=True)
        entropy = entr(near).sum(axis=1)
        too_wide = entropy > np.log(perplexity)
        low = np.where(too_wide, precision, low)
        high = np.where(too_wide, high, precision)
        no_bound_yet = np.isinf(high)
        precision = np.where(no_bound_yet, 2 * precision, (low + high) / 2)
    joint: Floats = np.clip((near + near.T) / (2 * U), 1e-12, None)
    return joint

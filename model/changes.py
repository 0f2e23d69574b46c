"""What became of the topics between two looks at one model: births, deaths, splits and merges."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from model.leading import Leading, affinity
from model.naming import ownership
from model.online import IN_USE

Kind = Literal["born", "died", "split", "merged", "renamed"]
OWN = 0.25
"""Mean ownership of a topic's first words from which they are its own, until it falls below a third of it."""
FIRST = 10
"""Words of which that is the mean."""
KINSHIP = 0.5
"""Affinity from which one topic's words have gone to another."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a topic.

    born: it has come into use with words of its own. died: it has fallen to half of what "in use" means, or
    its words are others'.
    split: ``other`` is born with words that it had before. merged: it died, and ``other`` has its words.
    renamed: its words have become others, so that it has another name.
    """

    kind: Kind
    topic: int
    other: int | None = None


def changes(
    before: Leading | None, after: Leading, shares: NDArray[Any], alive: Collection[int]
) -> list[Change]:
    """What has happened since ``before``, None for the first look; births first, each by topic number.

    shares: (K,) of the corpus, after. alive: the topics born and not dead up to now.
    """
    owned = ownership(after, shares)[:, :FIRST].mean(axis=1)
    up = (np.asarray(shares) > IN_USE) & (owned >= OWN)
    down = (np.asarray(shares) < IN_USE / 2) | (owned < OWN / 3)
    living = np.zeros(len(up), np.bool_)
    living[list(alive)] = True
    born, dead = np.flatnonzero(up & ~living), np.flatnonzero(down & living)
    stay = living & ~down
    found = []
    for topic in born.tolist():
        parent = _kin(before, after, topic, stay)
        found.append(Change("born", topic) if parent is None else Change("split", parent, topic))
    for topic in dead.tolist():
        heir = None if before is None else _kin(after, before, topic, stay)
        found.append(Change("died", topic) if heir is None else Change("merged", topic, heir))
    return found


def living(alive: Collection[int], found: Collection[Change]) -> set[int]:
    """The topics alive after these changes."""
    born = {change.topic for change in found if change.kind == "born"}
    split = {change.other for change in found if change.kind == "split" and change.other is not None}
    ended = {change.topic for change in found if change.kind in ("died", "merged")}
    return (set(alive) | born | split) - ended


def _kin(theirs: Leading | None, own: Leading, topic: int, candidates: NDArray[np.bool_]) -> int | None:
    """The candidate that in ``theirs`` leads with most of what ``topic`` leads with in ``own``, if enough."""
    if theirs is None:
        return None
    near = affinity(theirs, own, topic)
    near[~candidates] = 0
    near[topic] = 0
    nearest = int(near.argmax())
    return nearest if near[nearest] >= KINSHIP else None

"""What happened to the topics of one model from look to look: births, deaths, splits, mergers and
renamings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.online import IN_USE
from wikitopics.model.topics.leading import Leading, affinity
from wikitopics.model.topics.names import WORDS, fits, most_relevant, ownership

Kind = Literal["born", "died", "split", "merged", "renamed"]
LOOKS = 3
"""Looks in a row at which a change must hold before it is reported."""
LARGEST = 30
"""A topic must be among this many largest ones to be born."""
OWN = 0.25
"""A topic's first words are its own if their mean ownership is at least this, until it falls below a third
of it."""
FIRST = 10
"""The number of first words in that mean."""
KINSHIP = 0.5
"""The affinity from which one topic's words count as gone to another."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a topic.

    born: it is one of the large ones and has words of its own. died: it has fallen to half of what "in use"
    means, or its words are others'.
    split: ``other`` is born with words that it had before. merged: it died, and ``other`` has its words.
    renamed: its words have changed so much that it has another name.
    """

    kind: Kind
    topic: int
    other: int | None = None


class Look:
    """The topics of a model at one moment."""

    def __init__(self, leading: Leading, shares: NDArray[Any]) -> None:
        """``shares``: (K,) of the corpus."""
        self.leading = leading
        self.relevant = most_relevant(leading, shares)
        owned = ownership(leading, shares)[:, :FIRST].mean(axis=1)
        large = shares >= np.sort(shares)[-LARGEST:][0]
        self.up: NDArray[np.bool_] = large & (shares > IN_USE) & (owned >= OWN)
        """(K,) whether a topic qualifies for birth."""
        self.down: NDArray[np.bool_] = (shares < IN_USE / 2) | (owned < OWN / 3)
        """(K,) whether a topic qualifies for death."""


def changes(looks: Sequence[Look], alive: Collection[int]) -> list[Change]:
    """The changes that hold at each of these looks; births first, then by topic number.

    alive: the topics born and not yet dead.
    """
    if len(looks) < LOOKS:
        return []
    first, *_, last = looks
    living = np.isin(np.arange(len(last.up)), list(alive))
    up, down = (np.all(said, axis=0) for said in ([one.up for one in looks], [one.down for one in looks]))
    stay = living & ~down
    found = []
    for topic in np.flatnonzero(up & ~living).tolist():
        name = last.relevant[topic, :WORDS].tolist()
        if all(fits(name, one.relevant[topic].tolist()) for one in looks):
            parent = _kin(first, last, topic, stay)
            found.append(Change("born", topic) if parent is None else Change("split", parent, topic))
    for topic in np.flatnonzero(living & down).tolist():
        heir = _kin(last, first, topic, stay)
        found.append(Change("died", topic) if heir is None else Change("merged", topic, heir))
    return found


def living(alive: Collection[int], found: Collection[Change]) -> set[int]:
    """The topics alive after these changes."""
    born = {change.topic for change in found if change.kind == "born"}
    split = {change.other for change in found if change.kind == "split" and change.other is not None}
    ended = {change.topic for change in found if change.kind in ("died", "merged")}
    return (set(alive) | born | split) - ended


def _kin(theirs: Look, own: Look, topic: int, candidates: NDArray[np.bool_]) -> int | None:
    """The candidate whose leading words in ``theirs`` share most with ``topic``'s in ``own``, if they
    share enough."""
    near = affinity(theirs.leading, own.leading, topic)
    near[~candidates] = 0
    near[topic] = 0
    nearest = int(near.argmax())
    return nearest if near[nearest] >= KINSHIP else None

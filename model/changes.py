"""What happens to the topics of a model between looks: births, deaths, splits, mergers and
renamings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.distances import affinity
from wikitopics.model.naming import WORDS, fits
from wikitopics.model.online import IN_USE, Leading
from wikitopics.model.relevance import most_relevant, ownership

Kind = Literal["born", "died", "split", "merged", "renamed"]
LOOKS = 3
"""Looks in a row at which a change must hold before it is reported."""
LARGEST = 30
"""A topic must be among this many of the largest to be born."""
OWN = 0.25
"""A topic's first words become its own when their mean ownership reaches this, and remain so until
it falls below a third of it."""
FIRST = 10
"""The number of first words in that mean."""
KINSHIP = 0.5
"""The affinity from which one topic's words count as gone to another."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a topic.

    born: it has become large, with words of its own. died: its share has fallen to half the
    threshold of topics in use, or its words have gone to other topics.
    split: ``other`` is born with words that this topic had. merged: it died, and ``other`` has its
    words.
    renamed: its words have changed so much that it has a new name.
    """

    kind: Kind
    topic: int
    other: int | None = None


class TopicState:
    """The topics of a model at one moment."""

    def __init__(self, leading: Leading, shares: NDArray[Any]) -> None:
        """``shares``: (K,) of the corpus."""
        self.leading = leading
        self.relevant = most_relevant(leading, shares)
        of_first_words = ownership(leading, shares)[:, :FIRST]
        owned = of_first_words.mean(axis=1)
        largest = np.sort(shares)[-LARGEST:]
        large = shares >= largest.min()
        self.up: NDArray[np.bool_] = large & (shares > IN_USE) & (owned >= OWN)
        """(K,) whether a topic qualifies for birth."""
        self.down: NDArray[np.bool_] = (shares < IN_USE / 2) | (owned < OWN / 3)
        """(K,) whether a topic qualifies for death."""


def changes(looks: Sequence[TopicState], alive: Collection[int]) -> list[Change]:
    """The changes that hold at each of these looks; births first, then by topic number.

    alive: the topics born and not yet dead.
    """
    if len(looks) < LOOKS:
        return []
    first, *_, last = looks
    living = np.isin(np.arange(len(last.up)), list(alive))
    up = np.all([look.up for look in looks], axis=0)
    down = np.all([look.down for look in looks], axis=0)
    stay = living & ~down
    events = []
    for topic in np.flatnonzero(up & ~living).tolist():
        name = last.relevant[topic, :WORDS].tolist()
        if not all(fits(name, look.relevant[topic].tolist()) for look in looks):
            continue
        parent = _kin(first, last, topic, stay)
        if parent is None:
            events.append(Change("born", topic))
        else:
            events.append(Change("split", parent, topic))
    for topic in np.flatnonzero(living & down).tolist():
        heir = _kin(last, first, topic, stay)
        if heir is None:
            events.append(Change("died", topic))
        else:
            events.append(Change("merged", topic, heir))
    return events


def living(alive: Collection[int], events: Collection[Change]) -> set[int]:
    """The topics alive after these changes."""
    born = {change.topic for change in events if change.kind == "born"}
    split = {
        change.other for change in events if change.kind == "split" and change.other is not None
    }
    ended = {change.topic for change in events if change.kind in ("died", "merged")}
    return (set(alive) | born | split) - ended


def _kin(
    theirs: TopicState,
    own: TopicState,
    topic: int,
    candidates: NDArray[np.bool_],
) -> int | None:
    """The candidate whose leading words in ``theirs`` have most in common with ``topic``'s in
    ``own``, if they have enough."""
    near = affinity(theirs.leading, own.leading, topic)
    near[~candidates] = 0
    near[topic] = 0
    nearest = int(near.argmax())
    return nearest if near[nearest] >= KINSHIP else None

"""What happens to the topics of a model between observations: births, deaths, splits, mergers and
renamings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.distances import affinity
from wikitopics.model.naming import WORDS_IN_NAME, most_words_relevant
from wikitopics.model.online import IN_USE, Leading
from wikitopics.model.relevance import most_relevant, ownership

Kind = Literal["born", "died", "split", "merged", "renamed"]
OBSERVATIONS = 3
"""Observations in a row at which a change must hold before it is reported."""
LARGEST_TOPICS = 30
"""A topic must be among this many of the largest to be born."""
OWNERSHIP = 0.25
"""A topic's first words become its own when their mean ownership reaches this, and remain so until
it falls below a third of it."""
FIRST_WORDS = 10
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
        of_first_words = ownership(leading, shares)[:, :FIRST_WORDS]
        owned = of_first_words.mean(axis=1)
        largest = np.sort(shares)[-LARGEST_TOPICS:]
        large = shares >= largest.min()
        self.up: NDArray[np.bool_] = large & (shares > IN_USE) & (owned >= OWNERSHIP)
        """(K,) whether a topic qualifies for birth."""
        self.down: NDArray[np.bool_] = (shares < IN_USE / 2) | (owned < OWNERSHIP / 3)
        """(K,) whether a topic qualifies for death."""


def changes(observations: Sequence[TopicState], alive: Collection[int]) -> list[Change]:
    """The changes that hold at each of these observations; births first, then by topic number.

    alive: the topics born and not yet dead.
    """
    if len(observations) < OBSERVATIONS:
        return []
    first, *_, last = observations
    living = np.isin(np.arange(len(last.up)), list(alive))
    up = np.all([observation.up for observation in observations], axis=0)
    down = np.all([observation.down for observation in observations], axis=0)
    stay = living & ~down
    events = []
    for topic in np.flatnonzero(up & ~living).tolist():
        name = last.relevant[topic, :WORDS_IN_NAME].tolist()
        if not all(
            most_words_relevant(name, observation.relevant[topic].tolist())
            for observation in observations
        ):
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

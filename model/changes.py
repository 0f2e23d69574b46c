"""What happens to the topics of a model between observations: births, deaths, splits, mergers and
renamings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.distances import affinity
from wikitopics.model.naming import WORDS_IN_NAME, most_words_fit
from wikitopics.model.online import IN_USE, Leading
from wikitopics.model.relevance import ownership

Kind = Literal["born", "died", "split", "merged", "renamed"]
OBSERVATIONS = 3
"""The number of observations in a row at which a change must hold before it is reported."""
LARGEST_TOPICS = 30
"""A topic must be among this many of the largest to be born."""
OWNERSHIP = 0.25
"""A topic's first words become its own when their mean ownership reaches this, and remain its own
until their mean ownership falls below a third of this."""
FIRST_WORDS = 10
"""The number of first words whose ownership is averaged."""
KINSHIP = 0.5
"""The affinity from which one topic's words count as gone to another."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a topic.

    born: the topic has become large, with words of its own
    died: its share has fallen to half the threshold of topics in use, or its words have gone to
    other topics
    split: ``other`` is born with words that this topic had
    merged: the topic died, and ``other`` has its words
    renamed: its words have changed so much that it has a new name
    """

    kind: Kind
    topic: int
    other: int | None = None


class TopicState:
    """The topics of a model at one moment."""

    def __init__(
        self,
        leading: Leading,
        shown: NDArray[np.integer[Any]],
        shares: NDArray[Any],
    ) -> None:
        """``shown``: (K, n) the ids of the topics' words in the order in which they are shown;
        ``shares``: (K,) of the corpus."""
        self.leading = leading
        self.shown = shown
        of_first_words = ownership(leading, shares)[:, :FIRST_WORDS]
        owned = of_first_words.mean(axis=1)
        largest = np.sort(shares)[-LARGEST_TOPICS:]
        large = shares >= largest.min()
        self.may_be_born: NDArray[np.bool_] = large & (shares > IN_USE) & (owned >= OWNERSHIP)
        """(K,) whether a topic qualifies for birth."""
        self.may_die: NDArray[np.bool_] = (shares < IN_USE / 2) | (owned < OWNERSHIP / 3)
        """(K,) whether a topic qualifies for death."""


def changes(observations: Sequence[TopicState], alive: Collection[int]) -> list[Change]:
    """The changes that hold at each of these observations, births before deaths, each by topic
    number.

    alive: the topics that were born and have not died
    """
    if len(observations) < OBSERVATIONS:
        return []
    first, *_, last = observations
    K = len(last.shown)
    is_alive = np.isin(np.arange(K), list(alive))
    qualify = np.all([observation.may_be_born for observation in observations], axis=0)
    fail = np.all([observation.may_die for observation in observations], axis=0)
    born = qualify & ~is_alive
    dead = fail & is_alive
    stay = is_alive & ~dead
    events = []
    for topic in np.flatnonzero(born).tolist():
        name = last.shown[topic, :WORDS_IN_NAME].tolist()
        lasting = [
            most_words_fit(name, observation.shown[topic].tolist()) for observation in observations
        ]
        if not all(lasting):
            continue
        # The topic whose words at first are this topic's words in the end.
        parent = _kin(first, last, topic, stay)
        if parent is None:
            events.append(Change("born", topic))
        else:
            events.append(Change("split", parent, topic))
    for topic in np.flatnonzero(dead).tolist():
        # The topic whose words in the end are this topic's words at first.
        heir = _kin(last, first, topic, stay)
        if heir is None:
            events.append(Change("died", topic))
        else:
            events.append(Change("merged", topic, heir))
    return events


def living(alive: Collection[int], events: Collection[Change]) -> set[int]:
    """The topics alive after these changes."""
    now_alive = set(alive)
    for change in events:
        if change.kind == "born":
            now_alive.add(change.topic)
        elif change.kind == "split" and change.other is not None:
            now_alive.add(change.other)
        elif change.kind in ("died", "merged"):
            now_alive.discard(change.topic)
    return now_alive


def _kin(
    of_candidates: TopicState,
    of_topic: TopicState,
    topic: int,
    candidates: NDArray[np.bool_],
) -> int | None:
    """The candidate that has most in common with ``topic``; None if none has enough in common.

    ``of_candidates``: the state by whose leading words candidates are judged; ``of_topic``: the one
    by whose leading words the topic is judged.
    """
    near = affinity(of_candidates.leading, of_topic.leading, topic)
    near[~candidates] = 0
    near[topic] = 0
    nearest = int(near.argmax())
    return nearest if near[nearest] >= KINSHIP else None

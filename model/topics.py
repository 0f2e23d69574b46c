"""What a model's topics say: their names, which of them are alike, and what happened to them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.coherence import Leading, affinity, distances
from wikitopics.model.online import IN_USE

# Names of topics: the leading words that tell a topic apart from the others.

RELEVANCE = 0.6
"""Weight of a word's probability against its lift, [Sievert and Shirley 2014]'s lambda; docs/topics.md says
how it was chosen."""
WORDS = 3
"""Words in a name."""
SUITING = 2
"""This many of a shown name's words are among the topic's most probable ones."""
LOYALTY = 10
"""A name holds while its words are among this many of the topic's most relevant ones."""


def ownership(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) this topic's share of the uses of each leading word in all topics that lead with it.

    1 for a word that leads no other topic. shares: (K,) of the corpus
    """
    ids, probabilities = leading
    uses = probabilities.astype(np.float64) * np.asarray(shares, np.float64)[:, None]
    total = np.bincount(ids.ravel(), uses.ravel(), minlength=1)[ids]
    owned: NDArray[np.float64] = np.divide(uses, total, out=np.zeros_like(uses), where=total > 0)
    return owned


def distinctness(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K,) how distinct each topic's words are: `ownership` of its leading words, weighted by their uses.

    Near 1 / K while all topics are alike, near 1 for a topic whose words lead no other.
    """
    probabilities = leading[1].astype(np.float64)
    uses = probabilities.sum(1)
    own = (ownership(leading, shares) * probabilities).sum(1)
    distinct: NDArray[np.float64] = np.divide(own, uses, out=np.zeros_like(uses), where=uses > 0)
    return distinct


def relevance(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> NDArray[np.float64]:
    """(K, n) how well each leading word represents its topic.

    weight log p(w|k) + (1 - weight) log (p(w|k) / p(w)); p(w) is taken from the topics that lead with the
    word. -inf for a word without probability.
    """
    probabilities = leading[1].astype(np.float64)
    with np.errstate(divide="ignore"):
        # p(w|k) / p(w) = p(k|w) / share_k, and a topic's share does not change the order of its words.
        fit: NDArray[np.float64] = weight * np.log(probabilities) + (1 - weight) * np.log(
            ownership(leading, shares)
        )
    return fit


def by_relevance(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> Leading:
    """The same words, the most relevant first; ties stay in their order."""
    ids, probabilities = leading
    order = np.argsort(-relevance(leading, shares, weight), axis=1, kind="stable")
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(probabilities, order, axis=1)


def most_relevant(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> NDArray[np.int32]:
    """(K, n) the leading words by id, the most relevant first."""
    return by_relevance(leading, shares, weight)[0]


def most_relevant_to(
    groups: Sequence[Sequence[int]], leading: Leading, shares: NDArray[Any]
) -> list[NDArray[np.int64]]:
    """The leading words of each group's topics, by id, those most relevant to the group first."""
    ids, probabilities = leading
    uses = probabilities.astype(np.float64) * np.asarray(shares, np.float64)[:, None]
    total = np.bincount(ids.ravel(), uses.ravel())
    words_of_groups = []
    for group in groups:
        topics = list(group)
        used = np.bincount(ids[topics].ravel(), uses[topics].ravel(), len(total))
        words = np.flatnonzero(used)
        # As in `relevance`; the group's share does not change the order either.
        fit = RELEVANCE * np.log(used[words]) + (1 - RELEVANCE) * np.log(used[words] / total[words])
        words_of_groups.append(words[np.argsort(-fit, kind="stable")])
    return words_of_groups


def name(relevant: Sequence[str]) -> tuple[str, ...]:
    """The words of a topic's name.

    ``relevant``: the topic's words, the most relevant first. Of two forms of a word ("film", "films") only
    the first counts.
    """
    chosen: list[str] = []
    for word in relevant:
        if not any(_same_word(word, other) for other in chosen):
            chosen.append(word)
        if len(chosen) == WORDS:
            break
    return tuple(chosen)


def fits(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all but one of a name's words are among the first of ``relevant``, given as words or ids."""
    return len(set(name) & set(relevant[:LOYALTY])) >= max(1, len(name) - 1)


def holds(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all words of a name are among the first of ``relevant``, given as words or ids."""
    return set(name) <= set(relevant[:LOYALTY])


def suits(name: Sequence[Hashable], leading: Sequence[Hashable]) -> bool:
    """Whether at least two of a name's words are among ``leading``, the topic's most probable ones; a name of
    one word suits."""
    return len(name) < SUITING or len(set(name) & set(leading)) >= SUITING


def _same_word(one: str, other: str) -> bool:
    """Whether two words differ only in their last letters: "film" and "films", "party" and "parties".

    Titles, which have capitals, are different things even then: "Iran" and "Iraq".
    """
    if one != one.lower():
        return False
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= 3 and len(long) - len(short) <= 2 and long.startswith(short[: max(3, len(short) - 1)])
    )


# Topics that nearly repeat another topic.

NEAR = 0.5
"""The Hellinger distance of leading words up to which two topics have one subject: see docs/topics.md."""


class Repeat(NamedTuple):
    """A topic, and the larger one that it nearly repeats."""

    topic: int
    of: int


def repeats(leading: Leading, shares: NDArray[np.floating]) -> list[Repeat]:
    """The topics in use that nearly repeat a larger one, the closest pairs first.

    Of two equally large topics, the later repeats the earlier. A topic close to several repeats the nearest.
    """
    largest_first = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares > IN_USE)]
    if len(largest_first) < 2:
        return []
    far = distances((leading[0][largest_first], leading[1][largest_first]))
    far[np.triu_indices(len(far))] = np.inf
    nearest = sorted((row.min(), place, int(row.argmin())) for place, row in enumerate(far))
    return [
        Repeat(int(largest_first[topic]), int(largest_first[of]))
        for distance, topic, of in nearest
        if distance <= NEAR
    ]


# Topics clustered by similarity, so that hundreds of them can be read.


@dataclass(frozen=True, slots=True)
class Node:
    """Two topics or groups of topics that are closer to each other than to the rest.

    Topics are numbered from 0 to K - 1, nodes from K on, in the order in which they were joined.
    """

    number: int
    children: tuple[int, int]
    height: float
    """How far apart the children are, from 0; never lower than for the children themselves."""
    topics: tuple[int, ...]
    """The topics of all its branches, in drawing order."""


def tree(leading: Leading) -> tuple[Node, ...]:
    """The K - 1 nodes over K topics, by Ward's method; the last is the root, and a single topic has none."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    far = distances(leading)
    K = len(far)
    if K < 2:
        return ()
    nodes: list[Node] = []
    topics: dict[int, tuple[int, ...]] = {topic: (topic,) for topic in range(K)}
    for number, (one, other, height, _) in enumerate(linkage(squareform(far, checks=False), "ward"), K):
        children = int(one), int(other)
        topics[number] = topics[children[0]] + topics[children[1]]
        nodes.append(Node(number, children, float(height), topics[number]))
    return tuple(nodes)


def parents(nodes: tuple[Node, ...]) -> dict[int, int]:
    """The node above each topic and node; the root has none."""
    return {child: node.number for node in nodes for child in node.children}


# What happened to the topics of one model from look to look: births, deaths, splits, mergers and
# renamings.

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


class TopicState:
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


def changes(looks: Sequence[TopicState], alive: Collection[int]) -> list[Change]:
    """The changes that hold at each of these looks; births first, then by topic number.

    alive: the topics born and not yet dead.
    """
    if len(looks) < LOOKS:
        return []
    first, *_, last = looks
    living = np.isin(np.arange(len(last.up)), list(alive))
    up, down = (np.all(said, axis=0) for said in ([one.up for one in looks], [one.down for one in looks]))
    stay = living & ~down
    events = []
    for topic in np.flatnonzero(up & ~living).tolist():
        name = last.relevant[topic, :WORDS].tolist()
        if all(fits(name, one.relevant[topic].tolist()) for one in looks):
            parent = _kin(first, last, topic, stay)
            events.append(Change("born", topic) if parent is None else Change("split", parent, topic))
    for topic in np.flatnonzero(living & down).tolist():
        heir = _kin(last, first, topic, stay)
        events.append(Change("died", topic) if heir is None else Change("merged", topic, heir))
    return events


def living(alive: Collection[int], events: Collection[Change]) -> set[int]:
    """The topics alive after these changes."""
    born = {change.topic for change in events if change.kind == "born"}
    split = {change.other for change in events if change.kind == "split" and change.other is not None}
    ended = {change.topic for change in events if change.kind in ("died", "merged")}
    return (set(alive) | born | split) - ended


def _kin(theirs: TopicState, own: TopicState, topic: int, candidates: NDArray[np.bool_]) -> int | None:
    """The candidate whose leading words in ``theirs`` share most with ``topic``'s in ``own``, if they
    share enough."""
    near = affinity(theirs.leading, own.leading, topic)
    near[~candidates] = 0
    near[topic] = 0
    nearest = int(near.argmax())
    return nearest if near[nearest] >= KINSHIP else None

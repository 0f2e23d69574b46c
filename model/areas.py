"""Areas: a model's topics grouped by meaning, and their places on a map.

Topics are similar if they use the same words and meet in the same documents. From snapshot to
snapshot, areas and places change as little as the topics allow. U of the K topics are in use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.distances import classical_scaling
from wikitopics.model.naming import all_words_relevant
from wikitopics.model.online import IN_USE, Leading, OnlineModel
from wikitopics.model.relevance import most_relevant_to

Floats = NDArray[np.float64]
Topics = NDArray[np.int64]
Groups = NDArray[np.int64]
"""(U,) the number of each topic's area."""

PRESENT = 0.02
"""The least proportion of a document at which a topic counts as present in it."""
HALF_LIFE = 10_000
"""The number of documents after which a meeting of two topics counts half."""
ENOUGH = 5_000
"""The number of documents from which meetings have their full weight."""
MEETINGS = 0.7
"""The full weight of meetings in the similarity of topics; the rest is the weight of their
words."""
RARE = 1e-6
"""Added to the rates of meetings, so that topics that never met are not infinitely far apart."""
BOND = 0.7
"""The factor by which topics of one area are closer: in the next grouping, and on the map."""
MOST_AREAS = 18
NONE = -1
"""The area of a topic that is not in use."""
_SMALL = 1 << 18
"""The multiplications of a matrix product up to which OpenBLAS uses one thread. More would wait
busily for the next product and double the trainer's CPU time."""
_WORDS = 1024
"""The number of words whose rows are in memory at a time."""


class Meetings:
    """How often topics meet in documents: sums over the documents learnt, which decay.

    sums: (K + 1, K) float32. Rows 0 to K - 1 are the sums of the products of two topics'
    proportions in documents in which both are present; the last row is the sums of the proportions.
    """

    def __init__(self, sums: NDArray[np.float32]) -> None:
        self.sums = sums

    @classmethod
    def none(cls, K: int) -> Meetings:
        """No meetings yet."""
        return cls(np.zeros((K + 1, K), np.float32))

    @property
    def documents(self) -> float:
        """The number of documents, by their weights."""
        return float(self.sums[-1].sum(dtype=np.float64))

    @property
    def settled(self) -> bool:
        """Whether meetings have their full weight."""
        return self.documents >= ENOUGH

    @property
    def weight(self) -> float:
        """The weight of the lift in distances."""
        return MEETINGS * min(1.0, self.documents / ENOUGH)

    def add(self, theta: NDArray[np.float32]) -> None:
        """Count documents with these proportions, (D, K)."""
        from scipy.sparse import csr_array

        present = csr_array(
            np.where(theta > PRESENT, theta, np.float32(0))
        )  # a few topics of each document
        products = present.T @ present
        self.sums *= np.float32(0.5 ** (len(theta) / HALF_LIFE))
        self.sums[:-1] += products.toarray()
        self.sums[-1] += theta.sum(axis=0)

    def lift(self, topics: Topics) -> Floats:
        """(U, U) the logarithms of how much more often than by chance these topics meet."""
        rows = np.append(topics, -1)  # and the row of the sums of the proportions
        sums = self.sums[np.ix_(rows, topics)].astype(np.float64)
        rates = sums / max(self.documents, 1.0)
        together = rates[:-1]
        alone = rates[-1]
        lift: Floats = np.log((together + RARE) / (np.outer(alone, alone) + RARE))
        return lift


def word_similarity(rows: Iterable[NDArray[np.floating]], shares: Floats) -> Floats:
    """(U, U) cosines, -1 to 1, of the differences of topics from the corpus.

    A topic's difference is that of the roots of its probabilities and of the corpus's. rows: the
    topics' probabilities of some words at a time, (words, U), every word once. shares: (U,) of the
    corpus
    """
    U = len(shares)
    products = np.zeros((U, U))  # of the roots of two topics' probabilities, summed over the words
    by_corpus = np.zeros(U)  # of a topic's roots and the corpus's
    of_corpus = 0.0  # of the corpus's roots with themselves
    weights = (shares / shares.sum()).astype(np.float32)
    few = max(16, _SMALL // max(1, U * U))
    for block in rows:
        for start in range(0, len(block), few):
            part = block[start : start + few].astype(np.float32, copy=False)
            corpus = part @ weights
            roots = np.sqrt(part)
            products += roots.T @ roots
            by_corpus += np.sqrt(corpus) @ roots
            of_corpus += float(corpus.sum(dtype=np.float64))
    inner = products - by_corpus - by_corpus[:, None] + of_corpus
    lengths = np.sqrt(np.clip(np.diagonal(inner), 1e-12, None))
    cosines: Floats = np.clip(inner / np.outer(lengths, lengths), -1, 1)
    return cosines


def distances(words: Floats, lift: Floats | None, weight: float) -> Floats:
    """(U, U) distances of topics, from 0, by their words' similarity and, weighted, their meetings'
    lift.

    Both are measured in standard deviations over all pairs.
    """
    pairs = np.triu_indices(len(words), 1)

    def standard(values: Floats) -> Floats:
        of_pairs = values[pairs]
        deviation = max(float(of_pairs.std()), 1e-9)
        scaled: Floats = (values - of_pairs.mean()) / deviation
        return scaled

    if len(words) < 2:
        return np.zeros_like(words)
    similarity = (1 - weight) * standard(words)
    if lift is not None:
        similarity = similarity + weight * standard(lift)
    far: Floats = np.clip(similarity[pairs].max() - similarity, 0, None)
    far = (far + far.T) / 2
    np.fill_diagonal(far, 0)
    return far


def usual_number(U: int, before: int = 0) -> int:
    """The number of areas of U topics: 1.3 sqrt(U), from 2 to 18; 1 for fewer than 4 topics.

    before: the number at the last snapshot, which is kept unless it is off by one or more.
    """
    if U < 4:
        return 1
    wanted = min(MOST_AREAS, max(2.0, 1.3 * U**0.5))
    return before if abs(wanted - before) < 1 else math.ceil(wanted)


def grouped(far: Floats, n: int, before: Groups | None = None) -> Groups:
    """(U,) the group of each topic, numbered from 0 in any order; at most n groups.

    Ward's tree is cut into n groups. Topics that shared a group in ``before`` (`NONE`: no group)
    count as closer. Then single topics move to other groups as long as that lowers the mean
    distance within groups.
    """
    from scipy.cluster.hierarchy import fcluster

    if len(far) < 2:
        return np.zeros(len(far), np.int64)
    closer = far if before is None else _bound(far, before)
    groups = fcluster(_ward(closer), n, "maxclust") - 1
    return _settled(far, groups.astype(np.int64))


def _bound(far: Floats, groups: Groups) -> Floats:
    """The distances, reduced between topics of one group."""
    same = (groups[:, None] == groups) & (groups != NONE)
    return np.where(same, BOND * far, far)


def _settled(far: Floats, groups: Groups) -> Groups:
    """The groups after topics have moved to where they lower the mean distance of all pairs within
    groups most, until no move lowers it."""
    members = np.eye(int(groups.max()) + 1)[groups]
    sums = far @ members  # of a topic's distances to the topics of each group
    sizes = members.sum(axis=0)
    together = members @ members.T
    within = (far * together).sum() / 2  # the sum of the distances of all pairs within groups
    pairs = (sizes * (sizes - 1)).sum() / 2  # their number
    for _ in range(10):
        moved = False
        for topic in range(len(far)):
            own = groups[topic]
            if sizes[own] == 1:
                continue  # a group of one topic is left alone
            # What a move to each group adds.
            more = sums[topic] - sums[topic, own]
            more_pairs = sizes - sizes[own] + 1
            more_pairs[own] = 0
            means = (within + more) / np.maximum(pairs + more_pairs, 1)
            best = int(means.argmin())
            if means[best] < means[own] - 1e-9:
                within += more[best]
                pairs += more_pairs[best]
                sums[:, own] -= far[:, topic]
                sums[:, best] += far[:, topic]
                sizes[own] -= 1
                sizes[best] += 1
                groups[topic] = best
                moved = True
        if not moved:
            break
    return groups


def numbered(groups: Groups, before: Groups) -> Groups:
    """(U,) the same groups, numbered as the earlier areas that they continue.

    before: (U,) the earlier area of each topic. An earlier area continues in the group that has at
    least half of its topics. New groups get the lowest numbers that no earlier area had, then other
    free ones.
    """
    from scipy.optimize import linear_sum_assignment

    n_groups = int(groups.max(initial=0)) + 1
    shared = np.zeros(
        (n_groups, MOST_AREAS), np.int64
    )  # the topics that a group has of an earlier area
    known = before != NONE
    np.add.at(shared, (groups[known], before[known]), 1)
    shared[2 * shared < shared.sum(axis=0)] = 0
    numbers: dict[int, int] = {}
    for group, area in zip(*linear_sum_assignment(-shared), strict=True):
        if shared[group, area]:
            numbers[int(group)] = int(area)
    earlier = set(before.tolist())
    free = [area for area in range(MOST_AREAS) if area not in numbers.values()]
    free.sort(key=lambda area: area in earlier)  # within both halves, the lowest number stays first
    of_group = np.zeros(n_groups, np.int64)
    for group in range(n_groups):
        if group not in numbers:
            numbers[group] = free.pop(0)
        of_group[group] = numbers[group]
    return of_group[groups]


# The tree of topics, from which areas are cut.


@dataclass(frozen=True, slots=True)
class Node:
    """Two topics or groups of topics that are closer to each other than to the rest.

    Topics are numbered from 0 to U - 1, nodes from U on, in the order in which they were joined.
    """

    number: int
    children: tuple[int, int]
    height: float
    """How far apart the children are, from 0; never less than the heights of the children."""
    topics: tuple[int, ...]
    """The topics of all its branches, in drawing order."""


def tree(far: Floats, areas: Groups) -> tuple[Node, ...]:
    """The U - 1 nodes over U topics, numbered from 0 to U - 1; the last is the root.

    Topics of an area are joined by Ward's method, then the areas likewise by their mean distances.
    So each area is a branch, and cutting at the number of areas gives the areas.
    """
    U = len(far)
    nodes: list[Node] = []
    topics: dict[int, tuple[int, ...]] = {topic: (topic,) for topic in range(U)}

    def join(branches: Sequence[int], apart: Floats, least: float) -> int:
        """Join these topics or nodes, which are so far apart; returns the number of their common
        node."""
        numbers = list(branches)
        if len(numbers) == 1:
            return numbers[0]
        for first, second, height, _ in _ward(apart).tolist():
            one = numbers[int(first)]
            other = numbers[int(second)]
            number = U + len(nodes)
            topics[number] = topics[one] + topics[other]
            nodes.append(Node(number, (one, other), least + height, topics[number]))
            numbers.append(number)
        return numbers[-1]

    members = [np.flatnonzero(areas == area) for area in np.unique(areas)]
    tops = [join(own.tolist(), far[np.ix_(own, own)], 0.0) for own in members]
    if len(members) > 1:
        of_area = np.stack([np.isin(np.arange(U), own) / len(own) for own in members])
        between = of_area @ far @ of_area.T
        np.fill_diagonal(between, 0)
        highest = max((node.height for node in nodes), default=0.0)
        join(tops, between, highest)
    return tuple(nodes)


def cut(nodes: Sequence[Node], U: int, n: int) -> list[tuple[int, ...]]:
    """A tree over U topics cut into n groups, in drawing order; into U, if n is larger."""
    if not nodes:
        return [(topic,) for topic in range(U)]
    parts = [nodes[-1].number]
    while len(parts) < min(n, U):
        joined = [nodes[part - U] for part in parts if part >= U]
        tallest = max(joined, key=lambda node: node.height)
        place = parts.index(tallest.number)
        parts[place : place + 1] = tallest.children
    groups = []
    for part in parts:
        group = nodes[part - U].topics if part >= U else (part,)
        groups.append(group)
    return groups


def _ward(far: Floats) -> Floats:
    """SciPy's `linkage` of two topics or more: (one, other, height, topics) of each join."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    joins: Floats = linkage(squareform(far, checks=False), "ward")
    return joins


# Names: the words that tell an area apart from the others.

WORDS = 2
"""Words in a name."""
STEM = 4
"""The fewest letters that make a stem; shorter words must be equal."""


def names(
    relevant: Mapping[int, Sequence[str]], before: Mapping[int, Sequence[str]]
) -> dict[int, tuple[str, ...]]:
    """The words of each area's name; no two words in all the names have the same stem.

    relevant: each area's words, the most relevant first, of the largest area first. before: earlier
    names, which are kept while their words are among the first.
    """
    chosen: dict[int, tuple[str, ...]] = {}
    used: list[str] = []
    for area, words in relevant.items():
        if area in before and all_words_relevant(before[area], words):
            chosen[area] = tuple(before[area])
            used += chosen[area]
    for area, words in relevant.items():
        if area in chosen:
            continue
        name: list[str] = []
        for word in words:
            if len(name) < WORDS and not any(_same_stem(word, other) for other in used):
                name.append(word)
                used.append(word)
        chosen[area] = tuple(name or words[:1])
    return chosen


def _same_stem(one: str, other: str) -> bool:
    """Whether two words differ only in what follows their first letters: "building" and "built"."""
    stem = 0  # the number of first letters that they share
    for letter, other_letter in zip(one, other, strict=False):
        if letter != other_letter:
            break
        stem += 1
    shorter = min(len(one), len(other))
    return one == other or stem >= max(STEM, shorter - 2)


# The map: t-SNE [van der Maaten and Hinton 2008] of the distances.

PERPLEXITY = 8.0
"""Roughly the number of neighbours that determine a topic's place (the perplexity of t-SNE)."""
FIRST_ROUNDS = 400
"""The steps of the first map."""
ROUNDS = 100
"""The steps of a map that starts from an earlier one."""
MANY = 300
"""The number of topics above which there are fewer steps, so that they take no longer."""
EXAGGERATED = 120
"""The steps of the first map in which topics attract each other more strongly, so that groups
form."""
EARLY = 8.0
"""By which factor they do."""


def places(far: Floats, areas: Groups, before: Floats, rounds: int = ROUNDS) -> Floats:
    """(U, 2) a place for each topic, such that topics at small distances are close together.

    before: (U, 2) earlier places, NaN for a topic without one; the map changes as little as
    possible.
    rounds: the most steps; 0: only topics without a place get one
    """
    U = len(far)
    if U < 4:
        return classical_scaling(far)
    known = np.isfinite(before).all(axis=1)
    if known.sum() < 4:
        start = classical_scaling(far)
        place = start / max(float(start.std()), 1e-9) * 1e-2
        rounds = FIRST_ROUNDS
        exaggerated = EXAGGERATED
    else:
        place = before.copy()
        placed = np.flatnonzero(known)
        for topic in np.flatnonzero(~known):  # among its nearest topics, but not exactly on one
            nearest = placed[np.argsort(far[topic, placed], kind="stable")[:3]]
            beside = 1e-2 * np.array([np.cos(topic), np.sin(topic)])
            place[topic] = before[nearest].mean(axis=0) + beside
        exaggerated = 0
    if not rounds:
        return place
    rounds = round(rounds * min(1.0, MANY / U) ** 2)  # a step takes U^2
    wanted = _neighbours(_bound(far, areas), min(PERPLEXITY, U / 4))
    speed = np.zeros_like(place)
    gain = np.ones_like(place)
    for step in range(rounds):
        early = step < exaggerated
        attraction = EARLY if early else 1.0
        momentum = 0.5 if early else 0.8
        # Elementwise: products of such small matrices keep other cores busy waiting.
        x, y = place.T[:, :, None] - place.T[:, None]
        near = 1 / (1 + x * x + y * y)
        np.fill_diagonal(near, 0)
        force = (attraction * wanted - near / near.sum()) * near
        slope = 4 * np.stack([(force * x).sum(axis=1), (force * y).sum(axis=1)], axis=1)
        downhill = (slope > 0) != (speed > 0)
        gain = np.where(downhill, gain + 0.2, 0.8 * gain)
        gain = np.clip(gain, 0.01, None)
        speed = momentum * speed - U / 8 * gain * slope
        place = place + speed
        place -= place.mean(axis=0)
    return place


def _neighbours(far: Floats, perplexity: float) -> Floats:
    """(U, U) t-SNE's joint probabilities of pairs; each topic's width is found by bisection."""
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
        wide = entropy > np.log(perplexity)
        low = np.where(wide, precision, low)
        high = np.where(wide, high, precision)
        precision = np.where(np.isinf(high), 2 * precision, (low + high) / 2)
    joint: Floats = np.clip((near + near.T) / (2 * U), 1e-12, None)
    return joint


# Everything above, for a model at one moment.


def _rows(model: OnlineModel, topics: Topics) -> Iterator[NDArray[np.floating]]:
    """The probabilities of these topics for `word_similarity`, some words at a time."""
    for start in range(0, model.n_words, _WORDS):
        stop = min(start + _WORDS, model.n_words)
        rows = model.topic_rows(np.arange(start, stop))
        yield rows[:, topics]


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of a model's topics, their distances, and their map.

    of_topic: (K,) each topic's area, `NONE` if it is not in use
    distances: (U (U - 1) / 2,) float16, of the pairs of topics in use, row by row
    places: (U, 2) float32; (0, 2) before `placed`
    names: the words of each area's name, by its number
    """

    of_topic: NDArray[np.int16]
    distances: NDArray[np.float16]
    places: NDArray[np.float32]
    names: Mapping[int, Sequence[str]]

    @property
    def topics(self) -> Topics:
        """(U,) the topics in use, ascending."""
        return np.flatnonzero(self.of_topic != NONE)

    @property
    def members(self) -> dict[int, list[int]]:
        """The topics of each area, by its number."""
        areas = np.unique(self.of_topic[self.topics]).tolist()
        return {area: np.flatnonzero(self.of_topic == area).tolist() for area in areas}

    def leader(self, area: int, shares: NDArray[np.floating]) -> int:
        """The largest topic of an area, by the topics' (K,) shares of the corpus."""
        topics = np.flatnonzero(self.of_topic == area)
        return int(topics[np.argmax(shares[topics])])

    @property
    def far(self) -> Floats:
        """(U, U) the distances."""
        U = len(self.topics)
        far = np.zeros((U, U))
        far[np.triu_indices(U, 1)] = self.distances
        return far + far.T

    @classmethod
    def of(
        cls,
        model: OnlineModel,
        meetings: Meetings | None,
        before: Areas | None = None,
        rounds: int = ROUNDS,
    ) -> Areas:
        """The present areas of a model, with places, without names; before: those at its last
        snapshot.

        rounds: as in `places`
        """
        shares = np.asarray(model.topic_shares(), np.float64)
        topics = np.flatnonzero(shares > IN_USE)
        words = word_similarity(_rows(model, topics), shares[topics])
        if meetings is None:
            far = distances(words, None, 0.0)
        else:
            far = distances(words, meetings.lift(topics), meetings.weight)
        return cls.by_distance(far, topics, model.n_topics, before).placed(before, rounds)

    @classmethod
    def by_distance(cls, far: Floats, topics: Topics, K: int, before: Areas | None = None) -> Areas:
        """The areas of these topics of K, at (U, U) distances, without places and names."""
        earlier = np.full(K, NONE) if before is None else before.of_topic.astype(np.int64)
        own = earlier[topics]
        n_before = len(np.unique(own[own != NONE]))
        n = usual_number(len(topics), n_before)
        of_topic = np.full(K, NONE, np.int16)
        of_topic[topics] = numbered(grouped(far, n, own), own)
        pairs = np.triu_indices(len(topics), 1)
        return cls(of_topic, far[pairs].astype(np.float16), np.empty((0, 2), np.float32), {})

    def placed(self, before: Areas | None = None, rounds: int = ROUNDS) -> Areas:
        """The same, with places that continue those of ``before``."""
        earlier = np.full((len(self.of_topic), 2), np.nan)
        if before is not None:
            earlier[before.topics] = before.places
        topics = self.topics
        place = places(self.far, self.of_topic[topics].astype(np.int64), earlier[topics], rounds)
        return replace(self, places=place.astype(np.float32))

    def relevant(
        self,
        leading: Leading,
        shares: NDArray[np.floating],
        words: Sequence[str],
    ) -> dict[int, list[str]]:
        """The words of each area, the most relevant first, of the largest area first.

        leading: of all K topics. shares: (K,) of the corpus. words: the vocabulary, by id
        """
        members = self.members
        sizes = {area: float(shares[topics].sum()) for area, topics in members.items()}
        by_size = sorted(members, key=lambda area: -sizes[area])
        word_ids = most_relevant_to([members[area] for area in by_size], leading, shares)
        relevant = {}
        for area, ids in zip(by_size, word_ids, strict=True):
            relevant[area] = [words[word] for word in ids.tolist()]
        return relevant

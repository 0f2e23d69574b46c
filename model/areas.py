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
from wikitopics.model.naming import all_words_fit
from wikitopics.model.online import IN_USE, Leading, OnlineModel
from wikitopics.model.relevance import most_relevant_to

Floats = NDArray[np.float64]
Topics = NDArray[np.int64]
Groups = NDArray[np.int64]
"""(U,) the number of each topic's area."""

PRESENT = 0.02
"""A topic counts as present in a document if its proportion there is larger."""
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
"""The factor on the distances between topics of one area: in the next grouping, and on the map."""
MOST_AREAS = 18
NONE = -1
"""The area of a topic that is not in use."""
_SMALL = 2**18
"""The multiplications of a matrix product up to which OpenBLAS uses one thread. More would wait
busily for the next product and double the trainer's CPU time."""
_WORDS = 1024
"""The number of words whose rows are in memory at a time."""


class Meetings:
    """How often topics meet in documents: sums over the documents learnt, which decay.

    sums: (K + 1, K) float32. Rows 0 to K - 1 sum the products of two topics' proportions, over the
    documents in which both are present. The last row sums the proportions, over all documents.
    """

    def __init__(self, sums: NDArray[np.float32]) -> None:
        self.sums = sums

    @classmethod
    def none(cls, K: int) -> Meetings:
        """No meetings yet."""
        return cls(np.zeros((K + 1, K), np.float32))

    @property
    def documents(self) -> float:
        """The number of documents that still count, by their weights."""
        return float(self.sums[-1].sum(dtype=np.float64))

    @property
    def settled(self) -> bool:
        """Whether meetings have their full weight."""
        return self.documents >= ENOUGH

    @property
    def weight(self) -> float:
        """The weight of meetings in the similarity of topics."""
        return MEETINGS * min(1.0, self.documents / ENOUGH)

    def add(self, theta: NDArray[np.float32]) -> None:
        """Count documents with these proportions, (D, K)."""
        from scipy.sparse import csr_array

        # Sparse, as only a few topics are present in each document.
        present = csr_array(np.where(theta > PRESENT, theta, np.float32(0)))
        products = present.T @ present
        self.sums *= np.float32(0.5 ** (len(theta) / HALF_LIFE))
        self.sums[:-1] += products.toarray()
        self.sums[-1] += theta.sum(axis=0)

    def lift(self, topics: Topics) -> Floats:
        """(U, U) the logarithms of how much more often than by chance these topics meet."""
        rows = np.append(topics, -1)  # -1: the sums of the proportions
        sums = self.sums[np.ix_(rows, topics)].astype(np.float64)
        rates = sums / max(self.documents, 1.0)
        together = rates[:-1]
        alone = rates[-1]
        by_chance = np.outer(alone, alone)
        lift: Floats = np.log((together + RARE) / (by_chance + RARE))
        return lift


def word_similarity(rows: Iterable[NDArray[np.floating]], shares: Floats) -> Floats:
    """(U, U) cosines, -1 to 1, of the differences of topics from the corpus.

    Topic t differs from the corpus c by the vector sqrt(p(w|t)) - sqrt(p(w|c)) over the words w.

    rows: the topics' probabilities of some words at a time, (words, U), every word once
    shares: (U,) each topic's share of the corpus
    """
    U = len(shares)
    # Sums over the words of products of roots: of two topics, of a topic and the corpus, and of the
    # corpus with itself.
    topics_by_topics = np.zeros((U, U))
    topics_by_corpus = np.zeros(U)
    corpus_by_corpus = 0.0
    weights = (shares / shares.sum()).astype(np.float32)
    n_words = max(16, _SMALL // max(1, U * U))
    for block in rows:
        for start in range(0, len(block), n_words):
            of_topics = block[start : start + n_words].astype(np.float32, copy=False)
            of_corpus = of_topics @ weights
            roots = np.sqrt(of_topics)
            topics_by_topics += roots.T @ roots
            topics_by_corpus += np.sqrt(of_corpus) @ roots
            corpus_by_corpus += float(of_corpus.sum(dtype=np.float64))
    # (t - c)(t' - c) = t t' - t c - t' c + c c
    inner = topics_by_topics - topics_by_corpus - topics_by_corpus[:, None] + corpus_by_corpus
    lengths = np.sqrt(np.clip(np.diagonal(inner), 1e-12, None))
    cosines: Floats = np.clip(inner / np.outer(lengths, lengths), -1, 1)
    return cosines


def distances(words: Floats, lift: Floats | None, weight: float) -> Floats:
    """(U, U) distances of topics, from 0, by how similar their words are and how often they meet.

    words: (U, U) the similarity of their words
    lift: (U, U) that of their meetings, or None
    weight: that of the lift; the words have the rest. Both are measured in standard deviations over
    all pairs.
    """
    pairs = np.triu_indices(len(words), 1)

    def standardised(values: Floats) -> Floats:
        of_pairs = values[pairs]
        deviation = max(float(of_pairs.std()), 1e-9)
        scaled: Floats = (values - of_pairs.mean()) / deviation
        return scaled

    if len(words) < 2:
        return np.zeros_like(words)
    similarity = (1 - weight) * standardised(words)
    if lift is not None:
        similarity = similarity + weight * standardised(lift)
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
    wanted = min(MOST_AREAS, max(2.0, 1.3 * math.sqrt(U)))
    if abs(wanted - before) < 1:
        return before
    return math.ceil(wanted)


def grouped(far: Floats, n: int, before: Groups | None = None) -> Groups:
    """(U,) the group of each topic, numbered from 0 in any order; at most n groups.

    Ward's tree is cut into n groups. Topics that shared a group in ``before`` (`NONE`: no group)
    count as closer. Then single topics move to other groups as long as that lowers the mean
    distance within groups.
    """
    from scipy.cluster.hierarchy import fcluster

    if len(far) < 2:
        return np.zeros(len(far), np.int64)
    closer = far if before is None else _with_bonds(far, before)
    groups = fcluster(_ward(closer), n, "maxclust") - 1
    return _settled(far, groups.astype(np.int64))


def _with_bonds(far: Floats, groups: Groups) -> Floats:
    """The distances, reduced between topics of one group."""
    same = (groups[:, None] == groups) & (groups != NONE)
    return np.where(same, BOND * far, far)


def _settled(far: Floats, groups: Groups) -> Groups:
    """The groups after single topics have moved to other groups, until no move lowers the mean
    distance of all pairs within groups, or after ten rounds.

    Each topic in turn moves to the group where it lowers that mean most.
    """
    n_groups = int(groups.max()) + 1
    members = np.eye(n_groups)[groups]  # (U, groups) 1 for each topic's group
    sums = far @ members  # (U, groups) of a topic's distances to the topics of each group
    sizes = members.sum(axis=0)
    together = members @ members.T  # (U, U) 1 for topics of one group
    within = (far * together).sum() / 2  # the sum of the distances of all pairs within groups
    pairs = (sizes * (sizes - 1)).sum() / 2  # the number of these pairs
    for _ in range(10):
        moved = False
        for topic in range(len(far)):
            own = groups[topic]
            if sizes[own] == 1:
                continue  # a group of one topic is left alone
            # What a move to each group adds to `within` and `pairs`.
            added = sums[topic] - sums[topic, own]
            added_pairs = sizes - sizes[own] + 1
            added_pairs[own] = 0
            means = (within + added) / np.maximum(pairs + added_pairs, 1)
            best = int(means.argmin())
            if means[best] < means[own] - 1e-9:
                within += added[best]
                pairs += added_pairs[best]
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
    # How many topics each group has of each earlier area.
    shared = np.zeros((n_groups, MOST_AREAS), np.int64)
    had_area = before != NONE
    np.add.at(shared, (groups[had_area], before[had_area]), 1)
    has_half = 2 * shared >= shared.sum(axis=0)
    shared[~has_half] = 0
    numbers: dict[int, int] = {}
    continuing, continued = linear_sum_assignment(shared, maximize=True)
    for group, area in zip(continuing.tolist(), continued.tolist(), strict=True):
        if shared[group, area]:
            numbers[group] = area
    earlier = set(before.tolist())
    free = [area for area in range(MOST_AREAS) if area not in numbers.values()]
    never_used = [area for area in free if area not in earlier]
    used_before = [area for area in free if area in earlier]
    new_numbers = iter([*never_used, *used_before])
    of_group = np.zeros(n_groups, np.int64)
    for group in range(n_groups):
        of_group[group] = numbers[group] if group in numbers else next(new_numbers)
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
    """The topics of all branches of this node, in drawing order."""


def tree(far: Floats, areas: Groups) -> tuple[Node, ...]:
    """The U - 1 nodes over the topics, which are numbered from 0 to U - 1; the last is the root.

    Topics of an area are joined by Ward's method, then the areas likewise by their mean distances.
    So each area is a branch, and cutting at the number of areas gives the areas.
    """
    U = len(far)
    nodes: list[Node] = []
    topics: dict[int, tuple[int, ...]] = {topic: (topic,) for topic in range(U)}  # of each branch

    def join(branches: Sequence[int], apart: Floats, least: float) -> int:
        """Join these topics or nodes, which are this far apart; returns the number of their common
        node. No new node is lower than `least`."""
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
        # A row for each area that weighs its topics equally: their means, as a product.
        weights = np.stack([np.isin(np.arange(U), own) / len(own) for own in members])
        between = weights @ far @ weights.T
        np.fill_diagonal(between, 0)
        highest = max((node.height for node in nodes), default=0.0)
        join(tops, between, highest)
    return tuple(nodes)


def cut(nodes: Sequence[Node], U: int, n: int) -> list[tuple[int, ...]]:
    """A tree over U topics cut into n groups of topics, in drawing order; into U groups, if n is
    larger."""
    if not nodes:
        return [(topic,) for topic in range(U)]
    branches = [nodes[-1].number]
    while len(branches) < min(n, U):
        joined = [nodes[branch - U] for branch in branches if branch >= U]
        tallest = max(joined, key=lambda node: node.height)
        place = branches.index(tallest.number)
        branches[place : place + 1] = tallest.children
    groups = []
    for branch in branches:
        is_node = branch >= U
        topics = nodes[branch - U].topics if is_node else (branch,)
        groups.append(topics)
    return groups


def _ward(far: Floats) -> Floats:
    """SciPy's `linkage` of two topics or more: (one, other, height, topics) of each join."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    joins: Floats = linkage(squareform(far, checks=False), "ward")
    return joins


# Names: the words that tell an area apart from the others.

WORDS_IN_AREA_NAME = 2
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
        if area in before and all_words_fit(before[area], words):
            chosen[area] = tuple(before[area])
            used += chosen[area]
    for area, words in relevant.items():
        if area in chosen:
            continue
        name: list[str] = []
        for word in words:
            if len(name) == WORDS_IN_AREA_NAME:
                break
            if not any(_same_stem(word, other) for other in used):
                name.append(word)
                used.append(word)
        chosen[area] = tuple(name or words[:1])
    return chosen


def _same_stem(one: str, other: str) -> bool:
    """Whether two words differ only in what follows their first letters: "building" and "built"."""
    if one == other:
        return True
    n_shared = 0  # first letters that both have
    for letter, other_letter in zip(one, other, strict=False):
        if letter != other_letter:
            break
        n_shared += 1
    shorter = min(len(one), len(other))
    return n_shared >= max(STEM, shorter - 2)


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
"""The first steps of the first map, in which topics attract each other more strongly, so that
groups form."""
EXAGGERATION = 8.0
"""The factor by which they do."""


def places(far: Floats, areas: Groups, before: Floats, rounds: int = ROUNDS) -> Floats:
    """(U, 2) a place for each topic, such that topics at small distances are close together.

    areas: (U,) the topics' areas, whose topics are kept closer together
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
    wanted = _neighbours(_with_bonds(far, areas), min(PERPLEXITY, U / 4))
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
        """The present areas of a model, with places, without names.

        meetings: of its topics, or None; before: the areas at its last snapshot; rounds: as in
        `places`
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
        """The areas of topics, without places and names.

        far: (U, U) the distances; topics: (U,) the numbers, out of K, of the topics in use
        """
        areas_before = np.full(K, NONE) if before is None else before.of_topic.astype(np.int64)
        earlier = areas_before[topics]
        n_before = len(np.unique(earlier[earlier != NONE]))
        n = usual_number(len(topics), n_before)
        of_topic = np.full(K, NONE, np.int16)
        of_topic[topics] = numbered(grouped(far, n, earlier), earlier)
        pairs = np.triu_indices(len(topics), 1)
        no_places = np.empty((0, 2), np.float32)
        return cls(of_topic, far[pairs].astype(np.float16), no_places, {})

    def placed(self, before: Areas | None = None, rounds: int = ROUNDS) -> Areas:
        """The same, with places that continue those of ``before``."""
        earlier = np.full((len(self.of_topic), 2), np.nan)
        if before is not None:
            earlier[before.topics] = before.places
        topics = self.topics
        areas = self.of_topic[topics].astype(np.int64)
        now = places(self.far, areas, earlier[topics], rounds)
        return replace(self, places=now.astype(np.float32))

    def relevant(
        self,
        leading: Leading,
        shares: NDArray[np.floating],
        words: Sequence[str],
    ) -> dict[int, list[str]]:
        """The words of each area, the most relevant first, of the largest area first.

        leading: the leading words of all K topics
        shares: (K,) each topic's share of the corpus
        words: the vocabulary, by id
        """
        members = self.members
        sizes = {area: float(shares[topics].sum()) for area, topics in members.items()}
        by_size = sorted(members, key=lambda area: -sizes[area])
        word_ids = most_relevant_to([members[area] for area in by_size], leading, shares)
        relevant = {}
        for area, ids in zip(by_size, word_ids, strict=True):
            relevant[area] = [words[word] for word in ids.tolist()]
        return relevant

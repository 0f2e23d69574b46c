"""Areas: a model's topics grouped by meaning.

Topics are similar if they use the same words and meet in the same documents. A topic that meets the
topics of no area often enough is in `OTHER`. From snapshot to snapshot, areas change as little as
the topics allow. U of the K topics are in use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.area_names import words_of_groups
from wikitopics.model.lands import with_scale
from wikitopics.model.meetings import Meetings
from wikitopics.model.minibatch import Indices, Matrix, Vector
from wikitopics.model.online import IN_USE, OnlineModel

Groups = NDArray[np.int64]
"""(U,) the number of each topic's area."""

EARLIER_BOND = 0.7
"""The factor on the distances between topics of one area in the next grouping."""
MOST_AREAS = 18
JOINS = 2.5
"""How many times more often than by chance a topic must meet the topics of an area to join them."""
LEAVES = 2.0
"""How many times more often it must meet them to stay. It is less, so that a topic does not go to
and fro."""
FEW_AREAS = 10
"""While there are fewer areas, topics that belong to none are areas by themselves."""
NONE = -1
"""The area of a topic that is not in use."""
OTHER = MOST_AREAS
"""The area, in name only, of the topics in use that belong to none; areas have smaller numbers."""
_SMALL = 2**18
"""The multiplications of a matrix product up to which OpenBLAS uses one thread. More would wait
busily for the next product and double the trainer's CPU time."""
_FEWEST_WORDS = 16
"""The fewest words in a product that is to use one thread."""
_WORDS = 1024
"""The number of words whose rows are in memory at a time."""


def word_similarity(rows: Iterable[NDArray[np.floating]], shares: Vector) -> Matrix:
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
    n_words = _SMALL // max(1, U * U)
    if n_words < _FEWEST_WORDS:  # with so many topics, small products take ten times as long
        n_words = _WORDS
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
    cosines: Matrix = np.clip(inner / np.outer(lengths, lengths), -1, 1)
    return cosines


def topic_distances(words: Matrix, lift: Matrix | None, weight: float) -> Matrix:
    """(U, U) distances of topics, from 0, by how similar their words are and how often they meet.

    words: (U, U) the similarity of their words
    lift: (U, U) that of their meetings, or None
    weight: that of the lift; the words have the rest. Both are measured in standard deviations over
    all pairs.
    """
    pairs = np.triu_indices(len(words), 1)

    def standardised(values: Matrix) -> Matrix:
        of_pairs = values[pairs]
        deviation = max(float(of_pairs.std()), 1e-9)
        scaled: Matrix = (values - of_pairs.mean()) / deviation
        return scaled

    if len(words) < 2:
        return np.zeros_like(words)
    similarity = (1 - weight) * standardised(words)
    if lift is not None:
        similarity = similarity + weight * standardised(lift)
    far: Matrix = np.clip(similarity[pairs].max() - similarity, 0, None)
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


def grouped(far: Matrix, n: int, before: Groups | None = None) -> Groups:
    """(U,) the group of each topic, numbered from 0 in any order; at most n groups.

    Ward's tree is cut into n groups. Topics that shared a group in ``before`` (`NONE`: no group)
    count as closer. Then single topics move to other groups as long as that lowers the mean
    distance within groups.
    """
    from scipy.cluster.hierarchy import fcluster

    if len(far) < 2:
        return np.zeros(len(far), np.int64)
    closer = far if before is None else _with_bonds(far, before)
    groups = fcluster(ward(closer), n, "maxclust") - 1
    return _settled(far, groups.astype(np.int64))


def _with_bonds(far: Matrix, groups: Groups) -> Matrix:
    """(U, U) the distances, reduced between topics of one group."""
    same = (groups[:, None] == groups) & _in_an_area(groups)
    return np.where(same, EARLIER_BOND * far, far)


def ward(far: Matrix) -> Matrix:
    """SciPy's `linkage` of two topics or more: (one, other, height, topics) of each join."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    joins: Matrix = linkage(squareform(far, checks=False), "ward")
    return joins


def _settled(far: Matrix, groups: Groups) -> Groups:
    """(U,) the groups after single topics have moved to other groups, until no move lowers the
    mean distance of all pairs within groups, or after ten rounds.

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


def belonging(groups: Groups, before: Groups, meetings: Meetings, topics: Indices) -> Groups:
    """(U,) the groups without the topics that do not belong to them, which are in `OTHER`.

    A topic belongs to a group if it meets the others of the group at least `JOINS` times as often
    as by chance, or `LEAVES` times if it was in an area before. By chance, all pairs of topics
    would meet equally often for their sizes. The topic that belongs least leaves first, and the
    rest are compared again. Then topics without a group join one that they belong to. While there
    are fewer than `FEW_AREAS` groups, the largest topics still without one are groups by
    themselves, first those that were before.

    before: (U,) the earlier area of each topic; topics: (U,) their numbers
    """
    together, by_chance = meetings.rates(topics)
    sizes = np.diagonal(by_chance).copy()
    np.fill_diagonal(together, 0)
    np.fill_diagonal(by_chance, 0)
    by_chance *= together.sum() / max(float(by_chance.sum()), 1e-30)
    found = groups.copy()

    def lifts_to(group: int) -> Vector:
        """(U,) how many times more often than by chance each topic meets the others of a group; 0
        if there are none."""
        inside = found == group
        met = together[:, inside].sum(axis=1)
        expected = by_chance[:, inside].sum(axis=1)
        lifts: Vector = np.divide(met, expected, out=np.zeros_like(met), where=expected > 0)
        return lifts

    n_groups = int(groups.max()) + 1
    lifts = np.stack([lifts_to(group) for group in range(n_groups)], axis=1)
    least = np.where(_in_an_area(before), LEAVES, JOINS)
    while True:
        inside = np.flatnonzero(found != OTHER)
        margins = lifts[inside, found[inside]] / least[inside]
        if (margins >= 1).all():
            break
        topic = inside[margins.argmin()]
        group = found[topic]
        found[topic] = OTHER
        lifts[:, group] = lifts_to(group)
    while True:
        outside = np.flatnonzero(found == OTHER)
        if not (lifts[outside] >= JOINS).any():
            break
        row, group = divmod(int(lifts[outside].argmax()), n_groups)
        found[outside[row]] = group
        lifts[:, group] = lifts_to(group)

    together_before = (before[:, None] == before).sum(axis=1)
    was_alone = _in_an_area(before) & (together_before == 1)
    turns = outside[np.lexsort((-sizes[outside], ~was_alone[outside]))]
    n_found = len(np.unique(found[found != OTHER]))
    alone = turns[: max(0, FEW_AREAS - n_found)]
    found[alone] = OTHER + 1 + np.arange(len(alone))
    return found


def _in_an_area(areas: Groups) -> NDArray[np.bool_]:
    """(U,) whether each topic is in an area, neither unused nor in `OTHER`."""
    inside: NDArray[np.bool_] = (areas != NONE) & (areas != OTHER)
    return inside


def numbered(groups: Groups, before: Groups) -> Groups:
    """(U,) the same groups, numbered as the earlier areas that they continue.

    groups: those in `OTHER` stay there. before: (U,) the earlier area of each topic. An earlier
    area continues in the group that has at least half of its topics, `OTHER` left out. New groups
    get the lowest numbers that no earlier area had, then other free ones.
    """
    from scipy.optimize import linear_sum_assignment

    is_grouped = groups != OTHER
    group_numbers, compact = np.unique(groups[is_grouped], return_inverse=True)
    n_groups = len(group_numbers)
    # How many topics each group has of each earlier area.
    shared = np.zeros((n_groups, MOST_AREAS), np.int64)
    of_grouped = before[is_grouped]
    had_area = _in_an_area(of_grouped)
    np.add.at(shared, (compact[had_area], of_grouped[had_area]), 1)
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
    areas = np.full(len(groups), OTHER)
    areas[is_grouped] = of_group[compact]
    return areas


# Everything above, for a model at one moment.


def _rows(model: OnlineModel, topics: Indices) -> Iterator[NDArray[np.floating]]:
    """(words, U) the probabilities of these topics for `word_similarity`, some words at a time."""
    for start in range(0, model.n_words, _WORDS):
        stop = min(start + _WORDS, model.n_words)
        rows = model.topic_rows(np.arange(start, stop))
        yield rows[:, topics]


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of a model's topics, their distances, and their map.

    of_topic: (K,) each topic's area; `OTHER` if it is in none, `NONE` if it is not in use
    distances: (U (U - 1) / 2,) float16, of the pairs of topics in use, row by row
    places: (U, 2) float32, x to the right and y upwards, from 0 to 1, unless they are of a session
    of an earlier version; (0, 2) before `placed`
    names: the words of each area's name, by its number; `OTHER` has none
    """

    of_topic: NDArray[np.int16]
    distances: NDArray[np.float16]
    places: NDArray[np.float32]
    names: Mapping[int, Sequence[str]]

    @property
    def topics(self) -> Indices:
        """(U,) the topics in use, ascending."""
        return np.flatnonzero(self.of_topic != NONE)

    @property
    def members(self) -> dict[int, list[int]]:
        """The topics of each area, by its number; also those in `OTHER`."""
        areas = np.unique(self.of_topic[self.topics]).tolist()
        return {area: np.flatnonzero(self.of_topic == area).tolist() for area in areas}

    def leader(self, area: int, shares: NDArray[np.floating]) -> int:
        """The largest topic of an area, by the topics' (K,) shares of the corpus."""
        topics = np.flatnonzero(self.of_topic == area)
        return int(topics[np.argmax(shares[topics])])

    @property
    def far(self) -> Matrix:
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
    ) -> Areas:
        """The present areas of a model, without places and names.

        meetings: of its topics, or None; before: the areas at its last snapshot
        """
        shares = np.asarray(model.topic_shares(), np.float64)
        topics = np.flatnonzero(shares > IN_USE)
        words = word_similarity(_rows(model, topics), shares[topics])
        if meetings is None:
            far = topic_distances(words, None, 0.0)
        else:
            far = topic_distances(words, meetings.lift(topics), meetings.weight)
        return cls.by_distance(far, topics, model.n_topics, before, meetings)

    @classmethod
    def by_distance(
        cls,
        far: Matrix,
        topics: Indices,
        K: int,
        before: Areas | None = None,
        meetings: Meetings | None = None,
    ) -> Areas:
        """The areas of topics, without places and names.

        far: (U, U) the distances; topics: (U,) the numbers, out of K, of the topics in use;
        meetings: until they are settled, no topic is in `OTHER`
        """
        areas_before = np.full(K, NONE) if before is None else before.of_topic.astype(np.int64)
        earlier = areas_before[topics]
        n_before = len(np.unique(earlier[_in_an_area(earlier)]))
        n = usual_number(len(topics), n_before)
        groups = grouped(far, n, earlier)
        if n > 1 and meetings is not None and meetings.settled:
            groups = belonging(groups, earlier, meetings, topics)
        of_topic = np.full(K, NONE, np.int16)
        of_topic[topics] = numbered(groups, earlier)
        pairs = np.triu_indices(len(topics), 1)
        no_places = np.empty((0, 2), np.float32)
        return cls(of_topic, far[pairs].astype(np.float16), no_places, {})

    def placed(self, before: Areas | None = None, changed: Iterable[int] = ()) -> Areas:
        """The same, with places that continue those of ``before``, except of the topics that have
        ``changed`` their subject: they are placed like new ones."""
        # Imported late: its kernels load numba, which those who only read do without.
        from wikitopics.model.topic_map import drifted

        earlier = np.full((len(self.of_topic), 2), np.nan)
        if before is not None:
            earlier[before.topics] = with_scale(before.places.astype(np.float64))
        earlier[list(changed)] = np.nan
        topics = self.topics
        of_topic = self.of_topic[topics]
        areas = np.where(of_topic == OTHER, NONE, of_topic)
        now = drifted(self.far, earlier[topics], areas)
        return replace(self, places=now.astype(np.float32))

    def words(
        self,
        shown: NDArray[np.integer],
        shares: NDArray[np.floating],
        words: Sequence[str],
    ) -> dict[int, list[str]]:
        """The words of each area as of `words_of_groups`, of the largest area first; without
        `OTHER`.

        shown: (K, n) the words shown of each topic, by id
        shares: (K,) each topic's share of the corpus
        words: the vocabulary, by id
        """
        members = self.members
        members.pop(OTHER, None)
        sizes = {area: float(shares[topics].sum()) for area, topics in members.items()}
        by_size = sorted(members, key=lambda area: -sizes[area])
        word_ids = words_of_groups([members[area] for area in by_size], shown, shares)
        return {
            area: [words[word] for word in ids] for area, ids in zip(by_size, word_ids, strict=True)
        }

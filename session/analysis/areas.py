"""A model's topics in use: their areas, tree and places on a map, the same for every screen and
file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.area_names import names, words_of_groups
from wikitopics.model.area_tree import Node, cut, tree
from wikitopics.model.areas import OTHER, Areas
from wikitopics.model.distances import distances
from wikitopics.model.lands import with_scale
from wikitopics.model.online import IN_USE
from wikitopics.model.relevance import most_relevant_to
from wikitopics.session.naming import joined, names_of
from wikitopics.session.records import TopWords
from wikitopics.session.storage.reader import SessionReader

OTHER_NAME = "other"
NAMING = 1 / 3
"""If somebody has named a topic, and the topic has at least this part of its area's share, the area
has the same name."""


@dataclass(frozen=True, slots=True, repr=False)
class Area:
    """Topics in use that are alike; or those that belong to no area, under the name "other"."""

    number: int
    """Areas are numbered from 0. An area keeps its number as long as most of its topics stay
    together. "other" has the number 18, which no area has."""
    name: str
    """One or two words that set it apart from the other areas, or the name given to a large topic
    of it."""
    share: float
    """The share of the corpus's words that its topics have."""
    topics: tuple[int, ...]
    """The numbers of its topics, the largest first."""

    @property
    def is_other(self) -> bool:
        """Whether its topics belong to no area."""
        return self.number == OTHER

    def __repr__(self) -> str:
        topics = ", ".join(map(str, self.topics))
        return f"<Area {self.number} {self.name!r}, {self.share:.1%}: topics {topics}>"


@dataclass(frozen=True, slots=True)
class Branch:
    """A topic, or a group of topics. Topics are numbered from 0 to K - 1, groups from K on."""

    number: int
    parent: int | None
    """The group that it is part of; None for the root, and for a topic that is not in use."""
    height: float
    """How far apart its parts are; 0 for a topic."""
    name: str
    share: float
    topics: tuple[int, ...]
    """Its topics, in drawing order."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """The topics in use of one model, as of its newest snapshot."""

    areas: Sequence[Area]
    """The largest first, and "other" last."""
    grouping: Areas
    by_words: bool
    """Whether distances come only from the topics' leading words, since the session was trained
    before areas were stored."""

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """(U, 2) their places on the map, from 0 to 1, x to the right and y upwards. If none are
        stored, this takes a second or two."""
        placed = self.grouping.placed() if self.by_words else self.grouping
        return with_scale(placed.places.astype(np.float64))

    @cached_property
    def area_of(self) -> Mapping[int, Area]:
        """The area of each topic in use, by the topic's number."""
        return {topic: area for area in self.areas for topic in area.topics}


def atlas(reader: SessionReader, model: str) -> Atlas | None:
    """The topics of a model, grouped and placed; None before its first snapshot."""
    with reader.one_moment():
        newest = reader.newest_words(model)
        if newest is None:
            return None
        stored = reader.areas(model)
        words = reader.vocabulary()
        given_names = reader.names_given(model)
    grouping = stored or _by_words(newest)
    chosen = grouping.names
    if not chosen:
        shown_ids, _ = newest.shown
        chosen = names(grouping.words(shown_ids, newest.shares, words), {})
    areas = []
    for number, topics in grouping.members.items():
        name = OTHER_NAME if number == OTHER else joined(chosen[number])
        areas.append(_area(number, name, topics, newest, given_names))
    areas.sort(key=lambda area: (area.is_other, -area.share))
    return Atlas(areas, grouping, by_words=stored is None)


def areas(reader: SessionReader, model: str, n: int | None = None) -> list[Area]:
    """The areas of a model's topics, the largest first, then "other"; with ``n``, the tree of the
    topics in areas is cut into this many."""
    with reader.one_moment():
        topic_map = atlas(reader, model)
        if topic_map is None:
            return []
        if n is None:
            return list(topic_map.areas)
        newest = reader.newest_words(model)
        assert newest is not None
        words = reader.vocabulary()
        given_names = reader.names_given(model)
    grouping = topic_map.grouping
    in_areas = np.flatnonzero(grouping.of_topic[grouping.topics] != OTHER)
    topics = grouping.topics[in_areas]
    nodes = tree(
        grouping.far[np.ix_(in_areas, in_areas)],
        grouping.of_topic[topics].astype(np.int64),
    )
    groups = [topics[list(group)].tolist() for group in cut(nodes, len(topics), n)]
    groups.sort(key=lambda group: -float(newest.shares[group].sum()))
    all_numbers = [number for number in range(len(groups) + 1) if number != OTHER]
    numbers = all_numbers[: len(groups)]
    shown_ids, _ = newest.shown
    word_ids = words_of_groups(groups, shown_ids, newest.shares)
    words_of = {
        number: [words[id] for id in ids] for number, ids in zip(numbers, word_ids, strict=True)
    }
    chosen = names(words_of, {})
    cut_areas = [
        _area(number, joined(chosen[number]), group, newest, given_names)
        for number, group in zip(numbers, groups, strict=True)
    ]
    return cut_areas + [area for area in topic_map.areas if area.is_other]


def topic_tree(reader: SessionReader, model: str) -> tuple[Branch, ...]:
    """All topics and groups by number, as of the newest snapshot; empty before the first.

    Each area is a branch, and the last branch is the root.
    """
    with reader.one_moment():
        newest = reader.newest_words(model)
        topic_map = atlas(reader, model)
        if newest is None or topic_map is None:
            return ()
        topic_names = reader.topic_names(model)
        words = reader.vocabulary()
    in_use = topic_map.grouping.topics
    K = len(topic_names)
    nodes = _nodes(topic_map)
    # Nodes number the topics in use from 0, and the groups after them; branches number all topics.
    number_of = [*in_use.tolist(), *range(K, K + len(in_use))]
    parent_of = {}
    for node in nodes:
        for child in node.children:
            parent_of[number_of[child]] = number_of[node.number]
    topics_of = [in_use[list(node.topics)].tolist() for node in nodes]
    group_names = names_of(most_relevant_to(topics_of, newest.shown, newest.shares), words)

    def branch(number: int, height: float, topics: Sequence[int], name: str) -> Branch:
        share = float(newest.shares[topics].sum(dtype=np.float64))
        return Branch(number, parent_of.get(number), height, name, share, tuple(topics))

    leaves = [branch(topic, 0.0, [topic], name) for topic, name in enumerate(topic_names)]
    groups = [
        branch(number_of[node.number], node.height, topics, name)
        for node, topics, name in zip(nodes, topics_of, group_names, strict=True)
    ]
    return (*leaves, *groups)


def in_drawing_order(
    branches: Sequence[Branch], all_areas: Sequence[Area]
) -> list[tuple[Area, list[int]]]:
    """The areas, each with its topics, in the order of the tree: "other" is last."""
    area_of = {topic: area for area in all_areas for topic in area.topics}
    if len(area_of) <= 1:  # then the tree has no groups, and no root
        return [(area, [topic]) for topic, area in area_of.items()]
    root = branches[-1]
    return [(area, list(topics)) for area, topics in groupby(root.topics, area_of.__getitem__)]


def _nodes(topic_map: Atlas) -> tuple[Node, ...]:
    numbers = [topic_map.area_of[topic].number for topic in topic_map.grouping.topics.tolist()]
    return tree(topic_map.grouping.far, np.array(numbers, np.int64))


def _by_words(newest: TopWords) -> Areas:
    """The areas computed only from the leading words, which every snapshot has."""
    topics = np.flatnonzero(newest.shares > IN_USE)
    most = round(1 / IN_USE)
    if len(topics) > most:  # only in a file that somebody has changed: the sum of shares is 1
        largest = np.argsort(-newest.shares[topics], kind="stable")[:most]
        topics = np.sort(topics[largest])
    ids, probabilities = newest.leading
    far = distances((ids[topics], probabilities[topics]))
    return Areas.by_distance(far, topics, len(newest.shares))


def _area(
    number: int,
    name: str,
    topics: Sequence[int],
    newest: TopWords,
    given_names: Mapping[int, str],
) -> Area:
    """The area of these topics. It has this name unless a large topic of it was given one; "other"
    always has its own."""
    shares = newest.shares.astype(np.float64)
    largest_first = sorted(topics, key=lambda topic: -shares[topic])
    share = float(shares[topics].sum())
    for topic in largest_first:
        is_named = topic in given_names and shares[topic] >= NAMING * share
        if is_named and number != OTHER:
            name = given_names[topic]
            break
    return Area(number, name, share, tuple(largest_first))

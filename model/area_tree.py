"""The tree of topics: those of an area are joined first, then the areas. U topics are in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wikitopics.model.areas import OTHER, Groups, ward
from wikitopics.model.minibatch import Indices, Matrix


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


def tree(far: Matrix, areas: Groups) -> tuple[Node, ...]:
    """The U - 1 nodes over the topics, which are numbered from 0 to U - 1; the last is the root.

    Topics of an area are joined by Ward's method, then the areas likewise by their mean distances,
    and last those in `OTHER`. So each area is a branch, and cutting at the number of areas gives
    the areas.
    """
    U = len(far)
    nodes: list[Node] = []
    topics: dict[int, tuple[int, ...]] = {topic: (topic,) for topic in range(U)}  # of each branch

    def join(branches: Sequence[int], apart: Matrix, least: float) -> int:
        """Join these topics or nodes, which are this far apart; returns the number of their common
        node. No new node is lower than `least`."""
        numbers = list(branches)
        if len(numbers) == 1:
            return numbers[0]
        for first, second, height, _ in ward(apart).tolist():
            one = numbers[int(first)]
            other = numbers[int(second)]
            number = U + len(nodes)
            topics[number] = topics[one] + topics[other]
            nodes.append(Node(number, (one, other), least + height, topics[number]))
            numbers.append(number)
        return numbers[-1]

    def join_groups(members: Sequence[Indices], tops: Sequence[int]) -> int:
        """Join groups of topics, whose nodes or single topics are `tops`."""
        # A row for each group that weighs its topics equally: their means, as a product.
        weights = np.stack([np.isin(np.arange(U), own) / len(own) for own in members])
        between = weights @ far @ weights.T
        np.fill_diagonal(between, 0)
        highest = max((node.height for node in nodes), default=0.0)
        return join(tops, between, highest)

    members = [np.flatnonzero(areas == area) for area in np.unique(areas)]
    tops = [join(own.tolist(), far[np.ix_(own, own)], 0.0) for own in members]
    other = np.flatnonzero(areas == OTHER)
    if len(members) > 1 and len(other):  # it is the last one
        top = join_groups(members[:-1], tops[:-1])
        join_groups([np.flatnonzero(areas != OTHER), other], [top, tops[-1]])
    elif len(members) > 1:
        join_groups(members, tops)
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

"""Topics clustered by similarity, so that hundreds of them can be read."""

from __future__ import annotations

from dataclasses import dataclass

from wikitopics.model.topics.leading import Leading, distances


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

"""Topics clustered by similarity, so that hundreds of them can be read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.topics.leading import Leading, affinity


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


def distances(leading: Leading) -> NDArray[np.float64]:
    """(K, K) Hellinger distances, 0 to 1, of the topics' leading words."""
    near = np.stack([affinity(leading, leading, topic) for topic in range(len(leading[0]))])
    far: NDArray[np.float64] = np.sqrt(np.clip(1 - near, 0, 1))
    np.fill_diagonal(far, 0)
    return far


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

"""A model of the report with as many topics as a map is to show."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.area_tree import tree
from wikitopics.model.areas import Areas
from wikitopics.session.analysis.areas import Area, Branch, in_drawing_order
from wikitopics.session.analysis.report.contents import ReportModel, nearest

WORDS = [
    "league",
    "season",
    "population",
    "republican",
    "of",
    "constitution",
    "bridges",
    "science",
    "art",
    "iii",
    "representatives",
    "film",
    "mathematics",
    "Massachusetts",
    "sea",
    "album",
    "internet",
    "WWW",
]


def distances(U: int, later: float = 0.0) -> NDArray[np.float64]:
    """The distances of U topics in some thirteen groups; ``later``: how far topics have moved
    since."""
    random = np.random.default_rng(7)
    centres = 2 * random.normal(size=(13, 8))
    group = random.integers(0, 13, U)
    places = centres[group] + random.normal(size=(U, 8))
    places += later * random.normal(size=places.shape)
    return np.sqrt(np.square(places[:, None] - places).sum(axis=-1))


GROUPS = np.repeat(np.arange(4), 6)


def planted(seed: int, groups: NDArray[np.int64] = GROUPS) -> NDArray[np.float64]:
    """Distances of topics that are close within groups."""
    U = len(groups)
    noise = np.random.default_rng(seed).random((U, U)) / 2
    far = np.where(groups[:, None] == groups, 1.0, 3.0) + noise
    far = (far + far.T) / 2
    np.fill_diagonal(far, 0)
    return far


def with_topics(model: ReportModel, areas: Areas, names: Sequence[str] = ()) -> ReportModel:
    """The model with these topics in these areas; the first ones have these names, the others three
    words."""
    random = np.random.default_rng(3)
    U = len(areas.topics)
    shares = np.sort(random.pareto(1.5, U) + 0.3)[::-1]
    shares /= shares.sum()
    topic_names = list(names)
    for _ in range(U):
        topic_names.append(", ".join(random.choice(WORDS, 3, replace=False)))
    near = nearest(areas)
    example = model.topics[0]
    topics = []
    for number in range(U):
        row = replace(
            example.row,
            topic=number,
            name=topic_names[number],
            share=float(shares[number]),
        )
        topics.append(
            replace(
                example,
                anchor=f"{model.anchor}-{number}",
                row=row,
                area=int(areas.of_topic[number]),
                place=tuple(areas.places[number].tolist()),
                near=near[number],
            )
        )
    found = []
    for number, members in areas.members.items():
        share = float(shares[members].sum())
        found.append(Area(number, f"area {WORDS[number % len(WORDS)]}", share, tuple(members)))
    nodes = tree(areas.far, areas.of_topic.astype(np.int64))
    above: dict[int, int] = {}
    for node in nodes:
        for child in node.children:
            above[child] = node.number
    branches = [Branch(number, above.get(number), 0.0, "", 0.0, (number,)) for number in range(U)]
    for node in nodes:
        branches.append(
            Branch(node.number, above.get(node.number), node.height, "", 0.0, node.topics)
        )
    groups = []
    for area, members_in_order in in_drawing_order(branches, found):
        groups.append((area, [topics[number] for number in members_in_order]))
    return replace(model, topics=topics, groups=groups, tree=branches)


def grouped(U: int, later: float = 0.0, before: Areas | None = None) -> Areas:
    """The areas and places of U topics."""
    return Areas.by_distance(distances(U, later), np.arange(U), U, before).placed(before)

"""A model of the report with as many topics as a map is to show."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.areas import Areas, tree
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
]
WORDS += [
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
    """Distances of U topics in some thirteen groups; ``later``: how far topics have moved since."""
    random = np.random.default_rng(7)
    middles = 2 * random.normal(size=(13, 8))
    groups = random.integers(0, 13, U)
    places = middles[groups] + random.normal(size=(U, 8))
    places += later * random.normal(size=places.shape)
    return np.sqrt(np.square(places[:, None] - places).sum(axis=-1))


def with_topics(model: ReportModel, areas: Areas, names: Sequence[str] = ()) -> ReportModel:
    """The model with these topics in these areas; the first ones have these names, the others three
    words."""
    random = np.random.default_rng(3)
    U = len(areas.topics)
    shares = np.sort(random.pareto(1.5, U) + 0.3)[::-1]
    shares /= shares.sum()
    called = [*names, *(", ".join(random.choice(WORDS, 3, replace=False)) for _ in range(U))][:U]
    near = nearest(areas)
    row = model.topics[0].row
    topics = [
        replace(
            model.topics[0],
            anchor=f"{model.anchor}-{number}",
            row=replace(row, topic=number, name=called[number], share=float(shares[number])),
            area=int(areas.of_topic[number]),
            place=tuple(areas.places[number].tolist()),
            near=near[number],
        )
        for number in range(U)
    ]
    found = [
        Area(number, f"area {WORDS[number]}", float(shares[own].sum()), tuple(own))
        for number, own in areas.members.items()
    ]
    nodes = tree(areas.far, areas.of_topic.astype(np.int64))
    above = {child: node.number for node in nodes for child in node.children}
    leaves = [(number, 0.0, (number,)) for number in range(U)]
    branches = [
        Branch(number, above.get(number), height, "", 0.0, below)
        for number, height, below in [
            *leaves,
            *((node.number, node.height, node.topics) for node in nodes),
        ]
    ]
    order = in_drawing_order(branches, found)
    groups = [(area, [topics[number] for number in own]) for area, own in order]
    return replace(model, topics=topics, groups=groups, tree=branches)


def grouped(U: int, later: float = 0.0, before: Areas | None = None) -> Areas:
    """The areas and places of U topics."""
    return Areas.by_distance(distances(U, later), np.arange(U), U, before).placed(before)

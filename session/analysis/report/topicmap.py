"""The topics of one model in the plane: close to each other if they share words."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from wikitopics.session.analysis.report.contents import ReportModel, ReportTopic
from wikitopics.session.analysis.report.svg import CLASS, cut, figure, plain, series
from wikitopics.session.storage.topics import parts

if TYPE_CHECKING:
    from matplotlib.path import Path

WIDE, NARROW = (760, 520), (400, 560)
"""Width and height of a map beside text, and of one for phones."""
MARGIN = 48
COVERED = 0.16
"""The part of the map that all topics would cover if they lay side by side."""
LARGEST = 92
"""The largest width of a circle."""
STRETCH = 1.6
"""The largest ratio between the scales of the two directions."""
APART, PUSHES = 0.9, 100
"""The part of the distance at which two circles touch, and the steps in which they are pushed that far
apart."""
LETTER, LARGE = 11.5, 13
"""Heights of labels; the large ones are those of the largest topics."""
LARGE_LABELS = 9
LONGEST = 26
"""The most letters of a label."""

Places = NDArray[np.float64]
"""(K, 2) the centres of the circles."""
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""
Label = tuple[float, float, str, str]
"""A name centred at (x, y), and its class: "major" for those of the largest topics, otherwise "minor"."""


def topic_map(model: ReportModel, width: int, height: int) -> Markup:
    """The map, with each topic as large as its share and linked to its description."""
    topics = model.topics
    shares = np.array([topic.share for topic in topics])
    across = np.minimum(LARGEST, np.sqrt(4 / math.pi * COVERED * width * height * shares / sum(shares)))
    size = np.array([width, height])
    places = _places(np.array([topic.place for topic in topics]), across / 2, size)
    with figure(width, height) as drawn:
        axes = drawn.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(0, height))
        circles = axes.scatter(
            places[:, 0],
            places[:, 1],
            s=across**2,
            marker=_circle(),
            color=series(model.place),
            edgecolors=series(model.place),
            linewidths=1,
            clip_on=False,
        )
        circles.set_urls([f"#{topic.anchor}" for topic in topics])
        for number, (x, y, text, role) in _labels(topics, places, across, size).items():
            label = axes.text(x, y, text, ha="center", va="center_baseline", url=f"#{topics[number].anchor}")
            label.set_gid(CLASS + role)
        about = f"A map of {len(topics)} topics of {model.status.name}; the list below has them all."
        titles = {f"#{topic.anchor}": f"{topic.name} ({topic.share:.1%})" for topic in topics}
        return plain(drawn, about, titles)


def _circle() -> "Path":
    """A circle of four curves: matplotlib's own has eight, which would double the size of the page."""
    from matplotlib.path import Path

    k = 4 / 3 * math.tan(math.pi / 8)
    quarter = np.array([(1, 0), (1, k), (k, 1), (0, 1)]) / 2
    turns = [np.linalg.matrix_power(np.array([[0, 1], [-1, 0]]), turn) for turn in range(4)]
    places = np.concatenate([quarter[:1], *(quarter[1:] @ turn for turn in turns), quarter[:1]])
    return Path(places, [Path.MOVETO, *[Path.CURVE4] * 12, Path.CLOSEPOLY])


def _places(places: Places, radii: NDArray[np.float64], size: NDArray[np.int64]) -> Places:
    """The places scaled to fill the map, with overlapping circles pushed apart; an upright map is turned."""
    edge = np.array([MARGIN, MARGIN])
    if size[1] > size[0]:
        places = places[:, ::-1]
    low, high = places.min(axis=0), places.max(axis=0)
    scales = (size - 2 * edge) / np.maximum(high - low, 1e-9)
    scales = np.minimum(scales, STRETCH * scales.min())
    places = size / 2 + (places - (low + high) / 2) * scales
    room = (radii + radii[:, None]) * APART
    for _ in range(PUSHES):
        towards = places - places[:, None]
        far = np.sqrt((towards**2).sum(axis=-1)) + np.eye(len(places)) * size[0]
        lacking = np.clip(room - far, 0, None)
        if not lacking.any():
            break
        places = places + 0.25 * (towards * (lacking / np.maximum(far, 1e-6))[:, :, None]).sum(axis=0)
        places = np.clip(places, edge, size - edge)
    return places


def _labels(
    topics: Sequence[ReportTopic], places: Places, across: NDArray[np.float64], size: NDArray[np.int64]
) -> dict[int, Label]:
    """Names where there is room, by topic: the largest topics first, and last the first words of names."""
    width, height = size.tolist()
    found: dict[int, Label] = {}
    taken: list[Box] = []
    small = LETTER, "minor", len(topics)
    for letter, role, most, whole in ((LARGE, "major", LARGE_LABELS, True), (*small, True), (*small, False)):
        for number, topic in enumerate(topics):
            if number in found or len(found) >= most:
                continue
            text = cut(topic.name if whole else parts(topic.name)[0], LONGEST)
            half, high = 0.3 * letter * len(text), 0.62 * letter
            x = min(max(places[number, 0], half), width - half)
            for beside in (0.0, -across[number] / 2 - high, across[number] / 2 + high):
                y = places[number, 1] + beside
                box = x - half, y - high, x + half, y + high
                if box[1] >= 0 and box[3] <= height and not any(_overlap(box, other) for other in taken):
                    found[number] = x, y, text, role
                    taken.append(box)
                    break
    return found


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

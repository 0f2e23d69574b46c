"""The atlas in cells: where the labels of topics and areas stand, the land around them, and how to
move from one label to the next. Pure.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from wikitopics.session.analysis.areas import Area, Atlas
from wikitopics.session.analysis.cartography import arranged, filled, lands, nearest_to_all
from wikitopics.session.records import APART, TopicRow
from wikitopics.session.storage.topics import BETWEEN, parts
from wikitopics.tui.text import cut, folded, visible

ASPECT = 2.0
"""The height of a cell, in cell widths."""
REACH = 7.0
"""Cells from a label to the edge of its area's land."""
WORD = 16
"""The maximum width of a word, in cells."""
NAMED = 3
"""The maximum number of words in a label when the map shows all areas."""
FULL = 0.34
"""The fraction of the map that labels may cover for all of them to have more than one word."""
HEADS = 0.2
"""The fraction of the map that the names of areas may cover."""
ROOMY = 100
"""The width of the map from which labels are kept two cells apart instead of one."""
STAYS = 0.2
"""How far a label may be from its proper place before it moves there, as a fraction of the map's
width."""
LARGE, SMALL = 1.4, 0.6
"""A topic of at least LARGE times the mean share has a large sign, one below SMALL times it a small
one."""
COLUMN, LINES = 30, 6
"""The maximum width (cells) and number of lines of a label when one area fills the map."""


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a topic, or of an area, at its place."""

    area: int
    topic: int | None
    """None: the label is the area's own."""
    row: int
    column: int
    lines: tuple[str, ...]
    """The text after the sign. An area's label has no sign."""
    size: int = 0
    """The size of its sign: 0 (small), 1 or 2 (large)."""

    @property
    def width(self) -> int:
        """Cells of its longest line, with the sign."""
        return max(map(cell_len, self.lines)) + 2 * (self.topic is not None)

    def covers(self, row: int, column: int) -> bool:
        """Whether this cell is part of the label."""
        within = 0 <= row - self.row < len(self.lines)
        return within and 0 <= column - self.column < self.width


@dataclass(frozen=True, slots=True)
class Sheet:
    """The atlas at one size."""

    size: tuple[int, int]
    """Columns and rows."""
    zoom: int | None
    """The area that fills the sheet; None: the sheet shows all areas."""
    labels: tuple[Label, ...]
    ground: tuple[tuple[list[int], list[int]], ...]
    """By row: the columns where another land begins, and the area of each such stretch, -1 for
    none."""
    borders: tuple[str, ...]
    """By row: the border lines between lands."""
    many: int
    """The number of topics that belong on it, whether or not there is room for them."""

    @property
    def topics(self) -> dict[int, Label]:
        """The labels of topics, by number."""
        return {label.topic: label for label in self.labels if label.topic is not None}


def laid_out(
    found: Atlas,
    rows: Sequence[TopicRow],
    size: tuple[int, int],
    zoom: int | None = None,
    first: Collection[int] = (),
    before: Sheet | None = None,
) -> Sheet:
    """Lay out the atlas of these topics on this many columns and rows.

    zoom: the area that fills it. first: topics that must have a place. before: an earlier sheet,
    whose labels move only if they belong to another area now or are far from their place
    """
    width, height = size
    # A search takes up to two rows from the map; the labels stay where they are.
    if before and not (
        before.zoom == zoom and before.size[0] == width and abs(before.size[1] - height) <= 2
    ):
        before = None
    areas = {area.number: area for area in found.areas if zoom is None or area.number == zoom}
    shown = {row.topic for row in rows if not row.hidden}
    area_of = {
        topic: area.number for area in areas.values() for topic in area.topics if topic in shown
    }
    chosen = sorted(area_of, key=lambda topic: (topic not in first, -rows[topic].share))
    if not chosen or min(size) < 1:
        return Sheet(size, zoom, (), (([0], [-1]),) * height, (" " * width,) * height, len(chosen))
    centres = _centres(found, [(topic, area_of[topic]) for topic in chosen], size)
    words = {topic: _words(rows[topic]) for topic in chosen}
    labels = [] if zoom is not None else _heads(areas, centres, size)
    longest = (
        sum(cell_len(words[topic][:many][-1]) + 4 for topic in chosen)
        for many in range(1, NAMED + 1)
    )
    fitting = sum(cells <= FULL * width * height for cells in longest)
    many = 1 if before else max(fitting, 1)  # `_grown` adds what there is room for
    mean = max(
        sum(rows[topic].share for topic in chosen) / len(chosen), 1e-9
    )  # all may be 0 at first
    for topic in chosen:
        lines = words[topic][:many][-1:] if zoom is None else _block(rows[topic], size, len(chosen))
        labels.append(
            Label(area_of[topic], topic, 0, 0, tuple(lines), _size(rows[topic].share / mean))
        )
    placed = _placed(labels, centres, size, before, first)
    if zoom is None:
        placed = _grown(placed, words, size)
    land = lands(
        [(label.row, label.column) for label in placed],
        [(len(label.lines), label.width) for label in placed],
        [label.area for label in placed],
        (height, width),
        REACH,
        ASPECT,
    )
    lines = _around(placed, borders(land))
    return Sheet(size, zoom, tuple(placed), tuple(map(_runs, land)), lines, len(chosen))


Centres = dict[tuple[int | None, int], tuple[float, float]]
"""The row and column that each label should be around, by (topic, area); None: the area's own
label."""


def _centres(found: Atlas, topics: Sequence[tuple[int, int]], size: tuple[int, int]) -> Centres:
    width, height = size
    place = dict(zip(found.grouping.topics.tolist(), found.places, strict=True))
    margin = min(8, width // 4)
    spread = filled(np.array([place[topic] for topic, _ in topics]))
    rows, columns = spread[:, 1] * (height - 1) + 0.5, margin + spread[:, 0] * (width - 2 * margin)
    return dict(zip(topics, zip(rows.tolist(), columns.tolist(), strict=True), strict=True))


def _size(share: float) -> int:
    """The size of the sign for a share, given as a multiple of the mean share."""
    return (share >= SMALL) + (share >= LARGE)


def _heads(areas: Mapping[int, Area], centres: Centres, size: tuple[int, int]) -> list[Label]:
    """The labels of areas, or of the largest if there is little room; adds their places to
    ``centres``."""
    heads, left = [], HEADS * size[0] * size[1]
    for number, area in areas.items():
        inside = [centre for (_, own), centre in centres.items() if own == number]
        if inside:
            row, column = nearest_to_all(np.array(inside)).tolist()
            centres[None, number] = row - 1, column
            name = cut(visible(area.name).upper(), min(2 * WORD, size[0] // 3))
            heads.append(Label(number, None, 0, 0, (f"{name} {100 * area.share:.0f}%",)))
            left -= heads[-1].width + 1
            if left < 0:
                return heads[:-1]
    return heads


def _words(row: TopicRow) -> list[str]:
    """The possible texts of a topic's label, from one word of its name to all."""
    if not row.name:
        return [f"#{row.topic}"]
    named = parts(row.name)[:NAMED]
    between = APART if APART in row.name else BETWEEN
    texts = [
        cut(visible(between.join(named[:many])), WORD * many) for many in range(1, len(named) + 1)
    ]
    return list(dict.fromkeys([*texts, cut(visible(row.name), WORD * NAMED)]))


def _block(row: TopicRow, size: tuple[int, int], many: int) -> tuple[str, ...]:
    """A label of several lines: the topic's name, then more of its words, for one of ``many``
    topics."""
    width, height = size
    column = min(COLUMN, max(width // 2 - 4, 1))
    lines = min(LINES, max(width * height // (3 * many * (column + 4)), 1))
    named = cut(visible(row.name) or f"#{row.topic}", column)
    more = " ".join(visible(word) for word, _ in row.words if word not in parts(row.name))
    return (named, *folded(more, column)[: lines - 1])


def _placed(
    labels: Sequence[Label],
    centres: Centres,
    size: tuple[int, int],
    before: Sheet | None,
    first: Collection[int],
) -> list[Label]:
    """The labels for which there is room, at their places. Topics in ``first`` and areas placed
    before choose first, then other labels that had a place before, then new ones; areas before
    topics."""
    width, height = size
    stay = {} if before is None else {(label.topic, label.area): label for label in before.labels}

    def earlier(label: Label) -> tuple[int, int] | None:
        old = stay.get((label.topic, label.area))
        if old is None or label.width > old.width:
            return None
        row, column = centres[label.topic, label.area]
        off = np.hypot(ASPECT * (old.row - row), old.column + label.width / 2 - column)
        return (old.row, old.column) if off <= STAYS * width else None

    labels = [label for label in labels if label.width <= width]

    def turn(label: Label) -> tuple[bool, ...]:
        is_new, is_topic = earlier(label) is None, label.topic is not None
        return (is_new or is_topic) and label.topic not in first, is_new, is_topic

    order = sorted(labels, key=turn)
    corners = arranged(
        np.array([centres[label.topic, label.area] for label in order]),
        [(len(label.lines), min(label.width + _gap(width), width)) for label in order],
        (height, width),
        ASPECT,
        [earlier(label) for label in order],
    )
    return [
        replace(label, row=corner[0], column=corner[1])
        for label, corner in zip(order, corners, strict=True)
        if corner is not None
    ]


def _gap(width: int) -> int:
    return 1 + (width >= ROOMY)


def _grown(
    labels: Sequence[Label], words: Mapping[int, Sequence[str]], size: tuple[int, int]
) -> list[Label]:
    """The labels, with more words where the cells to their right are free."""
    gap = _gap(size[0])
    taken = np.zeros(size[::-1], np.bool_)
    for label in labels:
        taken[label.row, label.column : label.column + label.width + gap] = True
    grown = []
    for label in labels:
        if label.topic is not None:
            end = label.column + label.width
            for text in reversed(words[label.topic]):
                wider = label.column + 2 + cell_len(text)
                if wider <= end:
                    break
                if wider <= size[0] and not taken[label.row, end + gap : wider + gap].any():
                    taken[label.row, end : wider + gap] = True
                    label = replace(label, lines=(text,))
                    break
        grown.append(label)
    return grown


def _runs(row: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    starts = np.append(0, np.flatnonzero(np.diff(row)) + 1)
    return starts.tolist(), row[starts].tolist()


# Borders, where lands are not tinted.

_LINES = " │││─╯╮┤─╰╭├─┴┬┼"
"""Indexed by the sum of the directions in which a line continues: 1 up, 2 down, 4 left, 8 right."""


def borders(land: NDArray[np.int64]) -> tuple[str, ...]:
    """By row: the lines between cells of different lands, each drawn half a cell too far down and
    right."""
    padded = np.pad(land, ((1, 0), (1, 0)), "edge")
    across, down = padded[:-1] != padded[1:], padded[:, :-1] != padded[:, 1:]
    lines = down[:-1] + 2 * down[1:] + 4 * across[:, :-1] + 8 * across[:, 1:]
    return tuple("".join(map(_LINES.__getitem__, row)) for row in lines.tolist())


def _around(labels: Sequence[Label], lines: Sequence[str]) -> tuple[str, ...]:
    """The border lines, blank where they would touch a label."""
    cells = [list(line) for line in lines]
    for label in labels:
        start, end = max(label.column - 1, 0), label.column + label.width + 1
        for row in cells[label.row : label.row + len(label.lines)]:
            row[start:end] = " " * len(row[start:end])
    return tuple(map("".join, cells))


# From topic to topic.

Direction = Literal["up", "down", "left", "right"]


def toward(
    labels: Iterable[Label], here: tuple[float, float], direction: Direction
) -> Label | None:
    """The label nearest to a place in this direction; one straight ahead is preferred to one at the
    side."""
    sign, is_across = (-1 if direction in ("up", "left") else 1), direction in ("left", "right")

    def way(label: Label) -> tuple[bool, float]:
        """Whether the label is more aside than ahead, and how far away it is; 0 if it is behind."""
        y, x = middle(label)
        down, right = y - here[0], x - here[1]
        ahead, aside = (sign * right, abs(down)) if is_across else (sign * down, abs(right))
        return aside > ahead, ahead + 2 * aside if ahead > 0 else 0.0

    ways = [(way(label), label) for label in labels]
    return min((one for one in ways if one[0][1]), key=lambda one: one[0], default=(None, None))[1]


def middle(label: Label) -> tuple[float, float]:
    """The middle of a label, in cell widths: from the top, and from the left."""
    return ASPECT * (label.row + len(label.lines) / 2), label.column + label.width / 2

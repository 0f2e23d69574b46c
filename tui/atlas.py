"""The atlas in cells: where the labels of topics and areas stand, the land around them, and how to
move from one label to the next. Pure.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from wikitopics.session.analysis.areas import Area, Atlas
from wikitopics.session.analysis.cartography import arranged, filled, lands, nearest_to_all
from wikitopics.session.naming import WORD_SEPARATOR, parts
from wikitopics.session.records import TopicRow
from wikitopics.session.wording import APART
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
LARGE = 1.4
"""A topic of at least this many times the mean share has a large sign."""
SMALL = 0.6
"""A topic of less than this many times the mean share has a small sign."""
COLUMN = 30
"""The maximum width, in cells, of a label when one area fills the map."""
LINES = 6
"""The maximum number of its lines."""


SIGN = 2
"""Cells of a topic's sign and the space after it."""


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
        widest = max(cell_len(line) for line in self.lines)
        return widest if self.topic is None else widest + SIGN

    def covers(self, row: int, column: int) -> bool:
        """Whether this cell is part of the label."""
        is_in_rows = 0 <= row - self.row < len(self.lines)
        is_in_columns = 0 <= column - self.column < self.width
        return is_in_rows and is_in_columns


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
    topic_count: int
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
    if before is not None and not _is_like(before, size, zoom):
        before = None
    areas = {area.number: area for area in found.areas if zoom is None or area.number == zoom}
    shown = {row.topic for row in rows if not row.hidden}
    area_of: dict[int, int] = {}
    for area in areas.values():
        for topic in area.topics:
            if topic in shown:
                area_of[topic] = area.number
    topics = sorted(area_of, key=lambda topic: (topic not in first, -rows[topic].share))
    if not topics or min(size) < 1:
        nothing: tuple[list[int], list[int]] = ([0], [-1])
        return Sheet(
            size,
            zoom,
            labels=(),
            ground=(nothing,) * height,
            borders=(" " * width,) * height,
            topic_count=len(topics),
        )

    centres = _centres(found, [(topic, area_of[topic]) for topic in topics], size)
    words = {topic: _words(rows[topic]) for topic in topics}
    mean = sum(rows[topic].share for topic in topics) / len(topics)
    mean = max(mean, 1e-9)  # all may be 0 at first
    labels: list[Label] = []
    if zoom is None:
        labels = _heads(areas, centres, size)
        # Where there was a sheet before, `_grown` adds what there is room for.
        number = 1 if before else _words_that_fit(words.values(), size)
    for topic in topics:
        lines: tuple[str, ...]
        if zoom is None:
            lines = (_label_text(words[topic], number),)
        else:
            lines = _block(rows[topic], size, len(topics))
        sign_size = _size(rows[topic].share / mean)
        labels.append(Label(area_of[topic], topic, 0, 0, lines, sign_size))
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
    return Sheet(
        size,
        zoom,
        labels=tuple(placed),
        ground=tuple(_runs(row) for row in land),
        borders=_around(placed, borders(land)),
        topic_count=len(topics),
    )


def _is_like(sheet: Sheet, size: tuple[int, int], zoom: int | None) -> bool:
    """Whether the sheet has about this size and the same zoom. A search takes up to two rows from
    the map; the labels then stay where they are."""
    width, height = size
    old_width, old_height = sheet.size
    return sheet.zoom == zoom and old_width == width and abs(old_height - height) <= 2


def _label_text(texts: Sequence[str], number: int) -> str:
    """The text of this many words, of a topic's possible texts; the longest if it has fewer."""
    return texts[min(number, len(texts)) - 1]


def _words_that_fit(words: Iterable[Sequence[str]], size: tuple[int, int]) -> int:
    """How many words each label may have, by the part of the map that they would all cover."""
    width, height = size
    fitting = 1
    for number in range(2, NAMED + 1):
        cells = sum(cell_len(_label_text(texts, number)) + SIGN + 2 for texts in words)
        if cells > FULL * width * height:
            break
        fitting = number
    return fitting


Centres = dict[tuple[int | None, int], tuple[float, float]]
"""The row and column that each label should be around, by (topic, area); None: the area's own
label."""


def _centres(found: Atlas, topics: Sequence[tuple[int, int]], size: tuple[int, int]) -> Centres:
    width, height = size
    place = dict(zip(found.grouping.topics.tolist(), found.places, strict=True))
    margin = min(8, width // 4)
    spread = filled(np.array([place[topic] for topic, _ in topics]))
    centres: Centres = {}
    for label, (x, y) in zip(topics, spread.tolist(), strict=True):
        centres[label] = (y * (height - 1) + 0.5, margin + x * (width - 2 * margin))
    return centres


def _size(share: float) -> int:
    """The size of the sign for a share, given as a multiple of the mean share."""
    if share >= LARGE:
        return 2
    return 1 if share >= SMALL else 0


def _heads(areas: Mapping[int, Area], centres: Centres, size: tuple[int, int]) -> list[Label]:
    """The labels of areas, or of the largest if there is little room; adds their places to
    ``centres``."""
    width, height = size
    room = HEADS * width * height
    heads: list[Label] = []
    for number, area in areas.items():
        if area.is_other:
            continue
        inside = [centre for (_, its_area), centre in centres.items() if its_area == number]
        if not inside:
            continue
        row, column = nearest_to_all(np.array(inside)).tolist()
        centres[None, number] = (row - 1, column)
        name = cut(visible(area.name).upper(), min(2 * WORD, width // 3))
        head = Label(number, None, 0, 0, (f"{name} {100 * area.share:.0f}%",))
        room -= head.width + 1
        if room < 0:
            break
        heads.append(head)
    return heads


def _words(row: TopicRow) -> list[str]:
    """The possible texts of a topic's label, from one word of its name to all."""
    if not row.name:
        return [f"#{row.topic}"]
    words = parts(row.name)[:NAMED]
    between = APART if APART in row.name else WORD_SEPARATOR
    texts: list[str] = []
    for number in range(1, len(words) + 1):
        texts.append(cut(visible(between.join(words[:number])), WORD * number))
    texts.append(cut(visible(row.name), WORD * NAMED))
    return list(dict.fromkeys(texts))  # without repeated ones


def _block(row: TopicRow, size: tuple[int, int], topic_count: int) -> tuple[str, ...]:
    """A label of several lines: the topic's name, then more of its words; all ``topic_count``
    topics of the map have such labels."""
    width, height = size
    column = min(COLUMN, max(width // 2 - 4, 1))
    # So that the labels cover at most a third of the map.
    cells_of_each = width * height // (3 * topic_count)
    lines = min(LINES, max(cells_of_each // (column + 4), 1))
    name = cut(visible(row.name) or f"#{row.topic}", column)
    others = [visible(word) for word, _ in row.shown if word not in parts(row.name)]
    return (name, *folded(" ".join(others), column)[: lines - 1])


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
    labels_before = () if before is None else before.labels
    old_labels = {(label.topic, label.area): label for label in labels_before}

    def earlier(label: Label) -> tuple[int, int] | None:
        """Where the label was before, if it may stay there."""
        old = old_labels.get((label.topic, label.area))
        if old is None or label.width > old.width:
            return None
        row, column = centres[label.topic, label.area]
        down = ASPECT * (old.row - row)
        right = old.column + label.width / 2 - column
        return (old.row, old.column) if np.hypot(down, right) <= STAYS * width else None

    def turn(label: Label) -> tuple[bool, ...]:
        """What labels are sorted by: False comes first."""
        is_new = earlier(label) is None
        is_topic = label.topic is not None
        must_have_place = label.topic in first or not (is_new or is_topic)
        return not must_have_place, is_new, is_topic

    order = sorted((label for label in labels if label.width <= width), key=turn)
    corners = arranged(
        np.array([centres[label.topic, label.area] for label in order]),
        [(len(label.lines), min(label.width + _gap(width), width)) for label in order],
        (height, width),
        ASPECT,
        [earlier(label) for label in order],
    )
    placed: list[Label] = []
    for label, corner in zip(order, corners, strict=True):
        if corner is not None:
            row, column = corner
            placed.append(replace(label, row=row, column=column))
    return placed


def _gap(width: int) -> int:
    """The number of cells between two labels."""
    return 2 if width >= ROOMY else 1


def _grown(
    labels: Sequence[Label], words: Mapping[int, Sequence[str]], size: tuple[int, int]
) -> list[Label]:
    """The labels, with more words where the cells to their right are free."""
    width, height = size
    gap = _gap(width)
    taken = np.zeros((height, width), np.bool_)
    for label in labels:
        taken[label.row, label.column : label.column + label.width + gap] = True
    grown = []
    for label in labels:
        if label.topic is not None:
            end = label.column + label.width
            for text in reversed(words[label.topic]):
                new_end = label.column + SIGN + cell_len(text)
                if new_end <= end:
                    break
                is_free = not taken[label.row, end + gap : new_end + gap].any()
                if new_end <= width and is_free:
                    taken[label.row, end : new_end + gap] = True
                    label = replace(label, lines=(text,))
                    break
        grown.append(label)
    return grown


def _runs(row: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """The columns where stretches of the same area begin, and their areas."""
    starts = np.append(0, np.flatnonzero(np.diff(row)) + 1)
    return starts.tolist(), row[starts].tolist()


# Borders, where lands are not tinted.

_LINES = " │││─╯╮┤─╰╭├─┴┬┼"
"""Indexed by the sum of the directions in which a line continues: 1 up, 2 down, 4 left, 8 right."""


def borders(land: NDArray[np.int64]) -> tuple[str, ...]:
    """By row: the lines between cells of different lands, each drawn half a cell too far down and
    right."""
    padded = np.pad(land, ((1, 0), (1, 0)), "edge")
    # Whether a line runs along the lower side of a cell, and along its right side.
    across = padded[:-1] != padded[1:]
    down = padded[:, :-1] != padded[:, 1:]
    lines = down[:-1] + 2 * down[1:] + 4 * across[:, :-1] + 8 * across[:, 1:]
    return tuple("".join(_LINES[line] for line in row) for row in lines.tolist())


def _around(labels: Sequence[Label], lines: Sequence[str]) -> tuple[str, ...]:
    """The border lines, blank where they would touch a label."""
    cells = [list(line) for line in lines]
    for label in labels:
        start = max(label.column - 1, 0)
        end = label.column + label.width + 1
        for row in cells[label.row : label.row + len(label.lines)]:
            row[start:end] = " " * len(row[start:end])
    return tuple("".join(row) for row in cells)


# From topic to topic.

Direction = Literal["up", "down", "left", "right"]


def toward(
    labels: Iterable[Label], here: tuple[float, float], direction: Direction
) -> Label | None:
    """The label nearest to a place in this direction; one straight ahead is preferred to one at the
    side."""
    y_here, x_here = here
    nearest: Label | None = None
    shortest = (True, math.inf)
    """Whether the nearest label so far is more aside than ahead, and how far away it is."""
    for label in labels:
        y, x = middle(label)
        down = y - y_here
        right = x - x_here
        if direction in ("left", "right"):
            ahead = right if direction == "right" else -right
            aside = abs(down)
        else:
            ahead = down if direction == "down" else -down
            aside = abs(right)
        way = (aside > ahead, ahead + 2 * aside)
        if ahead > 0 and way < shortest:
            nearest = label
            shortest = way
    return nearest


def middle(label: Label) -> tuple[float, float]:
    """The middle of a label, in cell widths: from the top, and from the left."""
    y = ASPECT * (label.row + len(label.lines) / 2)
    x = label.column + label.width / 2
    return y, x

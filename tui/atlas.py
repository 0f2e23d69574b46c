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
from wikitopics.session.analysis.cartography import arranged, filled, lands, name_places
from wikitopics.session.naming import parts, separator
from wikitopics.session.records import TopicRow
from wikitopics.tui.text import cut, folded, visible

ASPECT = 2.0
"""The height of a cell, in cell widths."""
REACH = 7.0
"""Cells from a label to the edge of its area's land."""
WORD = 16
"""The maximum width of a word, in cells."""
NAMED = 3
"""The maximum number of words in a label when the map shows all areas."""
HEADS = 0.2
"""The fraction of the map that the names of areas may cover."""
ROOMY = 100
"""The width of the map from which labels are kept two cells apart instead of one."""
TAKEN = 2
"""The most rows that a search takes from the map."""
LARGE = 1.4
"""A topic of at least this many times the mean share has a large sign."""
SMALL = 0.6
"""A topic of less than this many times the mean share has a small sign."""
COLUMN = 30
"""The maximum width, in cells, of a label when one area fills the map."""
LINES = 6
"""The maximum number of its lines."""
FULL = 0.55
"""The fraction of the map that the labels of topics may cover."""
SIGN_CELLS = 2
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
        return widest if self.topic is None else widest + SIGN_CELLS

    def covers(self, row: int, column: int) -> bool:
        """Whether this cell is part of the label."""
        is_in_rows = 0 <= row - self.row < len(self.lines)
        is_in_columns = 0 <= column - self.column < self.width
        return is_in_rows and is_in_columns


Ground = tuple[list[int], list[tuple[int, int]]]
"""The columns of a row where another land begins, and the areas of each such stretch in the upper
and the lower half of the row, -1 for none."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The atlas at one size."""

    size: tuple[int, int]
    """Columns and rows."""
    full_height: int
    """The rows for which it was laid out; more than it has while a search takes some."""
    zoom: int | None
    """The area that fills the sheet; None: the sheet shows all areas."""
    labels: tuple[Label, ...]
    ground: tuple[Ground, ...]
    """By row."""
    borders: tuple[str, ...]
    """By row: the border lines between lands."""
    topic_count: int
    """The number of topics that belong on it, whether or not there is room for them."""

    @property
    def topics(self) -> dict[int, Label]:
        """The labels of topics, by number."""
        return {label.topic: label for label in self.labels if label.topic is not None}


def laid_out(
    atlas: Atlas,
    rows: Sequence[TopicRow],
    size: tuple[int, int],
    zoom: int | None = None,
    first: Collection[int] = (),
    before: Sheet | None = None,
) -> Sheet:
    """Lay out the atlas of these topics on this many columns and rows. It depends on the topics and
    the size alone, so that all screens of this size show the same.

    zoom: the area that fills it. first: topics that must have a place. before: the sheet that was
    shown before a search took up to `TAKEN` rows from the map: labels stay where they are on it
    """
    width, height = size
    full_height = height
    if before is not None and _is_cut(before, size, zoom):
        full_height = before.full_height
    areas = {area.number: area for area in atlas.areas if zoom is None or area.number == zoom}
    shown = {row.topic for row in rows if not row.hidden}
    area_of: dict[int, int] = {}
    for area in areas.values():
        for topic in area.topics:
            if topic in shown:
                area_of[topic] = area.number
    if not area_of or min(size) < 1:
        nothing: Ground = ([0], [(-1, -1)])
        return Sheet(
            size,
            full_height,
            zoom,
            labels=(),
            ground=(nothing,) * height,
            borders=(" " * width,) * height,
            topic_count=len(area_of),
        )

    mean = sum(rows[topic].share for topic in area_of) / len(area_of)
    mean = max(mean, 1e-9)  # all may be 0 at first
    sizes = {topic: _size(rows[topic].share / mean) for topic in area_of}
    # In this order they choose their places. It is always the same: if the largest chose first,
    # labels would jump whenever shares change.
    topics = sorted(area_of)
    full_size = (width, full_height)
    centres = _centres(atlas, topics, full_size, zoom)
    words = {topic: _words(rows[topic]) for topic in topics}
    labels: list[Label] = []
    for topic in topics:
        lines = (words[topic][0],) if zoom is None else _block(rows[topic], size, len(topics))
        labels.append(Label(area_of[topic], topic, 0, 0, lines, sizes[topic]))
    if zoom is None:
        heads = _heads(areas, area_of, centres, full_size)
        placed = _placed([*heads, *_fitting(labels, rows, full_size)], centres, full_size)
    else:
        placed = _placed(labels, centres, full_size)
    must_be_placed = [label for label in labels if label.topic in first]
    placed = _with_first(placed, must_be_placed, centres, size)
    if zoom is None:
        placed = _grown(placed, words, size)

    # Half a row is about as high as a column is wide.
    land = lands(
        [(2 * label.row, label.column) for label in placed],
        [(2 * len(label.lines), label.width) for label in placed],
        [label.area for label in placed],
        (2 * height, width),
        REACH,
    )
    uppers = land[::2]
    lowers = land[1::2]
    return Sheet(
        size,
        full_height,
        zoom,
        labels=tuple(placed),
        ground=tuple(_runs(upper, lower) for upper, lower in zip(uppers, lowers, strict=True)),
        borders=_around(placed, borders(uppers)),
        topic_count=len(area_of),
    )


def _fitting(
    labels: Sequence[Label], rows: Sequence[TopicRow], size: tuple[int, int]
) -> list[Label]:
    """The labels of the largest topics, as many as have room to lie where they belong, in the same
    order."""
    width, height = size
    largest_first = sorted(labels, key=lambda label: -rows[label.topic or 0].share)
    room = FULL * width * height
    fitting = set()
    for label in largest_first:
        room -= label.width + _gap(width)
        if room < 0:
            break
        fitting.add(label.topic)
    return [label for label in labels if label.topic in fitting]


def _is_cut(sheet: Sheet, size: tuple[int, int], zoom: int | None) -> bool:
    """Whether a search has taken rows from the map of this sheet."""
    width, height = size
    sheet_width, _ = sheet.size
    is_like = sheet.zoom == zoom and sheet_width == width
    return is_like and 0 <= sheet.full_height - height <= TAKEN


Centres = dict[int, tuple[float, float]]
"""The row and column that the label of each topic should be around."""


def _centres(
    atlas: Atlas, topics: Sequence[int], size: tuple[int, int], zoom: int | None
) -> Centres:
    width, height = size
    place = dict(zip(atlas.grouping.topics.tolist(), atlas.places, strict=True))
    places = np.array([place[topic] for topic in topics])
    if zoom is not None:
        places = filled(places)
    margin = min(8, width // 4)
    centres: Centres = {}
    for topic, (x, y) in zip(topics, places.tolist(), strict=True):
        centres[topic] = ((1 - y) * (height - 1) + 0.5, margin + x * (width - 2 * margin))
    return centres


def _size(share: float) -> int:
    """The size of the sign for a share, given as a multiple of the mean share."""
    if share >= LARGE:
        return 2
    return 1 if share >= SMALL else 0


def _heads(
    areas: Mapping[int, Area],
    area_of: Mapping[int, int],
    centres: Centres,
    size: tuple[int, int],
) -> list[Label]:
    """The names of areas, at their places: each on its area's largest island, and on other islands
    of several topics; of the largest islands only, if there is little room."""
    width, height = size
    names: dict[int, str] = {}
    for number, area in areas.items():
        if not area.is_other:
            name = cut(visible(area.name).upper(), min(2 * WORD, width // 3))
            names[number] = f"{name} {100 * area.share:.0f}%"
    cells = np.array(list(centres.values())).astype(np.int64)
    of_cells = np.array([area_of[topic] for topic in centres])
    places = name_places(cells, of_cells, (height, width), REACH, ASPECT)
    wanted = [(row, column) for area, row, column in places if area in names]
    labels = [Label(area, None, 0, 0, (names[area],)) for area, _, _ in places if area in names]
    room = HEADS * width * height
    heads = []
    for label in labels:
        room -= label.width + 1
        if room < 0:
            break
        heads.append(label)
    corners = arranged(
        np.array(wanted[: len(heads)]).reshape(-1, 2),
        [_box(label, width) for label in heads],
        (height, width),
        ASPECT,
    )
    return [
        replace(label, row=corner[0], column=corner[1])
        for label, corner in zip(heads, corners, strict=False)
        if corner is not None
    ]


def _words(row: TopicRow) -> list[str]:
    """The possible texts of a topic's label, from one word of its name to all."""
    if not row.name:
        return [f"#{row.topic}"]
    words = parts(row.name)[:NAMED]
    between = separator(row.name)
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


def _placed(labels: Sequence[Label], centres: Centres, size: tuple[int, int]) -> list[Label]:
    """The labels for which there is room, at their places: those of areas, which have theirs, then
    those of topics, as near to their centres as possible."""
    width, height = size
    fitting = [label for label in labels if label.width <= width]
    corners = arranged(
        np.array([_centre(label, centres) for label in fitting]),
        [_box(label, width) for label in fitting],
        (height, width),
        ASPECT,
        [(label.row, label.column) if label.topic is None else None for label in fitting],
    )
    placed: list[Label] = []
    for label, corner in zip(fitting, corners, strict=True):
        if corner is not None:
            row, column = corner
            placed.append(replace(label, row=row, column=column))
    return placed


def _centre(label: Label, centres: Centres) -> tuple[float, float]:
    if label.topic is None:
        return label.row, label.column
    return centres[label.topic]


def _box(label: Label, width: int) -> tuple[int, int]:
    """The height and width of a label with the space that it keeps free."""
    return len(label.lines), min(label.width + _gap(width), width)


def _with_first(
    placed: Sequence[Label], first: Sequence[Label], centres: Centres, size: tuple[int, int]
) -> list[Label]:
    """The labels within the map, and those that must have a place: other topics' labels give way to
    them."""
    width, height = size
    within = [label for label in placed if label.row + len(label.lines) <= height]
    have_place = {label.topic for label in within}
    missing = [label for label in first if label.topic not in have_place and label.width <= width]
    firsts = {label.topic for label in first}
    for label in missing:
        stay = [other for other in within if other.topic is None or other.topic in firsts]
        together = [*stay, label]
        *_, corner = arranged(
            np.array([_centre(one, centres) for one in together]),
            [_box(one, width) for one in together],
            (height, width),
            ASPECT,
            [*((one.row, one.column) for one in stay), None],
        )
        if corner is not None:
            row, column = corner
            at = replace(label, row=row, column=column)
            within = [one for one in within if one in stay or not _overlap(at, one, width)]
            within.append(at)
    return within


def _overlap(one: Label, other: Label, width: int) -> bool:
    """Whether two labels share cells, with the space that they keep free."""
    height, across = _box(one, width)
    other_height, other_across = _box(other, width)
    share_rows = one.row < other.row + other_height and other.row < one.row + height
    share_columns = one.column < other.column + other_across and other.column < one.column + across
    return share_rows and share_columns


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
                new_end = label.column + SIGN_CELLS + cell_len(text)
                if new_end <= end:
                    break
                is_free = not taken[label.row, end + gap : new_end + gap].any()
                if new_end <= width and is_free:
                    taken[label.row, end : new_end + gap] = True
                    label = replace(label, lines=(text,))
                    break
        grown.append(label)
    return grown


def _runs(upper: NDArray[np.int64], lower: NDArray[np.int64]) -> Ground:
    """The ground of a row, from the areas in its two halves."""
    is_other = (np.diff(upper) != 0) | (np.diff(lower) != 0)
    starts = np.append(0, np.flatnonzero(is_other) + 1)
    return starts.tolist(), list(zip(upper[starts].tolist(), lower[starts].tolist(), strict=True))


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

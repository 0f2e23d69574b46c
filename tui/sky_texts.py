"""Texts on the sky: titles of articles, names of topics and of areas, where there is room. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from wikitopics.session.analysis.cartography import names_on_lands
from wikitopics.session.naming import parts, separator
from wikitopics.session.records import TopicRow
from wikitopics.session.storage.places import Places
from wikitopics.tui.atlas import ASPECT
from wikitopics.tui.inks import area_ink
from wikitopics.tui.sky import Counts, Written, cells_of
from wikitopics.tui.sky_index import Window
from wikitopics.tui.text import cut, fitting, visible

TITLE = 28
"""The maximum width of a title."""
CELLS_OF_A_TITLE = 5
"""Titles appear once there are at least so many cells for each article in the window."""

APART = 2
"""Cells between two texts."""
WRITTEN = 0.2
"""The part of the sky that texts may cover."""
HARDLY = 0.03
"""An area with no larger part of the articles in a window is not named."""
LEAST_NAMED = 8
"""Nor is one with no more articles than that."""


def are_titled(article_count: int, size: tuple[int, int]) -> bool:
    """Whether a window with so many articles shows titles."""
    width, height = size
    return 0 < article_count * CELLS_OF_A_TITLE <= width * height


def titled(
    places: Places,
    titles: Sequence[str],
    window: Window,
    size: tuple[int, int],
    taken: NDArray[np.bool_] | None = None,
    ink: str = "muted",
    *,
    centred: bool = False,
) -> list[Written]:
    """The titles for which there is room, beside their places, or, if they are ``centred``, on
    them: the first before later ones. None overlaps another, or a cell that is taken; together they
    cover no more than a part of the sky. taken: (H, W)"""
    width, height = size
    used = np.zeros((height, width), np.bool_) if taken is None else taken.copy()
    room = WRITTEN * width * height - int(used.sum())
    cells, is_in = cells_of(places, window, size)
    written = []
    for (row, column), number in zip(cells.tolist(), np.flatnonzero(is_in).tolist(), strict=True):
        text = cut(visible(titles[number]), TITLE)
        length = cell_len(text)
        if not 0 < length <= room:
            continue
        if centred:
            start = min(max(column - length // 2, 0), max(width - length, 0))
            starts = [start]
        else:
            starts = [column + 2, column - 1 - length]
        for start in starts:
            end = start + length
            around = slice(max(start - APART, 0), end + APART)
            if start < 0 or end > width or used[row, around].any():
                continue
            used[row, start:end] = True
            room -= length
            written.append(Written(row, start, text, ink))
            break
    return written


def named(
    counts: Counts,
    names: Mapping[int, str],
    topic_places: Places,
    topic_areas: NDArray[np.integer],
    taken: NDArray[np.bool_],
) -> list[Written]:
    """The names of areas on their land, without areas that have hardly an article in the window;
    none overlaps another, or a cell that is taken. It takes longer than a frame.

    names: by area. topic_places: (U, 2); topic_areas: (U,). taken: (H, W)
    """
    width, height = counts.size
    in_areas = counts.areas.sum(axis=0)
    least = max(HARDLY * in_areas.sum(), LEAST_NAMED)
    texts: dict[int, str] = {}
    for area, name in names.items():
        if in_areas[area] > least:
            texts[area] = _shortened(name, max(width // 3, 1))
    cells, is_in = cells_of(topic_places, counts.window, counts.size)
    placed = names_on_lands(
        counts.areas.reshape(height, width, -1),
        cells.astype(np.int64),
        topic_areas[is_in],
        {area: (1, cell_len(text) + 2) for area, text in texts.items()},
        taken,
        ASPECT,
    )
    return [
        Written(row, column + 1, texts[area], area_ink("head", area))
        for area, row, column in placed
    ]


def _shortened(name: str, cells: int) -> str:
    """As many words of a name as fit into these cells."""
    between = separator(name)
    return between.join(fitting(parts(name), cells, between))


def taken_by(written: Iterable[Written], counts: Counts) -> NDArray[np.bool_]:
    """(H, W) the cells that texts cover."""
    width, height = counts.size
    taken = np.zeros((height, width), np.bool_)
    for row, column, text, _ in written:
        taken[row, column : column + cell_len(text)] = True
    return taken


def carried(
    written: Iterable[Written], before: Window, now: Window, size: tuple[int, int]
) -> list[Written]:
    """Texts that were written for a window, moved with the map to where another window shows it;
    without those that would leave the sky or overlap earlier ones."""
    width, height = size
    left, bottom = before.corner
    new_left, new_bottom = now.corner
    used = np.zeros((height, width), np.bool_)
    moved = []
    for row, column, text, ink in written:
        length = cell_len(text)
        x = left + (column + length / 2) / width * before.side
        y = bottom + (1 - (row + 0.5) / height) * before.side
        start = round((x - new_left) / now.side * width - length / 2)
        new_row = math.floor((1 - (y - new_bottom) / now.side) * height)
        if not (0 <= new_row < height and 0 <= start <= width - length):
            continue
        if used[new_row, max(start - APART, 0) : start + length + APART].any():
            continue
        used[new_row, start : start + length] = True
        moved.append(Written(new_row, start, text, ink))
    return moved


def clear_of(written: Iterable[Written], others: Iterable[Written], width: int) -> list[Written]:
    """The texts that neither overlap these others nor touch them. width: of the sky"""
    kept: dict[int, NDArray[np.bool_]] = {}
    for row, column, text, _ in others:
        cells = kept.setdefault(row, np.zeros(width, np.bool_))
        cells[max(column - APART, 0) : column + cell_len(text) + APART] = True
    return [
        one
        for one in written
        if one.row not in kept
        or not kept[one.row][one.column : one.column + cell_len(one.text)].any()
    ]


def topic_names(
    rows: Sequence[TopicRow], places: Places, counts: Counts, written: Sequence[Written]
) -> list[Written]:
    """The names of topics at their places, the largest first, where other texts leave room."""
    by_share = sorted(range(len(rows)), key=lambda number: -rows[number].share)
    return titled(
        places[by_share],
        [_brief(rows[number]) for number in by_share],
        counts.window,
        counts.size,
        taken_by(written, counts),
        centred=True,
    )


def _brief(row: TopicRow) -> str:
    """The first two words of a topic's name."""
    words = parts(row.name)[:2]
    return separator(row.name).join(words) if words else f"#{row.topic}"

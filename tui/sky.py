"""The sky of articles in cells: each article a faint dot in the colour of its area, denser where
there are more, and on it what is bright, lit up or written. Pure, but for `Counts.add`.

| symbol | shape and type | meaning |
|---|---|---|
| H, W | | rows and columns of cells |
| counts.dots | (4 H, 2 W) int32 | how many articles each dot stands for |
| counts.areas | (H W, A) int32 | how many of each area are in a cell |
| levels | (H W,) int64 | how dense a cell is, from 0 (empty) to 8: how many of its dots are drawn |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from wikitopics.session.storage.places import Places
from wikitopics.tui.dots import BRAILLE, runs
from wikitopics.tui.inks import area_ink
from wikitopics.tui.sky_index import NOWHERE, Articles, Window

DOWN = 4
ACROSS = 2
DOTS = DOWN * ACROSS
"""Dots of a cell."""
BLOCK = 16_384
"""Articles that are counted at once."""
MOVING = 400_000
"""How many to count in a frame of a movement, so that it takes 10 ms at most."""
DENSE = 0.95
"""The part of the cells that are not empty below whose count all dots of a cell are not needed."""
BRIGHTER = 4
"""The level from which a cell has the full colour of its area."""
ASCII_LEVELS = " ..::++*#"
"""The signs of the levels in ASCII."""
ASCII_FOUND = "o"
"""The sign of what is lit or bright."""
SIGN = "●"
ASCII_SIGN = "@"
"""What is drawn at the chosen article."""
LIT = "•"
"""What is drawn at cells that are lit, if they are few."""
FEW_LIT = 100
"""The most cells that are few."""
_LIT = 100
_BRIGHT = 101
_CHOSEN = 102
_DARK = 103
"""All that a search has not found."""
_INKS = {_LIT: "accent", _BRIGHT: "strong", _CHOSEN: "strong", _DARK: "faint"}
_SEEN = (_LIT, _BRIGHT, _CHOSEN)
_SHADE_CODES = np.array([0, *ASCII_LEVELS[1:].encode()], np.uint32)
_DOTS_OF_BITS = np.array([bits.bit_count() for bits in range(256)])
_TIES = np.array([5, 2, 7, 0, 1, 6, 3, 4])
"""Which dot of a cell comes first if there are equally many articles at two."""


@dataclass(eq=False)
class Counts:
    """The articles in a window, counted by dots and by areas."""

    window: Window
    size: tuple[int, int]
    """W and H."""
    dots: NDArray[np.int32]
    areas: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        articles: Articles,
        area_of: NDArray[np.integer],
        area_count: int,
        window: Window,
        size: tuple[int, int],
        most: int | None = None,
    ) -> Counts:
        """Count the articles in a window that is drawn on W columns and H rows.

        area_of: (K,) the area of each topic, from 0. most: about how many articles to count if
        there are more, each as several, for a frame of a movement
        """
        width, height = size
        found = articles.sorted_inside(*window.corners)
        n = len(found.numbers)
        every = 1 if most is None else max(-(-n // most), 1)
        of_topic = np.asarray(area_of, np.int32)
        dot_keys = np.empty(-(-n // every), np.int64)
        area_keys = np.empty_like(dot_keys)
        done = 0
        # Block by block, so that all in between stays in the processor's cache.
        for start in range(0, n, BLOCK * every):
            block = slice(start, start + BLOCK * every, every)
            rows, columns, is_in = dots_of(found.places[block], window, size)
            topics = found.topics[block]
            if is_in is not None:
                topics = topics[is_in]
            areas = of_topic.take(topics)
            end = done + len(rows)
            dot_keys[done:end] = rows * (ACROSS * width) + columns
            area_keys[done:end] = _cells(rows, columns, width) * area_count + areas
            done = end
        of_dots = np.bincount(dot_keys[:done], minlength=DOTS * width * height)
        of_areas = np.bincount(area_keys[:done], minlength=width * height * area_count)
        counts = cls(
            window,
            size,
            dots=every * of_dots.astype(np.int32).reshape(DOWN * height, ACROSS * width),
            areas=every * of_areas.astype(np.int32).reshape(width * height, area_count),
        )
        late = articles.late
        if len(late.numbers):
            counts.add(late.places, of_topic[late.topics])
        return counts

    def add(self, places: Places, areas: NDArray[np.integer]) -> None:
        """Count new articles, of these areas, without counting the others again."""
        width, _ = self.size
        rows, columns, is_in = dots_of(places, self.window, self.size)
        if is_in is not None:
            areas = areas[is_in]
        np.add.at(self.dots, (rows, columns), 1)
        np.add.at(self.areas, (_cells(rows, columns, width), areas), 1)


def _cells(rows: NDArray[np.int32], columns: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """The numbers of the cells of dots, row by row."""
    cells: NDArray[np.int32] = rows // DOWN * width + columns // ACROSS
    return cells


def dots_of(
    places: Places, window: Window, size: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_] | None]:
    """The rows and columns of the dots of the places in a window, row 0 on top, and which places
    these are; None: all."""
    width, height = size
    left, bottom = window.corner
    across = np.float32(ACROSS * width / window.side)
    upwards = np.float32(DOWN * height / window.side)
    right = (places[:, 0] - np.float32(left)) * across
    down = (np.float32(bottom + window.side) - np.float32(0.5) - places[:, 1]) * upwards
    is_in = None
    if window.zoom > 1:
        is_in = (right >= 0) & (right < ACROSS * width) & (down >= 0) & (down < DOWN * height)
        right = right[is_in]
        down = down[is_in]
    return down.astype(np.int32), right.astype(np.int32), is_in


def cells_of(
    places: Places, window: Window, size: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """(m, 2) the rows and columns of the cells of the places in a window, and which these are."""
    rows, columns, is_in = dots_of(places, window, size)
    if is_in is None:
        is_in = np.ones(len(places), np.bool_)
    return np.stack([rows // DOWN, columns // ACROSS], axis=1), is_in


# The picture.


class Written(NamedTuple):
    """Text on the sky, and its ink."""

    row: int
    column: int
    text: str
    ink: str


class Overlay(NamedTuple):
    """What is drawn over the dots, (m, 2) places each."""

    lit: Places = NOWHERE
    """What a search or Ask has found, in the accent colour."""
    bright: Places = NOWHERE
    """What has just been read, where it is on its flight."""
    chosen: tuple[int, int] | None = None
    """The article under the cursor."""


PLAIN = Overlay()


class SkyPicture(NamedTuple):
    """The finished cells, each of one letter."""

    codes: NDArray[np.uint32]
    """(H, W) code points; 0: empty."""
    owners: NDArray[np.int8]
    """(H, W) the number of each cell's ink."""
    inks: dict[int, str]
    """Their names."""


def drawn(
    counts: Counts,
    overlay: Overlay = PLAIN,
    *,
    coloured: bool = True,
    ascii_only: bool = False,
) -> SkyPicture:
    """The picture of a window.

    coloured: whether areas have colours; without, dense cells are only brighter than others
    """
    width, height = counts.size
    in_cells = _by_cells(counts.dots, width, height)
    levels = levels_of(np.einsum("ij->i", in_cells))  # five times as fast as `sum`
    if len(overlay.lit):
        owners = np.full(len(levels), _DARK)
    else:
        areas = counts.areas.argmax(axis=1) if coloured else np.zeros(len(levels), np.int64)
        owners = 2 * areas + _are_bright(levels, width)
    if ascii_only:
        codes = _SHADE_CODES[levels]
    else:
        codes = BRAILLE[_chosen_dots(in_cells, levels)].astype(np.uint32)
    for places, owner in ((overlay.lit, _LIT), (overlay.bright, _BRIGHT)):
        if len(places):
            cells, bits = _lone_dots(places, counts)
            if ascii_only:
                codes[cells] = ord(ASCII_FOUND)
            elif owner == _LIT and len(cells) <= FEW_LIT:
                codes[cells] = ord(LIT)
            else:
                codes[cells] = BRAILLE[bits]
            owners[cells] = owner
    if overlay.chosen is not None:
        cells, _ = _lone_dots(np.array([overlay.chosen], np.uint16), counts)
        sign = ASCII_SIGN if ascii_only else SIGN
        codes[cells] = ord(sign)
        owners[cells] = _CHOSEN
    return SkyPicture(
        codes.reshape(height, width),
        owners.astype(np.int8).reshape(height, width),
        {**_INKS, **_area_inks(counts.areas.shape[1], coloured)},
    )


class SkyFrame(NamedTuple):
    """A picture with its texts, as Textual draws it."""

    picture: SkyPicture
    written: Sequence[Written]
    strips: Sequence[Strip]


def framed(
    picture: SkyPicture,
    pen: Callable[[str], Style],
    written: Sequence[Written] = (),
    before: SkyFrame | None = None,
) -> SkyFrame:
    """The picture as Textual draws it, with texts over it, which do not overlap. pen: the style of
    an ink. before: an earlier frame with the same styles, whose lines are taken where they are the
    same"""
    height, width = picture.codes.shape
    changed = np.ones(height, np.bool_)
    made: list[Strip] = [Strip([])] * height
    if before is not None and before.picture.codes.shape == picture.codes.shape:
        changed = (picture.codes != before.picture.codes).any(axis=1)
        changed |= (picture.owners != before.picture.owners).any(axis=1)
        for one in set(written) ^ set(before.written):
            changed[one.row] = True
        made = list(before.strips)
    numbers = np.flatnonzero(changed)
    places = {number: place for place, number in enumerate(numbers.tolist())}
    part = SkyPicture(picture.codes[changed], picture.owners[changed], picture.inks)
    texts = [one._replace(row=places[one.row]) for one in written if one.row in places]
    rows, inks = _with_texts(part, texts)
    pens = {owner: pen(ink) for owner, ink in inks.items()}
    for number, pieces in zip(numbers.tolist(), rows, strict=True):
        segments = [Segment(text, pens[owner]) for text, owner in pieces]
        made[number] = Strip(segments, width)
    return SkyFrame(picture, written, made)


Pieces = list[tuple[str, int]]
"""Texts, and the numbers of their inks."""


def _with_texts(
    picture: SkyPicture, written: Iterable[Written]
) -> tuple[list[Pieces], dict[int, str]]:
    """The picture's rows with texts over them, and the inks by number. A text keeps the cell before
    it and the one after it free, unless what stands there was found or has just been read."""
    inks = dict(picture.inks)
    owners: dict[str, int] = {}
    in_row: dict[int, list[tuple[int, str, int]]] = {}
    codes = picture.codes.copy()
    _, width = codes.shape
    for row, column, text, ink in written:
        for beside in (column - 1, column + cell_len(text)):
            if 0 <= beside < width and picture.owners[row, beside] not in _SEEN:
                codes[row, beside] = 0
        owner = owners.setdefault(ink, _DARK + 1 + len(owners))
        inks[owner] = ink
        in_row.setdefault(row, []).append((column, text, owner))
    rows = runs(codes, picture.owners)
    for row, words in in_row.items():
        rows[row] = _covered(rows[row], sorted(words))
    return rows, inks


def _area_inks(area_count: int, coloured: bool) -> dict[int, str]:
    if not coloured:
        return {0: "faint", 1: "muted"}
    inks = {}
    for area in range(area_count):
        inks[2 * area] = area_ink("dim", area)
        inks[2 * area + 1] = area_ink("area", area)
    return inks


def _by_cells(dots: NDArray[np.int32], width: int, height: int) -> NDArray[np.int32]:
    """(4 H, 2 W) dots to (H W, 8), the top row of a cell first."""
    split = dots.reshape(height, DOWN, width, ACROSS)
    return split.transpose(0, 2, 1, 3).reshape(height * width, DOTS)


def levels_of(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many dots each cell is to have, from how many articles it has: as many as it has places
    for a few; with many, by the root, so that thin parts are seen beside dense ones."""
    filled = counts[counts > 0]
    if not filled.size:
        return np.zeros(len(counts), np.int64)
    at = int(DENSE * (filled.size - 1))
    most = max(int(np.partition(filled, at)[at]), DOTS)
    # From a table: there are fewer different counts than cells.
    clipped = np.minimum(counts, most)
    table = np.ceil(DOTS * np.sqrt(np.arange(most + 1) / most)).astype(np.int64)
    levels: NDArray[np.int64] = table[clipped]
    return levels


def _are_bright(levels: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
    """(H W,) the cells that are dense together with those beside them: the middle of a land, but
    not its rim."""
    padded = np.pad(levels.reshape(-1, width), ((0, 0), (1, 1)))
    around = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    return (around >= 3 * BRIGHTER).ravel()


def _chosen_dots(in_cells: NDArray[np.int32], levels: NDArray[np.int64]) -> NDArray[np.uint8]:
    """(H W,) a bit for each dot that is drawn: those with the most articles, as many as the
    level."""
    bits = np.packbits(in_cells > 0, axis=1, bitorder="little")[:, 0]
    full = np.flatnonzero(_DOTS_OF_BITS[bits] > levels)
    keys = in_cells[full] * DOTS + _TIES.astype(np.int32)
    ascending = np.sort(keys, axis=1)
    least = np.take_along_axis(ascending, DOTS - levels[full, None], axis=1)
    bits[full] = np.packbits(keys >= least, axis=1, bitorder="little")[:, 0]
    return bits


def _lone_dots(places: Places, counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The cells of these places, and the bits of their dots alone."""
    width, height = counts.size
    rows, columns, _ = dots_of(places, counts.window, counts.size)
    cells = _cells(rows, columns, width)
    bits = np.zeros(height * width, np.uint8)
    of_each = np.left_shift(1, (rows % DOWN) * ACROSS + columns % ACROSS).astype(np.uint8)
    np.bitwise_or.at(bits, cells, of_each)
    filled = np.flatnonzero(bits)
    return filled, bits[filled]


def _covered(pieces: Pieces, words: Sequence[tuple[int, str, int]]) -> Pieces:
    """A row, each of whose cells has one letter, with texts over it: (column, text, ink's number),
    from left to right."""
    out: Pieces = []
    start = 0  # of a piece
    done = 0  # cells that are drawn
    left = list(reversed(words))
    for text, owner in pieces:
        end = start + len(text)
        while left and left[-1][0] < end:
            column, word, of_word = left.pop()
            if column > done:
                out.append((text[done - start : column - start], owner))
            out.append((word, of_word))
            done = column + cell_len(word)
        if done < end:
            out.append((text[done - start :], owner))
            done = end
        start = end
    return out

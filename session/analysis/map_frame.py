"""The map of articles as a table of pandas, which a notebook shows as the map itself.

Importing this module loads pandas.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wikitopics.extra import REPORT
from wikitopics.session.advance import Advance
from wikitopics.session.analysis.frames import documents_of, places_of_documents, titles_of
from wikitopics.session.analysis.groups import (
    Column,
    column_of,
    periods_of,
    places_of_values,
    tell_of_those_without,
)
from wikitopics.session.analysis.map_contents import MapContents, map_contents
from wikitopics.session.analysis.report.map_page import Colouring, coloured, rows_drawn
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import user_path
from wikitopics.session.storage.files import check_target, replacing
from wikitopics.session.storage.reader import SessionReader

CELL = 1_000_000
"""The most bytes of the page in a cell of a notebook."""
HEIGHT = 640
"""The height of such a cell, in pixels."""
PARTS = 7
"""The number of parts of a scale: as many documents have the numbers of each, or, where one number
is too frequent for that, as many different numbers are in each."""


class MapFrame(pd.DataFrame):  # type: ignore[misc]
    """The places of articles: `page_id`, `title`, `x` and `y` from 0 to 1, `topic` and `area`.

    The user's own documents all have a row, in their order; what was not learnt has no place.

    A notebook shows the map, and `save` writes it. A part of it, or what is computed from it, is a
    usual table.
    """

    _metadata = ["_drawn"]  # noqa: RUF012 - pandas' own convention

    def __init__(
        self, table: pd.DataFrame, drawn: MapContents, colouring: Colouring | None
    ) -> None:
        """``drawn``: the map, with the titles of those articles that a page draws. ``colouring``:
        of all articles of the map; None: by areas."""
        super().__init__(table)
        self._drawn = (drawn, colouring)

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def save(self, path: str | os.PathLike[str], *, snippets: bool = False) -> None:
        """Write the map to a file: a page for the browser (`.html`) or a picture (`.png`).

        With `snippets`, the page has the beginnings of texts, as a notebook shows them. A picture
        needs the extra `report`. Raises ValueError for another ending.
        """
        of_model, colouring = self._drawn
        if not snippets:
            of_model = replace(of_model, snippets=None)
        try:
            target = user_path(os.fspath(path))
            check_target(target)
        except BadUsage as error:
            raise ValueError(f"path: {error}") from None
        ending = target.suffix.lower()
        if ending == ".html":
            content = of_model.page(colouring=colouring).encode()
        elif ending == ".png":
            content = self._picture()
        else:
            raise ValueError(f"path: end the name of the map in .html or .png, not {ending!r:.20}")
        with replacing(target) as file:
            file.write(content)

    def _picture(self) -> bytes:
        if REPORT.missing():
            raise ValueError(REPORT.needed("a map as .png"))
        from wikitopics.session.analysis.report.map_picture import picture

        return picture(*self._drawn)

    def _repr_html_(self) -> str:
        of_model, colouring = self._drawn
        page = of_model.page(CELL, colouring)
        return embedded(page, f"Map of {len(self):,} {of_model.noun}", HEIGHT)


def embedded(page: str, title: str, height: int) -> str:
    """The page as a part of another one, which it cannot reach."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" width="100%" height="{height}" '
        'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" '
        'style="border: 0"></iframe>'
    )


def map_frame(reader: SessionReader, model: str, color: object, advance: Advance) -> MapFrame:
    """The map of a model; ``color``: None, or a value for each document, as for
    `places_of_values`. ``advance``: is told how many articles have been read.

    Titles are read as a column, and beginnings only of the articles that a page draws: those of
    millions are too large.

    Raises `SessionError` if the session has no map of articles, and for colours TypeError or
    ValueError: if there are too few or too many values, or no article has one.
    """
    column = None if color is None else column_of("color", color)
    with reader.one_moment():
        of_model = map_contents(reader, model, rows_drawn, snippets=True, advance=advance)
        # The map has the places of the first articles that are recorded.
        page_ids = reader.recorded_articles(held_out=True).page_ids[: len(of_model)]
        documents = documents_of(reader, advance=advance)
        if documents is None:
            titles = titles_of(reader, of_model.map.seqs, advance)
            table = pd.DataFrame({"page_id": page_ids, "title": titles})
            rows = np.arange(len(of_model))
        else:
            table = documents
            rows = places_of_documents(page_ids, documents["page_id"].to_numpy())
    colouring = None
    if column is not None:
        colouring = _colouring(column, page_ids, documents, of_model.noun)
    return MapFrame(table.assign(**_columns(of_model, rows)), of_model, colouring)


def _columns(of_model: MapContents, rows: NDArray[np.int64]) -> dict[str, Any]:
    """`x`, `y`, `topic` and `area` of these articles of the map; -1 for a document that has no
    place."""
    coordinates = of_model.coordinates(rows)
    coordinates[rows < 0] = np.nan
    topics = np.where(rows < 0, -1, of_model.map.topics[rows])
    numbers = [topic.topic for topic in of_model.topics]
    areas = [of_model.area_of.get(number) for number in numbers]
    return {
        "x": coordinates[:, 0],
        "y": coordinates[:, 1],
        "topic": pd.array(numbers, dtype="Int64").take(topics, allow_fill=True),
        "area": pd.array(areas, dtype="Int64").take(topics, allow_fill=True),
    }


def _colouring(
    column: Column, page_ids: NDArray[np.int64], documents: pd.DataFrame | None, noun: str
) -> Colouring:
    """The colour of each article by its value; numbers and dates become parts of a scale. The
    arguments are those of `places_of_values`."""
    places = places_of_values("color", column, page_ids, documents, noun)
    values = column.values.reset_index(drop=True).reindex(places)
    n_without = int(values.isna().sum())
    tell_of_those_without("color", n_without, len(values), noun, "are grey")
    if pd.api.types.is_datetime64_any_dtype(values):
        values = periods_of(values)
    if isinstance(values.dtype, pd.PeriodDtype):
        freq = values.dtype.freq
        ordinals = values.dropna().astype("int64").reindex(values.index)
        return _on_a_scale(ordinals, lambda bounds: _named_periods(bounds, freq))
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return _on_a_scale(values, _told_apart)
    label_of, labels = values.map(str, na_action="ignore").factorize()
    return coloured(labels.tolist(), label_of)


def _on_a_scale(values: pd.Series, named: Callable[[NDArray[np.float64]], list[str]]) -> Colouring:
    """The colour of each number by the part of the scale that it is in.

    named: the names of numbers, as the scale has them
    """
    numbers = values.astype("float64").replace([np.inf, -np.inf], np.nan)
    distinct = np.sort(numbers.dropna().unique())
    if len(distinct) <= PARTS:
        return coloured(named(distinct), pd.Index(distinct).get_indexer(numbers), is_scale=True)
    steps = np.linspace(0, 1, PARTS + 1)
    bounds = np.quantile(numbers.dropna(), steps)
    if len(np.unique(bounds)) <= PARTS:
        bounds = np.quantile(distinct, steps)
    part_of = np.searchsorted(bounds[1:-1], numbers.to_numpy())
    part_of[numbers.isna().to_numpy()] = -1
    if (distinct == np.round(distinct)).all():
        bounds = np.round(bounds)
    scale = [f"{low} to {high}" for low, high in pairwise(named(bounds))]
    return coloured(scale, part_of, is_scale=True)


def _named_periods(ordinals: NDArray[np.float64], freq: object) -> list[str]:
    return [str(pd.Period(ordinal=int(ordinal), freq=freq)) for ordinal in ordinals.tolist()]


def _told_apart(numbers: NDArray[np.float64]) -> list[str]:
    """The numbers with four digits, with all before the point, and with as many as tell them
    apart."""
    before_point = len(f"{np.abs(numbers).max(initial=0):.0f}")
    digits = max(4, min(before_point, 15))
    n = len(np.unique(numbers))
    while True:
        texts = [f"{number + 0.0:.{digits}g}" for number in numbers.tolist()]  # 0, not -0
        if len(set(texts)) == n:
            return texts
        digits += 1

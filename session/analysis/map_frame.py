"""The map of articles as a table of pandas, which a notebook shows as the map itself.

Importing this module loads pandas.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from wikitopics.extra import REPORT
from wikitopics.session.analysis.groups import column_of, places_of_values, tell_of_those_without
from wikitopics.session.analysis.map_contents import MapContents
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import user_path
from wikitopics.session.storage.files import check_target, replacing

CELL = 1_000_000
"""The most bytes of the page in a cell of a notebook."""
HEIGHT = 640
"""The height of such a cell, in pixels."""
PARTS = 7
"""The number of parts of a scale: as many documents have the numbers of each."""


class MapFrame(pd.DataFrame):  # type: ignore[misc]
    """The places of articles: `page_id`, `title`, `x` and `y` from 0 to 1, `topic` and `area`.

    The user's own documents all have a row, in their order; what was not learnt has no place.

    A notebook shows the map, and `save` writes it. A part of it, or what is computed from it, is a
    usual table.
    """

    _metadata = ["_drawn"]  # noqa: RUF012 - pandas' own convention

    def __init__(
        self, of_model: MapContents, documents: "pd.DataFrame | None", color: object = None
    ) -> None:
        """``documents``: the result of `frames.documents_of`. ``color``: see `labels_of`."""
        page_ids, titles, x, y, topics, areas = of_model.columns()
        on_map = pd.DataFrame(
            {
                "page_id": page_ids,
                "title": titles,
                "x": x,
                "y": y,
                "topic": pd.array(topics, dtype="Int64"),
                "area": pd.array(areas, dtype="Int64"),
            }
        )
        if documents is None:
            super().__init__(on_map)
        else:
            places = on_map.drop(columns="title").set_index("page_id")
            placed = places.reindex(documents["page_id"]).set_axis(documents.index)
            super().__init__(pd.concat([documents, placed], axis="columns"))
        self._drawn = (of_model, *labels_of(color, of_model, documents))

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def save(self, path: str | os.PathLike[str], *, snippets: bool = False) -> None:
        """Write the map to a file: a page for the browser (`.html`) or a picture (`.png`).

        With `snippets`, the page has the beginnings of texts, as a notebook shows them. A picture
        needs the extra `report`. Raises ValueError for another ending.
        """
        of_model, labels, scale = self._drawn
        if not snippets:
            of_model = replace(of_model, snippets=None)
        target = user_path(os.fspath(path))
        try:
            check_target(target)
        except BadUsage as error:
            raise ValueError(f"path: {error}") from None
        ending = target.suffix.lower()
        if ending == ".html":
            content = of_model.page(labels=labels, scale=scale).encode()
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

        of_model, labels, scale = self._drawn
        return picture(of_model, labels, scale)

    def _repr_html_(self) -> str:
        of_model, labels, scale = self._drawn
        page = of_model.page(CELL, labels, scale)
        return embedded(page, f"Map of {len(self):,} {of_model.noun}", HEIGHT)


def embedded(page: str, title: str, height: int) -> str:
    """The page as a part of another one, which it cannot reach."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" width="100%" height="{height}" '
        'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" '
        'style="border: 0"></iframe>'
    )


def labels_of(
    color: object, of_model: MapContents, documents: "pd.DataFrame | None"
) -> tuple[Sequence[str] | None, Sequence[str]]:
    """The label by which each article is coloured, and the labels in order if they are parts of a
    scale.

    ``color``: None, or a value for each document, as for `places_of_values`. Numbers become parts
    of a scale.

    Raises ValueError if there are too few or too many values, or no article has one, and TypeError.
    """
    if color is None:
        return None, ()
    column = column_of("color", color)
    places = places_of_values("color", column, of_model.page_ids, documents, of_model.noun)
    values = column.reset_index(drop=True).reindex(places)
    n_without = int(values.isna().sum())
    tell_of_those_without("color", n_without, len(values), of_model.noun, "are grey")
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return _on_a_scale(values)
    return ["" if pd.isna(value) else str(value) for value in values.tolist()], ()


def _on_a_scale(values: Any) -> tuple[list[str], list[str]]:
    """The part of the scale that each number is in, and the parts."""
    numbers = values.astype("float64").replace([np.inf, -np.inf], np.nan)
    distinct = numbers.dropna().unique()
    if len(distinct) <= PARTS:
        names = {number: f"{number:g}" for number in np.sort(distinct).tolist()}
        return [names.get(number, "") for number in numbers.tolist()], list(names.values())
    parts = pd.qcut(numbers, PARTS, duplicates="drop")
    are_whole = bool((distinct == np.round(distinct)).all())
    form = ".0f" if are_whole else ".4g"
    scale = [f"{part.left:{form}} to {part.right:{form}}" for part in parts.cat.categories]
    return [scale[code] if code >= 0 else "" for code in parts.cat.codes.tolist()], scale

"""The map of articles as a table of pandas, which a notebook shows as the map itself.

Importing this module loads pandas.
"""

import os
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from wikitopics.extra import REPORT
from wikitopics.session.analysis.mapped import Mapped
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

    A notebook shows the map, and `save` writes it. A part of it, or what is computed from it, is a
    usual table.
    """

    _metadata = ["_drawn"]  # noqa: RUF012 - pandas' own convention

    def __init__(self, of_model: Mapped, index: "pd.Index | None", color: object = None) -> None:
        """``index``: that of the documents, if they have one. ``color``: see `labels_of`."""
        page_ids, titles, x, y, topics, areas = of_model.columns()
        columns = {
            "page_id": page_ids,
            "title": titles,
            "x": x,
            "y": y,
            "topic": topics,
            "area": pd.array(areas, dtype="Int64"),
        }
        super().__init__(columns, index=index)
        self._drawn = (of_model, *labels_of(color, of_model, index))

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to a file: a page for the browser (`.html`) or a picture (`.png`).

        A picture needs the extra `report`. Raises ValueError for another ending.
        """
        of_model, labels, scale = self._drawn
        target = user_path(os.fspath(path))
        check_target(target)
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
        return framed(page, f"Map of {len(self):,} {of_model.noun}", HEIGHT)


def framed(page: str, title: str, height: int) -> str:
    """The page as a part of another one, which it cannot reach."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" width="100%" height="{height}" '
        'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" '
        'style="border: 0"></iframe>'
    )


def labels_of(
    color: object, of_model: Mapped, index: "pd.Index | None"
) -> tuple[Sequence[str] | None, Sequence[str]]:
    """The label by which each article is coloured, and the labels in order if they are parts of a
    scale.

    ``color``: None; or a value for each document: a column with their ids as its index, or values
    in the order of the documents. Numbers become parts of a scale.

    Raises ValueError if there are too few or too many values, and TypeError.
    """
    if color is None:
        return None, ()
    values = _in_order(color, of_model, index)
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return _on_a_scale(values)
    return ["" if pd.isna(value) else str(value) for value in values.tolist()], ()


def _in_order(color: object, of_model: Mapped, index: "pd.Index | None") -> Any:
    """The values of the articles on the map, as a Series in their order."""
    if isinstance(color, pd.DataFrame):
        raise TypeError("color must be a column, such as frame['label'], not a table")
    if isinstance(color, pd.Series) and color.index.is_unique:
        by = of_model.page_ids if index is None else index
        if color.index.isin(by).any():
            return color.reindex(by)
    if isinstance(color, str) or not hasattr(color, "__len__"):
        raise TypeError("color must be a column or a list with a value for each document")
    values = pd.Series(color).reset_index(drop=True)
    needed = len(of_model) if of_model.read is None else of_model.read
    if len(values) != needed:
        raise ValueError(
            f"color: {len(values):,} values for {needed:,} {of_model.noun}; give a value for each, "
            "or a column with their ids as its index"
        )
    return values if of_model.read is None else values.iloc[of_model.page_ids - 1]


def _on_a_scale(values: Any) -> tuple[list[str], list[str]]:
    """The part of the scale that each number is in, and the parts."""
    numbers = values.astype("float64").replace([np.inf, -np.inf], np.nan)
    distinct = numbers.dropna().unique()
    if len(distinct) <= PARTS:
        names = {number: f"{number:g}" for number in np.sort(distinct).tolist()}
        return [names.get(number, "") for number in numbers.tolist()], list(names.values())
    parts = pd.qcut(numbers, PARTS, duplicates="drop")
    scale = [f"{part.left:.4g} to {part.right:.4g}" for part in parts.cat.categories]
    return [scale[code] if code >= 0 else "" for code in parts.cat.codes.tolist()], scale

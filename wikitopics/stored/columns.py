"""Tables of Arrow, and paths of Parquet files, as documents in Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import silently
from wikitopics.crawler.http.rules import is_address
from wikitopics.crawler.texts.files import PARQUET, are_parquet, ending
from wikitopics.crawler.texts.kinds import COLUMN, ID_COLUMN, TITLE_COLUMN
from wikitopics.crawler.texts.parquet import ParquetRows, local_rows
from wikitopics.crawler.texts.parquet_columns import ColumnNames, NoColumn
from wikitopics.session.errors import SessionError

_ARGUMENTS = {COLUMN: "text_column", TITLE_COLUMN: "titles", ID_COLUMN: "ids"}
"""The arguments that name columns, by the options of the command line."""
_ROWS = 256
"""The rows of a dataset that are read at a time."""


def paths_of(argument: str, values: object) -> tuple[str, ...] | None:
    """The absolute paths of Parquet files that an argument means: a path, several paths that are
    no str, or a dataset of nothing but such files on this machine. None: it means something else.

    Raises ValueError for an address, and `SessionError` for files that are not Parquet.
    """
    if isinstance(values, str) and is_address(values):
        raise ValueError(
            f"{argument}: an address; `wikitopics train --texts {values:.80}` reads it, or "
            "download it"
        )
    paths: list[str] = []
    if isinstance(values, str | os.PathLike):
        paths = [os.fspath(values)]
        if isinstance(values, str) and ending(values) != PARQUET and not os.path.isdir(values):
            return None
    elif (
        isinstance(values, Sequence)
        and values
        and all(isinstance(value, os.PathLike) for value in values)
    ):
        paths = [os.fspath(value) for value in values]
    else:
        paths = _files_of_dataset(values)
    if not paths:
        return None
    named = tuple(os.path.abspath(path) for path in paths)
    try:
        if not are_parquet(named):
            raise ValueError(
                f"{argument}: only Parquet files are read from a path; `wikitopics train --texts` "
                "reads others"
            )
    except BadSource as error:
        raise SessionError(str(error)) from None
    return named


def _files_of_dataset(values: object) -> list[str]:
    """The files of a dataset; none for anything else, and for one that is filtered or elsewhere."""
    dataset = sys.modules.get("pyarrow.dataset")  # whoever has one has loaded it
    if dataset is None or not isinstance(values, dataset.FileSystemDataset):
        return []
    is_here = type(values.filesystem).__name__ == "LocalFileSystem"
    is_parquet = type(values.format).__name__ == "ParquetFileFormat"
    is_whole = not getattr(values, "_scan_options", None)
    names = list(values.files)
    have_its_ending = all(ending(name) == PARQUET for name in names)
    return names if is_here and is_parquet and is_whole and have_its_ending else []


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table of Arrow that hold the parts of documents."""

    texts: Iterable[object]
    titles: Iterable[object] | None
    ids: Iterable[object] | None


def columns_of(
    argument: str,
    values: Any,
    text: str | None = None,
    titles: Iterable[object] | str | None = None,
    ids: Iterable[object] | str | None = None,
) -> TableColumns | None:
    """The columns of a table, or of a dataset, of Arrow: those named, otherwise those called so,
    as in Parquet files. ``titles`` and ``ids`` may also be the values themselves. None: ``values``
    are something else, or files.

    Raises ValueError for columns that are not there, and for several of one name.
    """
    arrow = sys.modules.get("pyarrow")  # whoever has a table has loaded it
    if arrow is None:
        return None
    dataset = sys.modules.get("pyarrow.dataset")
    is_table = isinstance(values, arrow.Table | arrow.RecordBatch)
    is_dataset = dataset is not None and isinstance(values, dataset.Dataset)
    if is_dataset and _files_of_dataset(values):
        return None
    if not (is_table or is_dataset):
        return None
    names = values.schema.names

    def column(name: str) -> Iterable[object]:
        if names.count(name) > 1:
            raise ValueError(f"{argument}: several columns are called {name!r}; rename all but one")
        if is_table:
            return values.column(name)  # type: ignore[no-any-return]
        batches = values.to_batches(columns=[name], batch_size=_ROWS)
        return chain.from_iterable(batch.column(0) for batch in batches)

    def chosen(parameter: str, named: object, usual: Sequence[str]) -> Iterable[object] | None:
        if isinstance(named, str):
            if named not in names:
                there = ", ".join(map(repr, names))[:200] or "there are none"
                raise ValueError(f"{parameter}: there is no column {named!r}, but {there}")
            return column(named)
        for wanted in usual:
            for name in names:
                if name.casefold() == wanted:
                    return column(name)
        return None

    texts = chosen("text_column", text, ("text",))
    if texts is None:
        there = ", ".join(map(repr, names))[:200] or "there are none"
        raise ValueError(f"{argument}: name the column of the texts with text_column: {there}")
    return TableColumns(
        texts,
        chosen("titles", titles, ("title",)) if _is_name(titles) else titles,
        chosen("ids", ids, ("id", "url")) if _is_name(ids) else ids,
    )


def _is_name(value: object) -> bool:
    """Whether the argument names a column, or leaves the choice; otherwise, it holds the values."""
    return value is None or isinstance(value, str)


def texts_of(argument: str, values: object, text_column: str | None) -> Iterable[object] | None:
    """The texts in Parquet files, in a table or in a dataset of Arrow, one for each row; None: the
    values are something else. Raises ValueError, and `SessionError` for files that cannot be
    read."""
    paths = paths_of(argument, values)
    if paths is not None:
        return _texts_of_files(paths, text_column)
    columns = columns_of(argument, values, text_column)
    return None if columns is None else columns.texts


def _texts_of_files(paths: Sequence[str], text_column: str | None) -> Iterator[str | None]:
    rows = opened_rows(paths, ColumnNames(text_column, reads_ids=False))
    number = 0
    for page in rows.pages(silently):
        yield from [None] * (page.page_id - 1 - number)  # rows without a text
        number = page.page_id
        yield page.text
    yield from [None] * (rows.rows - number)


def opened_rows(paths: Sequence[str], names: ColumnNames) -> ParquetRows:
    """The rows of files. Raises ValueError for a column that is not there, and `SessionError`."""
    try:
        return local_rows(paths, names, silently)
    except NoColumn as error:
        message = str(error)
        for option, argument in _ARGUMENTS.items():
            message = message.replace(option.flag, argument)
        raise ValueError(message) from None
    except BadSource as error:
        raise SessionError(str(error)) from None


def named_columns(text_column: object, titles: object, ids: object) -> ColumnNames:
    """The columns of files that arguments name. Raises ValueError for what is no name."""
    for argument, value in (("titles", titles), ("ids", ids)):
        if not isinstance(value, str | None):
            raise ValueError(f"{argument}: name the column of the files that holds them")
    assert isinstance(text_column, str | None)
    assert isinstance(titles, str | None)
    assert isinstance(ids, str | None)
    return ColumnNames(text_column, titles, ids)

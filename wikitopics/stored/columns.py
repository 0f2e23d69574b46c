"""Tables of pandas, polars and Arrow, and paths of Parquet files, as documents in Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import silently
from wikitopics.crawler.http.addresses import is_address
from wikitopics.crawler.texts.files import PARQUET, are_parquet, ending
from wikitopics.crawler.texts.kinds import COLUMN, ID_COLUMN, TITLE_COLUMN
from wikitopics.crawler.texts.parquet import ParquetRows, local_rows
from wikitopics.crawler.texts.parquet_columns import LISTS, ColumnNames, NoColumn, called_so
from wikitopics.crawler.texts.records import lacks, misfit
from wikitopics.session.errors import SessionError
from wikitopics.stored.arguments import cell, may_be_tokens, wrong_type

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
        path = os.fspath(values)
        if isinstance(values, str) and ending(path) is None and not os.path.exists(path):
            return None
        paths = [path]
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
    are_read = all(ending(path) == PARQUET or os.path.isdir(path) for path in named)
    try:
        if not are_read or not are_parquet(named):
            raise ValueError(
                f"{argument}: only .parquet files and folders of them are read by path; pass "
                "others as texts, such as pd.read_csv(…)['text']"
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


class ReadFiles(NamedTuple):
    """Parquet files whose rows are documents."""

    paths: tuple[str, ...]
    names: ColumnNames
    rows: ParquetRows


@dataclass(frozen=True, slots=True)
class DocumentParts:
    """The parts of documents, by column."""

    texts: Iterable[object]
    titles: Iterable[object] | None
    ids: Iterable[object] | None
    files: ReadFiles | None = None
    """The files that hold the texts, and also what they have of titles and ids."""


def parts_of(
    argument: str,
    values: Any,
    text_column: str | None = None,
    titles: Iterable[object] | str | None = None,
    ids: Iterable[object] | str | None = None,
    *,
    reads_ids: bool = True,
) -> DocumentParts:
    """The parts of the documents in an argument. Parquet files and tables have them in columns:
    those named, otherwise those called so. Anything else is the texts themselves.

    ``reads_ids``: whether the ids in files are looked for, and read.

    Raises ValueError or TypeError, and `SessionError` for files that cannot be read.
    """
    if not isinstance(text_column, str | None):
        raise wrong_type("text_column", "the name of a column", text_column)
    paths = paths_of(argument, values)
    if paths is not None:
        names = _named_columns(text_column, titles, ids, reads_ids)
        rows = _opened_rows(paths, names)
        return DocumentParts(_texts_in(rows), None, None, ReadFiles(paths, names, rows))
    table = _parts_of_table(argument, values, text_column, titles, ids)
    if table is not None:
        return table
    if text_column is not None:
        raise ValueError("text_column is for tables and paths; these texts have no columns")
    return DocumentParts(values, titles, ids)


def _parts_of_table(
    argument: str,
    values: Any,
    text: str | None,
    titles: Iterable[object] | str | None,
    ids: Iterable[object] | str | None,
) -> DocumentParts | None:
    """The columns of a table of pandas, polars or Arrow, or of a dataset of Arrow: those named,
    otherwise those called so, as in Parquet files. ``titles`` and ``ids`` may also be the values
    themselves. None: ``values`` are something else, or files.

    Raises ValueError for columns that are not there, or hold no texts, and for several of one name.
    """
    names = _names_of_columns(values)
    if names is None:
        return None

    def column(name: str) -> Iterable[object]:
        if not _is_dataset(values):
            return values[name]  # type: ignore[no-any-return]
        batches = values.to_batches(columns=[name], batch_size=_ROWS)
        return chain.from_iterable(batch.column(0) for batch in batches)

    def chosen(parameter: str, named: str | None, usual: Sequence[str]) -> str | None:
        if named is not None and named not in names:
            raise ValueError(f"{parameter}: {lacks('column', named, names, parameter)}")
        name = named or called_so(names, usual)
        if name is not None and names.count(name) > 1:
            raise ValueError(f"{argument}: several columns are called {name!r}; rename all but one")
        return name

    def of_texts() -> list[str]:
        return [name for name in names if names.count(name) == 1 and _holds_texts(column(name))]

    text_name = chosen("text_column", text, ("text",))
    if text_name is None:
        raise ValueError(f"{argument}: {lacks('column', None, of_texts(), 'text_column')}")
    if not _holds_texts(column(text_name)):
        raise ValueError(f"{argument}: {misfit(text_name, 'texts', of_texts())}")
    if titles is None or isinstance(titles, str):
        name = chosen("titles", titles, ("title",))
        titles = None if name is None else column(name)
    if ids is None or isinstance(ids, str):
        name = chosen("ids", ids, ("id", "url"))
        ids = None if name is None else _as_ids(column(name))
    return DocumentParts(column(text_name), titles, ids)


def _names_of_columns(values: Any) -> list[str] | None:
    """The names of a table's columns; None for what is no table, and for a dataset that is nothing
    but files."""
    for name in ("pandas", "polars"):
        module = sys.modules.get(name)  # whoever has a table has loaded it
        if module is not None and isinstance(values, module.DataFrame):
            return [column for column in values.columns if isinstance(column, str)]
    arrow = sys.modules.get("pyarrow")
    is_table = arrow is not None and isinstance(values, arrow.Table | arrow.RecordBatch)
    if is_table or (_is_dataset(values) and not _files_of_dataset(values)):
        return list(values.schema.names)
    return None


def _is_dataset(values: object) -> bool:
    dataset = sys.modules.get("pyarrow.dataset")
    return dataset is not None and isinstance(values, dataset.Dataset)


def _holds_texts(column: Iterable[object]) -> bool:
    """Whether the first value that is not missing is a text or a list, or there is none."""
    values = (value for value in map(cell, column) if value is not None)
    first = next(values, "")
    return isinstance(first, str) or may_be_tokens(first)


def _as_ids(column: Any) -> Iterable[object]:
    """A column of ids with the whole numbers among floats as whole numbers again: pandas makes
    whole numbers floats if some are missing."""
    if not hasattr(column, "convert_dtypes"):
        return map(_whole, column)
    # In a column of pandas, whose type an index may keep.
    is_float = getattr(getattr(column, "dtype", None), "kind", "") == "f"
    converted = column.convert_dtypes() if is_float else column
    is_whole = is_float and converted.dtype.kind == "i"
    return converted if is_whole else column  # type: ignore[no-any-return]


def _whole(value: object) -> object:
    value = cell(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _texts_in(rows: ParquetRows) -> Iterator[str | None]:
    """The text of each row; None for a row without one."""
    number = 0
    for page in rows.pages(silently):
        yield from [None] * (page.page_id - 1 - number)
        number = page.page_id
        yield page.text
    yield from [None] * (rows.rows - number)


def _opened_rows(paths: Sequence[str], names: ColumnNames) -> ParquetRows:
    """The rows of files. Raises ValueError for a column that is not there, and `SessionError`."""
    try:
        return local_rows(paths, names, silently)
    except NoColumn as error:
        read = f"pyarrow.parquet.read_table({paths[0]!r})['{names.text or 'text'}']"
        message = str(error).replace(LISTS, f"for lists of tokens, pass {read}")
        for option, argument in _ARGUMENTS.items():
            message = message.replace(option.flag, argument)
        raise ValueError(message) from None
    except BadSource as error:
        raise SessionError(str(error)) from None


def _named_columns(
    text_column: str | None, titles: object, ids: object, reads_ids: bool
) -> ColumnNames:
    """The columns of files that arguments name. Raises ValueError for what is no name."""
    for argument, value in (("titles", titles), ("ids", ids)):
        if not isinstance(value, str | None):
            raise ValueError(f"{argument}: name the column of the files that holds them")
    assert isinstance(titles, str | None)
    assert isinstance(ids, str | None)
    return ColumnNames(text_column, titles, ids, reads_ids)

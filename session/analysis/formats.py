"""The formats in which a session's tables and models are exported, and how a file is written.

Importing this module does not load numpy.
"""

import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from wikitopics.extra import PARQUET, REPORT
from wikitopics.session.analysis.exports import (
    TYPES,
    Batch,
    ExportRequest,
    Table,
    trained_model,
    underscored,
    with_snippets,
)
from wikitopics.session.analysis.spreadsheet import xlsx
from wikitopics.session.errors import BadUsage

GROUP = 50_000
"""The number of rows of a Parquet file that are written together."""
_FORMULA = re.compile(
    # At the beginning of a cell: before a tab or the end of a line, or before a sign that begins a
    # formula. Chinese and Japanese spreadsheets accept the wide signs too. Blanks before a sign do
    # not stop a formula.
    r"^(?=[\t\r\n]|\s*[=+\-@＝＋－＠])"
    # Within a cell: after a sign at which a spreadsheet may split cells, before a sign that begins
    # a formula. Such a spreadsheet takes what follows the splitting sign for another cell, and the
    # quotation marks around the whole for a part of the first one.
    r"|(?<=[;,\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠])"
)
"""The places at which a cell that begins with a formula may begin."""
_JSON = json.JSONEncoder(ensure_ascii=False).encode
InPieces = Callable[[Table, ExportRequest], Iterator[bytes]]
"""Writes a table in pieces."""


@dataclass(frozen=True, slots=True)
class Format:
    """One export format: a stream of bytes, or several files in a folder of their own."""

    name: str
    """Its name for `--format`."""
    label: str
    """Its name for people."""
    _: KW_ONLY
    ending: str
    """The ending of its file's name."""
    stream: InPieces | None = None
    """The pieces of the stream; text is UTF-8."""
    folder: Callable[[ExportRequest, Path], None] | None = None
    """Writes the files of a format that is no stream."""
    binary: bool = False
    """Whether it cannot be shown on a terminal."""
    bom: bool = False
    """Whether it may begin with a byte order mark."""


def _write_gensim(request: ExportRequest, path: Path) -> None:
    """Write the folder of a model that gensim loads."""
    from wikitopics.session.analysis.gensim_model import write_gensim

    write_gensim(request, path)


def _write_proxann(request: ExportRequest, path: Path) -> None:
    """Write the folder of files that ProxAnn reads."""
    from wikitopics.session.analysis.proxann import write_proxann

    write_proxann(request, path)


def _table(delimiter: str, table: Table, request: ExportRequest) -> Iterator[bytes]:
    """A header and rows; text that a spreadsheet would take for a formula gets a ``'`` before
    it."""
    batches = table.batches(request)
    must_be_quoted = re.compile(f'[{delimiter}"\\r\\n]')

    def field(value: object) -> str:
        """The value as in RFC 4180, and so that no spreadsheet evaluates it."""
        if value is None:
            return ""
        if not isinstance(value, str):
            return repr(value)
        text = _FORMULA.sub("'", value)
        if must_be_quoted.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    if request.bom:
        yield BOM_UTF8
    head = delimiter.join(map(field, table.header(request)))
    yield _utf8(head + "\n")
    for columns in batches:
        encoded = [_encoded(column, field) for column in columns]
        lines = map(delimiter.join, zip(*encoded, strict=True))
        yield _utf8("\n".join(lines) + "\n")


def _json(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """One array of objects, one object per line."""
    batches = table.batches(request)
    keys = [f"{_JSON(column)}: " for column in table.header(request)]
    has_rows = False
    for columns in batches:
        members = []
        for key, column in zip(keys, columns, strict=True):
            members.append([key + value for value in _encoded(column, _JSON)])
        lines = ["{" + ", ".join(of_row) + "}" for of_row in zip(*members, strict=True)]
        before = ",\n" if has_rows else "[\n"
        yield _utf8(before + ",\n".join(lines))
        has_rows = True
    if has_rows:
        yield b"\n]\n"
    else:
        yield b"[]\n"


def _encoded(column: Sequence[Any], encode: Callable[[object], str]) -> Iterable[str]:
    """The values of a column as ``encode`` writes them. Most values are repeated, and are encoded
    only once."""
    types = set(map(type, column))
    distinct = set(column)
    if types == {int} or (types == {float} and all(map(isfinite, distinct))):
        encode = repr  # the same in every format, and quicker
    # Different values may be the same key of a dict: 1, 1.0 and True, and also 0.0 and -0.0.
    # Columns in which that may happen are encoded value by value.
    has_several_types = len(types) > 1
    has_float_zero = types == {float} and 0.0 in distinct
    if has_several_types or has_float_zero:
        return map(encode, column)
    encoded = {value: encode(value) for value in distinct}
    return map(encoded.__getitem__, column)


def _utf8(text: str) -> bytes:
    """The text of a session as bytes, whatever it contains."""
    return text.encode("utf-8", "backslashreplace")


def _parquet(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """Typed columns, text as it is, in groups of rows that fit into memory."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ModuleNotFoundError:
        raise BadUsage(PARQUET.needed("--format parquet")) from None
    batches = table.batches(request)
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[TYPES[name]]) for name in table.header(request)])
    # Without rows, the empty table is all there is to write.
    empty = schema.empty_table()
    parts = [empty]
    file = io.BytesIO()
    with ParquetWriter(file, schema, compression="zstd") as writer:
        for columns in batches:
            arrays = list(map(pa.array, columns, schema.types))
            parts.append(pa.table(arrays, schema=schema))
            if sum(map(len, parts)) >= GROUP:
                writer.write_table(pa.concat_tables(parts))
                yield _taken(file)
                parts = [empty]
        writer.write_table(pa.concat_tables(parts))
    yield _taken(file)


def _taken(file: io.BytesIO) -> bytes:
    """What was written into this file since the last call; pyarrow keeps its own count of the
    bytes."""
    piece = file.getvalue()
    file.seek(0)
    file.truncate()
    return piece


def _npz(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """Arrays by name, compressed, for ``numpy.load``."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **table.arrays(request))
    yield buffer.getvalue()


def _ldavis(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """One object, as pyLDAvis writes it; either program can show it."""
    from wikitopics.session.analysis.ldavis import ldavis

    with request.reader.one_moment():
        model = trained_model(request)
        words = underscored(request.reader.vocabulary())
        tokens = int(request.reader.word_counts().counts.sum())
    prepared = ldavis(model.topics(), model.topic_shares(), words, tokens)
    yield _utf8(json.dumps(prepared, ensure_ascii=False, allow_nan=False) + "\n")


def _html(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """The map of articles as a page."""
    from wikitopics.session.analysis.map_contents import map_contents
    from wikitopics.session.analysis.report.map_page import rows_drawn

    snippets = with_snippets(request)
    model = request.models[0]
    advance = request.advance
    whole = map_contents(request.reader, model, rows_drawn, snippets=snippets, advance=advance)
    yield _utf8(whole.page())


def _svg(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """The growth of the map of articles."""
    from wikitopics.session.analysis.map_contents import map_contents, nothing

    _check_no_snippets(request)
    model = request.models[0]
    whole = map_contents(request.reader, model, nothing, advance=request.advance)
    yield _utf8(whole.growth())


def _png(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """The map of articles as a picture. Raises `BadUsage` without the extra."""
    if REPORT.missing():
        raise BadUsage(REPORT.needed("--format png"))
    from wikitopics.session.analysis.map_contents import map_contents, nothing
    from wikitopics.session.analysis.report.map_picture import picture

    _check_no_snippets(request)
    model = request.models[0]
    whole = map_contents(request.reader, model, nothing, advance=request.advance)
    yield picture(whole, colouring=None)


def _check_no_snippets(request: ExportRequest) -> None:
    """Raise `BadUsage` if snippets are asked for in a picture."""
    if request.snippets:
        raise BadUsage("a picture of the map has no snippets")


_FORMATS = (
    Format("csv", "CSV", ending=".csv", stream=partial(_table, ","), bom=True),
    Format("tsv", "TSV", ending=".tsv", stream=partial(_table, "\t"), bom=True),
    Format("json", "JSON", ending=".json", stream=_json),
    Format("parquet", "Parquet", ending=".parquet", stream=_parquet, binary=True),
    Format("xlsx", "spreadsheet", ending=".xlsx", stream=xlsx, binary=True),
    Format("html", "HTML page", ending=".html", stream=_html, binary=True),
    Format("svg", "animated SVG", ending=".svg", stream=_svg, binary=True),
    Format("png", "picture", ending=".png", stream=_png, binary=True),
    Format("npz", "NumPy .npz", ending=".npz", stream=_npz, binary=True),
    Format("gensim", "gensim LdaModel, a folder", ending="-gensim", folder=_write_gensim),
    Format("ldavis", "LDAvis JSON", ending=".ldavis.json", stream=_ldavis),
    Format("proxann", "ProxAnn, a folder", ending="-proxann", folder=_write_proxann),
)
FORMATS = {form.name: form for form in _FORMATS}


def format_of(table: Table, name: str | None) -> Format:
    """The format of this name, or the default one. Raises `BadUsage` for a format that does not
    fit."""
    name = name or table.formats[0]
    if name not in table.formats:
        raise BadUsage(
            f"{table.name} cannot be exported as {name}: choose {', '.join(table.formats)}"
        )
    return FORMATS[name]


def written_to(path: Path, table: Table, named: str | None) -> Format:
    """The format of the file at ``path``: the one that is ``named``; otherwise that of the ending
    of the file's name; without an ending, the table's default one.

    Raises `BadUsage` for a format that does not fit the table, for an ending that no format has,
    and for the ending of another format than the one that is named.
    """
    from wikitopics.session.storage.files import check_target

    ending = path.suffix.lower()
    file_name = path.name.lower()
    fitting = [form for form in FORMATS.values() if file_name.endswith(form.ending)]
    of_ending = max(fitting, key=lambda form: len(form.ending), default=None)
    if named is not None:
        form = format_of(table, named)
        # Of an ending in several parts, `ending` is only the last one.
        if of_ending is not None and not form.ending.endswith(ending):
            raise BadUsage(f"{path.name}: {ending} is not the ending of {named}: use {form.ending}")
        return form
    if of_ending is not None:
        return format_of(table, of_ending.name)
    if ending:
        check_target(path)  # first, since the file may be a session
        *others, last = (FORMATS[name].ending for name in table.formats)
        raise BadUsage(
            f"{path.name}: no format has the ending {ending}; end the name in {', '.join(others)} "
            f"or {last}, or name the format"
        )
    return format_of(table, None)


def save(
    table: Table,
    form: Format,
    request: ExportRequest,
    path: Path,
) -> int | None:
    """Write an export to ``path``, whole or not at all. Returns the number of rows written; None
    for a format without rows."""
    from wikitopics.session.storage.files import replacing

    if form.folder is not None:
        form.folder(request, path)
        return None
    n_rows: int | None = None

    def counted(batches: Iterator[Batch]) -> Iterator[Batch]:
        nonlocal n_rows
        n_rows = 0
        for columns in batches:
            yield columns
            n_rows += len(columns[0])

    assert form.stream is not None
    counted_table = replace(table, batches=lambda request: counted(table.batches(request)))
    with replacing(path) as file:
        file.writelines(form.stream(counted_table, request))
    return n_rows

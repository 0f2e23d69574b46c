"""Tables as a spreadsheet (.xlsx), written by XlsxWriter, row by row.

Every cell has the type of its column: text stays text, whatever it begins with, so no spreadsheet
takes it for a formula, a number or a link. XlsxWriter is a package without dependencies, 170 kB,
and writes a row at a time; openpyxl needs one more package and reads as well, which nothing here
does.
"""

import io
import re
import tempfile
from collections.abc import Iterator
from datetime import datetime
from math import isfinite
from typing import Any

from wikitopics.extra import EXCEL
from wikitopics.session.analysis.exports import TYPES, ExportRequest, Table
from wikitopics.session.errors import BadUsage

# The limits of a sheet, as Excel has them.
MOST_ROWS = 2**20
"""The most rows, the header among them."""
LONGEST_TEXT = 32_767
"""The most characters of a cell, counted as UTF-16 does."""
_MOST_DIGITS = 15
"""The most digits of a whole number; further ones would become zeros, so a longer one is text."""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML can hold, and so no cell."""
_LIKE_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_NO_TIME = datetime(1980, 1, 1)
"""The time that the file says it was made at, so that the same session gives the same bytes."""
_WIDTHS = {str: 30, int: 10, float: 12, bool: 8}
"""The widths of columns, in characters."""
_OTHERS = "use csv or parquet, which have no such limit"


def xlsx(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """The file, as one piece. Raises `BadUsage` for a table that no sheet can hold."""
    try:
        from xlsxwriter import Workbook
    except ModuleNotFoundError:
        raise BadUsage(EXCEL.needed("--format xlsx")) from None
    if table.least_rows(request) >= MOST_ROWS:
        raise _too_many(table)
    batches = table.batches(request)
    names = table.header(request)
    file = io.BytesIO()
    # Rows are in a temporary file until the end: in this folder, so that none is left after an
    # error.
    with (
        tempfile.TemporaryDirectory() as folder,
        Workbook(file, {"constant_memory": True, "tmpdir": folder}) as book,
    ):
        book.set_properties({"created": _NO_TIME})
        heading = book.add_format({"bold": True})
        # Without this, a spreadsheet would take the text for a formula as soon as it is edited.
        quoted = book.add_format({"quote_prefix": True})
        sheet = book.add_worksheet(table.name)
        sheet.freeze_panes(1, 0)
        for place, name in enumerate(names):
            width = _WIDTHS[TYPES[name]]
            sheet.set_column(place, place, width)
            sheet.write_string(0, place, name, heading)
        number = 0
        for columns in batches:
            for row in zip(*columns, strict=True):
                number += 1
                if number >= MOST_ROWS:
                    raise _too_many(table)
                for place, value in enumerate(row):
                    _write(sheet, number, place, value, names[place], quoted)
    yield file.getvalue()


def _too_many(table: Table) -> BadUsage:
    return BadUsage(
        f"{table.name} has over {MOST_ROWS - 1:,} rows, more than fit on a sheet: {_OTHERS}"
    )


def _write(sheet: Any, row: int, place: int, value: object, name: str, quoted: Any) -> None:
    """Write a cell; None, and numbers that are not finite, are left empty."""
    is_exact = isinstance(value, int) and abs(value) < 10**_MOST_DIGITS
    if isinstance(value, bool):
        sheet.write_boolean(row, place, value)
    elif isinstance(value, float):
        if isfinite(value):
            sheet.write_number(row, place, value)
    elif is_exact:
        sheet.write_number(row, place, value)
    elif value is not None:
        text = _NO_XML.sub("\N{REPLACEMENT CHARACTER}", str(value))
        length = len(text.encode("utf-16-le")) // 2
        if length > LONGEST_TEXT:
            raise BadUsage(
                f"row {row:,} has a {name} of {length:,} characters, but a cell of a sheet holds "
                f"{LONGEST_TEXT:,}: {_OTHERS}"
            )
        form = quoted if _LIKE_FORMULA.match(text) else None
        sheet.write_string(row, place, text, form)

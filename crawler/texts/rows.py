"""The rows of tables as documents, checked against the header.

A row that follows RFC 4180 and has a cell for every column is read by `csv` alone. Any other row is
looked at a second time: it may write quotation marks with a backslash, hold delimiters that are not
quoted, or have a quotation mark that only looks like the beginning of a quoted cell. What was done
about such rows is counted and told. It depends on the row and on the beginning of the file alone,
so that reading can resume at any row.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from wikitopics.crawler.file_source import Say
from wikitopics.crawler.page import SURROGATE, Skip
from wikitopics.crawler.texts.contents import LARGEST_DOCUMENT, Contents
from wikitopics.crawler.texts.records import (
    NOT_UTF8,
    TOO_LARGE,
    BadRecord,
    Document,
    Record,
    document_of,
)
from wikitopics.crawler.texts.tables import NARROW, Oddity, Table, split_row

_FEW_LINES = 20
"""The most lines of a quoted cell that may have single quotation marks in it."""
_ESCAPED_QUOTE = re.compile(r'(?<!\\)((?:\\\\)*)\\"')
"""A quotation mark behind an odd number of backslashes; the group has all of these but the last."""
_CUT_OFF = "unexpected end of data"
"""What `csv` calls the end of a file within a quoted cell."""

STRAY: Oddity = ("a quotation mark that is not closed, or not doubled", "it is read as it stands")
BACKSLASH: Oddity = ('quotation marks written as \\"', "they are read as quotation marks")
TWICE: Oddity = ("texts in several columns of that name", "the first is read, the others are not")
_TOO_LARGE: tuple[Skip, str] = (
    "too large",
    f"a row {TOO_LARGE}: perhaps a quotation mark is not closed",
)


def table_rows(contents: Contents, table: Table, say: Say) -> Iterator[Record]:
    """The records after the header, or after a later record. Quoted cells may contain line breaks.

    ``say`` is told at the end which rows were odd, how many, and what was done.
    """
    odd_rows = Counter[Oddity]()
    first_lines: dict[Oddity, int] = {}
    for row, line, oddities in _rows(contents, table):
        if isinstance(row, BadRecord):
            yield row, line
            continue
        cells = row
        odd_width: Oddity | None = None
        if len(row) != table.width:
            cells, odd_width = table.fitted(row)
        try:
            yield _from_row(cells, table), line
        except BadRecord as bad:
            if odd_width is NARROW and bad.skip == "no text":
                bad = BadRecord(bad.skip, f"no text: {len(row):,} of {table.width:,} cells")
            yield bad, line
            continue
        if odd_width is not None:
            oddities = (*oddities, odd_width)
        if len(table.text) > 1 and _is_twice(cells, table.text):
            oddities = (*oddities, TWICE)
        for oddity in oddities:
            odd_rows[oddity] += 1
            first_lines.setdefault(oddity, line)
    for oddity, number in odd_rows.items():
        what, done = oddity
        line = first_lines[oddity]
        if number == 1:
            say(f"{contents.name}: 1 row has {what} (line {line:,}); {done}")
        else:
            say(
                f"{contents.name}: {number:,} rows have {what} (the first in line {line:,}); {done}"
            )


_MendedRow = tuple["list[str] | BadRecord", tuple[Oddity, ...]]
"""One row: its cells or why it has none, and what is odd about it."""


def _rows(
    contents: Contents, table: Table
) -> Iterator[tuple["list[str] | BadRecord", int, tuple[Oddity, ...]]]:
    """Each row, the number of its first line, and what is odd about it."""
    while contents.number < table.first:
        if next(contents.lines, b"") == b"":
            break
    lines = _Lines(contents, table)
    width = table.width
    while True:
        reader = csv.reader(lines.read(), delimiter=table.delimiter, strict=True)
        first = contents.number + 1
        try:
            for row in reader:
                if len(row) == width and contents.number == first:
                    yield row, first, ()
                elif row:
                    found, odd = _mended(lines, table, row)
                    yield found, first, odd
                    if lines.are_given_back:
                        break
                first = contents.number + 1
                lines.taken.clear()
            else:
                return
        except (csv.Error, BadRecord) as error:
            found, odd = _mended(lines, table, error)
            yield found, first, odd


class _Lines:
    """The lines of the present row, for `csv`; those that turn out not to belong to it can be given
    back."""

    def __init__(self, contents: Contents, table: Table) -> None:
        self._contents = contents
        self._table = table
        self._offset = 0
        """The place before the row's first line."""
        self.taken: list[str] = []
        """The lines that the row has so far."""
        self.are_given_back = False
        """Whether lines were given back, so that they must be read again."""

    def read(self) -> Iterator[str]:
        """The lines from the next row on. Raises csv.Error like `_check_width`."""
        self.taken.clear()
        self.are_given_back = False
        return self._while_narrow()

    def _while_narrow(self) -> Iterator[str]:
        for line in self._next_ones():
            yield line
            _check_width(self.taken, self._table)

    def _next_ones(self) -> Iterator[str]:
        """The further lines of the file, which are taken for the row. Raises BadRecord."""
        contents = self._contents
        taken = self.taken
        for line in contents.lines:
            if line is None:
                if taken:
                    before = self._offset + sum(map(len, self._encoded(0)))
                    contents.put_back([(None, contents.offset - before)])
                raise BadRecord(*_TOO_LARGE)
            if not taken:
                self._offset = contents.offset - len(line)
            text = line.decode("utf-8", "surrogateescape")
            taken.append(text)
            if contents.offset - self._offset > LARGEST_DOCUMENT:
                raise BadRecord(*_TOO_LARGE)
            yield text

    def more(self) -> bool:
        """Take another line; returns whether there is one."""
        try:
            return next(self._next_ones(), None) is not None
        except BadRecord:
            return False

    def keep(self, number: int) -> None:
        """Give back all lines of the row but the first ``number``."""
        back = self._encoded(number)
        if back:
            self._contents.put_back([(line, len(line)) for line in back])
            del self.taken[number:]
            self.are_given_back = True

    def _encoded(self, begin: int) -> list[bytes]:
        return [text.encode("utf-8", "surrogateescape") for text in self.taken[begin:]]


def _check_width(begun: Sequence[str], table: Table, *, skipinitialspace: bool = False) -> None:
    """Raise csv.Error if a row that goes on after these lines, within a quoted cell, has too many
    cells already. Otherwise, such a row on each line would be read to the end of the file.

    Only a row of many lines is looked at, and again whenever it has twice as many.
    """
    n_lines = len(begun)
    has_doubled = n_lines.bit_count() == 1
    if not has_doubled or n_lines <= table.many_lines:
        return
    closed = [*begun, '"']
    rows = csv.reader(
        closed,
        delimiter=table.delimiter,
        strict=True,
        skipinitialspace=skipinitialspace,
    )
    if len(next(rows)) > table.width:
        raise csv.Error("more cells than the table has columns")


def _mended(lines: _Lines, table: Table, read: list[str] | Exception) -> _MendedRow:
    """The row that begins with these lines and is not as it should be.

    ``read``: the row according to `csv`, or why it cannot read it. Lines that do not belong to the
    row are given back.
    """
    if not lines.taken:  # not even its first line is short enough
        assert isinstance(read, BadRecord)
        return read, ()
    further = lines.taken[1:]
    alone, _ = split_row(lines.taken[0], table.delimiter)
    if isinstance(read, list) and len(read) == table.width:
        fitted, _ = table.fitted(alone)
        if len(fitted) == table.width and table.hides_rows(read, further, is_odd=False):
            lines.keep(1)
            return alone, (STRAY,)
        return read, ()
    row = _with_backslashes(lines, table)
    if row is not None:
        return row, (BACKSLASH,)
    row = _with_blanks(lines, table)
    if row is not None:
        return row, ()
    if table.hides_rows(alone, further, is_odd=True):
        lines.keep(1)
        return alone, (STRAY,)
    if isinstance(read, BadRecord):
        return read, ()
    if len(further) >= table.many_lines:
        lines.keep(1)
        return alone, (STRAY,)
    if isinstance(read, list):
        return read, ()
    if str(read) == _CUT_OFF:
        row, _ = split_row("".join(lines.taken), table.delimiter)
        return row, (STRAY,)
    return _unquoted(lines, table)


def _unquoted(lines: _Lines, table: Table) -> _MendedRow:
    """The row of a quotation mark that ends no cell: with further lines only if they close the
    cell."""
    alone, is_closed = split_row(lines.taken[0], table.delimiter)
    number = 1
    row = alone
    while not is_closed and number <= _FEW_LINES:
        if number == len(lines.taken) and not lines.more():
            break
        number += 1
        if number == 2 and table.hides_rows(alone, lines.taken[1:2], is_odd=True):
            break
        line = lines.taken[number - 1]
        if line.rstrip("\r\n").endswith('"') or f'"{table.delimiter}' in line:
            row, is_closed = split_row("".join(lines.taken[:number]), table.delimiter)
    further = lines.taken[1:number]
    if not is_closed or len(row) != table.width or table.hides_rows(alone, further, is_odd=True):
        number = 1
        row = alone
    lines.keep(number)
    has_quotes = any('"' in line for line in lines.taken)
    if not has_quotes:  # a carriage return within a cell has led here
        return row, ()
    return row, (STRAY,)


def _with_backslashes(lines: _Lines, table: Table) -> list[str] | None:
    """The row if it has the right number of cells once ``\\"`` is a quotation mark."""
    if not any('\\"' in line for line in lines.taken):
        return None
    return _read_as(lines, table, lambda line: _ESCAPED_QUOTE.sub(r'\1""', line))


def _with_blanks(lines: _Lines, table: Table) -> list[str] | None:
    """The row if it has the right number of cells once blanks may stand before a quoted one."""
    has_blank = lines.taken[0].startswith(' "')
    if not has_blank and not any(f'{table.delimiter} "' in line for line in lines.taken):
        return None
    return _read_as(lines, table, str, skipinitialspace=True)


def _read_as(
    lines: _Lines,
    table: Table,
    change: Callable[[str], str],
    *,
    skipinitialspace: bool = False,
) -> list[str] | None:
    """The row according to `csv` after a change of its lines; None if that has not the right number
    of cells, or hides rows."""
    before = len(lines.taken)
    used: list[str] = []

    def changed() -> Iterator[str]:
        while len(used) < len(lines.taken) or lines.more():
            _check_width(used, table, skipinitialspace=skipinitialspace)
            line = change(lines.taken[len(used)])
            used.append(line)
            yield line

    rows = csv.reader(
        changed(),
        delimiter=table.delimiter,
        strict=True,
        skipinitialspace=skipinitialspace,
    )
    try:
        row = next(rows, [])
    except csv.Error:
        row = []
    further = lines.taken[1 : len(used)]
    if len(row) == table.width and not table.hides_rows(row, further, is_odd=False):
        lines.keep(len(used))
        return row
    lines.keep(before)
    return None


def _from_row(row: Sequence[str], table: Table) -> Document:
    cells = [_cell(row, places) for places in (table.text, table.title, table.id)]
    for cell in cells:
        if not cell.isascii() and SURROGATE.search(cell):
            raise BadRecord(*NOT_UTF8)
    text, title, external_id = cells
    return document_of(text, title, external_id)


def _cell(row: Sequence[str], places: tuple[int, ...]) -> str:
    """The first cell of these that is not blank."""
    for place in places:
        if place < len(row) and (place == places[-1] or row[place].strip()):
            return row[place]
    return ""


def _is_twice(row: Sequence[str], places: tuple[int, ...]) -> bool:
    texts = {row[place].strip() for place in places if place < len(row)}
    return len(texts - {""}) > 1

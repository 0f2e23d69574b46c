"""Tables as the user's own documents: how a table is written, as its beginning tells, and what is a
row of it."""

import contextlib
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.texts.contents import LARGEST_DOCUMENT, Contents
from wikitopics.crawler.texts.records import TOO_LARGE, Names, lacks

csv.field_size_limit(LARGEST_DOCUMENT)  # for the whole process, in which nothing else reads tables

_DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|"}
"""What may separate the cells, the usual one first: where the comma is the decimal sign,
spreadsheets write semicolons."""
_SEPARATOR_LINE = re.compile(r'"?sep=([^"\w\r\n])\1*"?\s*', re.IGNORECASE)
"""A first line with which Excel is told the delimiter."""
_LONGEST_HEADER = 1 << 20
_FIRST_LINES = 200
"""The most lines of a file that are looked at before its rows are read."""
_FIRST_BYTES = 256 << 10
"""The most bytes of these."""
_LINES_ABOVE = 20
"""The most lines below the first row in which a header is looked for, to say so."""
_MOST_NAMED = 12
"""The most columns of a table without a header that a message names."""
_MANY_LINES = 50
"""Lines of a cell beyond which it is suspicious in a table whose other cells have few."""
_MOST_COMPARED = 1000
"""The most lines of a cell that are compared with rows."""
_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")

Oddity = tuple[str, str]
"""What is odd about some rows, and what was done about it."""
WIDE: Oddity = (
    "more cells than the table has columns",
    "what is too much is read as part of the text, as if its delimiters were quoted",
)
NARROW: Oddity = (
    "fewer cells than the table has columns",
    "the missing ones are taken to be empty",
)


@dataclass(frozen=True, slots=True)
class Table:
    """How a table is written, and which of its columns hold what."""

    delimiter: str
    width: int
    """The number of columns."""
    named_width: int
    """The number of columns up to the last one that has a name."""
    text: tuple[int, ...]
    """The columns that hold the text, counted from 0. If several have the same name, the first one
    that is not blank in a row counts. The same holds for ``title`` and ``id``, which may have no
    column."""
    title: tuple[int, ...]
    id: tuple[int, ...]
    first: int
    """The number of lines before the first record."""
    most_lines: int
    """The most lines that one of the first rows has."""
    has_wide: bool
    """Whether one of the first rows has more cells than there are columns."""

    @classmethod
    def of(
        cls,
        contents: Contents,
        ending: str,
        column: str | None,
        names: Names,
        has_header: bool = True,
    ) -> "Table":
        """Read the beginning of a table.

        ``column`` is the text column; None: the one called `text`, in upper or lower case. Titles
        and ids are in the columns of ``names``, otherwise in those called `title` and `id`. Without
        a header, columns are named by number, from 1. Raises BadSource if there is no such column.
        """
        begin, delimiters = _first_row(contents, _DELIMITERS[ending])
        if not has_header:
            return cls._without_header(contents, begin, delimiters, column, names)
        rows = {mark: _cells(begin, mark) for mark in delimiters}
        found = _text_columns(rows, column)
        if found is None:
            raise BadSource(f"{contents.name}: {_without_text(contents, rows, column)}")
        delimiter, text = found
        cells = rows[delimiter]
        names.note(cells)
        named_width = text[-1] + 1
        for number, cell in enumerate(cells, start=1):
            if cell:
                named_width = max(named_width, number)
        first = contents.number
        most_lines, has_wide = _first_rows(_further(contents), delimiter, len(cells))
        return cls(
            delimiter=delimiter,
            width=len(cells),
            named_width=named_width,
            text=text,
            title=_places(cells, names.title, "title"),
            id=_places(cells, names.id, "id") if names.reads_ids else (),
            first=first,
            most_lines=most_lines,
            has_wide=has_wide,
        )

    @classmethod
    def _without_header(
        cls,
        contents: Contents,
        begin: list[str],
        delimiters: str,
        column: str | None,
        names: Names,
    ) -> "Table":
        """As `of`, for a table whose columns are named by number."""
        before = contents.number - len(begin)
        lines = [*begin, *_further(contents)]
        delimiter, width = _shape(lines, delimiters)
        numbers = [str(number) for number in range(1, width + 1)]
        names.note(numbers)
        wanted = "1" if column is None and width == 1 else column
        if wanted not in numbers:
            if not begin:
                raise BadSource(f"{contents.name}: the file is {contents.state}")
            cells = _cells(begin, delimiter)[:_MOST_NAMED]
            columns = ", ".join(f"{n} ({cell:.20})" for n, cell in enumerate(cells[:width], 1))
            if column is None:
                missing = "which column holds the text?"
            else:
                missing = f"there is no column {column!r}."
            raise BadSource(
                f"{contents.name}: {missing} Without a header, give its number with --text-column: "
                f"{columns}"
            )
        most_lines, has_wide = _first_rows(lines, delimiter, width)
        return cls(
            delimiter=delimiter,
            width=width,
            named_width=width,
            text=(int(wanted) - 1,),
            title=_places(numbers, names.title),
            id=_places(numbers, names.id) if names.reads_ids else (),
            first=before,
            most_lines=most_lines,
            has_wide=has_wide,
        )

    def fitted(self, row: list[str]) -> tuple[list[str], Oddity | None]:
        """The row with at most one cell for each column, and what is odd about its number of
        cells."""
        end = len(row)
        while end > self.width and not row[end - 1].strip():
            end -= 1
        row = row[:end]
        if len(row) < self.named_width:
            return row, NARROW
        surplus = len(row) - self.width
        if surplus <= 0:
            return row, None
        begin = self.text[-1]
        end = begin + surplus + 1
        return [*row[:begin], self.delimiter.join(row[begin:end]), *row[end:]], WIDE

    def hides_rows(self, row: Sequence[str], lines: Sequence[str], *, is_odd: bool) -> bool:
        """Whether the further ``lines`` of what was read as one ``row`` are rows themselves.

        They are if they have the right number of cells, with numbers and single words where the row
        has them, and do not look like prose: most of the lines, if the row ``is_odd`` anyway;
        otherwise nine in ten, if they count on from the row, have tabs, or are more lines than
        could look like that by accident.
        """
        if not lines:
            return False
        number_columns = []
        word_columns = []
        for column, cell in enumerate(row[: self.width]):
            if column in self.text:
                continue
            if cell.strip().isdecimal():
                number_columns.append(column)
            if len(cell.split()) == 1:
                word_columns.append(column)
        has_blanks = _has_leading_blanks(row)

        def is_like_row(cells: Sequence[str]) -> bool:
            if len(cells) != self.width or not any(cells):
                return False
            if not all(cells[column].strip().isdecimal() for column in number_columns):
                return False
            if not all(len(cells[column].split()) == 1 for column in word_columns):
                return False
            if any(_is_number(cells[column]) for column in self.text):
                return False
            return has_blanks or not _has_leading_blanks(cells)

        if is_odd:
            share = 0.5
        else:
            share = 0.9
            has_tabs = self.delimiter == "\t" and self.width > 1  # which prose does not have
            counts_on = any(self._counts_on(row, lines[0], column) for column in number_columns)
            if not (has_tabs or counts_on):
                enough = 3 if word_columns else self.many_lines
                if len(lines) < enough:
                    return False
        has_word_behind_text = any(column > self.text[-1] for column in word_columns)
        are_told_by_cells = bool(number_columns) or has_word_behind_text
        is_long = len(lines) >= self.many_lines
        may_be_wide = is_odd or are_told_by_cells or (is_long and self.has_wide)
        compared = lines[:_MOST_COMPARED]
        unlike = 0
        for line in compared:
            cells, _ = split_row(line, self.delimiter)
            if may_be_wide:
                cells, _ = self.fitted(cells)
            if not is_like_row(cells):
                unlike += 1
                if unlike > (1 - share) * len(compared):
                    return False
        return True

    @property
    def many_lines(self) -> int:
        """The lines of a cell from which on it is suspicious."""
        return max(_MANY_LINES, 4 * self.most_lines)

    def _counts_on(self, row: Sequence[str], line: str, column: int) -> bool:
        """Whether the number in this column of the ``line`` is the one after that of the
        ``row``."""
        cells, _ = split_row(line, self.delimiter)
        cells, _ = self.fitted(cells)
        if len(cells) != self.width:
            return False
        number = row[column].strip()
        next_number = cells[column].strip()
        if not next_number.isdecimal() or max(len(number), len(next_number)) >= 20:
            return False
        return int(next_number) == int(number) + 1


def _has_leading_blanks(row: Sequence[str]) -> bool:
    """Whether a cell but the first begins with a blank, as what follows a comma in prose."""
    return any(cell.startswith(" ") for cell in row[1:])


def _is_number(cell: str) -> bool:
    """Whether a cell has digits and no letter, so that it is no text."""
    return any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell))


def split_row(line: str, delimiter: str) -> tuple[list[str], bool]:
    """The cells of a row, whatever its quotation marks, and whether those that begin a cell are
    closed.

    A cell is quoted if a quotation mark begins it and another one ends it; any other is read as it
    stands.
    """
    line = _CARRIAGE_RETURN.sub(" ", line.rstrip("\r\n"))
    pieces = line.split(delimiter)
    if '"' not in line:
        return pieces, True
    # By piece, the first one from there on that ends with a quotation mark which is not doubled.
    none = len(pieces)
    closing = [none] * (len(pieces) + 1)
    for place in reversed(range(len(pieces))):
        closing[place] = place if _ends_quoted(pieces[place]) else closing[place + 1]
    cells: list[str] = []
    is_closed = True
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        end = none
        if piece.startswith('"'):
            end = place if _ends_quoted(piece[1:]) else closing[place + 1]
            is_closed = is_closed and end < none
        if end < none:
            quoted = delimiter.join(pieces[place : end + 1])
            cells.append(quoted[1:-1].replace('""', '"'))
            place = end + 1
        else:
            cells.append(piece)
            place += 1
    return cells, is_closed


def _ends_quoted(piece: str) -> bool:
    """Whether the piece ends with a quotation mark that is not doubled."""
    marks = len(piece) - len(piece.rstrip('"'))
    return marks % 2 == 1


# The beginning of a file.


def _first_row(contents: Contents, delimiters: str) -> tuple[list[str], str]:
    """The lines of the first row that is not blank, none if there is no such row, and the
    delimiters that the table may have."""
    while True:
        line = _next_text(contents)
        separator = _SEPARATOR_LINE.fullmatch(line)
        if separator:
            delimiters = separator[1]
            continue
        at_end = not line
        has_content = bool(line.strip().strip(delimiters + '" '))
        if at_end or has_content:
            break
    lines: list[str] = []
    size = 0
    quotes = 0
    while line:
        lines.append(line)
        size += len(line)
        quotes += line.count('"')
        is_whole = quotes % 2 == 0
        if is_whole or size > _LONGEST_HEADER:
            break
        line = _next_text(contents)
    return lines, delimiters


def _next_text(contents: Contents) -> str:
    """The next line, "" at the end. Raises BadSource if it is not text."""
    line = next(contents.lines, b"")
    if line is None:
        raise BadSource(f"{contents.name}, line {contents.number}: {TOO_LARGE}")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        where = f"{contents.name}, line {contents.number}"
        raise BadSource(f"{where}: not UTF-8; save the table as CSV in UTF-8") from None


def _further(contents: Contents) -> Iterator[str]:
    """Some further lines of the beginning of a table."""
    begin = contents.offset
    for line in islice(contents.lines, _FIRST_LINES):
        if line is None or contents.offset - begin > _FIRST_BYTES:
            return
        yield line.decode("utf-8", "replace")


def _cells(lines: Sequence[str], delimiter: str) -> list[str]:
    """The cells of the first row without the blanks around them; a quotation mark that is not
    closed is none of its own."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        row = next(reader, [])
    except csv.Error:
        row, _ = split_row(lines[0], delimiter)
        row = [cell.strip().strip('"') for cell in row]
    return [cell.strip() for cell in row]


def _text_columns(
    rows: Mapping[str, list[str]], column: str | None
) -> tuple[str, tuple[int, ...]] | None:
    """The first delimiter with which there is a text column, and the columns of that name."""
    for mark, cells in rows.items():
        places = _places(cells, column or "text")
        if places:
            return mark, places
    if column is None:
        for mark, cells in rows.items():
            places = _places(cells, None, "text")
            if places:
                return mark, places
    return None


def _without_text(contents: Contents, rows: Mapping[str, list[str]], column: str | None) -> str:
    """Why there is no text column in the first row, and what to do. ``rows``: its cells by
    delimiter."""
    columns = max(rows.values(), key=len)
    if not columns:
        return f"the file is {contents.state}"
    header_line = _later_header(contents, rows, column)
    if header_line:
        return f"the header is in line {header_line}: delete the lines above it"
    may_lack_header = column is None or column.isdecimal()
    otherwise = ", or give --no-header if it has no header" if may_lack_header else ""
    return lacks("column", column, columns, otherwise=otherwise)


def _later_header(contents: Contents, delimiters: Iterable[str], column: str | None) -> int | None:
    """The number of a further line, among the first ones, that has a text column, if there is one:
    people write titles and comments above the header."""
    first_number = contents.number + 1
    lines = islice(_further(contents), _LINES_ABOVE)
    for number, line in enumerate(lines, first_number):
        cells = {mark: _cells([line], mark) for mark in delimiters}
        if _text_columns(cells, column) is not None:
            return number
    return None


def _places(cells: Sequence[str], named: str | None, usual: str = "") -> tuple[int, ...]:
    """The columns called ``named``; None: those called ``usual``, in upper or lower case."""
    if named is not None:
        return tuple(place for place, cell in enumerate(cells) if cell == named)
    return tuple(place for place, cell in enumerate(cells) if cell and cell.casefold() == usual)


def _shape(lines: Sequence[str], delimiters: str) -> tuple[str, int]:
    """The delimiter with which most rows have the same number of cells, and that number; one column
    unless more rows have several cells than one."""
    best = delimiters[0], 1
    most = 0
    for mark in delimiters:
        widths = Counter(_widths(lines, mark))
        alone = widths.pop(1, 0)
        for width, rows in widths.items():
            if rows > most and widths.total() > alone:
                most = rows
                best = mark, width
    return best


def _widths(lines: Sequence[str], delimiter: str) -> list[int]:
    """The number of cells of each row: according to `csv`, or by line if there are stray quotation
    marks."""
    try:
        return [len(row) for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
    except csv.Error:
        rows = [split_row(line, delimiter) for line in lines if line.strip()]
        return [len(cells) for cells, _ in rows]


def _first_rows(lines: Iterable[str], delimiter: str, width: int) -> tuple[int, bool]:
    """The lines of the longest row but one among the first rows, and whether one of these is too
    wide.

    The longest one may have so many lines only because of a stray quotation mark.
    """
    number = 0
    number_before = 0
    sizes = [1, 1]
    has_wide = False

    def counted() -> Iterator[str]:
        nonlocal number
        for line in lines:
            number += 1
            yield line

    rows = csv.reader(counted(), delimiter=delimiter, strict=True)
    with contextlib.suppress(csv.Error):
        for row in rows:
            if len(row) == width:
                sizes.append(number - number_before)
            has_wide = has_wide or len(row) > width
            number_before = number
    return sorted(sizes)[-2], has_wide

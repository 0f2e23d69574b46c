"""The pages of a Parquet file's columns, whose headers are read before pyarrow unpacks what follows
them: so memory is bounded whatever a file says."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

LARGEST_PAGE = 512 << 20
"""The most bytes of a page, unpacked. Most programs aim at 1 MB, but pyarrow looks at the size of a
page only after each 1024 rows."""
READ = 256 << 10
"""The bytes of a file that are read at a time."""
_HEADER = 8 << 10
"""The bytes in which a page's header hardly ever fails to fit."""
_LARGEST_HEADER = 1 << 20
"""The most bytes of a page's header; statistics with two values may be in it."""
_SMALL_PAGE = 8 << 20
"""The bytes, unpacked, that any page may have."""
_MOST_TIMES = 64
"""A page of more than so many times the bytes of its whole column, as the footer has them, is
damaged. None should have more than these, but some programs write those of the packed column."""


class PageOver(Exception):
    """A page is larger than expected."""

    def __init__(self, size: int) -> None:
        self.size = size
        """Its bytes, unpacked."""


class ColumnPages:
    """The pages of one column in a row group, as far as they were looked at."""

    def __init__(self, chunk: "ColumnChunk") -> None:
        self.start = chunk.start
        self.stop = chunk.start + chunk.packed
        self._next = chunk.start
        """Where the header of the next page begins."""
        self._largest = max(_SMALL_PAGE, _MOST_TIMES * chunk.unpacked)

    def check(self, until: int, read: Callable[[int, int], bytes], most: int) -> None:
        """Look at all pages that begin before ``until``. Raises `PageOver` for one of over ``most``
        bytes, and ValueError for what is no page."""
        while self._next < min(until, self.stop):
            data = read(self._next, min(self._next + _HEADER, self.stop))
            try:
                unpacked, packed, size = page_header(data)
            except ValueError:
                data = read(self._next, min(self._next + _LARGEST_HEADER, self.stop))
                unpacked, packed, size = page_header(data)
            if packed < 0 or not 0 <= unpacked <= self._largest:
                raise ValueError("no page")
            if unpacked > most:
                raise PageOver(unpacked)
            self._next += size + packed


# The numbers of fields in the structs of parquet.thrift, of a page's header and of a footer.

_PAGE_UNPACKED = 2
_PAGE_PACKED = 3
_ROW_GROUPS = 4
_GROUP_COLUMNS = 1
_GROUP_ROWS = 3
_COLUMN_KNOWN = 3
_COLUMN_ENCRYPTION = 8
_KNOWN_UNPACKED = 6
_KNOWN_PACKED = 7
_KNOWN_DATA = 9
"""Where the first page of data begins."""
_KNOWN_DICTIONARY = 11
"""Where the page with the dictionary begins; 0, or missing: there is none."""


def page_header(data: bytes) -> tuple[int, int, int]:
    """(bytes unpacked, bytes packed, bytes of the header) of the page whose header ``data`` begins
    with. Raises ValueError."""
    try:
        fields, size = _struct(data, 0, {}, _BITS_OF_PAGES)
    except IndexError:
        raise ValueError("no header of a page") from None
    if _PAGE_UNPACKED not in fields or _PAGE_PACKED not in fields:
        raise ValueError("no header of a page")
    return fields[_PAGE_UNPACKED], fields[_PAGE_PACKED], size


class ColumnChunk(NamedTuple):
    """The part of a column that is in a row group."""

    start: int
    """Its first byte in the file."""
    packed: int
    """Its bytes, as stored."""
    unpacked: int
    """Its bytes, unpacked."""
    is_encrypted: bool


def row_groups(footer: bytes) -> Iterator[tuple[int, list[ColumnChunk]]]:
    """(number of rows, the part of each column) of each row group. Raises ValueError for what is
    not a footer.

    pyarrow would tell, too, but some damaged footers make it abort the process.
    """
    try:
        fields, _ = _struct(footer, 0, _WANTED_OF_FOOTER, _BITS_OF_FOOTERS)
        for group in fields.get(_ROW_GROUPS, []):
            chunks = []
            for column in group[_GROUP_COLUMNS]:
                known = column[_COLUMN_KNOWN]
                start = known[_KNOWN_DATA]
                dictionary = known.get(_KNOWN_DICTIONARY, 0)
                if dictionary:
                    start = min(start, dictionary)
                is_encrypted = _COLUMN_ENCRYPTION in column
                chunk = ColumnChunk(
                    start, known[_KNOWN_PACKED], known[_KNOWN_UNPACKED], is_encrypted
                )
                chunks.append(chunk)
            yield group[_GROUP_ROWS], chunks
    except (IndexError, KeyError, TypeError):
        raise ValueError("no footer") from None


# Structs of Thrift's compact protocol.

WantedFields = dict[int, "WantedFields"]
"""The fields of a struct that are structs, or lists of structs, and wanted; all whole numbers
are."""
_OF_COLUMN: WantedFields = {_COLUMN_KNOWN: {}, _COLUMN_ENCRYPTION: {}}
_WANTED_OF_FOOTER: WantedFields = {_ROW_GROUPS: {_GROUP_COLUMNS: _OF_COLUMN}}
_MOST_DEPTH = 16

# The kinds of values.

_TRUTHS = (1, 2)
"""True and false."""
_BYTE = 3
_INTEGERS = {4: 16, 5: 32, 6: 64}
"""The bits of each kind."""
_DOUBLE = 7
_BINARY = 8
_LIST = 9
_SET = 10
_STRUCT = 12

_BITS_OF_PAGES = 32
"""The bits of the integers in a page's header that are wanted."""
_BITS_OF_FOOTERS = 64
"""Likewise in a footer."""


def _struct(
    data: bytes, at: int, wanted: WantedFields, bits: int, depth: int = 0
) -> tuple[dict[int, Any], int]:
    """(the fields of a struct that are wanted, where it ends). ``bits``: of the integers among
    them. As in pyarrow, numbers are cut, and other integers ignored. Raises ValueError and
    IndexError."""
    if depth > _MOST_DEPTH:
        raise ValueError("nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    while data[at]:
        kind = data[at] & 15
        delta = data[at] >> 4
        at += 1
        if delta:
            number += delta
        else:
            number, at = _zigzag(data, at, 32)
        number &= 0xFFFF
        if _INTEGERS.get(kind) == bits:
            fields[number], at = _zigzag(data, at, bits)
        elif kind == _STRUCT and number in wanted:
            fields[number], at = _struct(data, at, wanted[number], bits, depth + 1)
        elif kind == _LIST and number in wanted:
            size, kind_of_each, at = _list(data, at)
            if kind_of_each != _STRUCT:
                raise ValueError("a list of something else")
            elements = []
            for _ in range(size):
                element, at = _struct(data, at, wanted[number], bits, depth + 1)
                elements.append(element)
            fields[number] = elements
        elif kind not in _TRUTHS:  # a truth value is in its kind
            at = _skipped(data, at, kind, depth)
    return fields, at + 1


def _skipped(data: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value of this kind ends."""
    if kind in _TRUTHS or kind == _BYTE:  # in a list, a truth value is a byte
        end = at + 1
    elif kind in _INTEGERS:
        _, end = _varint(data, at)
    elif kind == _DOUBLE:
        end = at + 8
    elif kind == _BINARY:
        length, at = _varint(data, at)
        end = at + length
    elif kind in (_LIST, _SET):
        size, kind_of_each, end = _list(data, at)
        for _ in range(size):
            end = _skipped(data, end, kind_of_each, depth + 1)
    elif kind == _STRUCT:
        # Whatever the bits: none of its fields is wanted.
        _, end = _struct(data, at, {}, _BITS_OF_PAGES, depth + 1)
    else:
        raise ValueError("a value of an unknown kind")
    if end > len(data):
        raise IndexError
    return end


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """(how many elements a list has, of which kind they are, where the first begins)."""
    size = data[at] >> 4
    kind = data[at] & 15
    at += 1
    if size == 15:
        size, at = _varint(data, at)
    return size, kind, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number that does not end")


def _zigzag(data: bytes, at: int, bits: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    value &= (1 << bits) - 1
    return (value >> 1) ^ -(value & 1), at


class RowSource:
    """What pyarrow reads a row group from: as much of a file as it needs. An error that it raises
    is kept, since pyarrow may replace it."""

    closed = False

    def __init__(
        self,
        size: int,
        read: Callable[[int, int], bytes],
        pages: Sequence[ColumnPages],
        largest_page: int,
    ) -> None:
        self.failure: Exception | None = None
        self._size = size
        self._read = read
        self._pages = pages
        self._largest_page = largest_page
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        stop = self._size if size < 0 else min(self._at + size, self._size)
        if stop - self._at > LARGEST_PAGE + READ:
            self.failure = PageOver(stop - self._at)
            raise self.failure
        try:
            for pages in self._pages:
                if pages.start < stop and self._at < pages.stop:
                    pages.check(stop, self._read, self._largest_page)
            data = self._read(self._at, stop)
        except Exception as error:
            self.failure = error
            raise
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        begins = {0: 0, 1: self._at, 2: self._size}
        self._at = begins[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

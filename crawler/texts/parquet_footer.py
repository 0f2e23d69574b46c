"""Parquet files and their footers, which say where their row groups are. Nothing here needs pyarrow
until a footer is parsed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.texts.files import TextFile, check_same, printable
from wikitopics.extra import PARQUET as PARQUET_EXTRA

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

_MARK = b"PAR1"
"""The first bytes of a file, and the last ones."""
_LENGTH = 4
"""The bytes of the footer's length, which stands between the footer and the mark at the end."""
_END = _LENGTH + len(_MARK)
"""The bytes behind the footer."""
MOST_FOOTER = 16 << 20
"""The most bytes of a footer. pyarrow takes some twenty times as much memory for it."""
_MOST_ELEMENTS = 200_000
"""The most elements of a list in a footer, such as row groups: memory is taken for as many as it
announces."""
_OLDEST_PYARROW = (19, 0, 1)
"""The oldest version of pyarrow that reads every file. Those before 19 take rows behind large pages
for damaged ("Cannot shrink read buffer if buffered data remains"), 19.0.0 all rows of newer
programs ("Repetition level histogram size mismatch")."""
_ARROW_SCHEMA = b"ARROW:schema"
"""Under this name, Arrow's programs store types that are narrower than Parquet's. Categories of
pandas would make a dictionary of all texts."""


class RowFile(Protocol):
    """A file with rows, on this machine or on a server."""

    name: str
    """The name for people."""
    label: str
    """A short name, of which titles are made."""
    size: int

    def read(self, start: int, stop: int) -> bytes:
        """These bytes. Raises a CrawlerError."""

    def reading(self, spans: Sequence[tuple[int, int]]) -> Callable[[int, int], bytes]:
        """A function like `read`, for a reader that goes through each of the ``spans`` once."""


class LocalRowFile:
    """A file on this machine. Raises BadSource for one that cannot be read, or has changed."""

    def __init__(self, file: TextFile) -> None:
        self.name = printable(file.path)
        self.label = file.label
        self.size = file.size
        self._file = file

    def read(self, start: int, stop: int) -> bytes:
        """See `RowFile`."""
        try:
            # Opened for each read, which takes microseconds: there may be any number of files.
            descriptor = os.open(self._file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                now = os.fstat(descriptor)
                if not stat.S_ISREG(now.st_mode):
                    raise BadSource(f"{self.name}: a pipe or a device, not a regular file")
                check_same(self._file, now)
                return os.pread(descriptor, stop - start, start)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise BadSource(f"{self.name}: cannot be read: {error.strerror or error}") from None

    def reading(self, spans: Sequence[tuple[int, int]]) -> Callable[[int, int], bytes]:
        """See `RowFile`."""
        return self.read


def check_pyarrow() -> None:
    """Raise BadSource, which says how to install pyarrow, if it is not there, or too old."""
    try:
        import pyarrow
    except ImportError:
        raise BadSource(PARQUET_EXTRA.needed("reading a .parquet")) from None
    version: str = pyarrow.__version__
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    if numbers < _OLDEST_PYARROW:
        oldest = ".".join(map(str, _OLDEST_PYARROW))
        raise BadSource(
            f"pyarrow {version} loses rows of some files: pip install 'pyarrow>={oldest}'"
        )


def read_footer(file: RowFile) -> bytes:
    """The footer of a file. Raises BadSource if it is not a whole Parquet file."""
    if file.size == 0:
        file.read(0, 1)  # raises for a file that is not there
        raise BadSource(f"{file.name}: the file is empty")
    end = file.read(max(0, file.size - _END), file.size)
    mark = end[_LENGTH:]
    if mark == b"PARE":
        raise encrypted(file.name)
    if mark != _MARK or file.size < len(_MARK) + _END:
        if file.read(0, len(_MARK)) == _MARK:
            raise BadSource(f"{file.name}: a Parquet file that is cut off; copy it again")
        raise BadSource(f"{file.name}: not a Parquet file")
    length = int.from_bytes(end[:_LENGTH], "little")
    if length > file.size - len(_MARK) - _END:
        raise damaged_footer(file.name)
    if length > MOST_FOOTER:
        raise BadSource(
            f"{file.name}: its footer takes over {MOST_FOOTER >> 20} MB: write it with fewer, "
            "larger row groups, or fewer columns"
        )
    stop = file.size - _END
    return file.read(stop - length, stop)


def encrypted(name: str) -> BadSource:
    return BadSource(f"{name}: encrypted; write it without encryption")


def damaged_footer(name: str) -> BadSource:
    return BadSource(f"{name}: its footer is damaged; copy or write it again")


def metadata_of(footer: bytes, name: str) -> FileMetaData:
    """What a footer says. Raises BadSource."""
    check_pyarrow()
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    plain = footer.replace(_ARROW_SCHEMA, b"-" * len(_ARROW_SCHEMA))
    whole = _MARK + plain + len(plain).to_bytes(_LENGTH, "little") + _MARK
    try:
        return ParquetFile(
            pa.BufferReader(whole),
            thrift_string_size_limit=MOST_FOOTER,
            thrift_container_size_limit=_MOST_ELEMENTS,
        ).metadata
    except Exception as error:  # noqa: BLE001 (whatever a damaged file makes pyarrow raise)
        if "exceeded" in str(error).lower() or "size limit" in str(error).lower():
            raise BadSource(
                f"{name}: over {_MOST_ELEMENTS:,} row groups or columns: write it with fewer"
            ) from None
        raise damaged_footer(name) from None

"""Parquet files as rows of the user's own documents, decoded a few rows at a time.

Memory is bounded whatever a file says: by the size of its footer, and by that of its pages. Nothing
here needs pyarrow until a file is opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from wikitopics.crawler.errors import BadSource, CrawlerError, TransientError
from wikitopics.crawler.file_source import Say, first_and_more
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.texts.files import PARQUET as PARQUET_ENDING
from wikitopics.crawler.texts.files import TextFile, printable, text_files
from wikitopics.crawler.texts.parquet_pages import (
    LARGEST_PAGE,
    READ,
    Chunk,
    PageOver,
    Pages,
    RowSource,
    row_groups,
)
from wikitopics.crawler.texts.parquet_rows import RowBatch, Rows, as_bytes, strings_in
from wikitopics.crawler.texts.records import lacks
from wikitopics.extra import PARQUET

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyarrow.parquet import FileMetaData, ParquetFile

MOST_FOOTER = 16 << 20
"""The most bytes of a footer. pyarrow takes some twenty times as much memory for it."""
_MOST_ELEMENTS = 200_000
"""The most elements of a list in a footer, such as row groups: memory is taken for as many as it
announces."""
MOST_GROUPS = 1_000_000
"""The most row groups of all files."""
_MOST_KEPT = 64 << 20
"""The most bytes of footers that are kept parsed."""
_USUAL_PAGE = 8 << 20
"""The most bytes of a page, unpacked, for which no fewer rows are decoded together."""
_PAGE_ROWS = 1024
"""The rows after which pyarrow looks at the size of a page that it writes."""
BATCH = 32
"""The most rows that are decoded together. If they all name one value of the file's dictionary,
which is a page, they take as many times its size."""
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


class LocalRows:
    """A file on this machine. Raises BadSource for one that cannot be read, or has changed."""

    def __init__(self, file: TextFile) -> None:
        self.name = printable(file.path)
        self.label = file.label
        self.size = file.size
        self._file = file
        self._descriptor: int | None = None

    def read(self, start: int, stop: int) -> bytes:
        """See `RowFile`."""
        try:
            # Opened for each read, which takes microseconds: there may be any number of files.
            descriptor = os.open(self._file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                now = os.fstat(descriptor)
                if not stat.S_ISREG(now.st_mode):
                    raise BadSource(f"{self.name}: a pipe or a device, not a regular file")
                if (now.st_size, now.st_mtime_ns) != (self.size, self._file.modified):
                    raise BadSource(
                        f"{self.name} changed while it was read: start again when it is complete"
                    )
                return os.pread(descriptor, stop - start, start)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise BadSource(f"{self.name}: cannot be read: {error.strerror or error}") from None

    def reading(self, spans: Sequence[tuple[int, int]]) -> Callable[[int, int], bytes]:
        """See `RowFile`."""
        return self.read


# The footer: what a file says of its row groups and columns.


class Column(NamedTuple):
    """A column that holds a part of each document."""

    path: str
    """Its name, with those of the columns around it: `a.b`."""
    number: int
    """Its number among the file's leaf columns."""


class Columns(NamedTuple):
    """The columns of a file that hold the parts of documents."""

    text: Column
    title: Column | None
    id: Column | None

    def paths(self) -> list[str]:
        """The names of all, each once."""
        return list(dict.fromkeys(column.path for column in self if column is not None))


class Group(NamedTuple):
    """A row group."""

    file: int
    """The number of its file."""
    number: int
    """Its number in the file."""
    first: int
    """How many rows come before it, in all files."""
    rows: int
    text: Chunk
    title: Chunk | None
    id: Chunk | None


def pyarrow() -> Any:
    """The package. Raises BadSource, which says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise BadSource(PARQUET.needed("reading a .parquet")) from None
    return pyarrow


def read_footer(file: RowFile) -> bytes:
    """The footer of a file. Raises BadSource if it is not a whole Parquet file."""
    if file.size == 0:
        file.read(0, 1)  # raises for a file that is not there
        raise BadSource(f"{file.name}: the file is empty")
    end = file.read(max(0, file.size - 8), file.size)
    mark = end[4:]
    if mark == b"PARE":
        raise _encrypted(file.name)
    if mark != b"PAR1" or file.size < 12:
        if file.read(0, 4) == b"PAR1":
            raise BadSource(f"{file.name}: a Parquet file that is cut off; copy it again")
        raise BadSource(f"{file.name}: not a Parquet file")
    length = int.from_bytes(end[:4], "little")
    if length > file.size - 12:
        raise _damaged_footer(file.name)
    if length > MOST_FOOTER:
        raise BadSource(
            f"{file.name}: its footer takes over {MOST_FOOTER >> 20} MB: write it with fewer, "
            "larger row groups, or fewer columns"
        )
    return file.read(file.size - 8 - length, file.size - 8)


def _encrypted(name: str) -> BadSource:
    return BadSource(f"{name}: encrypted; write it without encryption")


def _damaged_footer(name: str) -> BadSource:
    return BadSource(f"{name}: its footer is damaged; copy or write it again")


def metadata_of(footer: bytes, name: str) -> FileMetaData:
    """What a footer says. Raises BadSource."""
    pyarrow()
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    plain = footer.replace(_ARROW_SCHEMA, b"-" * len(_ARROW_SCHEMA))
    whole = b"PAR1" + plain + len(plain).to_bytes(4, "little") + b"PAR1"
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
        raise _damaged_footer(name) from None


_TEXTS = ("STRING", "NONE", "ENUM", "JSON", "UUID")
"""What a column of bytes may mean whose values are texts; old programs do not say."""


def _is_text(column: Any) -> bool:
    return column.physical_type == "BYTE_ARRAY" and column.logical_type.type in _TEXTS


def _is_whole_number(column: Any) -> bool:
    is_stored_so = column.physical_type in ("INT32", "INT64")
    return is_stored_so and column.logical_type.type in ("INT", "NONE")


@dataclass(frozen=True)
class ColumnNames:
    """The columns that a user named; None: those usually called so."""

    text: str | None = None
    title: str | None = None
    id: str | None = None
    reads_ids: bool = True
    """Whether documents have ids."""


def columns_of(metadata: FileMetaData, names: ColumnNames, name: str) -> Columns:
    """The columns of a file called ``name`` that hold the parts of documents. Raises BadSource if
    there are none, naming those that there are."""
    schema = metadata.schema
    leaves = [schema.column(number) for number in range(len(schema.names))]
    texts: dict[str, int] = {}
    labels: dict[str, int] = {}
    for number, leaf in enumerate(leaves):
        if leaf.max_repetition_level:
            continue  # a value for each element of a list
        if _is_text(leaf):
            texts.setdefault(leaf.path, number)
        if _is_text(leaf) or _is_whole_number(leaf):
            labels.setdefault(leaf.path, number)
    text = _named(texts, names.text, ("text",))
    if text is None:
        wanted = names.text or "text"
        if any(leaf.path == wanted or leaf.path.startswith(f"{wanted}.") for leaf in leaves):
            of_lists = any(
                leaf.max_repetition_level and leaf.path.startswith(f"{wanted}.") for leaf in leaves
            )
            tokens = "; lists of tokens are for `wikitopics.train`" if of_lists else ""
            there = ", ".join(map(repr, texts))[:200] or "there are none"
            raise NoColumn(
                f"{name}: the column {wanted!r} does not hold texts{tokens}. Those that do: {there}"
            )
        raise NoColumn(f"{name}: {lacks('column', names.text, texts)}")
    title = _named(labels, names.title, ("title",))
    if title is None and names.title is not None:
        raise NoColumn(f"{name}: {lacks('column', names.title, labels, '--title-column')}")
    id = _named(labels, names.id, ("id", "url")) if names.reads_ids else None
    if id is None and names.id is not None and names.reads_ids:
        raise NoColumn(f"{name}: {lacks('column', names.id, labels, '--id-column')}")
    columns = Columns(text, title, id)
    paths = [leaf.path for leaf in leaves]
    for path in columns.paths():
        if paths.count(path) > 1:  # columns are read by their names
            raise BadSource(f"{name}: several columns are called {path!r}; rename all but one")
    return columns


def _named(columns: dict[str, int], named: str | None, usual: Sequence[str]) -> Column | None:
    """The column called ``named``; None: the first called as ``usual``, in upper or lower case."""
    if named is not None:
        return Column(named, columns[named]) if named in columns else None
    for name in usual:
        for path, number in columns.items():
            if path.casefold() == name:
                return Column(path, number)
    return None


# Files of rows, and reading one of their row groups from its start.


class ParquetRows:
    """The rows of ``files``, one file after another. Raises BadSource for files that are not
    Parquet, or lack columns."""

    def __init__(self, files: Sequence[RowFile], names: ColumnNames, named: str) -> None:
        """``named``: the name for people."""
        self.name = named
        self.files = files
        self.groups: list[Group] = []
        """All row groups that have rows, in the order of the files."""
        self.firsts: list[tuple[int, str]] = []
        """For each file: how many rows come before it, and its short name."""
        self.rows = 0
        self.text_bytes = 0
        """Of all texts, unpacked, as the footers say."""
        self.bytes_read = 0
        """The bytes read of row groups so far."""
        self._columns: list[Columns] = []
        self._kept: dict[int, FileMetaData] = {}
        """What the footers of some files say, by the files' numbers."""
        self._sizes: list[int] = []
        """The bytes of each footer."""
        digest = blake2b(digest_size=8)
        for number, file in enumerate(files):
            footer = read_footer(file)
            digest.update(f"{file.size} {len(footer)} ".encode())
            digest.update(footer)
            self._sizes.append(len(footer))
            metadata = metadata_of(footer, file.name)
            self._keep(number, metadata)
            try:
                self._add(number, file, footer, columns_of(metadata, names, file.name))
            except CrawlerError:
                raise
            except Exception:  # noqa: BLE001 (whatever a damaged footer makes pyarrow raise)
                raise _damaged_footer(file.name) from None
        self.fingerprint = int.from_bytes(digest.digest(), "big") >> 1
        """A number below 2**63 that changes whenever a file's size or footer does."""

    def _add(self, number: int, file: RowFile, footer: bytes, columns: Columns) -> None:
        self._columns.append(columns)
        self.firsts.append((self.rows, file.label))
        for of_file, (rows, chunks) in enumerate(row_groups(footer)):
            text, title, id = (column and chunks[column.number] for column in columns)
            assert text is not None
            if any(chunk.is_encrypted for chunk in (text, title, id) if chunk is not None):
                raise _encrypted(file.name)
            if rows < 0 or text.unpacked < 0 or self.rows + rows > _MOST_ROWS:
                raise ValueError("numbers that cannot be")
            if rows:
                self.groups.append(Group(number, of_file, self.rows, rows, text, title, id))
            if len(self.groups) > MOST_GROUPS:
                raise BadSource(f"{self.name}: over {MOST_GROUPS:,} row groups: write larger ones")
            self.rows += rows
            self.text_bytes += text.unpacked

    def _keep(self, file: int, metadata: FileMetaData) -> None:
        self._kept[file] = metadata
        while sum(self._sizes[kept] for kept in self._kept) > _MOST_KEPT and len(self._kept) > 1:
            del self._kept[next(iter(self._kept))]

    def _metadata(self, file: int) -> FileMetaData:
        metadata = self._kept.get(file)
        if metadata is None:
            metadata = metadata_of(read_footer(self.files[file]), self.files[file].name)
            self._keep(file, metadata)
        return metadata

    def packed_bytes(self) -> int:
        """The bytes of the columns that are read, as stored, as far as the footers are sound."""
        total = 0
        for group in self.groups:
            with suppress(BadRows):
                total += sum(stop - start for start, stop in self._spans(group))
        return total

    def _spans(self, group: Group, *, only_ids: bool = False) -> list[tuple[int, int]]:
        """The bytes of the columns of a row group that are read. Raises BadRows for a row group
        that is outside the file."""
        chunks = [group.id] if only_ids else [group.text, group.title, group.id]
        spans = set()
        for chunk in chunks:
            if chunk is None:
                continue
            stop = chunk.start + chunk.packed
            if chunk.start < 0 or chunk.packed <= 0 or stop > self.files[group.file].size:
                raise BadRows(0, "damaged")
            spans.add((chunk.start, stop))
        return sorted(spans)

    def pages(self, tell: Say, markup: Markup = "text") -> Iterator[Page]:
        """All documents, in the order of the files; ``tell``: is told of row groups that cannot be
        read."""
        nowhere = SourceInfo(self.name, None)
        for group in self.groups:
            try:
                for batch in self.batches(group):
                    for page in Rows.of([batch], self.firsts, 0, markup).pages(nowhere):
                        if isinstance(page, Page):
                            yield page
            except BadRows as error:
                tell(self.told(group, error))

    def told(self, group: Group, error: BadRows) -> str:
        """The message for a row group that cannot be read to its end."""
        return (
            f"{self.files[group.file].name}, row group {group.number}: {error} from row "
            f"{error.row:,} on; {group.rows - error.row:,} of {group.rows:,} rows are skipped"
        )

    def page_bytes(self, group: Group) -> int:
        """The bytes that a page of texts may have, unpacked, if pyarrow has written it."""
        size = max(1, group.text.unpacked)
        return min(size, _PAGE_ROWS * size // group.rows + 1)

    def has_ids(self) -> bool:
        """Whether any file has a column of ids."""
        return any(columns.id is not None for columns in self._columns)

    def batches(self, group: Group, first: int = 0) -> Iterator[RowBatch]:
        """The rows of a group from its row ``first`` on, at most `BATCH` at a time.

        Rows before the first are decoded, too. Raises BadRows at damage, and a CrawlerError.
        """
        columns = self._columns[group.file]
        for row, decoded in self._decoded(group, first):
            texts = strings_in(_values(decoded, columns.text))
            titles = None if columns.title is None else strings_in(_values(decoded, columns.title))
            ids = None if columns.id is None else strings_in(_values(decoded, columns.id))
            yield RowBatch(_counted_from(group.first + row, len(decoded)), texts, titles, ids)

    def ids(self, group: Group) -> Iterator[list[bytes | None]]:
        """The ids of a group's rows in UTF-8, some at a time; none without a column of ids. Raises
        BadRows and a CrawlerError."""
        column = self._columns[group.file].id
        if column is None:
            return
        for _, decoded in self._decoded(group, 0, only_ids=True):
            yield as_bytes(_values(decoded, column)).to_pylist()

    def _decoded(
        self, group: Group, first: int, *, only_ids: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """The columns of a group that are read, as record batches, each with the number of its
        first row in the group."""
        columns = self._columns[group.file]
        paths = [columns.id.path] if only_ids and columns.id else columns.paths()
        file = self.files[group.file]
        metadata = self._metadata(group.file)
        largest_page = _rounded(2 * self.page_bytes(group))
        row = first
        while True:
            spans = self._spans(group, only_ids=only_ids)
            read = file.reading(spans)

            def counted(start: int, stop: int) -> bytes:
                data = read(start, stop)  # noqa: B023 (each source has its own)
                self.bytes_read += len(data)
                return data

            source = RowSource(
                file.size,
                counted,
                [Pages(start, stop) for start, stop in spans],
                largest_page,
            )
            # Fewer rows together where pages are larger.
            together = max(1, BATCH * _USUAL_PAGE // largest_page)
            at = 0
            try:
                opened = _opened(source, metadata)
                for batch in opened.iter_batches(
                    together, [group.number], columns=paths, use_threads=False
                ):
                    begin = at
                    at += len(batch)
                    if at > row:
                        batch = batch.slice(max(0, row - begin))
                        yield row, batch
                        row = at
            except Exception as error:  # noqa: BLE001 (whatever a damaged file makes pyarrow raise)
                cause = source.failure or error
                if isinstance(cause, CrawlerError | TransientError):
                    raise cause from None
                if isinstance(cause, PageOver) and cause.size <= LARGEST_PAGE:
                    largest_page = _rounded(cause.size)
                    continue
                if isinstance(cause, PageOver):
                    raise BadRows(row, f"a page of over {LARGEST_PAGE >> 20} MB") from None
                raise BadRows(row, "damaged") from None
            if row < group.rows:
                raise BadRows(row, "damaged")
            return


def local_rows(
    paths: Sequence[str], names: ColumnNames, tell: Callable[[str], None]
) -> ParquetRows:
    """The rows of files on this machine, also of those in folders. Raises BadSource."""
    files = text_files(paths, tell, PARQUET_ENDING)
    labels = [printable(os.path.basename(os.path.normpath(path))) for path in paths]
    return ParquetRows([LocalRows(file) for file in files], names, first_and_more(labels))


class NoColumn(BadSource):
    """A column that is wanted is not there."""


def _rounded(page: int) -> int:
    """The bytes for which a reader is prepared that may meet a page of this many: a power of
    two, so that it is not made again for each page that is a little larger."""
    return min(LARGEST_PAGE, max(_USUAL_PAGE, 1 << (page - 1).bit_length()))


class BadRows(Exception):
    """The rest of a row group cannot be read."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row
        """The first row of the rest, in the group."""


_MOST_ROWS = 1 << 40


def _opened(source: RowSource, metadata: FileMetaData) -> ParquetFile:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    return ParquetFile(
        pa.PythonFile(source, "r"),
        metadata=metadata,
        pre_buffer=False,
        buffer_size=READ,
    )


def _values(batch: Any, column: Column) -> Any:
    """The values of a column, which may be inside others."""
    names = column.path.split(".")
    for length in range(len(names), 0, -1):
        name = ".".join(names[:length])
        place = batch.schema.get_all_field_indices(name)
        if place:
            values = batch.column(place[0])
            return _inner(values, names[length:])
    raise ValueError(f"no column {column.path!r}")


def _inner(values: Any, names: Sequence[str]) -> Any:
    import pyarrow.compute as pc

    for name in names:
        values = pc.struct_field(values, [name])
    return values


def _counted_from(first: int, number: int) -> NDArray[np.int64]:
    import numpy as np

    return np.arange(first, first + number, dtype=np.int64)

"""Parquet files as rows of the user's own documents, decoded a few rows at a time.

Memory is bounded whatever a file says: by the size of its footer, and by that of its pages. Nothing
here needs pyarrow until a file is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.errors import BadSource, CrawlerError
from wikitopics.crawler.file_source import Say, first_and_more
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.texts.files import PARQUET, printable, text_files
from wikitopics.crawler.texts.parquet_columns import (
    ColumnNames,
    Columns,
    document_columns,
    values_of,
)
from wikitopics.crawler.texts.parquet_footer import (
    LocalRowFile,
    RowFile,
    damaged_footer,
    encrypted,
    metadata_of,
    read_footer,
)
from wikitopics.crawler.texts.parquet_pages import (
    LARGEST_PAGE,
    READ,
    ColumnChunk,
    ColumnPages,
    PageOver,
    RowSource,
    row_groups,
)
from wikitopics.crawler.texts.parquet_rows import RowBatch, Rows, as_bytes, strings_in

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData, ParquetFile

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
_MOST_ROWS = 1 << 40
"""The most rows of all files."""


class BadRows(Exception):
    """The rest of a row group cannot be read."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row
        """The first row of the rest, in the group."""


class Group(NamedTuple):
    """A row group."""

    file: int
    """The number of its file."""
    number: int
    """Its number in the file."""
    first: int
    """How many rows come before it, in all files."""
    rows: int
    text: ColumnChunk
    title: ColumnChunk | None
    id: ColumnChunk | None

    @property
    def chunks(self) -> list[ColumnChunk]:
        """What is read of it for documents."""
        return [chunk for chunk in (self.text, self.title, self.id) if chunk is not None]

    @property
    def page_bytes(self) -> int:
        """The bytes that a page of texts may have, unpacked, if pyarrow has written it."""
        size = max(1, self.text.unpacked)
        return min(size, _PAGE_ROWS * size // self.rows + 1)


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
                self._add(number, file, footer, document_columns(metadata, names, file.name))
            except CrawlerError:
                raise
            except Exception:  # noqa: BLE001 (whatever a damaged footer makes pyarrow raise)
                raise damaged_footer(file.name) from None
        self.fingerprint = int.from_bytes(digest.digest(), "big") >> 1
        """A number below 2**63 that changes whenever a file's size or footer does."""

    def _add(self, number: int, file: RowFile, footer: bytes, columns: Columns) -> None:
        """Add the row groups of a file. Raises BadSource, and other errors for a damaged footer."""
        self._columns.append(columns)
        self.firsts.append((self.rows, file.label))
        for number_in_file, (rows, chunks) in enumerate(row_groups(footer)):
            text = chunks[columns.text.number]
            title = None if columns.title is None else chunks[columns.title.number]
            id = None if columns.id is None else chunks[columns.id.number]
            if any(chunk.is_encrypted for chunk in (text, title, id) if chunk is not None):
                raise encrypted(file.name)
            if rows < 0 or text.unpacked < 0 or self.rows + rows > _MOST_ROWS:
                raise ValueError("numbers that cannot be")
            if rows:
                group = Group(number, number_in_file, self.rows, rows, text, title, id)
                self.groups.append(group)
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
                spans = self._spans(group, group.chunks)
                total += sum(stop - start for start, stop in spans)
        return total

    def _spans(self, group: Group, chunks: Sequence[ColumnChunk]) -> list[tuple[int, int]]:
        """The bytes of these columns of a row group, each once. Raises BadRows if any are outside
        the file."""
        spans = set()
        for chunk in chunks:
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

    def has_ids(self) -> bool:
        """Whether any file has a column of ids."""
        return any(columns.id is not None for columns in self._columns)

    def batches(self, group: Group, first: int = 0) -> Iterator[RowBatch]:
        """The rows of a group from its row ``first`` on, at most `BATCH` at a time.

        Rows before the first are decoded, too. Raises BadRows at damage, and a CrawlerError.
        """
        columns = self._columns[group.file]
        for row, decoded in self._decoded(group, columns.paths(), group.chunks, first):
            begin = group.first + row
            numbers = np.arange(begin, begin + len(decoded), dtype=np.int64)
            texts = strings_in(values_of(decoded, columns.text))
            titles = columns.title and strings_in(values_of(decoded, columns.title))
            ids = columns.id and strings_in(values_of(decoded, columns.id))
            yield RowBatch(numbers, texts, titles, ids)

    def batches_with(
        self, group: Group, rows: NDArray[np.integer[Any]]
    ) -> Iterator[tuple[RowBatch, NDArray[np.intp]]]:
        """The rows of a group up to the last of ``rows``, whose numbers ascend: each batch with the
        places in it of those of them that it has, if any. Raises as `batches` does."""
        for batch in self.batches(group):
            begin, end = np.searchsorted(rows, (batch.numbers[0], batch.numbers[-1] + 1))
            yield batch, batch.numbers.searchsorted(rows[begin:end])
            if end == len(rows):
                return

    def ids(self, group: Group) -> Iterator[list[bytes | None]]:
        """The ids of a group's rows in UTF-8, some at a time; none without a column of ids. Raises
        BadRows and a CrawlerError."""
        column = self._columns[group.file].id
        if column is None or group.id is None:
            return
        for _, decoded in self._decoded(group, [column.path], [group.id]):
            yield as_bytes(values_of(decoded, column)).to_pylist()

    def _decoded(
        self, group: Group, paths: Sequence[str], chunks: Sequence[ColumnChunk], first: int = 0
    ) -> Iterator[tuple[int, Any]]:
        """The columns ``paths`` of a group, which are in ``chunks``, as record batches, each with
        the number of its first row in the group: from row ``first`` on."""
        metadata = self._metadata(group.file)
        largest_page = _rounded(2 * group.page_bytes)
        row = first
        while True:
            source = self._source(group, chunks, largest_page)
            # Fewer rows together where pages are larger.
            together = max(1, BATCH * _USUAL_PAGE // largest_page)
            end = 0
            try:
                opened = _opened(source, metadata)
                for batch in opened.iter_batches(
                    together, [group.number], columns=paths, use_threads=False
                ):
                    begin = end
                    end += len(batch)
                    if end > row:
                        batch = batch.slice(max(0, row - begin))
                        yield row, batch
                        row = end
            except Exception as error:  # noqa: BLE001 (whatever a damaged file makes pyarrow raise)
                cause = source.failure or error
                if isinstance(cause, CrawlerError):
                    raise cause from None
                if not isinstance(cause, PageOver):
                    raise BadRows(row, "damaged") from None
                if cause.size > LARGEST_PAGE:
                    raise BadRows(row, f"a page of over {LARGEST_PAGE >> 20} MB") from None
                largest_page = _rounded(cause.size)  # and all is decoded again
                continue
            if row < group.rows:
                raise BadRows(row, "damaged")
            return

    def _source(self, group: Group, chunks: Sequence[ColumnChunk], largest_page: int) -> RowSource:
        """What pyarrow reads columns of a group from. Raises BadRows."""
        file = self.files[group.file]
        spans = self._spans(group, chunks)
        read = file.reading(spans)

        def counted(start: int, stop: int) -> bytes:
            data = read(start, stop)
            self.bytes_read += len(data)
            return data

        pages = [ColumnPages(chunk) for chunk in dict.fromkeys(chunks)]
        return RowSource(file.size, counted, pages, largest_page)


def local_rows(
    paths: Sequence[str], names: ColumnNames, tell: Callable[[str], None]
) -> ParquetRows:
    """The rows of files on this machine, also of those in folders. Raises BadSource."""
    files = text_files(paths, tell, PARQUET)
    labels = [printable(os.path.basename(os.path.normpath(path))) for path in paths]
    return ParquetRows([LocalRowFile(file) for file in files], names, first_and_more(labels))


def _rounded(page: int) -> int:
    """The bytes for which a reader is prepared that may meet a page of this many: a power of
    two, so that it is not made again for each page that is a little larger."""
    return min(LARGEST_PAGE, max(_USUAL_PAGE, 1 << (page - 1).bit_length()))


def _opened(source: RowSource, metadata: FileMetaData) -> ParquetFile:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    return ParquetFile(
        pa.PythonFile(source, "r"),
        metadata=metadata,
        pre_buffer=False,
        buffer_size=READ,
    )

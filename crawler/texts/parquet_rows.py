"""Rows of Parquet files as they travel: few large buffers, of which any process makes pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.page import Markup, Page, Skip, SourceInfo
from wikitopics.crawler.source import Lack
from wikitopics.crawler.texts.contents import LARGEST_DOCUMENT
from wikitopics.crawler.texts.records import LONGEST_ID


class Strings(NamedTuple):
    """Texts in UTF-8, one after another."""

    data: bytes
    starts: bytes
    """Where each begins in ``data``, and where the last one ends: (n + 1,) int64."""

    def each(self) -> Iterator[bytes]:
        """The texts, one by one."""
        starts = memoryview(self.starts).cast("q").tolist()
        start = starts[0]
        for stop in starts[1:]:
            yield self.data[start:stop]
            start = stop

    @property
    def size(self) -> int:
        return len(self.data) + len(self.starts)

    def taken(self, places: NDArray[np.intp]) -> Strings:
        """The texts at these places."""
        texts = list(self.each())
        chosen = [texts[place] for place in places.tolist()]
        starts = np.zeros(1 + len(chosen), np.int64)
        np.cumsum(list(map(len, chosen)), out=starts[1:])
        return Strings(b"".join(chosen), starts.tobytes())

    def between(self, begin: int, end: int) -> Strings:
        """The texts from number ``begin`` up to number ``end``."""
        starts = np.frombuffer(self.starts, np.int64)[begin : end + 1]
        first = int(starts[0])
        return Strings(self.data[first : int(starts[-1])], (starts - first).tobytes())

    @staticmethod
    def joined(parts: Sequence[Strings]) -> Strings:
        """The texts of all parts."""
        if len(parts) == 1:
            return parts[0]
        lengths = [np.diff(np.frombuffer(part.starts, np.int64)) for part in parts]
        starts = np.zeros(1 + sum(map(len, lengths)), np.int64)
        np.cumsum(np.concatenate(lengths), out=starts[1:])
        return Strings(b"".join(part.data for part in parts), starts.tobytes())


class RowBatch(NamedTuple):
    """Some rows as they were decoded."""

    numbers: NDArray[np.int64]
    """(n,) the number of each row, from 0 on, in all files."""
    texts: Strings
    titles: Strings | None
    ids: Strings | None

    @property
    def size(self) -> int:
        return sum(strings.size for strings in self[1:] if strings is not None)

    def taken(self, places: NDArray[np.intp]) -> RowBatch:
        """The rows at these places."""
        return RowBatch(
            self.numbers[places],
            self.texts.taken(places),
            self.titles and self.titles.taken(places),
            self.ids and self.ids.taken(places),
        )

    def between(self, begin: int, end: int) -> RowBatch:
        """The rows from place ``begin`` up to place ``end``."""
        return RowBatch(
            self.numbers[begin:end],
            self.texts.between(begin, end),
            self.titles and self.titles.between(begin, end),
            self.ids and self.ids.between(begin, end),
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of Parquet files: a job."""

    numbers: bytes
    """The number of each row, from 0 on, in all files: (n,) int64."""
    texts: Strings
    titles: Strings | None
    ids: Strings | None
    files: tuple[tuple[int, str], ...]
    """For each file that has some of them: how many rows come before it, and its short name."""
    before: int = 0
    """What is added to a row's number to make the number of its document, which counts from 1."""
    markup: Markup = "text"
    skips: tuple[tuple[Skip, int], ...] = ()
    """Rows that are not among them, by reason."""

    @staticmethod
    def of(
        batches: Sequence[RowBatch],
        files: Sequence[tuple[int, str]],
        before: int,
        markup: Markup,
        skips: Sequence[tuple[Skip, int]] = (),
    ) -> Rows:
        """The rows of all batches; ``files``: of all files."""
        numbers = np.zeros(0, np.int64)
        texts = Strings(b"", bytes(8))
        titles = None
        ids = None
        if batches:
            numbers = np.concatenate([batch.numbers for batch in batches])
            texts = Strings.joined([batch.texts for batch in batches])
            titles = _joined([batch.titles for batch in batches], batches)
            ids = _joined([batch.ids for batch in batches], batches)
        firsts = [first for first, _ in files]
        places = np.searchsorted(firsts, numbers, side="right") - 1
        used = tuple(files[place] for place in np.unique(places).tolist())
        return Rows(numbers.tobytes(), texts, titles, ids, used, before, markup, tuple(skips))

    @property
    def articles(self) -> int:
        return len(self.numbers) // 8

    @property
    def size(self) -> int:
        parts = (self.texts, self.titles, self.ids)
        return len(self.numbers) + sum(part.size for part in parts if part is not None)

    async def renewed(self, lack: Lack) -> None:
        """Returns None: the rows are all here."""

    def __str__(self) -> str:
        numbers = memoryview(self.numbers).cast("q").tolist()
        if not numbers:
            return "no rows"
        names = ", ".join(name for _, name in self.files[:3])
        first = self.before + numbers[0] + 1
        last = self.before + numbers[-1] + 1
        return f"{names}, documents {first:,} to {last:,}"

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its documents in order, and why other rows were skipped."""
        for reason, number in self.skips:
            for _ in range(number):
                yield reason
        numbers = memoryview(self.numbers).cast("q").tolist()
        titles = _each(self.titles, len(numbers))
        ids = _each(self.ids, len(numbers))
        firsts = [first for first, _ in self.files]
        rows = zip(numbers, self.texts.each(), titles, ids, strict=True)
        for number, data, title_data, id_data in rows:
            if len(data) > LARGEST_DOCUMENT or len(id_data) > LONGEST_ID:
                yield "too large"
                continue
            try:
                text = data.decode("utf-8")  # which lets no surrogates pass
            except UnicodeDecodeError:
                yield "not UTF-8"
                continue
            if not text or text.isspace():
                yield "no text"
                continue
            external_id = id_data.decode("utf-8", "replace")
            if external_id.isspace():
                external_id = ""
            title = " ".join(title_data.decode("utf-8", "replace").split()) or external_id
            if not title:
                first, name = self.files[bisect_right(firsts, number) - 1]
                title = f"{name}:{number - first + 1}"
            yield Page(
                page_id=self.before + number + 1,
                title=title,
                revision_id=0,
                text=text,
                markup=self.markup,
                id=external_id,
            )


def _each(strings: Strings | None, number: int) -> Iterator[bytes]:
    """The titles or ids of so many rows, one by one; without any, all are empty."""
    return repeat(b"", number) if strings is None else strings.each()


def _joined(parts: Sequence[Strings | None], batches: Sequence[RowBatch]) -> Strings | None:
    """The titles or ids of all batches; those of a batch without any are empty. None: no batch has
    any."""
    if all(part is None for part in parts):
        return None
    filled = []
    for part, batch in zip(parts, batches, strict=True):
        empty = bytes(8 * (len(batch.numbers) + 1))
        filled.append(part or Strings(b"", empty))
    return Strings.joined(filled)


def as_bytes(column: Any) -> Any:
    """Texts or numbers, in an array of Arrow, as an array of bytes in UTF-8, which need not be
    valid."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        column = _numbers_as_text(column)
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        column = column.cast(pa.string())
    return column.view(pa.binary())


def _numbers_as_text(column: Any) -> Any:
    """Floats in an array of Arrow as texts; NaN is missing. Whole ones have no decimals: pandas
    makes whole numbers floats if some are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fits = pc.less(pc.abs(column), 2.0**63)
    is_whole = pc.and_(fits, pc.equal(pc.floor(column), column))
    whole = pc.if_else(is_whole, column, None).cast(pa.int64(), safe=False)
    numbers = pc.if_else(pc.is_nan(column), None, column)
    return pc.coalesce(whole.cast(pa.string()), numbers.cast(pa.string()))


def strings_in(column: Any) -> Strings:
    """The texts or numbers in an array of Arrow; what is missing is empty."""
    column = as_bytes(column)
    if column.null_count:
        column = column.fill_null(b"")
    _, offsets, data = column.buffers()
    begin = column.offset
    starts = np.frombuffer(offsets, np.int32, len(column) + 1, 4 * begin).astype(np.int64)
    first = int(starts[0])
    last = int(starts[-1])
    starts -= first
    if data is None:
        return Strings(b"", starts.tobytes())
    return Strings(data.slice(first, last - first).to_pybytes(), starts.tobytes())

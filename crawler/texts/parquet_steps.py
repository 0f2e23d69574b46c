"""The rows of one row group after another, as steps take them, and the jobs gathered from them."""

import pickle
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

import numpy as np

from wikitopics.crawler.page import Skip
from wikitopics.crawler.texts.contents import LARGEST_DOCUMENT
from wikitopics.crawler.texts.parquet import BATCH, BadRows, Group, ParquetRows
from wikitopics.crawler.texts.parquet_rows import RowBatch, Rows

_STRETCH_ROWS = 1 << 16
"""The most rows of a stretch, which are mixed."""
_STRETCH_BYTES = 32 << 20
"""The bytes after which a stretch ends."""
_JOB_ROWS = 512
_JOB_BYTES = 4 << 20
"""A job ends after so many bytes."""
_PLAIN_BYTES = 2 * _STRETCH_BYTES
"""The bytes of a stretch after which its jobs are compressed: the texts of one step may have a
gigabyte."""

MakeJob = Callable[[], Awaitable[Rows]]
"""Makes a job, as often as it is called."""


class GroupReader:
    """Reads a row group, `BATCH` rows at a time, from one of its rows on. ``tell``: is told of
    damage."""

    def __init__(
        self, files: ParquetRows, group: Group, row: int, tell: Callable[[str], None]
    ) -> None:
        self._files = files
        self._group = group
        self._row = row
        self._tell = tell
        self._batches = files.batches(group, row)
        self._rest: RowBatch | None = None
        """Rows that were decoded with those that were taken last."""
        self.n_damaged = 0
        """Of the rows wanted last, how many were lost to damage."""

    def take(self) -> Iterator[RowBatch]:
        """The next `BATCH` rows, in parts as they are decoded; at its end it sets `n_damaged`."""
        wanted = min(BATCH, self._group.rows - self._row)
        self._row += wanted
        while wanted:
            batch = self._next()
            if batch is None:
                break
            size = len(batch.numbers)
            if size > wanted:
                self._rest = batch.between(wanted, size)
                batch = batch.between(0, wanted)
                size = wanted
            yield batch
            wanted -= size
        self.n_damaged = wanted

    def _next(self) -> RowBatch | None:
        """The rows that were decoded next; None from damage on."""
        rest = self._rest
        self._rest = None
        if rest is not None:
            return rest
        try:
            return next(self._batches, None)
        except BadRows as error:
            self._tell(self._files.told(self._group, error))
            return None


async def _as_it_is(job: Rows) -> Rows:
    return job


async def _unpacked(data: bytes) -> Rows:
    job: Rows = pickle.loads(zlib.decompress(data))  # noqa: S301 (our own)
    return job


class Gathered:
    """The rows of a stretch, gathered as they come. ``job``: makes a job of some of them."""

    def __init__(
        self, job: Callable[[Sequence[RowBatch], Sequence[tuple[Skip, int]]], Rows]
    ) -> None:
        self._job = job
        self._jobs: list[MakeJob] = []
        self._batches: list[RowBatch] = []
        self._lost: dict[Skip, int] = {}
        self._rows = 0
        self._bytes = 0
        self._job_rows = 0
        self._job_bytes = 0

    @property
    def is_full(self) -> bool:
        return self._rows >= _STRETCH_ROWS or self._bytes >= _STRETCH_BYTES

    def lose(self, reason: Skip, number: int) -> None:
        """Take note of rows that are skipped."""
        if number:
            self._lost[reason] = self._lost.get(reason, 0) + number
            self._rows += number

    def add(self, batch: RowBatch, repeats: "array[int]") -> None:
        """Take rows, without those that repeat an id."""
        kept = without(batch, repeats)
        self.lose("repeated", len(batch.numbers) - len(kept.numbers))
        self._bytes += kept.size
        for part in _parts(kept):
            if len(part.texts.data) > LARGEST_DOCUMENT:  # so large a part has only one row
                self.lose("too large", 1)
                continue
            self._batches.append(part)
            self._rows += len(part.numbers)
            self._job_rows += len(part.numbers)
            self._job_bytes += part.size
            if self._job_rows >= _JOB_ROWS or self._job_bytes >= _JOB_BYTES:
                self._end_job()

    def _end_job(self) -> None:
        """Make a job of the rows since the last one, compressed if the stretch is large."""
        if self._batches or self._lost:
            job = self._job(self._batches, tuple(self._lost.items()))
            if self._bytes > _PLAIN_BYTES:
                self._jobs.append(partial(_unpacked, zlib.compress(pickle.dumps(job), 1)))
            else:
                self._jobs.append(partial(_as_it_is, job))
        self._batches = []
        self._lost = {}
        self._job_rows = 0
        self._job_bytes = 0

    def jobs(self) -> list[MakeJob]:
        """All rows as jobs."""
        self._end_job()
        return self._jobs


def _parts(batch: RowBatch) -> Iterator[RowBatch]:
    """The rows, one by one if a job of all of them would be large."""
    if batch.size < _JOB_BYTES:
        yield batch
        return
    for row in range(len(batch.numbers)):
        yield batch.between(row, row + 1)


def without(batch: RowBatch, numbers: "array[int]") -> RowBatch:
    """The rows but those with these numbers, which ascend."""
    if not len(batch.numbers):
        return batch
    start = bisect_left(numbers, int(batch.numbers[0]))
    stop = bisect_right(numbers, int(batch.numbers[-1]))
    if start == stop:
        return batch
    are_kept = np.isin(batch.numbers, numbers[start:stop], invert=True)
    return batch.taken(np.flatnonzero(are_kept))

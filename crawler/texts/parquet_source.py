"""Parquet files as a source: their rows in random order, resumed at the row.

Row groups are shuffled. A few of them, a *set*, are read in turn, a *step* of some rows from each,
and the documents of several steps are mixed. So neighbours in a file are apart in the stream, while
only the beginnings of a few row groups need be decoded again after a stop.

Before all sets come the documents to hold out: from the beginnings of row groups spread evenly over
the files, or, if there are few row groups, from everywhere, for which all is decoded once.
"""

import time
from array import array
from bisect import bisect_left
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from wikitopics.crawler.background import Background, in_thread
from wikitopics.crawler.errors import BadPosition, BadSource
from wikitopics.crawler.markup.undeclared import noticing
from wikitopics.crawler.page import Markup, Page, Skip, SourceInfo
from wikitopics.crawler.rounds import Round
from wikitopics.crawler.source import Activity, Position, default_held_out, with_spare
from wikitopics.crawler.texts.parquet import BATCH, BadRows, ParquetRows
from wikitopics.crawler.texts.parquet_order import (
    TOGETHER,
    Sets,
    groups_together,
    held_out_rows,
    repeated_rows,
)
from wikitopics.crawler.texts.parquet_rows import RowBatch, Rows
from wikitopics.crawler.texts.parquet_steps import Gathered, GroupReader, MakeJob, without

FIRST_DOCUMENTS = 200
"""The documents looked at when the files are opened."""
_MOST_WITHOUT = 10_000_000
"""The rows without a text after which the files are rejected."""


class _Part(NamedTuple):
    """The documents of a stretch, and where it lies in the source."""

    jobs: Sequence[MakeJob]
    here: dict[str, int]
    """What of its position differs from that of other stretches."""
    after: dict[str, int]
    """The same for what follows it."""
    rows_before: int
    """How many rows are read before it; those held out count twice."""
    rows_until: int
    """How many are read when it ends."""


class ParquetTexts:
    """The documents in the rows of the files that ``find`` finds.

    seed: of the random order
    before: what is added to the numbers of the documents
    markup: what the texts are written in
    held_out: how many documents the trainer will hold out; None: the default
    resuming: whether it continues after a position
    compares_ids: whether rows that repeat an id are skipped
    """

    def __init__(
        self,
        find: Callable[[Callable[[str], None]], ParquetRows],
        *,
        seed: int,
        before: int = 0,
        markup: Markup = "text",
        held_out: int | None = None,
        resuming: bool = False,
        compares_ids: bool = True,
    ) -> None:
        self.activity = Activity()
        self._find = find
        self._files: ParquetRows | None = None
        self._seed = seed
        self._before = before
        self._markup: Markup = markup
        self._held_out = held_out
        self._resuming = resuming
        self._compares_ids = compares_ids
        self._repeats: array[int] = array("q")
        self._start: dict[str, int] = {}
        """The position before the first document, of a session that begins."""
        self._opening: Background[SourceInfo] | None = None
        self._background: Background[Round] | None = None
        self._closed = False
        self._rows_without_text = 0
        """Rows without a text since the last one with a text."""

    async def open(self) -> SourceInfo:
        """Read the footers and, unless resuming, the ids and the first documents. Raises
        BadSource."""
        self.activity.waiting_for = "reading the footers of the files"
        try:
            self._opening = in_thread(self._open)
            return await self._opening.result()
        finally:
            self.activity.waiting_for = None

    def _open(self) -> SourceInfo:
        files = self._find(self._tell)
        self._files = files
        if not files.rows:
            raise BadSource(f"there are no documents in {files.name}")
        if self._resuming:
            return SourceInfo(files.name, None)
        self._look_at_first(files)
        self._compare_ids(files)
        documents = files.rows - len(self._repeats)
        wanted = default_held_out(documents) if self._held_out is None else self._held_out
        self._start = {
            **_state_of(files),
            "seed": self._seed,
            "first": min(with_spare(wanted), files.rows),
            "repeated": len(self._repeats),
            "together": groups_together(files),
        }
        return SourceInfo(files.name, documents, files=len(files.files), start=self._start)

    def _look_at_first(self, files: ParquetRows) -> None:
        """Read the first documents, which shows whether they can be read, and their markup."""
        first: Iterator[Page] = islice(files.pages(self._tell), FIRST_DOCUMENTS)
        if self._markup == "text":
            first = noticing(first, lambda page: page.text, self._tell)
        for _ in first:
            pass

    def _compare_ids(self, files: ParquetRows) -> None:
        """Find the rows that repeat an id."""
        if not self._compares_ids or not files.has_ids():
            return

        def progress(share: float) -> None:
            self.activity.waiting_for = (
                f"reading texts and their ids, to compare these ({share:.0%})"
            )

        self._repeats = repeated_rows(files, lambda: self._closed, progress)
        self.activity.waiting_for = None
        number = len(self._repeats)
        if number:
            hint = "; name another column with --id-column" if number > files.rows / 2 else ""
            self._tell(
                f"{files.name}: {number:,} of {files.rows:,} documents repeat an id and are "
                f"skipped{hint}"
            )

    def batches(self, position: Position | None) -> AsyncGenerator[Round]:
        """All stretches after ``position``. Raises BadPosition, and BadSource for files that have
        changed."""
        place = dict(position or self._start)
        self._background = Background(lambda: self._rounds(place), ahead=1)
        return self._background.run()

    async def close(self) -> None:
        """End the reading threads. They are waited for: where Python ends while pyarrow is at work,
        it may abort."""
        self._closed = True
        for background in (self._opening, self._background):
            if background is not None:
                await background.end()

    def _tell(self, message: str) -> None:
        """Show a line to the user, once."""
        self.activity.note_once(time.time(), message)

    def _rounds(self, position: dict[str, int]) -> Iterator[Round]:
        """What `batches` yields. Raises BadPosition and BadSource."""
        files = self._files
        assert files is not None
        start = self._checked(files, position)
        if start["repeated"] and not self._repeats:
            self._compare_ids(files)
            if len(self._repeats) != start["repeated"]:
                raise self._changed(files)
        held = held_out_rows(files.groups, start["first"], start["seed"])
        sets = Sets.of(files.groups, start["together"], start["seed"])
        parts = chain(
            self._held_parts(files, held, position),
            self._set_parts(files, sets, held, position),
        )
        everything = files.rows + len(held)
        done = position.get("done", 0)
        for part in parts:
            self._tell_bytes()
            yield Round(
                part.jobs,
                here={**start, **part.here},
                after={**start, **part.after},
                lap=(part.rows_before / everything, part.rows_until / everything),
                done=done,
                seed=start["seed"],
            )
            done = 0

    def _held_parts(
        self, files: ParquetRows, held: "array[int]", position: dict[str, int]
    ) -> Iterator[_Part]:
        """The documents to hold out, which come first."""
        if "set" in position or not held:
            return
        first = position.get("held", 0)
        for stop, jobs in self._of_held(files, held, first):
            after = {"held": stop} if stop < len(held) else {"set": 0, "step": 0}
            yield _Part(jobs, {"held": first}, after, first, stop)
            first = stop

    def _set_parts(
        self, files: ParquetRows, sets: Sets, held: "array[int]", position: dict[str, int]
    ) -> Iterator[_Part]:
        """All other documents. Raises BadPosition."""
        first_set = position.get("set", 0)
        step = position.get("step", 0)
        if step and (first_set >= len(sets.sets) or step >= sets.steps(first_set)):
            raise BadPosition
        for number in range(first_set, len(sets.sets)):
            if self._closed:
                return
            for stop, jobs in self._of_set(files, sets, number, step, held):
                after = {"set": number, "step": stop}
                if stop == sets.steps(number):
                    after = {"set": number + 1, "step": 0}
                yield _Part(
                    jobs,
                    here={"set": number, "step": step},
                    after=after,
                    rows_before=len(held) + sets.rows_until(number, step),
                    rows_until=len(held) + sets.rows_until(after["set"], after["step"]),
                )
                step = stop
            step = 0

    def _checked(self, files: ParquetRows, position: dict[str, int]) -> dict[str, int]:
        """What of a position stays the same throughout a session. Raises BadPosition, and BadSource
        for files that have changed."""
        most = {
            "seed": 1 << 63,
            "first": files.rows,
            "repeated": files.rows,
            "together": TOGETHER,
            "set": len(files.groups),
            "held": files.rows,
        }
        for value in position.values():
            if type(value) is not int or not 0 <= value < 1 << 63:
                raise BadPosition
        now = _state_of(files)
        if any(position.get(key) != value for key, value in now.items()):
            raise self._changed(files)
        for key, largest in most.items():
            if position.get(key, 0) > largest:
                raise BadPosition
        lasting = ("seed", "first", "repeated", "together")
        if any(key not in position for key in lasting) or not position["together"]:
            raise BadPosition
        return now | {key: position[key] for key in lasting}

    def _changed(self, files: ParquetRows) -> BadSource:
        return BadSource(
            f"{files.name}: the files have changed since this session began: restore them, or "
            "start another --session"
        )

    def _of_held(
        self, files: ParquetRows, held: "array[int]", first: int
    ) -> Iterator[tuple[int, list[MakeJob]]]:
        """The documents to hold out from the one of number ``first`` on, in stretches: each with
        the number after its last."""
        self._progress(files, 0)
        gathered = Gathered(self.job)
        for group in files.groups:
            start = max(first, bisect_left(held, group.first))
            stop = bisect_left(held, group.first + group.rows)
            if start >= stop:
                continue
            done = start
            try:
                for batch, places in files.batches_with(group, np.asarray(held[start:stop])):
                    if self._closed:
                        return
                    self._progress(files, int(batch.numbers[-1]) + 1)
                    if not len(places):
                        continue
                    gathered.add(batch.taken(places), self._repeats)
                    done += len(places)
                    if gathered.is_full:
                        yield done, gathered.jobs()
                        gathered = Gathered(self.job)
            except BadRows as error:
                self._tell(files.told(group, error))  # counted when the whole row group is read
        self.activity.waiting_for = None
        yield len(held), gathered.jobs()

    def _progress(self, files: ParquetRows, rows: int) -> None:
        percent = 10 * min(9, 10 * rows // files.rows)
        self.activity.waiting_for = f"reading the texts that are held out ({percent}%)"

    def _of_set(
        self, files: ParquetRows, sets: Sets, number: int, first: int, held: "array[int]"
    ) -> Iterator[tuple[int, list[MakeJob]]]:
        """The documents of a set from its step ``first`` on, in stretches: each with the step after
        its last."""
        groups = sets.sets[number]
        turns, place = divmod(first, len(groups))
        readers = []
        for index, group in enumerate(groups):
            turns_of_group = turns + 1 if index < place else turns
            row = min(turns_of_group * BATCH, group.rows)
            readers.append(GroupReader(files, group, row, self._tell))
        gathered = Gathered(self.job)
        steps = sets.steps(number)
        for step in range(first, steps):
            if self._closed:
                return
            reader = readers[step % len(groups)]
            for batch in reader.take():
                gathered.add(without(batch, held), self._repeats)
                if batch.texts.data:
                    self._rows_without_text = 0
                else:
                    self._count_without_text(files, len(batch.numbers))
            gathered.lose("damaged", reader.n_damaged)
            self._count_without_text(files, reader.n_damaged)
            if gathered.is_full or step == steps - 1:
                yield step + 1, gathered.jobs()
                gathered = Gathered(self.job)

    def _count_without_text(self, files: ParquetRows, n: int) -> None:
        """Count ``n`` further rows without a text. Raises BadSource if there are very many."""
        self._rows_without_text += n
        if self._rows_without_text > _MOST_WITHOUT:
            raise BadSource(f"{files.name}: no text in over {_MOST_WITHOUT:,} rows")

    def bytes_to_read(self) -> int:
        """The bytes of the columns that are read, once the source is open."""
        assert self._files is not None
        return self._files.packed_bytes()

    def _tell_bytes(self) -> None:
        """Record how much has been read of files on this machine."""
        assert self._files is not None
        self.activity.bytes_read = self._files.bytes_read

    def job(self, batches: Sequence[RowBatch], lost: Sequence[tuple[Skip, int]]) -> Rows:
        """A job of these rows; ``lost``: how many others are skipped, by reason."""
        assert self._files is not None
        return Rows.of(batches, self._files.firsts, self._before, self._markup, lost)


def _state_of(files: ParquetRows) -> dict[str, int]:
    """What of a position changes when the files do."""
    return {
        "files": len(files.files),
        "size": sum(file.size for file in files.files),
        "footers": files.fingerprint,
    }

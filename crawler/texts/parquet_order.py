"""The order in which rows of Parquet files are read, which are held out, and which repeat an id."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.rounds import PLACES, fewest_pieces, random_key, spread
from wikitopics.crawler.texts.parquet import BATCH, BadRows, Group, ParquetRows
from wikitopics.crawler.texts.parquet_rows import Rows

TOGETHER = 16
"""The most row groups of a set."""
_MOST_TOGETHER = 16 << 30
"""About the bytes of text in the row groups of a set: after a stop, what has been read of them is
decoded once more."""
_PAGES_TOGETHER = 512 << 20
"""About the bytes of their pages that are in memory."""
_SPARED = 3
"""Held-out documents are drawn from three times as many rows with which a row group begins, since
neighbours may be alike."""
MOST_COMPARED_ROWS = 1 << 25
"""The most rows whose ids are compared: 33 million, in 0.6 to 1.3 GB."""


def held_out_rows(groups: Sequence[Group], wanted: int, seed: int) -> "array[int]":
    """The numbers of the rows to hold out, ascending: as many as are ``wanted``, or all.

    With many row groups, some are drawn from the beginnings of each of `PLACES` or more; otherwise,
    each comes from its own part of all rows.
    """
    rows = sum(group.rows for group in groups)
    wanted = min(wanted, rows)
    chosen: array[int] = array("q")
    if wanted == 0:
        return chosen
    if len(groups) < PLACES:
        for number in range(wanted):
            start = rows * number // wanted
            stop = rows * (number + 1) // wanted
            chosen.append(start + _drawn(stop - start, seed, number))
        return chosen
    # A row group with fewer rows than are drawn from gives fewer.
    mean = max(1, rows // len(groups))
    n_places = max(PLACES, fewest_pieces(wanted * _SPARED, mean))
    places = spread(len(groups), n_places)
    for place, index in enumerate(places):
        group = groups[index]
        each = wanted * (place + 1) // len(places) - wanted * place // len(places)
        numbers = range(min(group.rows, _SPARED * each))
        drawn = sorted(numbers, key=lambda row: random_key(seed, index, row))[:each]
        chosen.extend(sorted(group.first + row for row in drawn))
    return chosen


def _drawn(size: int, *values: int) -> int:
    """A number below ``size``, drawn at random."""
    return int.from_bytes(random_key(*values), "big") % size


@dataclass(frozen=True)
class Sets:
    """The order of all row groups, in sets that are read in turn."""

    sets: Sequence[Sequence[Group]]
    rows_before: Sequence[int]
    """The rows of all sets before each."""

    @classmethod
    def of(cls, groups: Sequence[Group], together: int, seed: int) -> "Sets":
        numbers = range(len(groups))
        order = sorted(numbers, key=lambda number: random_key(seed, number))
        n_sets = fewest_pieces(len(groups), together)
        sets = []
        rows_before = [0]
        for number in range(n_sets):
            start = len(order) * number // n_sets
            stop = len(order) * (number + 1) // n_sets
            of_set = [groups[place] for place in order[start:stop]]
            sets.append(of_set)
            rows_before.append(rows_before[-1] + sum(group.rows for group in of_set))
        return cls(sets, rows_before)

    def steps(self, number: int) -> int:
        """How many steps a set takes: in each, one of its row groups is read."""
        groups = self.sets[number]
        longest = max(group.rows for group in groups)
        return fewest_pieces(longest, BATCH) * len(groups)

    def rows_until(self, number: int, step: int) -> int:
        """How many rows are read before this step of a set."""
        if number >= len(self.sets):
            return self.rows_before[-1]
        groups = self.sets[number]
        turns, place = divmod(step, len(groups))
        rows = self.rows_before[number]
        for index, group in enumerate(groups):
            turns_of_group = turns + 1 if index < place else turns
            rows += min(turns_of_group * BATCH, group.rows)
        return rows


def groups_together(files: ParquetRows) -> int:
    """How many row groups a set has: the more, the smaller they and their pages are."""
    of_group = max(1, files.text_bytes // len(files.groups))
    sample = files.groups[:: max(1, len(files.groups) // PLACES)]
    page = max(group.page_bytes for group in sample)
    fitting = min(TOGETHER, _PAGES_TOGETHER // page)
    if _MOST_TOGETHER // of_group < fitting:
        fitting = max(2, _MOST_TOGETHER // of_group)
    return max(1, fitting)


def repeated_rows(
    files: ParquetRows, stopped: Callable[[], bool], progress: Callable[[float], None]
) -> "array[int]":
    """The numbers of the rows that repeat the id of a document before them, ascending. Texts are
    read only of row groups that may have the first document of such an id."""
    keys, are_named = _hashed_ids(files, stopped, progress)
    twice = _found_twice(keys[are_named])
    if not len(twice):
        return array("q")
    # `np.isin` would take twice as much memory.
    nearest = np.searchsorted(twice[:-1], keys)
    rows = np.flatnonzero((twice[nearest] == keys) & are_named)
    id_numbers = nearest[rows]
    del nearest, keys, are_named
    first = _first_documents(files, rows, id_numbers, stopped, progress)
    repeats = rows[rows > first[id_numbers]]
    return array("q", repeats.astype(np.int64).tobytes())


def _hashed_ids(
    files: ParquetRows, stopped: Callable[[], bool], progress: Callable[[float], None]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(rows,) a hash of each row's id, and whether the row has one: of the rows that are
    compared."""
    number = min(files.rows, MOST_COMPARED_ROWS)
    keys = np.zeros(number, np.int64)
    are_named = np.zeros(number, np.bool_)
    for group in files.groups:
        row = group.first
        if row >= number or stopped():
            break
        try:
            for ids in files.ids(group):
                known = ids[: number - row]
                stop = row + len(known)
                keys[row:stop] = np.fromiter(map(hash, known), np.int64, len(known))
                are_named[row:stop] = [id is not None and bool(id.strip()) for id in known]
                row = stop
        except BadRows:
            pass  # told when its documents are read
        progress(row / number)
    return keys, are_named


def _first_documents(
    files: ParquetRows,
    rows: NDArray[np.intp],
    ids: NDArray[np.intp],
    stopped: Callable[[], bool],
    progress: Callable[[float], None],
) -> NDArray[np.int64]:
    """The first of the ``rows`` with each of their ``ids``, numbered from 0, that is a document; a
    number behind all rows: there is none."""
    first = np.full(int(ids.max()) + 1, files.rows, np.int64)
    for group in files.groups:
        if stopped():
            break
        begin, end = np.searchsorted(rows, (group.first, group.first + group.rows))
        of_group = rows[begin:end]
        ids_of_group = ids[begin:end]
        are_new = first[ids_of_group] == files.rows
        if not are_new.any():
            continue
        with suppress(BadRows):  # told when its documents are read
            for row in _documents(files, group, of_group[are_new]):
                id = ids_of_group[np.searchsorted(of_group, row)]
                first[id] = min(first[id], row)
        progress((group.first + group.rows) / files.rows)
    return first


def _documents(files: ParquetRows, group: Group, rows: NDArray[np.intp]) -> Iterator[int]:
    """The numbers of those of the ``rows`` of a group that are documents. Raises BadRows."""
    nowhere = SourceInfo(files.name, None)
    for batch, places in files.batches_with(group, rows):
        for page in Rows.of([batch.taken(places)], files.firsts, 0, "text").pages(nowhere):
            if isinstance(page, Page):
                yield page.page_id - 1


def _found_twice(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those that are there more than once, each once, ascending. Sorts the ``keys``."""
    keys.sort()
    are_again = keys[1:] == keys[:-1]
    return np.unique(keys[1:][are_again])

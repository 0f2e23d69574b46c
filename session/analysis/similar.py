"""The articles of a session that are nearest to another one, or to any topic proportions."""

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.sources import described, noun
from wikitopics.session.storage.proportions import title_key
from wikitopics.session.storage.reader import SessionReader

_LONGEST = 255
"""The most characters of a mistyped title that are compared."""
_TOGETHER = 2048
"""The number of articles compared at a time, so that their data fit the processor's cache."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An article, and its distance from what was asked for."""

    page_id: int
    title: str
    distance: float
    """The Hellinger distance: 0 for equal proportions, 1 for nothing in common."""
    id: str | None = None
    """Its id in its own collection; None: the source has no ids."""


class Recorded:
    """All articles of a session whose proportions in one model are recorded, for repeated
    questions.

    Takes 10 to 40 bytes per article. The part of an article's proportions that was not recorded
    counts as spread evenly over its other topics. Raises `SessionError` if none are recorded.
    """

    def __init__(self, reader: SessionReader, model: str) -> None:
        with reader.one_moment():
            reader.check_proportions()
            self.as_of = reader.progress()
            self.articles = reader.recorded_articles(held_out=True)
            self._kept = reader.proportions(model, held_out=True)
        self.model = model
        self._n_topics = reader.spec(model).topics
        self._starts = self._kept.indptr()
        values = self._kept.values()
        sums = np.add.reduceat(values, self._starts[:-1])
        others = self._n_topics - self._kept.lengths.astype(np.int64)
        rest = np.where(others > 0, np.maximum(1 - sums, 0) / np.maximum(others, 1), 0)
        self._rest = np.sqrt(rest, dtype=np.float32)
        """(n,) the square root of the proportion of each topic that was not recorded."""
        self._above = np.sqrt(values, out=values)
        """By how much the square root of each recorded proportion exceeds that of an unrecorded
        one."""
        self._above -= np.repeat(self._rest, self._kept.lengths)
        self._total = np.where(others > 0, np.float32(1), np.sqrt(sums))

    def __len__(self) -> int:
        return len(self._kept)

    def theta(self, row: int) -> NDArray[np.float64]:
        """(K,) the proportions of one article, which sum to 1."""
        one = self._kept[row : row + 1]
        theta = np.full(self._n_topics, float(self._rest[row]) ** 2)
        theta[one.topics] = one.values()
        theta /= theta.sum()
        return theta

    def distances(self, theta: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """(n,) the Hellinger distance of each article from the proportions ``theta``, (K,)."""
        roots = np.sqrt(theta).astype(np.float32)
        shared = self._rest * roots.sum()
        for start in range(0, len(self), _TOGETHER):
            stop = min(start + _TOGETHER, len(self))
            low, high = self._starts[start], self._starts[stop]
            # Indices are in range, as was checked when they were read; "clip" is numpy's quickest
            # mode.
            products = roots.take(self._kept.topics[low:high], mode="clip")
            products *= self._above[low:high]
            shared[start:stop] += np.add.reduceat(products, self._starts[start:stop] - low)
        distances: NDArray[np.float32] = np.sqrt(np.maximum(1 - shared / self._total, 0))
        return distances

    def row(self, seq: int) -> int | None:
        """The row of the article with this number; None: its proportions are not recorded."""
        seqs = self.articles.seqs(np.arange(len(self)))
        return next(iter(np.flatnonzero(seqs == seq).tolist()), None)

    def row_of(self, reader: SessionReader, title: str, *, exact: bool = False) -> int | None:
        """The row of the newest article with this title; ``exact``: capitals must match too."""
        rows = np.flatnonzero(self.articles.title_keys == title_key(title))
        numbers = dict(zip(self.articles.seqs(rows).tolist(), rows.tolist(), strict=True))
        named = [
            article
            for article in reader.numbered(numbers).values()
            if article.title == title
            or (not exact and article.title.casefold() == title.casefold())
        ]
        best = max(named, key=lambda article: (article.title == title, article.seq), default=None)
        return None if best is None else int(numbers[best.seq])

    def nearest(
        self,
        reader: SessionReader,
        to: NDArray[np.floating[Any]] | int,
        limit: int,
    ) -> list[Neighbour]:
        """The articles nearest to proportions, (K,), or to the article in this row, which is left
        out. The nearest come first; of an article with several readings, only the nearest is
        given."""
        of = (
            (self.theta(to), int(self.articles.page_ids[to])) if isinstance(to, int) else (to, None)
        )
        near = self.rows_near(reader, of[0], limit, of[1])
        return [Neighbour(row.page_id, row.title, distance, row.id) for row, distance, _ in near]

    def rows_near(
        self,
        reader: SessionReader,
        theta: NDArray[np.floating[Any]],
        limit: int,
        without: int | None = None,
    ) -> list[tuple[ArticleRow, float, list[tuple[int, float]]]]:
        """The articles nearest to proportions, without this page, with all that is stored of each:
        (article, distance, its (topic, proportion), the largest first)."""
        distances = self.distances(theta)
        rows = _nearest_pages(distances, self.articles.page_ids, limit, without)
        seqs = self.articles.seqs(rows).tolist()
        named, kept = reader.numbered(seqs), self._kept.take(rows)
        return [
            (named[seq], distance, kept.largest(place))
            for place, (seq, distance) in enumerate(
                zip(seqs, distances[rows].tolist(), strict=True)
            )
            if seq in named
        ]


def not_found(reader: SessionReader, title: str, *, or_file: bool = False) -> SessionError:
    """The error for a title that `row_of` does not find, with the nearest titles.

    ``or_file``: whether the name of a file was allowed too; then there is no such file.
    """
    alike = reader.resembling(title[:_LONGEST])
    same = [article for article in alike if article.title.casefold() == title.casefold()]
    source = reader.settings().source
    if same and same[0].role == "held_out" and described(source).own:
        return SessionError(
            f"{same[0].title!r} is held out: it gets topic proportions when training ends"
        )
    if same:
        why = "skipped" if same[0].role == "skipped" else "held out, not trained on"
        return SessionError(f"{same[0].title!r} was {why}: its topic proportions are not recorded")
    titles = {article.title.casefold(): article.title for article in alike if article.topics}
    near = difflib.get_close_matches(title.casefold(), titles, n=3)
    hint = f"; did you mean {' or '.join(repr(titles[one]) for one in near)}?" if near else ""
    file = ", and there is no such file" if or_file else ""
    return SessionError(f"no trained {noun(source)[:-1]} is called {title!r}{file}{hint}")


def _nearest_pages(
    distances: NDArray[np.float32],
    page_ids: NDArray[np.int64],
    limit: int,
    without: int | None,
) -> NDArray[np.intp]:
    """The rows of the ``limit`` nearest pages, each page once, the nearest first."""
    tried = limit + 1
    while True:
        tried = min(2 * tried, len(distances))
        rows = np.argpartition(distances, tried - 1)[:tried]
        rows = rows[np.lexsort((-rows, distances[rows]))]
        rows = rows[np.sort(np.unique(page_ids[rows], return_index=True)[1])]
        rows = rows[page_ids[rows] != without] if without is not None else rows
        if len(rows) >= limit or tried == len(distances):
            return rows[:limit]

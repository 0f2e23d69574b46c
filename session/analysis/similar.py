"""The articles of a session that are nearest to another one, or to any topic proportions."""

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.sources import described, noun, singular
from wikitopics.session.storage.proportions import title_key
from wikitopics.session.storage.reader import SessionReader

_LONGEST_TITLE = 255
"""The most characters of a mistyped title that are compared."""
_AT_ONCE = 2048
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

    Takes 10 to 40 bytes per article. What is recorded of an article are its largest proportions;
    the rest, which they lack to 1, counts as spread evenly over its other topics. Raises
    `SessionError` if no proportions are recorded.
    """

    def __init__(self, reader: SessionReader, model: str) -> None:
        with reader.one_moment():
            reader.check_proportions()
            self.as_of = reader.progress()
            self.articles = reader.recorded_articles(held_out=True)
            self._recorded = reader.proportions(model, held_out=True)
        self.model = model
        self._n_topics = reader.spec(model).topics
        self._starts = self._recorded.indptr()
        values = self._recorded.values()
        sums = np.add.reduceat(values, self._starts[:-1])
        others = self._n_topics - self._recorded.lengths.astype(np.int64)
        of_each_other = np.maximum(1 - sums, 0) / np.maximum(others, 1)
        self._rest = np.sqrt(np.where(others > 0, of_each_other, 0), dtype=np.float32)
        """(n,) the square root of the proportion of each topic that was not recorded."""
        self._above = np.sqrt(values, out=values)
        """By how much the square root of each recorded proportion exceeds that of a topic of the
        same article that was not recorded."""
        self._above -= np.repeat(self._rest, self._recorded.lengths)
        self._norm = np.where(others > 0, np.float32(1), np.sqrt(sums))
        """(n,) the length of the vector of square roots. With rounding errors, it may differ from 1
        where all topics are recorded."""

    def __len__(self) -> int:
        return len(self._recorded)

    def theta(self, row: int) -> NDArray[np.float64]:
        """(K,) the proportions of one article, which sum to 1."""
        recorded = self._recorded[row : row + 1]
        theta = np.full(self._n_topics, float(self._rest[row]) ** 2)
        theta[recorded.topics] = recorded.values()
        theta /= theta.sum()
        return theta

    def distances(self, theta: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """(n,) the Hellinger distance of each article from the proportions ``theta``, (K,).

        It is sqrt(1 - the sum over topics of sqrt(p q)). In this sum, every topic has at least the
        root of a topic that was not recorded; recorded ones add what theirs are above it.
        """
        roots = np.sqrt(theta).astype(np.float32)
        affinity = self._rest * roots.sum()
        for start in range(0, len(self), _AT_ONCE):
            stop = min(start + _AT_ONCE, len(self))
            low = self._starts[start]
            high = self._starts[stop]
            # Indices are in range, as was checked when they were read; "clip" is numpy's quickest
            # mode.
            products = roots.take(self._recorded.topics[low:high], mode="clip")
            products *= self._above[low:high]
            affinity[start:stop] += np.add.reduceat(products, self._starts[start:stop] - low)
        distances: NDArray[np.float32] = np.sqrt(np.maximum(1 - affinity / self._norm, 0))
        return distances

    def row(self, seq: int) -> int | None:
        """The row of the article with this number; None: its proportions are not recorded."""
        seqs = self.articles.seqs(np.arange(len(self)))
        rows = np.flatnonzero(seqs == seq).tolist()
        return rows[0] if rows else None

    def row_of(self, reader: SessionReader, title: str, *, exact: bool = False) -> int | None:
        """The row of the newest article with this title; without ``exact``, of one whose title
        differs only in capitals if there is no other."""
        rows = np.flatnonzero(self.articles.title_keys == title_key(title))
        row_of_seq = dict(zip(self.articles.seqs(rows).tolist(), rows.tolist(), strict=True))
        alike = reader.numbered(row_of_seq).values()
        named = [article for article in alike if article.title == title]
        if not named and not exact:
            folded = title.casefold()
            named = [article for article in alike if article.title.casefold() == folded]
        if not named:
            return None
        newest = max(article.seq for article in named)
        return int(row_of_seq[newest])

    def nearest(
        self,
        reader: SessionReader,
        to: NDArray[np.floating[Any]] | int,
        limit: int,
    ) -> list[Neighbour]:
        """The articles nearest to proportions, (K,), or to the article in this row, which is left
        out. The nearest come first; of an article that was read several times, only the nearest
        reading is given."""
        if isinstance(to, int):
            theta: NDArray[np.floating[Any]] = self.theta(to)
            without = int(self.articles.page_ids[to])
            near = self.rows_near(reader, theta, limit, without)
        else:
            near = self.rows_near(reader, to, limit)
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
        article_of = reader.numbered(seqs)
        recorded = self._recorded.take(rows)
        near = []
        for place, (seq, distance) in enumerate(zip(seqs, distances[rows].tolist(), strict=True)):
            if seq in article_of:
                near.append((article_of[seq], distance, recorded.largest(place)))
        return near


def not_found(reader: SessionReader, title: str, *, or_file: bool = False) -> SessionError:
    """The error for a title that `row_of` does not find, with the nearest titles.

    ``or_file``: whether the name of a file was allowed too; then there is no such file.
    """
    source = reader.settings().source
    alike = reader.resembling(title[:_LONGEST_TITLE])
    for article in alike:
        if article.title.casefold() != title.casefold():
            continue
        if article.role == "skipped":
            why = "was skipped: its topic proportions are not recorded"
        elif article.role == "held_out" and described(source).own:
            why = "is held out: it gets topic proportions when training ends"
        else:
            why = "was held out, not trained on: its topic proportions are not recorded"
        return SessionError(f"{article.title!r} {why}")
    message = f"no trained {singular(noun(source))} is called {title!r}"
    if or_file:
        message += ", and there is no such file"
    titles = {article.title.casefold(): article.title for article in alike if article.topics}
    near = difflib.get_close_matches(title.casefold(), titles, n=3)
    if near:
        message += f"; did you mean {' or '.join(repr(titles[folded]) for folded in near)}?"
    return SessionError(message)


def _nearest_pages(
    distances: NDArray[np.float32],
    page_ids: NDArray[np.int64],
    limit: int,
    without: int | None,
) -> NDArray[np.intp]:
    """The rows of the ``limit`` nearest pages, each page once, the nearest first."""
    n_tried = limit + 1
    while True:
        n_tried = min(2 * n_tried, len(distances))
        rows = np.argpartition(distances, n_tried - 1)[:n_tried]
        nearest_first = np.lexsort((-rows, distances[rows]))  # of equally near ones, the newest
        rows = rows[nearest_first]
        _, first_of_page = np.unique(page_ids[rows], return_index=True)
        rows = rows[np.sort(first_of_page)]
        if without is not None:
            rows = rows[page_ids[rows] != without]
        if len(rows) >= limit or n_tried == len(distances):
            return rows[:limit]

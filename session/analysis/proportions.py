"""The topic proportions of articles: as one matrix, and which are most like another article's."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import BadUsage, Damaged, SessionError
from wikitopics.session.extras import NOTEBOOK
from wikitopics.session.options import PASSES
from wikitopics.session.sources import counted, described, noun
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.tables.proportions import title_key

if TYPE_CHECKING:
    from pandas import DataFrame, Index
    from scipy.sparse import csr_array

_DTYPES = re.compile(
    r"u?int(8|16|32|64)|U?Int64|float(32|64)|str|string|object"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, (?!dateutil)[\w/+:-]{1,40})?\]"
)
"""Types of an index that can be made again from text. For a time zone of dateutil, pandas opens any file."""
_LONGEST = 255
"""The most characters of a mistyped title that are compared."""
_TOGETHER = 2048
"""Articles compared at a time, so that their numbers fit the processor's cache."""


def as_csr(
    reader: SessionReader, model: str, *, held_out: bool = False
) -> "tuple[csr_array, NDArray[np.int64]]":
    """((D, K) float32, page ids of its rows) of the trained articles whose proportions are recorded;
    ``held_out``: those held out, too.

    Raises `SessionError` if none are.
    """
    from scipy.sparse import csr_array  # takes as long to load as all the rest

    with reader.one_moment():
        reader.check_proportions()
        articles = reader.recorded_articles(held_out=held_out)
        kept = reader.proportions(model, held_out=held_out)
    indptr = kept.indptr()
    small = np.int32 if indptr[-1] < 2**31 else np.int64
    matrix = csr_array(
        (kept.values(), kept.topics.astype(small), indptr.astype(small)),
        shape=(len(kept), reader.spec(model).topics),
    )
    return matrix, articles.page_ids


def as_frame(reader: SessionReader, model: str, *, held_out: bool = False) -> "DataFrame":
    """The same as a table: a column for each topic, a row for each article.

    Of the user's own documents, every one that was read has a row, in the order of the input, which is empty
    if no proportions are recorded. The index is the one that a pandas Series had, otherwise `id` if each
    article has one, otherwise `page_id`. Raises `BadUsage` without pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("proportions(frame=True)")) from None
    with reader.one_moment():
        matrix, page_ids = as_csr(reader, model, held_out=held_out)
        own = described(reader.settings().source).own
        named: dict[int, str] = {}
        if own or reader.has_ids():
            for _, pages, *_, ids in reader.all_articles(trained_only=not (own or held_out)):
                named.update(zip(pages, ids, strict=True))
        kept = reader.index()
    frame = pd.DataFrame(
        matrix.toarray(), index=page_ids, columns=pd.RangeIndex(matrix.shape[1], name="topic")
    )
    if own:
        frame = frame.reindex(sorted(named))
    labels = [named.get(page) or "" for page in frame.index.tolist()]
    if kept is None and not all(labels):
        return frame.rename_axis("page_id")
    try:
        frame.index = _index(labels, *kept) if kept is not None else pd.Index(labels, name="id")
    except (TypeError, ValueError, OverflowError):
        raise Damaged("settings.index does not fit articles.id") from None
    return frame


def as_kept(index: "Index") -> dict[str, object] | None:
    """What a session must know to make this index of pandas again from its labels as text; None if that is
    impossible."""
    kept = {"name": index.name, "dtype": str(index.dtype)}
    try:
        again = _index([str(label) for label in index], index.name, str(index.dtype))
        is_the_same = isinstance(index.name, str | int | None) and again.equals(index)
    except (TypeError, ValueError):
        return None
    return kept if is_the_same else None


def _index(labels: Sequence[str], name: str | int | None, dtype: str) -> "Index":
    """The index of these labels. Raises ValueError or TypeError."""
    import pandas as pd

    if not _DTYPES.fullmatch(dtype):  # a file that somebody else made could ask for any amount of memory
        raise ValueError(dtype)
    return pd.Index(labels, name=name).astype(dtype)


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
    """All articles of a session with proportions in one model, for repeated questions.

    Takes 10 to 40 bytes per article. The part of an article's proportions that was not recorded counts as
    spread evenly over its other topics. Raises `SessionError` if none are recorded.
    """

    def __init__(self, reader: SessionReader, model: str) -> None:
        with reader.one_moment():
            reader.check_proportions()
            self.as_of = reader.progress()
            self.articles = reader.recorded_articles(held_out=True)
            self._kept = reader.proportions(model, held_out=True)
        self.model = model
        settings = reader.settings()
        self._noun = counted(settings.source, settings[PASSES])
        self._n_topics = reader.spec(model).topics
        self._starts = self._kept.indptr()
        values = self._kept.values()
        sums = np.add.reduceat(values, self._starts[:-1])
        others = self._n_topics - self._kept.lengths.astype(np.int64)
        rest = np.where(others > 0, np.maximum(1 - sums, 0) / np.maximum(others, 1), 0)
        self._rest = np.sqrt(rest, dtype=np.float32)
        """(n,) the square root of the proportion of each topic that was not recorded."""
        self._above = np.sqrt(values, out=values)
        """By how much the square roots of recorded proportions exceed that."""
        self._above -= np.repeat(self._rest, self._kept.lengths)
        self._total = np.where(others > 0, np.float32(1), np.sqrt(sums))

    def __len__(self) -> int:
        return len(self._kept)

    def as_of_told(self) -> str:
        """The moment it describes, in a line: "as of 70,000 articles"."""
        some = len(self) < self.as_of.documents
        part = f"; topic proportions are recorded for {len(self):,} of them" if some else ""
        return f"as of {self.as_of.articles:,} {self._noun}{part}"

    def theta(self, row: int) -> NDArray[np.float64]:
        """(K,) the proportions of one article, sum to 1."""
        one = self._kept[row : row + 1]
        theta = np.full(self._n_topics, float(self._rest[row]) ** 2)
        theta[one.topics] = one.values()
        theta /= theta.sum()
        return theta

    def distances(self, theta: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """(n,) the Hellinger distance of each article from proportions, (K,)."""
        roots = np.sqrt(theta).astype(np.float32)
        shared = self._rest * roots.sum()
        for start in range(0, len(self), _TOGETHER):
            stop = min(start + _TOGETHER, len(self))
            low, high = self._starts[start], self._starts[stop]
            # Indices are in range, as was checked when they were read; "clip" is numpy's quickest mode.
            products = roots.take(self._kept.topics[low:high], mode="clip")
            products *= self._above[low:high]
            shared[start:stop] += np.add.reduceat(products, self._starts[start:stop] - low)
        distances: NDArray[np.float32] = np.sqrt(np.maximum(1 - shared / self._total, 0))
        return distances

    def row_of(self, reader: SessionReader, title: str, *, exact: bool = False) -> int | None:
        """The article with this title, the newest of several; ``exact``: the capitals must match too."""
        rows = np.flatnonzero(self.articles.title_keys == title_key(title))
        numbers = dict(zip(self.articles.seqs(rows).tolist(), rows.tolist(), strict=True))
        named = [
            article
            for article in reader.numbered(numbers).values()
            if article.title == title or (not exact and article.title.casefold() == title.casefold())
        ]
        best = max(named, key=lambda article: (article.title == title, article.seq), default=None)
        return None if best is None else int(numbers[best.seq])

    def like(self, reader: SessionReader, row: int, limit: int) -> list[Neighbour]:
        """The articles nearest to one of them, without the article itself."""
        return self.nearest(reader, self.theta(row), limit, without=int(self.articles.page_ids[row]))

    def nearest(
        self,
        reader: SessionReader,
        theta: NDArray[np.floating[Any]],
        limit: int,
        without: int | None = None,
    ) -> list[Neighbour]:
        """The articles nearest to proportions, (K,), nearest first; for one read several times, the
        newest."""
        distances = self.distances(theta)
        rows = _nearest_pages(distances, self.articles.page_ids, limit, without)
        seqs = self.articles.seqs(rows).tolist()
        named = reader.numbered(seqs)
        return [
            Neighbour(named[seq].page_id, named[seq].title, distance, named[seq].id)
            for seq, distance in zip(seqs, distances[rows].tolist(), strict=True)
            if seq in named
        ]


def not_found(reader: SessionReader, title: str, *, or_file: bool = False) -> SessionError:
    """Why `row_of` finds no such article, with the nearest titles.

    ``or_file``: the name of a file was allowed too, and there is no such file.
    """
    alike = reader.resembling(title[:_LONGEST])
    same = [article for article in alike if article.title.casefold() == title.casefold()]
    source = reader.settings().source
    if same and same[0].role == "held_out" and described(source).own:
        return SessionError(f"{same[0].title!r} is held out: it gets topic proportions when training ends")
    if same:
        why = "skipped" if same[0].role == "skipped" else "held out, not trained on"
        return SessionError(f"{same[0].title!r} was {why}: its topic proportions are not recorded")
    titles = {article.title.casefold(): article.title for article in alike if article.topics}
    near = difflib.get_close_matches(title.casefold(), titles, n=3)
    hint = f"; there is {', '.join(repr(titles[one]) for one in near)}" if near else ""
    file = ", and there is no such file" if or_file else ""
    return SessionError(f"no trained {noun(source)[:-1]} is called {title!r}{file}{hint}")


def _nearest_pages(
    distances: NDArray[np.float32], page_ids: NDArray[np.int64], limit: int, without: int | None
) -> NDArray[np.intp]:
    """The rows of the ``limit`` nearest pages, each once."""
    tried = limit + 1
    while True:
        tried = min(2 * tried, len(distances))
        rows = np.argpartition(distances, tried - 1)[:tried]
        rows = rows[np.lexsort((-rows, distances[rows]))]
        first = np.sort(np.unique(page_ids[rows], return_index=True)[1])
        rows = rows[first]
        rows = rows[page_ids[rows] != without] if without is not None else rows
        if len(rows) >= limit or tried == len(distances):
            return rows[:limit]

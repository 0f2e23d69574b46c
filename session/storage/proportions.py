"""The form in which the proportions of articles are stored: those of a minibatch in one large row.

A row has one of two forms. The usual one is small. The fine one, for documents of the user's own
that a finished model has inferred, differs from what the model inferred by at most 0.016 (half the
sum of the absolute differences).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import ascends, from_zero, gather

MOST_KEPT = 16
"""The most topics stored for an article in the usual form: its largest."""
LEAST = 0.005
"""Smaller proportions are not stored; in a model of over 100 topics, those under half of what each
topic would have if all were equal."""
MOST_MISSING = 0.03
"""In the fine form, smaller proportions are stored too, until no more than this is missing."""
_USUAL = np.dtype("u1")
_FINE = np.dtype("<u2")
"""The type of lengths and roots in each form. Square roots are stored in as many steps from 0 to 1
as the type has, 255 or 65,535, so that small proportions are more exact than large ones."""
_BEGINS_FINE = b"\0"
"""The first byte of a row in the fine form. In the usual form it is a length, which is never 0."""


@dataclass(frozen=True, slots=True)
class Proportions:
    """The largest proportions of ``n`` articles in one model, as compressed sparse rows: the part
    that a session stores.

    In the usual form, an article takes one byte, and two for each of its topics (three if the model
    has over 256); in the fine form, two, and three or four for each topic.
    """

    lengths: NDArray[np.unsignedinteger[Any]]
    """(n,) the number of topics stored for each article, at least 1"""
    topics: NDArray[np.unsignedinteger[Any]]
    """Ascending within an article."""
    roots: NDArray[np.unsignedinteger[Any]]
    """Parallel to ``topics``: square roots of their proportions, in 255ths or 65,535ths, at least
    1."""

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: slice) -> "Proportions":
        return self.take(np.arange(len(self))[rows])

    def indptr(self) -> NDArray[np.int64]:
        """(n + 1,) where each article begins in the other two arrays."""
        return from_zero(self.lengths)

    def owners(self) -> NDArray[np.int64]:
        """The row of the article, parallel to ``topics``."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def values(self) -> NDArray[np.float32]:
        """The proportions, parallel to ``topics``. An article's sum is at most 1: some may not be
        stored."""
        values = self.roots.astype(np.float32)
        values /= _steps(self.roots.dtype)
        values *= values
        return values

    def dense(self, n_topics: int) -> NDArray[np.float32]:
        """(n, K) the proportions of all topics; 0 for those that are not stored."""
        theta = np.zeros((len(self), n_topics), np.float32)
        theta[self.owners(), self.topics] = self.values()
        return theta

    def largest(self, row: int) -> list[tuple[int, float]]:
        """An article's (topic, proportion), the largest first."""
        article = self[row : row + 1]
        pairs = zip(article.topics.tolist(), article.values().tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[1])

    def two_largest(self, least: float) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """((n,) the largest topic of each article, (n,) the next largest, if its proportion is at
        least so large; otherwise -1). Of equal ones, the first is the largest."""
        starts = self.indptr()[:-1]
        owners = self.owners()
        roots = self.roots.astype(np.int32)
        firsts = _places_of_largest(roots, starts, owners)
        roots[firsts] = -1
        seconds = _places_of_largest(roots, starts, owners)
        second = self.topics[seconds].astype(np.int16)
        second[roots[seconds] < np.sqrt(least) * _steps(self.roots.dtype)] = -1
        return self.topics[firsts].astype(np.int16), second

    @staticmethod
    def of(theta: NDArray[np.floating[Any]], *, fine: bool = False) -> "Proportions":
        """The largest of ``theta``, (n, K), whose rows sum to 1."""
        K = theta.shape[1]
        stored = theta >= least_stored(K)
        if fine:
            descending = _descending(theta)
            stored |= _first_largest(theta, descending, _n_needed(descending))
        else:
            with_many = np.flatnonzero(np.count_nonzero(stored, axis=1) > MOST_KEPT)
            rows = theta[with_many]
            most = np.full(len(rows), MOST_KEPT)
            stored[with_many] = _first_largest(rows, _descending(rows), most)
        form = _FINE if fine else _USUAL
        steps = _steps(form)
        places = np.flatnonzero(stored)
        exact_roots = np.sqrt(theta.ravel()[places]) * steps
        lengths = np.count_nonzero(stored, axis=1)
        result = Proportions(
            lengths.astype(form),
            (places % K).astype(_type_of_topics(K)),
            np.rint(exact_roots).astype(form),
        )
        squares = result.roots.astype(np.int64) ** 2
        sums = np.add.reduceat(squares, result.indptr()[:-1])
        # Where the rounded ones sum to more than 1, all roots of the article are rounded down.
        is_over = np.repeat(sums > steps**2, lengths)
        result.roots[is_over] = exact_roots[is_over]
        return result

    @staticmethod
    def none(n_topics: int) -> "Proportions":
        """Those of no article."""
        nothing = np.empty(0, _USUAL)
        return Proportions(nothing, np.empty(0, _type_of_topics(n_topics)), nothing)

    @staticmethod
    def concatenate(parts: Sequence["Proportions"]) -> "Proportions":
        """The proportions of several parts, all of the same model, in order; in the fine form if
        any part is."""
        if any(part.is_fine for part in parts):
            parts = [part.as_fine() for part in parts]
        return Proportions(
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.topics for part in parts]),
            np.concatenate([part.roots for part in parts]),
        )

    def take(self, rows: NDArray[np.integer[Any]]) -> "Proportions":
        """The proportions of these articles, in this order."""
        _, elements = gather(self.indptr(), rows)
        return Proportions(self.lengths[rows], self.topics[elements], self.roots[elements])

    @property
    def is_fine(self) -> bool:
        """Whether this is the fine form."""
        return self.roots.dtype == _FINE

    def as_fine(self) -> "Proportions":
        """The same proportions in the fine form."""
        if self.is_fine:
            return self
        smaller_steps = _steps(_FINE) // _steps(_USUAL)
        roots = self.roots.astype(_FINE) * _FINE.type(smaller_steps)
        return Proportions(self.lengths.astype(_FINE), self.topics, roots)

    def usual(self, n_topics: int) -> "Proportions":
        """Those that the usual form stores too; all of them, if this is the usual form.

        In the fine form, a short text has most of the topics, nearly all of them with what any text
        would have: in the usual form a sixth of the numbers."""
        if not self.is_fine:
            return self
        least = np.sqrt(least_stored(n_topics)) * _steps(_FINE)
        starts = self.indptr()[:-1]
        stored = self.roots >= least
        # Only a damaged row has none as large.
        stored[starts[~np.logical_or.reduceat(stored, starts)]] = True
        lengths = np.add.reduceat(stored, starts, dtype=_FINE)
        return Proportions(lengths, self.topics[stored], self.roots[stored])

    def to_bytes(self) -> bytes:
        """The three arrays, one after another."""
        begin = _BEGINS_FINE if self.is_fine else b""
        return begin + self.lengths.tobytes() + self.topics.tobytes() + self.roots.tobytes()

    @staticmethod
    def from_blocks(blocks: Sequence[tuple[object, int]], n_topics: int) -> "Proportions":
        """The inverse of `to_bytes`, for many at once: (bytes, number of articles) of each.

        ``n_topics``: the model's. Raises `Damaged`.
        """
        parts: list[Proportions] = []
        for data, articles in blocks:
            parts.append(_decoded(data, articles, n_topics))
        if not parts:
            return Proportions.none(n_topics)
        result = Proportions.concatenate(parts)
        ends_of_articles = np.cumsum([articles for _, articles in blocks])
        sizes = [len(part.topics) for part in parts]
        result._check(ends_of_articles, np.cumsum(sizes), n_topics)
        return result

    def _check(
        self,
        ends_of_articles: NDArray[Any],
        ends_of_topics: NDArray[Any],
        n_topics: int,
    ) -> None:
        """Check that each block's lengths match its topics, and that `of` can have produced every
        number. The blocks' articles and their topics end at these places."""
        starts = self.indptr()
        if not self.lengths.all() or not np.array_equal(starts[ends_of_articles], ends_of_topics):
            raise Damaged("proportions.data has articles of another length")
        are_topics = self.topics.max() < n_topics and ascends(self.topics, starts)
        if not are_topics or not self.roots.all():
            raise Damaged("proportions.data holds numbers that are out of range")


def _places_of_largest(
    values: NDArray[np.int32], starts: NDArray[np.int64], owners: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) the place of the largest value of each row, or of the first of several."""
    largest = np.maximum.reduceat(values, starts) if len(starts) else values
    candidates = np.flatnonzero(values == largest[owners])
    is_first = np.diff(owners[candidates], prepend=-1) > 0
    places: NDArray[np.int64] = candidates[is_first]
    return places


def _decoded(data: object, articles: int, n_topics: int) -> Proportions:
    """The arrays in a row's ``data``, whose numbers are not checked yet. Raises `Damaged`."""
    if not isinstance(data, bytes):
        raise Damaged("proportions.data is not a blob")
    is_fine = data.startswith(_BEGINS_FINE)
    form = _FINE if is_fine else _USUAL
    most = n_topics if is_fine else MOST_KEPT
    of_topics = _type_of_topics(n_topics)
    start = len(_BEGINS_FINE) if is_fine else 0
    start_of_topics = start + articles * form.itemsize
    size, remainder = divmod(len(data) - start_of_topics, of_topics.itemsize + form.itemsize)
    if remainder or not articles <= size <= most * articles:
        raise Damaged("proportions.data has the wrong length")
    start_of_roots = start_of_topics + size * of_topics.itemsize
    return Proportions(
        np.frombuffer(data[start:start_of_topics], form),
        np.frombuffer(data[start_of_topics:start_of_roots], of_topics),
        np.frombuffer(data[start_of_roots:], form),
    )


def least_stored(n_topics: int) -> float:
    """The least proportion that is stored in the usual form, in a model with this many topics."""
    return min(LEAST, 0.5 / n_topics)


def most_bytes(n_topics: int) -> int:
    """The most bytes that an article takes in a model with this many topics."""
    return _FINE.itemsize + n_topics * (_type_of_topics(n_topics).itemsize + _FINE.itemsize)


def least_entries(size: int, blocks: int, articles: int, n_topics: int) -> int:
    """The fewest topics in rows of so many bytes in all, which are those of the fine form."""
    of_topics = size - blocks * len(_BEGINS_FINE) - articles * _FINE.itemsize
    entries = of_topics // (_type_of_topics(n_topics).itemsize + _FINE.itemsize)
    return max(articles, entries)


def least_bytes(n_topics: int) -> int:
    """The bytes that each of its topics takes at least."""
    return _type_of_topics(n_topics).itemsize + _USUAL.itemsize


def _descending(theta: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """(n, K) the proportions of each row, the largest first."""
    ascending = np.sort(theta, axis=1)
    return ascending[:, ::-1]


def _n_needed(descending: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """(n,) how many of a row's largest proportions leave at most `MOST_MISSING`."""
    summed = np.cumsum(descending, axis=1, dtype=np.float64)
    before = summed - descending
    n_needed: NDArray[np.int64] = np.count_nonzero(before < 1 - MOST_MISSING, axis=1)
    return n_needed


def _first_largest(
    theta: NDArray[np.floating[Any]],
    descending: NDArray[np.floating[Any]],
    n_wanted: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """(n, K) whether a proportion is among so many largest of its row, at least one; of equal ones,
    the first are."""
    least = descending[np.arange(len(theta)), n_wanted - 1]
    largest: NDArray[np.bool_] = theta >= least[:, None]
    with_too_many = np.flatnonzero(np.count_nonzero(largest, axis=1) > n_wanted)
    is_equal = theta[with_too_many] == least[with_too_many, None]
    n_larger = np.count_nonzero(largest[with_too_many] & ~is_equal, axis=1)
    n_equal_wanted = n_wanted[with_too_many] - n_larger
    is_late = np.cumsum(is_equal, axis=1, dtype=np.int32) > n_equal_wanted[:, None]
    largest[with_too_many] &= ~(is_equal & is_late)
    return largest


def _steps(form: np.dtype[np.unsignedinteger[Any]]) -> int:
    return int(np.iinfo(form).max)


def _type_of_topics(n_topics: int) -> np.dtype[np.unsignedinteger[Any]]:
    return np.dtype("u1" if n_topics <= 256 else "<u2")

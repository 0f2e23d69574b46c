"""The proportions of articles, in a few large rows: the tables `blocks` and `proportions`.

There is one row per minibatch; a finished session over the user's own documents also has rows for
those held out. SQLite returns a million rows of `articles` in half a second, a thousand blocks in a
twentieth of that.
"""

import zlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.records import PositiveCount
from wikitopics.session.storage.block import Block, ascends, from_zero, gather
from wikitopics.session.storage.database import SMALL, select

MOST_KEPT = 16
"""The most topics stored for an article: its largest."""
LEAST = 0.005
"""Smaller proportions are not stored; in a model of over 100 topics, those under half of what each
topic would have if all were equal."""
LARGEST_ARTICLE = 1 + 3 * MOST_KEPT
"""The most bytes that an article takes."""
_FULL = 255
"""Square roots are stored in this many steps from 0 to 1, so that small proportions are more exact
than large ones."""
OF_BLOCK = "WHERE model = ? AND first_seq = ?"
"""The row of `proportions` that holds a block in a model."""
BLOCK = {"first_seq": PositiveCount, "articles": PositiveCount}
"""The columns of `blocks` that say which articles a block holds."""
IS_HELD_OUT = "EXISTS (SELECT 1 FROM articles a WHERE a.seq = b.first_seq AND a.role = 1)"
"""Whether a row of `blocks`, named b, holds held-out articles; no row holds both kinds."""


@dataclass(frozen=True, slots=True)
class Proportions:
    """The largest proportions of ``n`` articles in one model, as compressed sparse rows: the part
    that a session stores.

    An article takes one byte, and two for each of its topics (three if the model has over 256).
    """

    lengths: NDArray[np.uint8]
    """(n,) the number of topics stored for each article, at least 1"""
    topics: NDArray[np.unsignedinteger[Any]]
    """Ascending within an article."""
    roots: NDArray[np.uint8]
    """Parallel to ``topics``: square roots of their proportions, in 255ths, at least 1."""

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: slice) -> "Proportions":
        return self.take(np.arange(len(self))[rows])

    def indptr(self) -> NDArray[np.int64]:
        """(n + 1,) where each article begins in the other two arrays."""
        return from_zero(self.lengths)

    def values(self) -> NDArray[np.float32]:
        """The proportions, parallel to ``topics``. An article's sum is at most 1: some may not be
        stored."""
        values = self.roots.astype(np.float32)
        values /= _FULL
        values *= values
        return values

    def largest(self, row: int) -> list[tuple[int, float]]:
        """An article's (topic, proportion), the largest first."""
        article = self[row : row + 1]
        pairs = zip(article.topics.tolist(), article.values().tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[1])

    @staticmethod
    def of(theta: NDArray[np.floating[Any]]) -> "Proportions":
        """The largest of ``theta``, (n, K), whose rows sum to 1."""
        K = theta.shape[1]
        stored = theta >= min(LEAST, 0.5 / K)
        with_many = np.flatnonzero(np.count_nonzero(stored, axis=1) > MOST_KEPT)
        if len(with_many):
            by_size = np.argpartition(theta[with_many], K - MOST_KEPT, axis=1)
            stored[with_many] = False
            stored[with_many[:, None], by_size[:, K - MOST_KEPT :]] = True
        places = np.flatnonzero(stored)
        exact_roots = np.sqrt(theta.ravel()[places]) * _FULL
        lengths = np.count_nonzero(stored, axis=1)
        result = Proportions(
            lengths.astype(np.uint8),
            (places % K).astype(_type_of_topics(K)),
            np.rint(exact_roots).astype(np.uint8),
        )
        squares = result.roots.astype(np.int64) ** 2
        sums = np.add.reduceat(squares, result.indptr()[:-1])
        # Where the rounded ones sum to more than 1, all roots of the article are rounded down.
        is_over = np.repeat(sums > _FULL**2, lengths)
        result.roots[is_over] = exact_roots[is_over]
        return result

    @staticmethod
    def concatenate(parts: Sequence["Proportions"]) -> "Proportions":
        """The proportions of several parts, all of the same model, in order."""
        return Proportions(
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.topics for part in parts]),
            np.concatenate([part.roots for part in parts]),
        )

    def take(self, rows: NDArray[np.integer[Any]]) -> "Proportions":
        """The proportions of these articles, in this order."""
        _, elements = gather(self.indptr(), rows)
        return Proportions(self.lengths[rows], self.topics[elements], self.roots[elements])

    def to_bytes(self) -> bytes:
        """The three arrays, one after another."""
        return self.lengths.tobytes() + self.topics.tobytes() + self.roots.tobytes()

    @staticmethod
    def from_blocks(blocks: Sequence[tuple[object, int]], n_topics: int) -> "Proportions":
        """The inverse of `to_bytes`, for many at once: (bytes, number of articles) of each.

        ``n_topics``: the model's. Raises `Damaged`.
        """
        dtype = _type_of_topics(n_topics)
        lengths: list[bytes] = []
        topics: list[bytes] = []
        roots: list[bytes] = []
        sizes: list[int] = []
        for data, articles in blocks:
            if not isinstance(data, bytes):
                raise Damaged("proportions.data is not a blob")
            size, remainder = divmod(len(data) - articles, dtype.itemsize + 1)
            if remainder or not articles <= size <= MOST_KEPT * articles:
                raise Damaged("proportions.data has the wrong length")
            start_of_roots = articles + size * dtype.itemsize
            lengths.append(data[:articles])
            topics.append(data[articles:start_of_roots])
            roots.append(data[start_of_roots:])
            sizes.append(size)
        result = Proportions(
            np.frombuffer(b"".join(lengths), np.uint8),
            np.frombuffer(b"".join(topics), dtype),
            np.frombuffer(b"".join(roots), np.uint8),
        )
        if blocks:
            ends_of_articles = np.cumsum([articles for _, articles in blocks])
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


def _type_of_topics(n_topics: int) -> np.dtype[np.unsignedinteger[Any]]:
    return np.dtype("u1" if n_topics <= 256 else "<u2")


def title_key(title: str) -> int:
    """A 16-bit hash of a title, ignoring case, which rules out most titles other than the one
    sought."""
    return zlib.crc32(title.casefold().encode("utf-8", "replace")) & 0xFFFF


def insert_block(
    db: Connection,
    block: Block,
    proportions: Sequence[Proportions],
    first_seq: int,
) -> None:
    """Add articles with the numbers from ``first_seq`` on; ``proportions``: for each model."""
    packed_ids = block.page_ids.astype("<i4")
    if (packed_ids != block.page_ids).any():
        packed_ids = block.page_ids.astype("<i8")
    # Documents of a file of word counts have only numbers.
    keys = [
        title_key(title or f"document {number}")
        for title, number in zip(block.titles, block.page_ids.tolist(), strict=True)
    ]
    packed_keys = np.array(keys, "<u2").tobytes()
    db.execute(
        "INSERT INTO blocks VALUES (?, ?, ?, ?)",
        [first_seq, len(block), packed_ids.tobytes(), packed_keys],
    )
    rows = [(model, first_seq, of_model.to_bytes()) for model, of_model in enumerate(proportions)]
    db.executemany("INSERT INTO proportions VALUES (?, ?, ?)", rows)


def renew_proportions(
    db: Connection,
    seqs: Sequence[int],
    proportions: Sequence[Proportions],
    topics: Sequence[int],
) -> None:
    """Replace the proportions of the articles ``seqs`` with the models' current ones.

    ``seqs`` ascend; ``topics``: for each model.
    """
    if not proportions:
        return
    between = (
        "WHERE first_seq <= ? AND first_seq >= (SELECT max(first_seq) FROM blocks WHERE first_seq "
        "<= ?)"
    )
    for first, size in select(db, "blocks", BLOCK, between, [seqs[-1], seqs[0]]):
        start = bisect_left(seqs, first)
        stop = bisect_left(seqs, first + size)
        if start == stop:
            continue
        # The new proportions come behind the old ones; then each article's row is chosen.
        rows = np.arange(size)
        rows[np.array(seqs[start:stop]) - first] = size + np.arange(stop - start)
        room = LARGEST_ARTICLE * size + SMALL
        for model, (new, K) in enumerate(zip(proportions, topics, strict=True)):
            key = [model, first]
            stored = select(db, "proportions", {"data": Any}, OF_BLOCK, key, largest=room)
            data = stored[0][0] if stored else None
            old = Proportions.from_blocks([(data, size)], K)
            both = Proportions.concatenate([old, new[start:stop]])
            renewed = both.take(rows).to_bytes()
            db.execute(f"UPDATE proportions SET data = ? {OF_BLOCK}", [renewed, *key])


@dataclass(frozen=True, slots=True)
class RecordedArticles:
    """The articles whose proportions are recorded, in the order of the stream: ``n`` articles in
    some blocks."""

    first_seqs: NDArray[np.int64]
    """(blocks,) the number of each block's first article; its others have the next numbers."""
    starts: NDArray[np.int64]
    """(blocks,) the row of each block's first article, from 0 to n - 1."""
    page_ids: NDArray[np.int64]
    """(n,)"""
    title_keys: NDArray[np.uint16]
    """(n,) see `title_key`"""

    def seqs(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The numbers of the articles at these rows."""
        block = np.searchsorted(self.starts, rows, side="right") - 1
        rows_before = rows - self.starts[block]  # in the same block
        return np.asarray(self.first_seqs[block] + rows_before, np.int64)

"""The articles whose proportions are recorded: the tables `blocks` and `proportions`.

There is one row per minibatch; a finished session over the user's own documents also has rows for
those held out. SQLite returns a million rows of `articles` in half a second, a thousand blocks in a
twentieth of that.
"""

import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from sqlite3 import Connection
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.records import JSON, ArticleRow, Count, PositiveCount
from wikitopics.session.storage.articles import ArticleReader, ArticleTopics, renew_topics
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import MOST_BLOCKS
from wikitopics.session.storage.database import IS_HELD_OUT, SMALL, select
from wikitopics.session.storage.decoding import Rows, numbers
from wikitopics.session.storage.proportions import (
    Proportions,
    least_bytes,
    least_entries,
    most_bytes,
)

OF_BLOCK = "WHERE model = ? AND first_seq = ?"
"""The row of `proportions`, or of `places`, that holds a block in a model."""
BLOCK = {"first_seq": PositiveCount, "articles": PositiveCount}
"""The columns of `blocks` that say which articles a block holds."""
READ_TOGETHER = 2**15
"""About how many articles' proportions are read together."""
BLOCK_IS_HELD_OUT = (
    f"EXISTS (SELECT 1 FROM articles a WHERE a.seq = b.first_seq AND a.{IS_HELD_OUT})"
)
"""Whether a row of `blocks`, named b, holds held-out articles; no row holds both kinds."""


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
    ends = [seqs[-1], seqs[0]]
    for first, size in select(db, "blocks", BLOCK, between, ends, most=MOST_BLOCKS):
        start = bisect_left(seqs, first)
        stop = bisect_left(seqs, first + size)
        if start == stop:
            continue
        chosen = np.array(seqs[start:stop]) - first
        for model, (new, K) in enumerate(zip(proportions, topics, strict=True)):
            key = [model, first]
            room = most_bytes(K) * size + SMALL
            stored = select(db, "proportions", {"data": Any}, OF_BLOCK, key, largest=room)
            data = stored[0][0] if stored else None
            old = Proportions.from_blocks([(data, size)], K)
            both = Proportions.concatenate([old, new[start:stop]])
            # The new proportions come behind the old ones; then each article's row is chosen.
            rows = np.arange(len(old))
            rows[chosen] = len(old) + np.arange(stop - start)
            renewed = both.take(rows).to_bytes()
            db.execute(f"UPDATE proportions SET data = ? {OF_BLOCK}", [renewed, *key])
            db.execute(f"DELETE FROM places {OF_BLOCK}", key)  # they follow from the proportions


def insert_held_out_topics(db: Connection, block: Block, topics: ArticleTopics, most: int) -> None:
    """Add the topics of all held-out articles, in the order of the stream; ``most``: the most
    articles in a row of `blocks`."""
    rows = db.execute(f"SELECT seq FROM articles WHERE {IS_HELD_OUT} ORDER BY seq").fetchall()
    seqs = [seq for (seq,) in rows]
    if len(seqs) != len(block):
        raise Damaged("held_out and articles do not match")
    renew_topics(db, seqs, topics)
    if not topics.proportions:
        return
    start = 0
    for stop in range(1, len(seqs) + 1):
        is_last = stop == len(seqs)
        is_full = stop - start == most
        if is_last or is_full or seqs[stop] != seqs[stop - 1] + 1:
            parts = [of_model[start:stop] for of_model in topics.proportions]
            insert_block(db, block[start:stop], parts, seqs[start])
            start = stop


def drop_held_out_topics(db: Connection) -> None:
    """Remove the topics of held-out articles."""
    for table in ("places", "proportions", "blocks"):
        db.execute(f"DELETE FROM {table} AS b WHERE {BLOCK_IS_HELD_OUT}")
    db.execute(f"UPDATE articles SET topics = NULL WHERE {IS_HELD_OUT} AND topics IS NOT NULL")


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


class RecordedReader(ArticleReader):
    """Questions about the proportions of all articles at once."""

    def check_proportions(self) -> None:
        """Raise `SessionError` if no article's proportions are recorded, and say why."""
        if self._rows("SELECT 1 FROM blocks LIMIT 1"):
            return
        if self.settings()[KEEP_ARTICLES] != "all":
            raise SessionError(
                "topic proportions are not recorded: that needs a session begun with `train "
                "--keep-articles all`"
            )
        self.check_trained()
        raise Damaged("blocks has no row")

    def recorded_articles(self, *, held_out: bool = False) -> RecordedArticles:
        """All trained articles whose proportions are recorded; ``held_out``: including those held
        out."""
        rows = self.select(
            "blocks",
            {**BLOCK, "page_ids": Any, "titles": Any},
            f"b WHERE true {_unless(held_out)} ORDER BY first_seq",
            largest=self._room(8),
            most=MOST_BLOCKS,
        )
        first_seqs = np.array([first for first, *_ in rows], np.int64)
        sizes = np.array([articles for _, articles, _, _ in rows], np.int64)
        ends = first_seqs + sizes
        if (first_seqs[1:] < ends[:-1]).any():
            raise Damaged("blocks.articles is out of range")
        page_ids = [np.empty(0, np.int64)]
        for _, articles, packed_ids, packed_keys in rows:
            if not isinstance(packed_keys, bytes) or len(packed_keys) != 2 * articles:
                raise Damaged("blocks.titles has the wrong length")
            is_wide = isinstance(packed_ids, bytes) and len(packed_ids) == 8 * articles
            dtype = np.int64 if is_wide else np.int32
            page_ids.append(
                numbers(packed_ids, "blocks.page_ids", dtype, (articles,), -(2**63), 2**63 - 1)
            )
        title_keys = np.frombuffer(b"".join([keys for *_, keys in rows]), "<u2")
        starts = np.cumsum(sizes) - sizes
        return RecordedArticles(first_seqs, starts, np.concatenate(page_ids), title_keys)

    def recorded_lengths(self) -> NDArray[np.int64]:
        """(n,) the number of known words of all `recorded_articles`, those held out too."""
        # An array per block: reading the rows of a million articles one by one takes four times as
        # long.
        of_block = (
            "(SELECT json_group_array(words) FROM (SELECT words FROM articles a WHERE a.seq "
            "BETWEEN b.first_seq AND b.first_seq + b.articles - 1 ORDER BY a.seq)) AS words"
        )
        rows = self.select(
            "blocks",
            {"b.articles": PositiveCount, of_block: Annotated[tuple[Count, ...], JSON]},
            "b ORDER BY b.first_seq",
            largest=self._room(20),
            most=MOST_BLOCKS,
        )
        if any(len(words) != articles for articles, words in rows):
            raise Damaged("blocks and articles do not match")
        return np.fromiter(chain.from_iterable(words for _, words in rows), np.int64)

    def n_recorded(self) -> int:
        """The number of all `recorded_articles`, those held out too."""
        return sum(articles for _, articles in self._recorded_blocks(held_out=True))

    def proportions_at(self, model: str, rows: NDArray[np.integer[Any]]) -> Proportions:
        """The proportions of the articles at these rows, which ascend, among all
        `recorded_articles`, those held out too."""
        parts = [Proportions.none(self._topics(model))]
        before = 0
        for part in self.each_part(model, held_out=True):
            after = before + len(part)
            first, stop = np.searchsorted(rows, (before, after))
            parts.append(part.take(rows[first:stop] - before))
            before = after
        return Proportions.concatenate(parts)

    def each_part(self, model: str, *, held_out: bool) -> Iterator[Proportions]:
        """The proportions of all `recorded_articles` in one model, in order, some blocks at a time:
        those of millions take gigabytes."""
        n_topics = self._topics(model)
        room = self._room(most_bytes(n_topics))
        clause = (
            "b LEFT JOIN proportions p ON p.first_seq = b.first_seq AND p.model = ? "
            f"WHERE b.first_seq BETWEEN ? AND ? {_unless(held_out)} ORDER BY b.first_seq"
        )
        columns = {"p.data": Any, "b.articles": PositiveCount}
        for first, last in _together(self._recorded_blocks(held_out)):
            data_and_articles = self.select(
                "blocks",
                columns,
                clause,
                [self._number(model), first, last],
                largest=room,
                most=MOST_BLOCKS,
            )
            yield Proportions.from_blocks(data_and_articles, n_topics)

    def most_proportions(self, model: str) -> int:
        """No fewer than the topics that are recorded of all articles, from the sizes of rows."""
        return self._size(model) // least_bytes(self._topics(model))

    def least_proportions(self, model: str) -> int:
        """No more than the topics that are recorded of all articles, from the sizes of rows."""
        blocks = self._recorded_blocks(held_out=True)
        articles = sum(articles for _, articles in blocks)
        return least_entries(self._size(model), len(blocks), articles, self._topics(model))

    def _size(self, model: str) -> int:
        """The bytes that the proportions of all articles take."""
        sizes = "SELECT total(length(data)) FROM proportions WHERE model = ?"
        ((size,),) = self._rows(sizes, [self._number(model)])
        return int(size)

    def _recorded_blocks(self, held_out: bool) -> Rows:
        return self.select(
            "blocks",
            BLOCK,
            f"b WHERE true {_unless(held_out)} ORDER BY first_seq",
            most=MOST_BLOCKS,
        )

    def _topics(self, model: str) -> int:
        return self.spec(model).topics

    def each_block(
        self, models: Sequence[str]
    ) -> Iterator[tuple[list[ArticleRow], list[Proportions]]]:
        """The articles of every block in the order of the stream, without snippets, and their
        proportions in these models."""
        for first, size in self.select("blocks", BLOCK, "ORDER BY first_seq", most=MOST_BLOCKS):
            last = first + size - 1
            with self.one_moment():
                articles = self._articles(
                    "WHERE seq BETWEEN ? AND ? ORDER BY seq", [first, last], with_snippets=False
                )
                recorded = [self.proportions_of(model, first, size) for model in models]
            if len(articles) != size:
                raise Damaged("blocks and articles do not match")
            yield articles, recorded

    def proportions_of(self, model: str, first_seq: int, articles: int) -> Proportions:
        """The proportions of one block in one model."""
        n_topics = self.spec(model).topics
        rows = self.select(
            "proportions",
            {"data": Any},
            OF_BLOCK,
            [self._number(model), first_seq],
            largest=self._room(most_bytes(n_topics)),
        )
        data = rows[0][0] if rows else None
        return Proportions.from_blocks([(data, articles)], n_topics)

    def leading_topics(
        self,
        model: str,
        seqs: Collection[int],
        most: int,
    ) -> dict[int, list[tuple[int, float]]]:
        """The ``most`` largest (topic, proportion) of these articles, as far as they are
        recorded."""
        last_up_to_it = "WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1"
        leading: dict[int, list[tuple[int, float]]] = {}
        # The block that was read last holds the articles from ``first`` to before ``stop``.
        block: Proportions | None = None
        first = 0
        stop = 0
        for seq in sorted(seqs):
            if not first <= seq < stop:
                rows = self.select("blocks", BLOCK, last_up_to_it, [seq])
                if not rows:
                    continue
                first, articles = rows[0]
                stop = first + articles
                if seq >= stop:
                    continue
                block = self.proportions_of(model, first, articles)
            assert block is not None
            leading[seq] = block.largest(seq - first)[:most]
        return leading

    def _room(self, bytes_of_an_article: int) -> int:
        """The most bytes of a value in a row of a minibatch's articles."""
        return SMALL + bytes_of_an_article * self.settings().batch_size


def _unless(held_out: bool) -> str:
    """SQL that leaves held-out articles out of the rows of `blocks`, named b, unless they are
    wanted."""
    return "" if held_out else f"AND NOT {BLOCK_IS_HELD_OUT}"


def _together(blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """(first_seq of the first, first_seq of the last) of blocks that are read together."""
    begin = 0
    n = 0
    for place, (first, articles) in enumerate(blocks):
        n += articles
        if n >= READ_TOGETHER or place == len(blocks) - 1:
            yield blocks[begin][0], first
            begin = place + 1
            n = 0

"""The trained articles with one row per minibatch, for questions about all of them at once.

The tables `blocks` and `proportions`. SQLite takes half a second to return a million rows of `articles`, and
a twentieth of that for a thousand blocks.
"""

import zlib
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.database import SMALL, read_rows
from wikitopics.session.storage.decoding import numbers, whole
from wikitopics.session.storage.proportions import LARGEST_ARTICLE, Proportions

if TYPE_CHECKING:
    from wikitopics.session.storage.sqliteutils import Database


def title_key(title: str) -> int:
    """16 bits of a title, ignoring capitals, which distinguish most other titles from the one sought."""
    return zlib.crc32(title.casefold().encode("utf-8", "replace")) & 0xFFFF


def untitled(page_id: int) -> str:
    """The name of an article without a title: documents of a file of word counts have only numbers."""
    return f"document {page_id}"


def insert_block(db: "Database", block: Block, proportions: Sequence[Proportions], first_seq: int) -> None:
    """Add articles with the numbers from ``first_seq`` on; ``proportions``: for each model."""
    page_ids = block.page_ids.tolist()
    titles = (title or untitled(number) for title, number in zip(block.titles, page_ids, strict=True))
    db.conn.execute(
        "INSERT INTO blocks VALUES (?, ?, ?, ?)",
        [
            first_seq,
            len(block),
            _packed(block.page_ids),
            np.array([title_key(title) for title in titles], "<u2").tobytes(),
        ],
    )
    db.conn.executemany(
        "INSERT INTO proportions VALUES (?, ?, ?)",
        [(model, first_seq, one.to_bytes()) for model, one in enumerate(proportions)],
    )


def renew_proportions(
    db: "Database", seqs: Sequence[int], proportions: Sequence[Proportions], topics: Sequence[int]
) -> None:
    """Replace the proportions of the articles ``seqs`` with the models' current ones.

    ``seqs`` ascend, without gaps within a block; ``topics``: for each model.
    """
    blocks = read_rows(
        db.conn,
        "SELECT first_seq, articles FROM blocks WHERE first_seq <= ? AND first_seq >="
        " (SELECT max(first_seq) FROM blocks WHERE first_seq <= ?)",
        [seqs[-1], seqs[0]],
    )
    for number, articles in blocks:
        first, size = whole(number, "blocks.first_seq", 1), whole(articles, "blocks.articles", 1)
        start, stop = bisect_left(seqs, first), bisect_left(seqs, first + size)
        if start == stop:
            continue
        before, behind = seqs[start] - first, seqs[stop - 1] + 1 - first
        if behind - before != stop - start:
            raise Damaged("blocks and recent do not match")
        for model, (new, K) in enumerate(zip(proportions, topics, strict=True)):
            old = Proportions.from_blocks([(_data(db, model, first, size), size)], K)
            parts = [old[:before], new[start:stop], old[behind:]]
            db.execute(
                "UPDATE proportions SET data = ? WHERE model = ? AND first_seq = ?",
                [Proportions.concatenate(parts).to_bytes(), model, first],
            )


def _data(db: "Database", model: int, first_seq: int, articles: int) -> object:
    rows = read_rows(
        db.conn,
        "SELECT data FROM proportions WHERE model = ? AND first_seq = ?",
        [model, first_seq],
        largest=LARGEST_ARTICLE * articles + SMALL,
    )
    if len(rows) != 1:
        raise Damaged("blocks and proportions do not match")
    return rows[0][0]


def page_ids_of(packed: object, articles: int) -> NDArray[np.signedinteger[Any]]:
    """(n,) `blocks.page_ids`."""
    wide = isinstance(packed, bytes) and len(packed) == 8 * articles
    limits = np.iinfo(np.int64)
    dtype = np.int64 if wide else np.int32
    return numbers(packed, "blocks.page_ids", dtype, (articles,), limits.min, limits.max)


def title_keys_of(blocks: Sequence[tuple[object, int]]) -> NDArray[np.uint16]:
    """(n,) `blocks.titles` for many blocks, each given as (bytes, number of articles)."""
    parts = [
        packed for packed, articles in blocks if isinstance(packed, bytes) and len(packed) == 2 * articles
    ]
    if len(parts) < len(blocks):
        raise Damaged("blocks.titles has the wrong length")
    return np.frombuffer(b"".join(parts), "<u2")


def _packed(page_ids: NDArray[np.int64]) -> bytes:
    """The ids in four bytes each, if they fit."""
    limits = np.iinfo(np.int32)
    fits = limits.min <= page_ids.min() and page_ids.max() <= limits.max
    return page_ids.astype("<i4" if fits else "<i8").tobytes()

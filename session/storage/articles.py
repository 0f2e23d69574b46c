"""The articles read and their topics in each model: the tables `articles` and `recent`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.records import Role
from wikitopics.session.settings import Settings
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.codec.articles import LARGEST, documents_room, largest_between
from wikitopics.session.storage.database import read_rows
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.schema import ROLES, largest_topic
from wikitopics.session.storage.sqliteutils import Database

RECENT_ARTICLES = 20_000
"""This many of the newest articles keep their counts and have their topics inferred again."""
DROPPED_EVERY = 2**18
"""Articles that should not be kept are dropped whenever this many more have been trained."""


@dataclass(frozen=True, slots=True)
class ArticleTopics:
    """The topics of ``n`` articles, as far as a session stores them."""

    largest: NDArray[np.uint16]
    """(n, 2 x models): for each model the largest topic, and its proportion in ten-thousandths"""
    proportions: Sequence[Proportions] = ()
    """For each model; none if the session stores none."""

    @staticmethod
    def of(thetas: Sequence[NDArray[np.floating[Any]]], *, with_proportions: bool = False) -> "ArticleTopics":
        """From each model's proportions, (n, K)."""
        columns = [
            column
            for theta in thetas
            for column in (theta.argmax(axis=1), np.rint(theta.max(axis=1).astype(np.float64) * 10_000))
        ]
        return ArticleTopics(
            np.column_stack(columns).astype(LARGEST),
            [Proportions.of(theta) for theta in thetas] if with_proportions else (),
        )


def insert_articles(
    db: Database, block: Block, role: Role, topics: ArticleTopics | None, first_seq: int
) -> None:
    """Add articles with the numbers from ``first_seq`` on; ``topics``: theirs, if they were trained."""
    n = len(block)
    db.conn.executemany(
        "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        zip(
            range(first_seq, first_seq + n),
            block.page_ids.tolist(),
            block.titles,
            block.revision_ids.tolist(),
            block.words.tolist(),
            [ROLES.index(role)] * n,
            [None] * n if topics is None else [row.tobytes() for row in topics.largest],
            block.ids or [None] * n,
            strict=True,
        ),
    )


def insert_recent(db: Database, rows: Sequence[dict[str, object]]) -> None:
    """Store the counts of trained articles, and drop those no longer among the newest."""
    db.table("recent").insert_all(rows)
    # Counts the articles after a row instead of comparing its number: how many skipped ones lie in between is
    # chance.
    db.execute(
        "DELETE FROM recent WHERE first_seq IN (SELECT first_seq FROM (SELECT first_seq, sum(articles) OVER"
        " (ORDER BY first_seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newer FROM recent)"
        " WHERE newer >= ?)",
        [RECENT_ARTICLES],
    )


def renew_topics(db: Database, seqs: Sequence[int], topics: ArticleTopics) -> None:
    """Replace the topics of the articles ``seqs`` with the models' current ones.

    Articles dropped meanwhile stay dropped.
    """
    db.conn.executemany(
        "UPDATE articles SET topics = ? WHERE seq = ?",
        [(row.tobytes(), seq) for row, seq in zip(topics.largest, seqs, strict=True)],
    )


def recent_articles(
    db: Database, first_seq: int, most: int, later: int, settings: Settings, n_words: int
) -> tuple[list[int], Block]:
    """Up to ``most`` articles of `recent` from number ``first_seq`` on, and their numbers.

    Minibatches that lie entirely among the ``later`` newest articles are left out.
    """
    seqs: list[int] = []
    parts: list[Block] = []
    rows = read_rows(
        db.conn,
        "SELECT first_seq, articles FROM (SELECT first_seq, articles, sum(articles) OVER"
        " (ORDER BY first_seq DESC) AS newest FROM recent)"
        " WHERE first_seq + articles > ? AND newest > ? ORDER BY first_seq",
        [first_seq, later],
    )
    for first, articles in rows:
        if len(seqs) == most:
            break
        ((data,),) = read_rows(
            db.conn,
            "SELECT documents FROM recent WHERE first_seq = ?",
            [whole(first, "recent.first_seq", 1)],
            largest=documents_room(settings),
        )
        found = Block.from_bytes(data, "recent.documents", n_words)
        if len(found) != articles:
            raise Damaged("recent.articles differs from the number of documents")
        start = max(0, first_seq - first)
        part = found[start : start + most - len(seqs)]
        parts.append(part)
        seqs += range(first + start, first + start + len(part))
    return seqs, Block.concatenate(parts)


def keep_top(db: Database, topics: Sequence[int], most: int) -> None:
    """Drop trained articles that are not among the ``most`` articles most about some topic of a model.

    ``topics``: the number of topics of each model.
    """
    kept: set[int] = set()
    for model, K in enumerate(topics):
        largest = largest_topic(model)
        for topic in range(K):
            rows = db.execute(
                f"SELECT seq FROM articles WHERE {largest} BETWEEN ? AND ?"
                f" ORDER BY {largest} DESC, seq LIMIT ?",
                [*largest_between(topic), most],
            )
            kept.update(seq for (seq,) in rows)
    db.execute(
        "DELETE FROM articles WHERE role = 0 AND seq NOT IN (SELECT value FROM json_each(?))",
        [json.dumps(sorted(kept))],
    )

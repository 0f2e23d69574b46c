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
from wikitopics.session.storage.codec.articles import LARGEST, documents_room, largest_between
from wikitopics.session.storage.database import read_rows
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.documents import Documents
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.schema import ROLES, largest_topic
from wikitopics.session.storage.sqliteutils import Database

RECENT_ARTICLES = 20_000
"""This many of the newest articles keep their counts and have their topics inferred again."""
DROPPED_EVERY = 2**18
"""Articles that should not be kept are dropped whenever this many more have been trained."""

Largest = tuple[NDArray[np.intp], NDArray[np.floating[Any]]]
"""Each article's largest topic in one model, (n,), and its proportion, (n,)."""


@dataclass(slots=True)
class ArticleRows:
    """Articles read, with each model's largest topic if they were trained."""

    documents: Documents
    role: Role
    topics: Sequence[Largest] = ()
    """One pair per model."""
    proportions: Sequence[Proportions] = ()
    """Their proportions in each model; none if the session stores none."""


@dataclass(slots=True)
class Renewed:
    """The present topics of articles that were trained some time ago."""

    seqs: Sequence[int]
    """Their numbers, ascending."""
    topics: Sequence[Largest]
    proportions: Sequence[Proportions] = ()


def insert_articles(db: Database, rows: ArticleRows, first_seq: int) -> None:
    """Add articles with the numbers from ``first_seq`` on."""
    documents = rows.documents
    seqs = range(first_seq, first_seq + len(documents))
    columns = _columns(rows.topics)
    db.conn.executemany(
        "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        zip(
            seqs,
            documents.page_ids.tolist(),
            documents.titles,
            documents.revision_ids.tolist(),
            documents.words.tolist(),
            [ROLES.index(rows.role)] * len(documents),
            [row.tobytes() for row in columns] if rows.topics else [None] * len(documents),
            documents.ids or [None] * len(documents),
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


def renew_topics(db: Database, seqs: Sequence[int], largest: Sequence[Largest]) -> None:
    """Replace the topics of the articles ``seqs`` with the models' current ones.

    Articles dropped meanwhile stay dropped.
    """
    db.conn.executemany(
        "UPDATE articles SET topics = ? WHERE seq = ?",
        [(row.tobytes(), seq) for row, seq in zip(_columns(largest), seqs, strict=True)],
    )


def recent_articles(
    db: Database, first_seq: int, most: int, later: int, settings: Settings, n_words: int
) -> tuple[list[int], Documents]:
    """Up to ``most`` articles of `recent` from number ``first_seq`` on, and their numbers.

    Minibatches that lie entirely among the ``later`` newest articles are left out.
    """
    seqs: list[int] = []
    parts: list[Documents] = []
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
        found = Documents.from_bytes(data, "recent.documents", n_words)
        if len(found) != articles:
            raise Damaged("recent.articles differs from the number of documents")
        start = max(0, first_seq - first)
        part = found[start : start + most - len(seqs)]
        parts.append(part)
        seqs += range(first + start, first + start + len(part))
    return seqs, Documents.concatenate(parts)


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


def _columns(largest: Sequence[Largest]) -> NDArray[np.uint16]:
    """(n, 2 x models): topic and ten-thousandths for each model, one row per article."""
    pairs = [
        np.column_stack((topic, np.rint(np.asarray(share, np.float64) * 10_000))) for topic, share in largest
    ]
    return np.ascontiguousarray(np.hstack(pairs).astype(LARGEST)) if pairs else np.empty((0, 0), LARGEST)

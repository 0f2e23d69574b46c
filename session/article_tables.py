"""The articles read and what each model makes of them: the tables `articles`, `article_topics`, `recent`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from session.documents import Documents
from session.reading import Role
from session.schema import ROLES

RECENT_ARTICLES = 20_000
"""So many of the newest articles keep their counts, and their topics are inferred anew."""

RENEWED_TOGETHER = 512

Largest = tuple[NDArray[np.intp], NDArray[np.floating[Any]]]
"""Each article's largest topic in one model, (n,), and its proportion, (n,)."""


@dataclass(slots=True)
class ArticleRows:
    """Articles read, with each model's largest topic where they were trained."""

    documents: Documents
    role: Role
    topics: Sequence[Largest] = ()
    """One pair a model."""


def insert_articles(db: Database, rows: ArticleRows, first_seq: int) -> None:
    """Add articles as numbers ``first_seq`` and on."""
    documents = rows.documents
    seqs = range(first_seq, first_seq + len(documents))
    columns = _columns(rows.topics)
    db.conn.executemany(
        "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?)",
        zip(
            seqs,
            documents.page_ids.tolist(),
            documents.titles,
            documents.revision_ids.tolist(),
            documents.words.tolist(),
            [ROLES.index(rows.role)] * len(documents),
            [row.tobytes() for row in columns] if rows.topics else [None] * len(documents),
            strict=True,
        ),
    )
    if rows.topics:
        _insert_topics(db, columns, list(enumerate(seqs)))


def insert_recent(db: Database, documents: Documents, first_seq: int) -> None:
    """Keep the counts of trained articles, and drop those that are no longer among the newest."""
    nameless = replace(documents, titles=("",) * len(documents))  # `articles` has the titles
    db.table("recent").insert(
        {"first_seq": first_seq, "articles": len(documents), "documents": nameless.to_bytes()}
    )
    db.execute(
        "DELETE FROM recent WHERE first_seq + articles <= ?", [first_seq + len(documents) - RECENT_ARTICLES]
    )


def renew_topics(db: Database, infer: Callable[[Documents], Sequence[Largest] | None]) -> None:
    """Put what the models make of the newest articles now in the place of what they made of them then.

    A few hundred at a time, each in a transaction of its own that is short, since others write too: the
    ranking of old articles need not change at one stroke. Where ``infer`` gives None there is no
    time for it, and the rest stays as it is.
    """
    for seqs, documents in _recent(db):
        largest = infer(documents)
        if largest is None:
            return
        with db.atomic():
            _replace_topics(db, seqs, largest)


def _replace_topics(db: Database, seqs: Sequence[int], largest: Sequence[Largest]) -> None:
    rows = db.execute(
        "SELECT seq, topics FROM articles WHERE seq BETWEEN ? AND ?", [seqs[0], seqs[-1]]
    ).fetchall()
    places = {seq: place for place, seq in enumerate(seqs)}
    old = {seq: np.frombuffer(packed, "<u2").tolist() for seq, packed in rows if packed and seq in places}
    db.conn.executemany(
        "DELETE FROM article_topics WHERE model = ? AND topic = ? AND proportion = ? AND seq = ?",
        [
            (model, topic, proportion, seq)
            for seq, values in old.items()
            for model, (topic, proportion) in enumerate(zip(values[::2], values[1::2], strict=True))
        ],
    )
    columns = _columns(largest)
    kept = [(places[seq], seq) for seq in old]
    db.conn.executemany(
        "UPDATE articles SET topics = ? WHERE seq = ?",
        [(columns[place].tobytes(), seq) for place, seq in kept],
    )
    _insert_topics(db, columns, kept)


def keep_top(db: Database, most: int) -> None:
    """Drop trained articles that are not among the ``most`` most about some topic."""
    db.execute(
        "DELETE FROM article_topics WHERE (model, topic, proportion, seq) IN ("
        " SELECT model, topic, proportion, seq FROM (SELECT *, row_number() OVER"
        " (PARTITION BY model, topic ORDER BY proportion DESC, seq) AS place FROM article_topics)"
        " WHERE place > ?)",
        [most],
    )
    db.execute("DELETE FROM articles WHERE role = 0 AND seq NOT IN (SELECT seq FROM article_topics)")


def _recent(db: Database) -> Iterator[tuple[list[int], Documents]]:
    """The newest trained articles and their numbers, :data:`RENEWED_TOGETHER` or more at a time."""
    seqs: list[int] = []
    parts: list[Documents] = []
    for (first_seq,) in db.execute("SELECT first_seq FROM recent ORDER BY first_seq").fetchall():
        (data,) = db.execute("SELECT documents FROM recent WHERE first_seq = ?", [first_seq]).fetchone()
        parts.append(Documents.from_bytes(data))
        seqs += range(first_seq, first_seq + len(parts[-1]))
        if len(seqs) >= RENEWED_TOGETHER:
            yield seqs, Documents.concatenate(parts)
            seqs, parts = [], []
    if seqs:
        yield seqs, Documents.concatenate(parts)


def _insert_topics(db: Database, columns: NDArray[np.uint16], places: Sequence[tuple[int, int]]) -> None:
    """One row a model for each (row of ``columns``, article number)."""
    values = columns.tolist()
    for model in range(columns.shape[1] // 2):
        db.conn.executemany(
            "INSERT INTO article_topics VALUES (?, ?, ?, ?)",
            [(model, values[place][2 * model], values[place][2 * model + 1], seq) for place, seq in places],
        )


def _columns(largest: Sequence[Largest]) -> NDArray[np.uint16]:
    """(n, 2 x models): topic and ten-thousandths of each model, one row an article."""
    pairs = [
        np.column_stack((topic, np.rint(np.asarray(share, np.float64) * 10_000))) for topic, share in largest
    ]
    return np.ascontiguousarray(np.hstack(pairs).astype("<u2")) if pairs else np.empty((0, 0), "<u2")

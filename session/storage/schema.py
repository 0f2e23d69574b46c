"""The session file's tables. One SQLite file is one session.

A file is a session if its tables, as SQLite itself reports them, are these and hold nothing that SQLite would
compute: no view, trigger, virtual table, generated column, default or condition. Only the orders of
`order_by_topic` are computed, by SQL that is known word by word. Whoever changes a table here extends
`wikitopics.session.storage.released`, and raises `VERSION`.
"""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from typing import Any

from wikitopics.session.errors import Damaged
from wikitopics.session.records import Role

APPLICATION_ID = 0x77746F70
"""'wtop' in the SQLite header, which distinguishes a session from any other SQLite file."""

ROLES: tuple[Role, ...] = ("trained", "held_out", "skipped")
"""A role is stored as its index here."""

VERSION = 9
"""The number of this format: `PRAGMA user_version`, by which other versions can refuse."""
RELEASED = 8
"""That of 1.0.0, which is read unconverted, and converted to this format when training continues."""

MODELS = """CREATE TABLE models (id INTEGER PRIMARY KEY, topics_in_use INTEGER, updates INTEGER, rho REAL,
    scalars TEXT, arrays BLOB)"""
PROGRESS = """id INTEGER PRIMARY KEY, articles INTEGER, tokens INTEGER, held_out INTEGER,
    crawled INTEGER, pending INTEGER, skipped INTEGER, minibatches INTEGER, pending_offset INTEGER,
    next_seq INTEGER, position TEXT, lap REAL, finished INTEGER, elapsed_seconds REAL, bytes_read INTEGER,
    committed_at REAL, renew_from INTEGER, skips TEXT, prequential TEXT"""
CREATE = f"""
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, fingerprint TEXT, words TEXT);
-- id: the model's place in settings.models. Its state comes last, so that the rest is read without it.
{MODELS};

-- skips: JSON, the number of skipped articles by reason. renew_from: where the newest articles must still be
-- inferred again. prequential: how the newest minibatches were predicted, if a model has a half-life.
-- again: how many of the articles had been trained before, in an earlier pass.
CREATE TABLE progress ({PROGRESS}, again INTEGER);

-- Word counts of articles crawled but not yet trained, one row per stretch of the crawl.
CREATE TABLE pending (id INTEGER PRIMARY KEY, documents BLOB);
CREATE TABLE held_out (id INTEGER PRIMARY KEY, documents BLOB);
-- The newest trained articles again, to be inferred again with what the models learn later.
CREATE TABLE recent (first_seq INTEGER PRIMARY KEY, articles INTEGER, documents BLOB);
-- With --keep-counts, or several passes: all held-out articles, then the trained ones, in the order of the
-- stream. id: the number of the first article.
CREATE TABLE kept_counts (id INTEGER PRIMARY KEY, articles INTEGER, documents BLOB);
-- Until the session has a vocabulary, the counts of all words of its first articles, one row per stretch of
-- the crawl. words: the words that the documents' word ids number, one per line. skips, position and lap as
-- in progress, for and after this stretch. unread: pages that could not be counted.
CREATE TABLE first_articles (id INTEGER PRIMARY KEY, documents BLOB, words TEXT, skips TEXT, unread INTEGER,
    position TEXT, lap REAL);

-- role: index into ROLES. topics: each model's largest topic, as two big-endian uint16 (topic,
-- ten-thousandths), which sort as bytes. id: a document's id in its own collection; null if the source has no
-- such ids.
CREATE TABLE articles (seq INTEGER PRIMARY KEY, page_id INTEGER, title TEXT, revision_id INTEGER,
    words INTEGER, role INTEGER, topics BLOB, id TEXT);
-- One row per minibatch, with `--keep-articles all`: the numbers of its articles are first_seq and on.
CREATE TABLE blocks (first_seq INTEGER PRIMARY KEY, articles INTEGER, page_ids BLOB, titles BLOB);
CREATE TABLE proportions (model INTEGER, first_seq INTEGER, data BLOB, PRIMARY KEY (model, first_seq));
-- How often each word was trained on.
CREATE TABLE word_counts (id INTEGER PRIMARY KEY, arrays BLOB);

-- Measured values, without those that follow from others.
CREATE TABLE metrics (model INTEGER, articles INTEGER, tokens INTEGER, seconds REAL, metric TEXT, value REAL,
    PRIMARY KEY (model, metric, articles));
CREATE TABLE snapshots (model INTEGER, articles INTEGER, word_ids BLOB, probabilities BLOB, shares BLOB,
    PRIMARY KEY (model, articles));
-- Names made of words. alive: born and not dead. lasting: the name that events know, if another is shown.
CREATE TABLE topic_names (model INTEGER, topic INTEGER, name TEXT, alive INTEGER, lasting TEXT,
    PRIMARY KEY (model, topic));
CREATE TABLE given_names (model INTEGER, topic INTEGER, name TEXT, PRIMARY KEY (model, topic));
CREATE TABLE topic_events (id INTEGER PRIMARY KEY, model INTEGER, articles INTEGER, event TEXT, topic INTEGER,
    other INTEGER, name TEXT);

CREATE TABLE runs (id INTEGER PRIMARY KEY, started_at REAL, ended_at REAL, first_article INTEGER,
    reason TEXT);
CREATE TABLE events (id INTEGER PRIMARY KEY, at REAL, level TEXT, message TEXT);
CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, at REAL, pid INTEGER, state TEXT, activity TEXT);
CREATE TABLE flow (id INTEGER PRIMARY KEY, at REAL, crawl_rate REAL, train_rate REAL, queue INTEGER);
CREATE TABLE control (id INTEGER PRIMARY KEY, paused INTEGER, save INTEGER, stop INTEGER);
INSERT INTO control VALUES (1, 0, 0, 0);
"""

AS_RELEASED = f"""
DROP TABLE progress;
CREATE TABLE progress ({PROGRESS});
DROP TABLE models;
CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, spec TEXT, topics INTEGER, scalars TEXT,
    arrays BLOB, topics_in_use INTEGER, updates INTEGER, rho REAL, log_likelihood REAL);
DROP TABLE topic_names;
CREATE TABLE topic_names (model INTEGER, topic INTEGER, name TEXT, alive INTEGER, PRIMARY KEY (model, topic));
-- In articles.topics the numbers are little-endian, and here they are again, in order.
CREATE TABLE article_topics (model INTEGER, topic INTEGER, proportion INTEGER, seq INTEGER,
    PRIMARY KEY (model, topic, proportion, seq)) WITHOUT ROWID;
"""
"""How the tables of 1.0.0 differ."""

_ORDER = "by_topic_of_model_"

_COLUMNS = """
SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_master m, pragma_table_xinfo(m.name) c
WHERE m.type = 'table' ORDER BY m.name, c.cid
"""
_MORE_THAN_COLUMNS = """
SELECT m.name FROM sqlite_master m, pragma_table_xinfo(m.name) c
WHERE m.type = 'table' AND (c.hidden OR c.dflt_value IS NOT NULL)
UNION ALL
SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) WHERE m.type = 'table'
UNION ALL
SELECT i.name FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) c
WHERE m.type = 'table' AND m.name <> '_sqlite_migrations' AND i.origin <> 'pk'
AND (i."unique" OR i.partial OR c.cid < 0)
"""
"""Computed columns, defaults, foreign keys, and indexes that restrict or compute something."""
_OTHERS = frozenset({"_sqlite_migrations", "sqlite_stat1", "sqlite_stat3", "sqlite_stat4"})
"""Tables that nothing here reads: of sqlite-utils, which made the sessions of 1.0.0, and of ANALYZE."""

Columns = dict[str, list[tuple[Any, ...]]]
"""For each table (name, type, not null, place in the key) of each of its columns."""


def largest_topic(model: int) -> str:
    """SQL for the largest topic of an article in a model, and its proportion: four bytes of `articles`."""
    return f"substr(topics, {4 * model + 1}, 4)"


def order_by_topic(model: int) -> str:
    """SQL to create the index by which the articles most about a topic are found."""
    return f"CREATE INDEX {_ORDER}{model} ON articles ({largest_topic(model)})"


@cache
def tables(version: int = VERSION) -> Columns:
    """The tables of a session of this format."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(CREATE + (AS_RELEASED if version == RELEASED else ""))
        return _by_table(fresh.execute(_COLUMNS))


def check_tables(read: Callable[[str], Iterable[tuple[Any, ...]]], version: int) -> None:
    """Check that a file has the tables of a session, and maybe indexes of somebody's own.

    ``read``: the rows of a query. Raises `Damaged`.
    """
    wanted, orders = tables(version), set()
    known = wanted.keys() | _OTHERS
    for kind, name, sql in read("SELECT type, name, sql FROM sqlite_master"):
        # First, since a virtual table would run its module's code as soon as its columns are asked for.
        # SQLite itself writes the first words. No pragma reports a CHECK.
        plain = isinstance(sql, str) and "check" not in sql.lower()
        table = kind == "table" and name in known and plain and sql.startswith("CREATE TABLE ")
        index = kind == "index" and (
            sql is None or (plain and sql.startswith(("CREATE INDEX ", "CREATE UNIQUE ")))
        )
        if not table and not index:
            raise _strange(name)
        model = str(name).removeprefix(_ORDER)
        if model.isdecimal() and len(model) < 4 and sql == order_by_topic(int(model)):
            orders.add(name)
    found = _by_table(read(_COLUMNS))
    for name in (wanted.keys() | found.keys()) - _OTHERS:
        if found.get(name) != wanted.get(name):
            raise _strange(name)
    for (name,) in read(_MORE_THAN_COLUMNS):
        if name not in orders:
            raise _strange(name)


def _by_table(rows: Iterable[tuple[Any, ...]]) -> Columns:
    found: Columns = {}
    for table, *column in rows:
        found.setdefault(table, []).append(tuple(column))
    return found


def _strange(name: object) -> Damaged:
    return Damaged(f"{name!r:.80} is not as in a session: only its own plain tables belong there")

"""Writing the session file: everything from one stretch of training is committed together or not at
all.

Only one trainer writes (see `wikitopics.session.system`): results from one thread, and from another
what is in `heartbeats.py`.
"""

import contextlib
import errno
import json
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wikitopics.crawler.source import Identity, Position
from wikitopics.model.areas import Areas
from wikitopics.model.threads import ALONE, Threads
from wikitopics.session.errors import Damaged, SessionError, os_error_as
from wikitopics.session.naming import ToldTopics
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.paths import WAL, beside, is_at
from wikitopics.session.records import Count, Progress, Role, TopicEvent, TopWords
from wikitopics.session.settings import Settings
from wikitopics.session.storage import articles, places, recorded, snippets, topics
from wikitopics.session.storage.articles import ArticleTopics
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import WordCounts, encode_block
from wikitopics.session.storage.database import (
    APPLICATION_ID,
    VERSION,
    closed_on_error,
    connect,
    database,
    only_row,
    order_by_topic,
    remove_log,
    script,
    session_errors,
    writing,
)
from wikitopics.session.storage.decoding import row_of
from wikitopics.session.storage.files import draft_of
from wikitopics.session.storage.places import Layout, Places
from wikitopics.session.storage.reader import SessionReader

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = dict[str, object]

TOP_ARTICLES = 200
"""With `--keep-articles top`: articles kept for each topic."""
LARGEST_LOG = 64 * 2**20
"""Bytes to which the write-ahead log may grow."""


@dataclass(slots=True)
class Changes:
    """Everything since the last commit."""

    pending: list[tuple[int, Block]] = field(default_factory=list)
    """(number, articles) of stretches of the stream that wait to be trained on."""
    articles: list[tuple[Block, Role, ArticleTopics | None]] = field(default_factory=list)
    """Articles read, with their topics if they were trained."""
    renewed: list[tuple[Sequence[int], ArticleTopics]] = field(default_factory=list)
    """(numbers, ascending, current topics) of articles that were trained on some time ago."""
    held_out: tuple[Block, ArticleTopics] | None = None
    """All held-out articles with their topics, at the end of a session over the user's own
    documents."""
    drops_held_out: bool = False
    """Whether training continues, which makes the stored held-out topics stale."""
    again: list[tuple[Sequence[int], Block, ArticleTopics]] = field(default_factory=list)
    """(numbers, ascending, articles, topics) of articles that were read again."""
    drops_articles: bool = False
    """Whether `--keep-articles top` now drops articles that are not among those most about a
    topic."""
    keeps_first: bool = False
    """Whether the counts of all articles so far are kept, to infer their topics again when the
    models' topics have started over."""
    reference: list[Block] = field(default_factory=list)
    """Articles to count the words of topics in, besides those stored."""
    metrics: list[tuple[int, int, int, float, str, float]] = field(default_factory=list)
    """(model, articles, tokens, seconds, metric, value)"""
    snapshots: list[TopWords] = field(default_factory=list)
    told_topics: dict[int, ToldTopics] = field(default_factory=dict)
    areas: dict[int, Areas] = field(default_factory=dict)
    """By the model's number."""
    topic_events: list[tuple[int, TopicEvent]] = field(default_factory=list)
    """(number of the model, event)"""
    log: list[str] = field(default_factory=list)
    """Log lines, saved with the results they are about, so that training these again does not
    repeat them."""
    models: dict[int, dict[str, object]] = field(default_factory=dict)
    """The columns of the models' rows. They are packed one after another, before a commit
    begins."""
    first_articles: list[Block] = field(default_factory=list)
    """For a session without a vocabulary yet."""
    reads_first_articles: bool = False
    """Whether this commit completes feeding them to the models, so that the stored ones can be
    deleted."""
    word_counts: WordCounts | None = None
    """The counts of everything trained so far; None if nothing has been trained since the last
    commit."""
    thinned_snapshots: set[int] = field(default_factory=set)
    """The article counts whose snapshots are dropped."""
    drops_maps: set[int] = field(default_factory=set)
    """The numbers of the models whose maps of articles are forgotten."""
    layouts: list[tuple[int, Layout]] = field(default_factory=list)
    """By the model's number."""
    places: list[tuple[int, int, int, Places]] = field(default_factory=list)
    """(model, first_seq, layout, places) of blocks that have been committed before."""


class Beginning(NamedTuple):
    """What a session has before its first article, once it has a vocabulary."""

    words: Sequence[str]
    models: Sequence[Mapping[str, object]]
    """The rows of the models, then those of their replicas."""
    names: Sequence[str] = ()
    """Those of the models' first topics."""


def create(
    path: Path,
    settings: Settings,
    beginning: Beginning | None = None,
    start: Position | None = None,
) -> None:
    """Create the session file, whole or not at all, readable only by its owner; an existing file is
    never replaced.

    Without ``beginning`` it has no words and no models; `build` adds them. ``start``: the position
    from which its source is read. The caller holds the session's lock.
    """
    with os_error_as(f"cannot create {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_free(path)
        with session_errors(path), draft_of(path, mode=0o600) as draft:
            with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                db = database(connection)
                # A draft left by a power cut is discarded, so it is flushed only once, when it is
                # complete.
                connection.execute("PRAGMA synchronous = OFF")
                _create_tables(connection, len(settings.models))
                with writing(connection, path):
                    _insert_beginning(db, settings, beginning, start)
                connection.execute("PRAGMA journal_mode = WAL")
                only_row(connection, "progress", {"id": int})  # fails where a log cannot be used
            # A hard link would check and take the name in one step, but some file systems have no
            # hard links. While the lock is held, no other trainer takes the name in between.
            _check_free(path)
            remove_log(path)


def _check_free(path: Path) -> None:
    if os.path.lexists(path):
        raise SessionError(f"cannot create {path}: {os.strerror(errno.EEXIST)}")


def _create_tables(connection: sqlite3.Connection, n_models: int) -> None:
    """Make an empty file a session without any rows."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    tables = script(f"schema-{VERSION}")
    indexes = "; ".join(map(order_by_topic, range(n_models)))
    connection.executescript(f"BEGIN; {tables} {indexes}; COMMIT;")


def _insert_beginning(
    db: "Database", settings: Settings, beginning: Beginning | None, start: Position | None
) -> None:
    """Insert what a session has before its first article; the arguments are those of `create`."""
    db.table("settings").insert_all(
        {"key": key, "value": json.dumps(value)} for key, value in settings.as_json().items()
    )
    if beginning is not None:
        _insert_words(db, settings, beginning)
    db.table("progress").insert(_progress_row(Progress(position=_stored(start)), 1))
    db.table("control").insert(
        {"id": 1, "paused": 0, "save": 0, "stop": 0, "hurry": 0, "lay_out": 0}
    )
    db.execute(f"PRAGMA user_version = {VERSION}")


def _insert_words(db: "Database", settings: Settings, beginning: Beginning) -> None:
    """Insert the vocabulary, and the models over it before their first article."""
    words, models, names = beginning
    db.table("vocabulary").insert(
        {"id": 1, "fingerprint": settings.fingerprint, "words": "\n".join(words)}
    )
    for number, row in enumerate(models):
        db.table("models").insert({"id": number, **row})
    for number in range(len(settings.models)):
        db.table("given_names").insert_all(
            {"model": number, "topic": topic, "name": name} for topic, name in enumerate(names)
        )
    db.table("word_counts").insert({"id": 1, "arrays": WordCounts.none(len(words)).to_bytes()})


def _stored(position: Position | None) -> dict[str, Any] | None:
    return None if position is None else dict(position)


def _progress_row(progress: Progress, next_seq: int) -> Row:
    """The columns of the row of `progress`, with the current time."""
    return {"id": 1, **row_of(replace(progress, next_seq=next_seq, committed_at=time.time()))}


class SessionWriter(SessionReader):
    """An existing session, open for its only trainer, which also reads it."""

    def __init__(self, path: Path) -> None:
        self._db = database(connect(path))
        with closed_on_error(self._db):
            super().__init__(path, self._db.conn)
            # A damaged file is refused at once.
            self.settings()
            self.vocabulary()
            self.model_statuses()
            self.next_seq = self.progress().next_seq
            """The number of the next article: none is used twice, even if --keep-articles drops
            rows."""

    def build(self, settings: Settings, beginning: Beginning) -> None:
        """Give a session its vocabulary, whose fingerprint ``settings`` have. Its first articles
        stay."""
        before = self.progress()
        progress = Progress(elapsed_seconds=before.elapsed_seconds, bytes_read=before.bytes_read)
        with writing(self._db.conn, self.path):
            _insert_words(self._db, settings, beginning)
            self._db.table("settings").update(
                "fingerprint", {"value": json.dumps(settings.fingerprint)}
            )
            self._put("progress", 1, _progress_row(progress, self.next_seq))

    def add_source(self, identity: Identity, start: Position | None) -> None:
        """Have a finished session continue with another source, from the position ``start``.

        Whoever resumes it must find out that a source is not this one even if nothing of it has
        been read.
        """
        progress = replace(self.progress(), position=_stored(start), lap=None, finished=False)
        with writing(self._db.conn, self.path):
            self._db.table("settings").update(
                "source_options", {"value": json.dumps(dict(identity))}
            )
            recorded.drop_held_out_topics(self._db.conn)
            self._put("progress", 1, _progress_row(progress, self.next_seq))
        self._settings = None

    def points(self, table: str) -> list[int]:
        """Article counts at which `metrics` or `snapshots` has rows."""
        rows = self.select(table, {"articles": Count}, "GROUP BY articles ORDER BY articles")
        return [articles for (articles,) in rows]

    def commit(
        self,
        progress: Progress,
        changes: Changes,
        first_pending: int,
        threads: Threads = ALONE,
    ) -> None:
        """Write everything in one transaction; rows before number ``first_pending`` are no longer
        pending. ``threads``: those that pack the beginnings of texts.

        Raises `SessionError`; then nothing is written.
        """
        if not is_at(self.path, self.file):  # SQLite would go on writing to a deleted file
            raise SessionError(
                f"{self.path} was removed or replaced during training, which ends here"
            )
        # Large values are packed before the transaction, since nothing else can write during it.
        # Without heartbeats, for example, the trainer would seem to hang.
        packed = self._packed(changes, first_pending, threads)
        word_counts = None if changes.word_counts is None else changes.word_counts.to_bytes()
        with writing(self._db.conn, self.path):
            # Places first: they follow from proportions that this commit may replace.
            places.keep_places(self._db.conn, changes.places)
            for model in changes.drops_maps:
                places.drop_map(self._db.conn, model)
            places.insert_layouts(self._db.conn, changes.layouts)
            next_seq = self._write_articles(changes)
            self._db.execute("DELETE FROM pending WHERE id < ?", [first_pending])
            recent = packed.pop("recent", [])
            articles.insert_recent(self._db.conn, recent, keeps_first=changes.keeps_first)
            for table, rows in packed.items():
                self._db.table(table).insert_all(rows)
            if changes.reads_first_articles:
                self._db.execute("DELETE FROM first_articles")
            self._write_topics(changes)
            now = time.time()
            self._db.table("events").insert_all(
                {"at": now, "level": "info", "message": message} for message in changes.log
            )
            if word_counts is not None:
                self._put("word_counts", 1, {"arrays": word_counts})
            for number, row in changes.models.items():
                self._put("models", number, row)
            self._put("progress", 1, _progress_row(progress, next_seq))
        self.next_seq = next_seq
        log = beside(self.path, WAL)
        if log.exists() and log.stat().st_size > LARGEST_LOG:
            self._trim_log()

    def _packed(
        self, changes: Changes, first_pending: int, threads: Threads
    ) -> dict[str, list[Row]]:
        """The rows with word counts and with the beginnings of texts to add, by table."""
        settings = self.settings()
        keeps_articles = settings[KEEP_ARTICLES] != "none"
        rows = defaultdict[str, list[Row]](list)
        for number, block in changes.pending:
            if number >= first_pending:
                rows["pending"].append({"id": number, "documents": block.to_bytes()})
        for block in changes.first_articles:
            rows["first_articles"] += encode_block(block)
        for block in changes.reference:
            rows["reference"].append({"documents": block.nameless().to_bytes()})
        next_seq = self.next_seq
        for block, role, _ in changes.articles:
            counts = replace(block, snippets=None)
            if role == "trained" and keeps_articles:
                rows["recent"].append(articles.recent_row(counts, next_seq))
            if role != "skipped" and settings.keeps_counts:
                rows["kept_counts"].append(
                    {"id": next_seq, "articles": len(block), "documents": counts.to_bytes()}
                )
            if role == "held_out":
                rows["held_out"].append({"documents": counts.to_bytes()})
            rows["snippets"] += snippets.snippet_rows(block, next_seq, threads)
            next_seq += len(block)
        return rows

    def _write_articles(self, changes: Changes) -> int:
        """Write the articles and their topics; returns the number of the next article."""
        db = self._db.conn
        settings = self.settings()
        keep_articles: str = settings[KEEP_ARTICLES]
        n_topics = [spec.topics for spec in settings.models]
        next_seq = self.next_seq
        if changes.drops_held_out:
            recorded.drop_held_out_topics(db)
        for block, role, present in changes.articles:
            numbers = range(next_seq, next_seq + len(block))
            if keep_articles != "none" or role != "trained":
                articles.insert_articles(db, block, role, present, numbers)
            if present is not None and present.proportions:
                recorded.insert_block(db, block, present.proportions, next_seq)
            next_seq = numbers.stop
        for seqs, present in changes.renewed:
            articles.renew_topics(db, seqs, present)
            recorded.renew_proportions(db, seqs, present.proportions, n_topics)
        for seqs, block, present in changes.again:
            if keep_articles != "none":
                articles.replace_articles(db, block, present, seqs)
            recorded.renew_proportions(db, seqs, present.proportions, n_topics)
        if changes.held_out is not None:
            block, present = changes.held_out
            recorded.insert_held_out_topics(db, block, present, settings.batch_size)
        if changes.drops_articles and keep_articles == "top":
            articles.keep_top(db, n_topics, TOP_ARTICLES)
        return next_seq

    def _write_topics(self, changes: Changes) -> None:
        """Write the measurements of the models, their topics, and what happened to these."""
        db = self._db.conn
        db.executemany("INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?, ?)", changes.metrics)
        topics.insert_snapshots(db, changes.snapshots)
        thinned = [(article_count,) for article_count in changes.thinned_snapshots]
        db.executemany("DELETE FROM snapshots WHERE articles = ?", thinned)
        for model, told in changes.told_topics.items():
            topics.replace_told(db, model, told)
        topics.replace_areas(db, changes.areas)
        events = ({**row_of(event), "model": model} for model, event in changes.topic_events)
        self._db.table("topic_events").insert_all(events)

    def _put(self, table: str, number: int, values: Mapping[str, Any]) -> None:
        """Update an existing row. sqlite-utils would first read all of it, including a model's
        arrays."""
        columns = ", ".join(f"{name} = ?" for name in values)
        updated = self._db.conn.execute(
            f"UPDATE {table} SET {columns} WHERE id = ?", [*values.values(), number]
        )
        if updated.rowcount != 1:
            raise Damaged(f"{table} lacks a row that it had")

    def _trim_log(self) -> None:
        """Truncate the write-ahead log, which can grow while a reader keeps an old state open."""
        # After an error the next commit tries again, and reports it.
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Leave everything in one file, even if others have it open; safe to call twice."""
        self._trim_log()
        self._db.close()

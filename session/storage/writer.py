"""Writing the session file: everything of one stretch of training is committed together or not at all.

Only one trainer writes (see `wikitopics.session.storage.coordination.lock`), from one thread.
"""

import contextlib
import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.paths import WAL, beside
from wikitopics.session.records import TopWords
from wikitopics.session.settings import Settings
from wikitopics.session.storage.articles import (
    insert_articles,
    insert_recent,
    keep_top,
    recent_articles,
    renew_topics,
)
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.blocks import insert_block, renew_proportions
from wikitopics.session.storage.changes import Changes
from wikitopics.session.storage.codec.progress import Progress, encode_prequential
from wikitopics.session.storage.codec.snapshots import LARGEST_SNAPSHOT, decode_snapshot
from wikitopics.session.storage.codec.topics import TopicNames, decode_topic_names
from wikitopics.session.storage.database import (
    as_session_error,
    connect,
    is_at,
    read_rows,
    session_errors,
    writing,
)
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.files import draft_of
from wikitopics.session.storage.packing import packed
from wikitopics.session.storage.schema import APPLICATION_ID, CREATE, VERSION, order_by_topic
from wikitopics.session.storage.sqliteutils import Database
from wikitopics.session.storage.tables import (
    read_committed,
    read_documents,
    read_first_articles,
    read_held_out,
    read_models,
    read_settings,
    read_state,
    read_word_counts,
    read_words,
)
from wikitopics.session.storage.word_counts import WordCounts

TOP_ARTICLES = 200
"""With `--keep-articles top`: articles kept for each topic."""
LARGEST_LOG = 64 * 2**20
"""Bytes to which the write-ahead log may grow."""


def create(
    path: Path, settings: Settings, words: Sequence[str], models: Sequence[Mapping[str, object]]
) -> None:
    """Create the session file, whole or not at all, readable only by its owner; an existing file is never
    replaced.

    It has no words and models if these will be built (`build`). The caller holds the session's lock.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_free(path)
        with draft_of(path, mode=0o600) as draft:
            _fill(draft, settings, words, models)
            # Not by a hard link, which would check and take the name in one step: some file systems have
            # none. With the lock held, no other trainer takes the name in between.
            _check_free(path)
    except sqlite3.Error as error:
        raise as_session_error(error, path) from None
    except OSError as error:
        raise SessionError(f"cannot create {path}: {error.strerror}") from None


def _check_free(path: Path) -> None:
    if os.path.lexists(path):
        raise SessionError(f"cannot create {path}: {os.strerror(errno.EEXIST)}")


def _fill(
    draft: Path, settings: Settings, words: Sequence[str], models: Sequence[Mapping[str, object]]
) -> None:
    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        db = Database(connection)
        # A draft left by a power cut is discarded, so it is flushed only once, when it is complete.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        orders = "; ".join(map(order_by_topic, range(len(settings.models))))
        connection.executescript(f"BEGIN; {CREATE} {orders}; COMMIT;")
        with writing(db):
            db.table("settings").insert_all(
                {"key": key, "value": json.dumps(value)} for key, value in settings.as_json().items()
            )
            if not settings.building:
                _insert_words(db, settings, words, models)
            db.table("progress").insert({"id": 1, "next_seq": 1, **_progress_columns(Progress())})
            db.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _insert_words(
    db: Database, settings: Settings, words: Sequence[str], models: Sequence[Mapping[str, object]]
) -> None:
    """Insert the vocabulary, and the models over it before their first article."""
    db.table("vocabulary").insert({"id": 1, "fingerprint": settings.fingerprint, "words": "\n".join(words)})
    for number, row in enumerate(models):
        db.table("models").insert({"id": number, **row})
    db.table("word_counts").insert({"id": 1, "arrays": WordCounts.none(len(words)).to_bytes()})


class SessionWriter:
    """An existing session, open for its only trainer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)
        self._file = os.stat(path)
        try:
            with session_errors(self.path):
                self.settings = read_settings(self._db.conn)
                self._words = read_words(self._db.conn)
                self.models = read_models(self._db.conn, self.settings.models)
                # Numbers of articles are never used twice, even if --keep-articles drops rows.
                self._next_seq = read_committed(self._db.conn).next_seq
        except BaseException:
            self._db.close()
            raise

    def build(self, settings: Settings, words: Sequence[str], models: Sequence[Mapping[str, object]]) -> None:
        """Give a session without a vocabulary one; ``settings`` include it. Its first articles stay."""
        before = self.progress()
        progress = Progress(elapsed_seconds=before.elapsed_seconds, bytes_read=before.bytes_read)
        with session_errors(self.path), writing(self._db):
            _insert_words(self._db, settings, words, models)
            self._db.table("settings").update("fingerprint", {"value": json.dumps(settings.fingerprint)})
            self._put("progress", 1, _progress_columns(progress))
        self.settings, self._words = settings, tuple(words)
        self.models = read_models(self._db.conn, settings.models)

    def first_articles(self) -> Iterator[Block]:
        """The blocks from which the vocabulary is built and with which the stream begins, one at a time."""
        with session_errors(self.path):
            yield from read_first_articles(self._db.conn, self.settings)

    @property
    def n_words(self) -> int:
        """W, the size of the vocabulary."""
        return len(self._words)

    def vocabulary(self) -> tuple[str, ...]:
        """The words, by id."""
        return self._words

    def progress(self) -> Progress:
        """The progress at the last commit."""
        with session_errors(self.path):
            return read_committed(self._db.conn).progress

    def model_states(self) -> Iterator[dict[str, Any]]:
        """The models' states in the order of the settings, one at a time."""
        for number, model in enumerate(self.models):
            with session_errors(self.path):
                yield read_state(self._db.conn, number, model.topics, self.n_words)

    def model_scores(self) -> list[float | None]:
        """The models' last log-likelihoods."""
        with session_errors(self.path):
            return [model.log_likelihood for model in read_models(self._db.conn, self.settings.models)]

    def pending(self) -> list[tuple[int, Block]]:
        """Stretches crawled and not completely trained, oldest first."""
        with session_errors(self.path):
            return read_documents(self._db.conn, "pending", self.settings, self.n_words)

    def held_out(self) -> Block:
        """The held-out articles so far."""
        with session_errors(self.path):
            return read_held_out(self._db.conn, self.settings, self.n_words)

    def word_counts(self) -> WordCounts:
        """How often each word was trained on."""
        with session_errors(self.path):
            return read_word_counts(self._db.conn, self.n_words)

    def commit(self, progress: Progress, changes: Changes, first_pending: int) -> None:
        """Write everything in one transaction. Raises `SessionError`; then nothing is written."""
        if not is_at(self.path, self._file):  # SQLite would continue writing to a file without a name
            raise SessionError(f"{self.path} was removed or replaced while it trained: training ends here")
        next_seq = self._next_seq
        made = packed(changes, self.settings, next_seq, first_pending)
        topics = [model.topics for model in self.models]
        with session_errors(self.path), writing(self._db):
            for block, role, found in changes.articles:
                if self.settings[KEEP_ARTICLES] != "none" or role != "trained":
                    insert_articles(self._db, block, role, found, next_seq)
                if found is not None and found.proportions:
                    insert_block(self._db, block, found.proportions, next_seq)
                next_seq += len(block)
            insert_recent(self._db, made.recent)
            for seqs, present in changes.renewed:
                renew_topics(self._db, seqs, present)
                if present.proportions:
                    renew_proportions(self._db, seqs, present.proportions, topics)
            if changes.drops_articles and self.settings[KEEP_ARTICLES] == "top":
                keep_top(self._db, topics, TOP_ARTICLES)
            self._db.execute("DELETE FROM pending WHERE id < ?", [first_pending])
            self._db.table("pending").insert_all(made.pending)
            self._db.table("first_articles").insert_all(made.first_articles)
            if changes.reads_first_articles:
                self._db.execute("DELETE FROM first_articles")
            self._db.table("kept_counts").insert_all(made.kept_counts)
            self._db.table("held_out").insert_all(made.held_out)
            self._db.conn.executemany(
                "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?, ?)", changes.metrics
            )
            self._delete("metrics", changes.thinned_metrics)
            self._write_topics(changes)
            if made.word_counts is not None:
                self._put("word_counts", 1, {"arrays": made.word_counts})
            for number, row in changes.models.items():
                self._put("models", number, row)
            self._put("progress", 1, _progress_columns(progress) | {"next_seq": next_seq})
        self._next_seq = next_seq
        log = beside(self.path, WAL)
        if log.exists() and log.stat().st_size > LARGEST_LOG:
            self._trim_log()

    def _write_topics(self, changes: Changes) -> None:
        """Write snapshots, and the names and events that follow from them."""
        self._db.conn.executemany(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
            [
                (s.model, s.articles, s.word_ids.tobytes(), s.probabilities.tobytes(), s.shares.tobytes())
                for s in changes.snapshots
            ],
        )
        self._delete("snapshots", changes.thinned_snapshots)
        for model, known in changes.topic_names.items():
            self._db.conn.executemany(
                "INSERT OR REPLACE INTO topic_names VALUES (?, ?, ?, ?)",
                [(model, topic, name, topic in known.alive) for topic, name in enumerate(known.names)],
            )
        self._db.table("topic_events").insert_all(
            {"model": model, **{key: value for key, value in asdict(event).items() if key != "model"}}
            for model, event in changes.topic_events
        )
        now = time.time()
        self._db.table("events").insert_all(
            {"at": now, "level": "info", "message": message} for message in changes.log
        )

    def _put(self, table: str, number: int, values: Mapping[str, Any]) -> None:
        """Update an existing row. sqlite-utils would first read all of it, including a model's arrays."""
        columns = ", ".join(f"{name} = ?" for name in values)
        row = self._db.conn.execute(f"UPDATE {table} SET {columns} WHERE id = ?", [*values.values(), number])
        if row.rowcount != 1:
            raise Damaged(f"{table} lacks a row that it had")

    def _delete(self, table: str, points: Iterable[int]) -> None:
        """Delete what was stored at these article counts."""
        self._db.conn.executemany(f"DELETE FROM {table} WHERE articles = ?", [(count,) for count in points])

    def recent(self, first_seq: int, most: int, before: int) -> tuple[list[int], Block]:
        """Up to ``most`` of the newest trained articles from number ``first_seq`` on, and their numbers.

        Only those of minibatches that began before ``before`` articles had been trained. Raises
        `SessionError`.
        """
        with session_errors(self.path):
            later = read_committed(self._db.conn).progress.articles - before
            return recent_articles(self._db, first_seq, most, later, self.settings, self.n_words)

    def points(self, table: str) -> list[int]:
        """Article counts at which `metrics` or `snapshots` has rows."""
        with session_errors(self.path):
            rows = read_rows(self._db.conn, f"SELECT DISTINCT articles FROM {table} ORDER BY articles")
        return [whole(articles, f"{table}.articles") for (articles,) in rows]

    def snapshots(self, articles: int) -> dict[int, TopWords]:
        """The snapshots at this article count, by the model's number."""
        with session_errors(self.path):
            rows = read_rows(
                self._db.conn,
                "SELECT model, articles, word_ids, probabilities, shares FROM snapshots WHERE articles = ?",
                [articles],
                largest=LARGEST_SNAPSHOT,
            )
        found = [decode_snapshot(row, self.settings.models, self.n_words) for row in rows]
        return {snapshot.model: snapshot for snapshot in found}

    def topic_names(self, model: int) -> TopicNames | None:
        """What is known about the topics of the model of this number; None before its first snapshot."""
        with session_errors(self.path):
            rows = read_rows(
                self._db.conn,
                "SELECT topic, name, alive FROM topic_names WHERE model = ? ORDER BY topic",
                [model],
            )
        return decode_topic_names(rows, self.models[model].topics)

    def _trim_log(self) -> None:
        """Bound the write-ahead log file, which a reader at the wrong moment lets grow."""
        with contextlib.suppress(sqlite3.Error):  # the next commit tries again, and reports the error
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Leave everything in one file, even if others have it open; safe to call twice."""
        self._trim_log()
        self._db.close()


def _progress_columns(progress: Progress) -> dict[str, Any]:
    values = asdict(progress)
    values["position"] = None if progress.position is None else json.dumps(progress.position)
    values["skips"] = json.dumps(progress.skips)
    values["prequential"] = encode_prequential(progress.prequential)
    return values | {"finished": int(progress.finished), "committed_at": time.time()}

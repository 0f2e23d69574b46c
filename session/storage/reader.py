"""The session file, read: by the screen, by `status`, by the exports. Never changes anything."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlite_utils import Database

from session.errors import Damaged, NoSession, SessionError
from session.paths import WAL, beside, session_folder
from session.records import (
    NOT_RECORDED,
    ArticleRow,
    Curve,
    Event,
    Flow,
    ModelStatus,
    PastRun,
    Snapshot,
    State,
    Status,
    TopicRow,
    TrainerActivity,
    per_hour,
)
from session.settings import Settings
from session.storage.codec.articles import decode_article
from session.storage.codec.heartbeat import Heartbeat
from session.storage.codec.log import decode_event, decode_flow, decode_run
from session.storage.codec.measurements import decode_measurement
from session.storage.codec.progress import Committed, Progress
from session.storage.codec.snapshots import LARGEST_SNAPSHOT, TopWords, decode_snapshot
from session.storage.database import (
    as_session_error,
    check_file,
    check_session,
    fold_log,
    is_at,
    read_rows,
    select,
    session_errors,
)
from session.storage.decoding import text, whole
from session.storage.lock import owner, owner_pid
from session.storage.tables import (
    read_committed,
    read_heartbeat,
    read_models,
    read_settings,
    read_state,
    read_words,
)

STALE_SECONDS = 15.0
"""A heartbeat older than this is no sign of life."""
SNAPSHOT_WORDS = 20
TREND_POINTS = 12
_TITLE = "CASE title WHEN '' THEN 'document ' || page_id ELSE title END"
"""What an article is called: documents of a file of word counts have numbers only."""
ARTICLES_AT_ONCE = 1000
LARGEST_ARTICLE = 2**18
"""Bytes that an article's row may take: a title is four times shorter than this at most."""
MOST_ARTICLES = 1_000_000
MOST_MEASUREMENTS = 500_000


def _others(path: Path) -> str:
    """What a user who named no session, or a wrong one, may have meant."""
    names = sorted(one.stem for one in path.parent.glob("[!.]*.db"))[:5]
    if path.parent != session_folder() or not names:
        return ": `wikitopics train` or `wikitopics demo` makes one"
    return f"; there is {', '.join(f'--session {name}' for name in names)}"


class SessionReader:
    """An existing session, open for reading, whether a trainer writes to it or not.

    Raises :class:`NoSession` where there is none and :class:`NotASession` for another file; every
    later call raises :class:`session.errors.SessionError` if the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not os.path.exists(path):
            raise NoSession(f"there is no session at {path}{_others(path)}")
        check_file(path)
        self.file = os.stat(path)
        self._db = self._connect()
        self._settings: Settings | None = None
        self._words: tuple[str, ...] | None = None

    def _connect(self) -> Database:
        uri = self.path.absolute().as_uri() + "?mode=ro"
        # A watcher that may not write needs the -shm file that only a writer makes. Where nobody writes
        # there is no -wal either, and the file can be read as it lies.
        choices = [uri, uri + "&immutable=1"] if not beside(self.path, WAL).exists() else [uri]
        for number, choice in enumerate(choices):
            connection = sqlite3.connect(
                choice, uri=True, timeout=5.0, isolation_level=None, check_same_thread=False
            )
            try:
                check_session(connection, self.path)
            except sqlite3.DatabaseError as error:
                connection.close()
                if number + 1 == len(choices):
                    raise as_session_error(error, self.path) from None
            except BaseException:
                connection.close()
                raise
            else:
                return Database(connection)
        raise AssertionError("unreachable")

    def _rows(self, sql: str, parameters: Sequence[object] = (), **limits: int) -> list[tuple[Any, ...]]:
        with session_errors(self.path):
            return read_rows(self._db.conn, sql, parameters, **limits)

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """What is read in the block is of one commit, whatever a trainer saves meanwhile.

        A trainer's log grows as long as the block lasts: read, and leave it.
        """
        if self._db.conn.in_transaction:
            yield
            return
        self._db.conn.execute("BEGIN")
        try:
            yield
        finally:
            self._db.conn.rollback()

    def version(self) -> int:
        """A number that is another one as soon as anything has been committed."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def settings(self) -> Settings:
        """What the session was created with."""
        if self._settings is None:
            with session_errors(self.path):
                self._settings = read_settings(self._db.conn)
        return self._settings

    def models(self) -> list[str]:
        """Names, in order."""
        return [model.name for model in self.model_statuses()]

    def model_statuses(self) -> tuple[ModelStatus, ...]:
        """The models at the last commit, in order."""
        specs = self.settings().models
        with session_errors(self.path):
            return read_models(self._db.conn, specs)

    def model_status(self, name: str) -> ModelStatus:
        """The model of this name."""
        return self.model_statuses()[self._number(name)]

    def model_state(self, name: str) -> dict[str, Any]:
        """The model's ``state()`` at the last commit."""
        number, topics, n_words = self._number(name), self.model_status(name).topics, len(self.vocabulary())
        with session_errors(self.path):
            return read_state(self._db.conn, number, topics, n_words)

    def _number(self, name: str) -> int:
        names = self.models()
        if name not in names:
            raise SessionError(f"this session has no model {name}")
        return names.index(name)

    def vocabulary(self) -> tuple[str, ...]:
        """The words, by id."""
        if self._words is None:
            with session_errors(self.path):
                self._words = read_words(self._db.conn)
        return self._words

    def committed(self) -> Committed:
        """How far the last commit is."""
        with session_errors(self.path):
            return read_committed(self._db.conn)

    def heartbeat(self) -> Heartbeat | None:
        """The last sign of life of a trainer; None where there never was one."""
        with session_errors(self.path):
            return read_heartbeat(self._db.conn)

    def status(self) -> Status:
        """One look at the session as it is now. Raises :class:`NoSession` where the file is another one by
        now, or none: what is open here is then nobody's session any more."""
        if not is_at(self.path, self.file):
            raise NoSession(f"{self.path} was removed or replaced")
        with self.one_moment():
            committed, beat, settings = self.committed(), self.heartbeat(), self.settings()
            models = self.model_statuses()
        progress = committed.progress
        now = time.time()
        pid = owner_pid(self.path)
        live = pid is not None and beat is not None and beat.process.pid == pid  # not what another run said
        activity = TrainerActivity() if beat is None else beat.activity
        return Status(
            session=str(self.path),
            state=_state(progress.finished, beat, pid, now),
            running=live,
            pid=pid,
            source=settings.source,
            source_name=settings.source_name,
            articles=progress.articles,
            tokens=progress.tokens,
            held_out=progress.held_out,
            held_out_target=settings.held_out,
            crawled=progress.crawled,
            pending=progress.pending,
            skipped=progress.skipped,
            skips=_skips(progress),
            elapsed_seconds=progress.elapsed_seconds,
            articles_per_hour=per_hour(progress.articles, progress.elapsed_seconds),
            bytes_read=progress.bytes_read,
            committed_at=committed.at,
            checkpoint_age_seconds=max(0.0, now - committed.at) if progress.crawled else None,
            heartbeat_age_seconds=None if beat is None else max(0.0, now - beat.at),
            lap=progress.lap,
            activity=activity if live else activity.ended(),
            models=models,
        )

    def curve(self, model: str, metric: str) -> Curve:
        """One metric of one model over the stream."""
        rows = self._rows(
            "SELECT articles, tokens, seconds, value FROM metrics WHERE model = ? AND metric = ?"
            " ORDER BY articles",
            [self._number(model), metric],
        )
        found = [decode_measurement(row) for row in rows]
        articles, tokens, seconds, values = zip(*found, strict=True) if found else ((), (), (), ())
        return Curve(
            np.array(articles, np.int64),
            np.array(tokens, np.int64),
            np.array(seconds, np.float64),
            np.array(values, np.float64),
        )

    def all_metrics(self) -> list[tuple[str, int, int, float, str, float]]:
        """Every measurement: (model, articles, tokens, seconds, metric, value), by model, then articles."""
        rows = self._rows(
            "SELECT m.name, x.metric, x.articles, x.tokens, x.seconds, x.value FROM metrics x"
            " JOIN models m ON m.id = x.model ORDER BY m.id, x.articles, x.metric",
            most=MOST_MEASUREMENTS,
        )
        found = []
        for model, metric, *measurement in rows:
            articles, tokens, seconds, value = decode_measurement(tuple(measurement))
            found.append((model, articles, tokens, seconds, text(metric, "metrics.metric"), value))
        return found

    def snapshots(self, model: str) -> list[int]:
        """Article counts at which the model's topics were kept, ascending."""
        rows = self._rows(
            "SELECT articles FROM snapshots WHERE model = ? ORDER BY articles", [self._number(model)]
        )
        return [whole(articles, "snapshots.articles") for (articles,) in rows]

    def snapshot(self, model: str, articles: int) -> Snapshot:
        """The topics of one model as they were after ``articles``; KeyError if none was kept there."""
        found = self._top_words(model, "AND articles = ?", [articles])
        if not found:
            raise KeyError(articles)
        return self._as_snapshot(model, found[0])

    def topic_history(
        self, model: str, topic: int, top: int = 10
    ) -> list[tuple[int, float, tuple[tuple[str, float], ...]]]:
        """(articles, share, top words with probabilities) of one topic at every kept point."""
        words = self.vocabulary()
        history = []
        for articles in self.snapshots(model):
            # None, where it was thinned out meanwhile.
            for kept in self._top_words(model, "AND articles = ?", [articles]):
                ids, probabilities = kept.word_ids[topic, :top], kept.probabilities[topic, :top]
                pairs = zip(ids.tolist(), probabilities.tolist(), strict=True)
                history.append((articles, float(kept.shares[topic]), tuple((words[i], p) for i, p in pairs)))
        return history

    def topics(self, model: str, top: int = 10) -> list[TopicRow]:
        """All topics in their own order, as of the newest snapshot; empty before the first."""
        kept = self._top_words(model, "ORDER BY articles DESC LIMIT ?", [TREND_POINTS])[::-1]
        if not kept:
            return []
        newest = self._as_snapshot(model, kept[-1])
        before = self._as_snapshot(model, kept[-2]) if len(kept) > 1 else None
        trend = np.stack([one.shares for one in kept], axis=1)
        rows = []
        for topic, words in enumerate(newest.words):
            old = frozenset(before.words[topic][:10]) if before else frozenset(words)
            rows.append(
                TopicRow(
                    topic=topic,
                    share=float(newest.shares[topic]),
                    words=tuple(zip(words[:top], newest.probabilities[topic].tolist(), strict=False)),
                    newcomers=frozenset(words[:top]) - old,
                    share_before=float(before.shares[topic]) if before else None,
                    trend=tuple(trend[topic].tolist()),
                )
            )
        return rows

    def _top_words(self, model: str, clause: str, parameters: Sequence[object]) -> list[TopWords]:
        rows = self._rows(
            "SELECT model, articles, word_ids, probabilities, shares FROM snapshots"
            f" WHERE model = ? {clause}",
            [self._number(model), *parameters],
            largest=LARGEST_SNAPSHOT,
        )
        models, n_words = self.model_statuses(), len(self.vocabulary())
        return [decode_snapshot(row, models, n_words) for row in rows]

    def _as_snapshot(self, model: str, kept: TopWords) -> Snapshot:
        words = self.vocabulary()
        return Snapshot(
            model=model,
            articles=kept.articles,
            words=tuple(tuple(words[i] for i in line) for line in kept.word_ids.tolist()),
            probabilities=kept.probabilities,
            shares=kept.shares,
        )

    def recent_articles(self, limit: int = 50, up_to: int | None = None) -> list[ArticleRow]:
        """Newest first; ``up_to``: from this number (:attr:`ArticleRow.seq`) down."""
        where, bound = ("WHERE seq <= ?", [up_to]) if up_to is not None else ("", [])
        return self._articles(f"{where} ORDER BY seq DESC LIMIT ?", [*bound, limit])

    def find_articles(self, sought: str, limit: int = 50) -> list[ArticleRow]:
        """Articles with ``sought`` in the title, newest first."""
        escaped = sought.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return self._articles(
            f"WHERE {_TITLE} LIKE ? ESCAPE '\\' ORDER BY seq DESC LIMIT ?", [f"%{escaped}%", limit]
        )

    def articles_about(self, model: str, topic: int, limit: int = 20) -> list[ArticleRow]:
        """The articles whose largest topic it is, highest proportion first."""
        found = self._articles(
            "JOIN article_topics t USING (seq) WHERE t.model = ? AND t.topic = ?"
            " ORDER BY t.proportion DESC, t.seq DESC LIMIT ?",
            [self._number(model), topic, limit],
        )
        if any((model, topic) not in [largest[:2] for largest in article.topics] for article in found):
            raise Damaged("article_topics and articles do not go together")
        return found

    def all_articles(self, *, trained_only: bool) -> Iterator[ArticleRow]:
        """The stream in its order, some at a time, in bounded memory."""
        where = "WHERE role = 0" if trained_only else ""
        last, models = 0, self.model_statuses()
        while True:
            clause = f"{where} {'AND' if where else 'WHERE'} seq > ? ORDER BY seq LIMIT {ARTICLES_AT_ONCE}"
            rows = self._articles(clause, [last], models)
            if not rows:
                return
            yield from rows
            last = rows[-1].seq

    def _articles(
        self, clause: str, parameters: Sequence[object], models: Sequence[ModelStatus] = ()
    ) -> list[ArticleRow]:
        columns = "seq", "page_id", _TITLE, "revision_id", "words", "role", "topics"
        with session_errors(self.path):
            rows = read_rows(
                self._db.conn,
                f"{select(self._db.conn, 'articles', *columns)} {clause}",
                parameters,
                largest=LARGEST_ARTICLE,
                most=MOST_ARTICLES,
            )
        models = models or self.model_statuses()
        return [decode_article(row, models) for row in rows]

    def flow(self) -> list[Flow]:
        """The newest rates, oldest first."""
        rows = self._rows("SELECT at, crawl_rate, train_rate, queue FROM flow ORDER BY id")
        return [decode_flow(row) for row in rows]

    def events(self, limit: int = 200) -> list[Event]:
        """The newest lines of the log, oldest first."""
        rows = self._rows("SELECT at, level, message FROM events ORDER BY id DESC LIMIT ?", [limit])
        return [decode_event(row) for row in reversed(rows)]

    def runs(self) -> list[PastRun]:
        """Every run of a trainer on this session, oldest first."""
        rows = self._rows("SELECT started_at, ended_at, first_article, reason FROM runs ORDER BY id")
        return [decode_run(row) for row in rows]

    def close(self) -> None:
        """Safe to call twice."""
        self._db.close()

    def leave(self) -> None:
        """Close, and where no trainer is left fold its log in: a session is to be one file."""
        self.close()
        if owner(self.path) is None:
            fold_log(self.path)

    def __enter__(self) -> "SessionReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


def _skips(progress: Progress) -> dict[str, int]:
    """Skipped articles by reason; older sessions kept none."""
    unknown = progress.skipped - sum(progress.skips.values())
    return progress.skips | {NOT_RECORDED: unknown} if unknown else progress.skips


def _state(finished: bool, beat: Heartbeat | None, pid: int | None, now: float) -> State:
    if pid is None:
        if finished:
            return "finished"
        if beat is None:
            return "new"
        return "stopped" if beat.state == "stopped" else "dead"
    if beat is None or beat.process.pid != pid:
        return "starting"
    return "stalled" if now - beat.at > STALE_SECONDS else beat.state

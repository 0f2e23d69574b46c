"""The session file, read: by the screen, by `status`, by the exports. Never changes anything."""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlite_utils import Database

from session.blobs import unpack_state
from session.database import as_session_error, check_file, check_version
from session.errors import NoSession
from session.lock import owner_pid
from session.paths import session_folder
from session.process import Process
from session.reading import (
    NOT_RECORDED,
    ArticleRow,
    Beat,
    Curve,
    Event,
    Flow,
    ModelStatus,
    Run,
    Snapshot,
    State,
    Status,
    TopicRow,
    per_hour,
)
from session.schema import ROLES

STALE_SECONDS = 15.0
"""A heartbeat older than this is no sign of life."""
SNAPSHOT_WORDS = 20
TREND_POINTS = 12
_TITLE = "CASE title WHEN '' THEN 'document ' || page_id ELSE title END"
"""What an article is called: documents of a file of word counts have numbers only."""


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
        self._file = os.stat(path)
        self._db = self._connect()
        self._words: tuple[str, ...] | None = None

    def _connect(self) -> Database:
        uri = self.path.absolute().as_uri() + "?mode=ro"
        # A watcher that may not write needs the -shm file that only a writer makes. Where nobody writes
        # there is no -wal either, and the file can be read as it lies.
        choices = [uri, uri + "&immutable=1"] if not _beside(self.path, "-wal").exists() else [uri]
        for number, choice in enumerate(choices):
            connection = sqlite3.connect(
                choice, uri=True, timeout=5.0, isolation_level=None, check_same_thread=False
            )
            try:
                check_version(connection, self.path)
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

    def _check_place(self) -> None:
        try:
            there = os.path.samestat(os.stat(self.path), self._file)
        except OSError:
            there = False
        if not there:
            raise NoSession(f"{self.path} was removed or replaced")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise as_session_error(error, self.path) from None

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._db.conn.execute(sql, parameters).fetchall()

    def version(self) -> int:
        """A number that is another one as soon as anything has been committed."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def settings(self) -> dict[str, Any]:
        """What the session was created with."""
        return {key: json.loads(value) for key, value in self._rows("SELECT key, value FROM settings")}

    def models(self) -> list[str]:
        """Names, in order."""
        return [name for (name,) in self._rows("SELECT name FROM models ORDER BY id")]

    def model_state(self, model: str) -> dict[str, Any]:
        """The model's ``state()`` at the last commit."""
        ((scalars, arrays),) = self._rows("SELECT scalars, arrays FROM models WHERE name = ?", [model])
        return unpack_state(scalars, arrays)

    def vocabulary(self) -> tuple[str, ...]:
        """The words, by id."""
        if self._words is None:
            self._words = tuple(str(self._rows("SELECT words FROM vocabulary")[0][0]).split("\n"))
        return self._words

    def heartbeat(self) -> Beat | None:
        """The last sign of life of a trainer; None where none has run yet."""
        for at, pid, state, activity in self._rows("SELECT at, pid, state, activity FROM heartbeat"):
            return Beat(at, state, Process.from_text(json.loads(activity).get("process", str(pid))))
        return None

    def status(self) -> Status:
        """One look at the session as it is now. Raises :class:`NoSession` where the file is another one by
        now, or none: what is open here is then nobody's session any more."""
        self._check_place()
        with self._errors():
            progress = self._db.table("progress").get(1)
            beats = list(self._db.table("heartbeat").rows)
        settings = self.settings()
        now = time.time()
        pid = owner_pid(self.path)
        beat = beats[0] if beats else None
        activity: dict[str, Any] = json.loads(beat["activity"]) if beat else {}
        state = _state(progress, beat, pid, now)
        live = pid is not None and beat is not None and beat["pid"] == pid  # not what another run said
        elapsed = progress["elapsed_seconds"]
        committed = progress["committed_at"] if progress["crawled"] else None
        return Status(
            session=str(self.path),
            state=state,
            running=live,
            pid=pid,
            source=settings["source"],
            source_name=settings["source_name"],
            articles=progress["articles"],
            article_limit=activity.get("article_limit"),
            tokens=progress["tokens"],
            held_out=progress["held_out"],
            held_out_target=settings["held_out"],
            crawled=progress["crawled"],
            pending=progress["pending"],
            skipped=progress["skipped"],
            skips=_skips(progress),
            elapsed_seconds=elapsed,
            articles_per_hour=per_hour(progress["articles"], elapsed),
            bytes_read=progress["bytes_read"],
            committed_at=progress["committed_at"],
            checkpoint_age_seconds=None if committed is None else max(0.0, now - committed),
            heartbeat_age_seconds=None if beat is None else max(0.0, now - beat["at"]),
            waiting_for=activity.get("waiting_for") if live else None,
            waiting_until=activity.get("waiting_until") if live else None,
            bound_by=activity.get("bound_by") if live else None,
            lap=progress["lap"],
            crawl_rate=activity.get("crawl_rate", 0.0) if live else 0.0,
            train_rate=activity.get("train_rate", 0.0) if live else 0.0,
            requests=activity.get("requests", 0),
            requests_last_minute=activity.get("requests_last_minute", 0) if live else 0,
            allowed_per_minute=activity.get("allowed_per_minute"),
            latency_seconds=activity.get("latency_seconds"),
            batch_pages=activity.get("batch_pages"),
            retries=activity.get("retries", 0),
            throttled=activity.get("throttled", 0),
            errors=_errors(activity),
            models=tuple(
                ModelStatus(
                    name,
                    kind,
                    topics,
                    in_use,
                    updates,
                    rho,
                    None if score is None else float(np.exp(-score)),
                    score,
                )
                for name, kind, topics, in_use, updates, rho, score in self._rows(
                    "SELECT name, kind, topics, topics_in_use, updates, rho, log_likelihood"
                    " FROM models ORDER BY id"
                )
            ),
        )

    def curve(self, model: str, metric: str) -> Curve:
        """One metric of one model over the stream."""
        rows = self._rows(
            "SELECT x.articles, x.tokens, x.seconds, x.value FROM metrics x JOIN models m ON m.id = x.model"
            " WHERE m.name = ? AND x.metric = ? ORDER BY x.articles",
            [model, metric],
        )
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        return Curve(
            np.array(columns[0], np.int64),
            np.array(columns[1], np.int64),
            np.array(columns[2], np.float64),
            np.array(columns[3], np.float64),
        )

    def all_metrics(self) -> list[tuple[str, int, int, float, str, float]]:
        """Every measurement: (model, articles, tokens, seconds, metric, value), by model, then articles."""
        return self._rows(
            "SELECT m.name, x.articles, x.tokens, x.seconds, x.metric, x.value FROM metrics x"
            " JOIN models m ON m.id = x.model ORDER BY m.id, x.articles, x.metric"
        )

    def snapshots(self, model: str) -> list[int]:
        """Article counts at which the model's topics were kept, ascending."""
        rows = self._rows(
            "SELECT s.articles FROM snapshots s JOIN models m ON m.id = s.model WHERE m.name = ?"
            " ORDER BY s.articles",
            [model],
        )
        return [articles for (articles,) in rows]

    def snapshot(self, model: str, articles: int) -> Snapshot:
        """The topics of one model as they were after ``articles``; KeyError if none was kept there."""
        rows = self._snapshot_rows(model, "AND s.articles = ?", [articles])
        if not rows:
            raise KeyError(articles)
        return self._as_snapshot(model, rows[0])

    def topic_history(
        self, model: str, topic: int, top: int = 10
    ) -> list[tuple[int, float, tuple[tuple[str, float], ...]]]:
        """(articles, share, top words with probabilities) of one topic at every kept point."""
        words = self.vocabulary()
        history = []
        for articles, ids, probabilities, shares in self._snapshot_rows(model, "", []):
            row_ids = _matrix(ids, np.int32, shares)[topic, :top]
            row_probabilities = _matrix(probabilities, np.float32, shares)[topic, :top]
            pairs = tuple(
                (words[i], float(p))
                for i, p in zip(row_ids.tolist(), row_probabilities.tolist(), strict=True)
            )
            history.append((articles, float(np.frombuffer(shares, np.float32)[topic]), pairs))
        return history

    def topics(self, model: str, top: int = 10) -> list[TopicRow]:
        """All topics in their own order, as of the newest snapshot; empty before the first."""
        kept = self._snapshot_rows(model, "ORDER BY s.articles DESC LIMIT ?", [TREND_POINTS], ordered=False)[
            ::-1
        ]
        if not kept:
            return []
        newest = self._as_snapshot(model, kept[-1])
        before = self._as_snapshot(model, kept[-2]) if len(kept) > 1 else None
        trend = np.stack([np.frombuffer(row[3], np.float32) for row in kept], axis=1)
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

    def _snapshot_rows(
        self, model: str, where: str, parameters: Sequence[object], *, ordered: bool = True
    ) -> list[tuple[int, bytes, bytes, bytes]]:
        return self._rows(
            "SELECT s.articles, s.word_ids, s.probabilities, s.shares FROM snapshots s"
            f" JOIN models m ON m.id = s.model WHERE m.name = ? {where}"
            + (" ORDER BY s.articles" if ordered else ""),
            [model, *parameters],
        )

    def _as_snapshot(self, model: str, row: tuple[int, bytes, bytes, bytes]) -> Snapshot:
        articles, ids, probabilities, shares = row
        words = self.vocabulary()
        return Snapshot(
            model=model,
            articles=articles,
            words=tuple(tuple(words[i] for i in line) for line in _matrix(ids, np.int32, shares).tolist()),
            probabilities=_matrix(probabilities, np.float32, shares),
            shares=np.frombuffer(shares, np.float32),
        )

    def recent_articles(self, limit: int = 50, up_to: int | None = None) -> list[ArticleRow]:
        """Newest first; ``up_to``: from this number (:attr:`ArticleRow.seq`) down."""
        where, bound = ("WHERE seq <= ?", [up_to]) if up_to is not None else ("", [])
        return self._articles(f"{where} ORDER BY seq DESC LIMIT ?", [*bound, limit])

    def find_articles(self, text: str, limit: int = 50) -> list[ArticleRow]:
        """Articles with ``text`` in the title, newest first."""
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return self._articles(
            f"WHERE {_TITLE} LIKE ? ESCAPE '\\' ORDER BY seq DESC LIMIT ?", [f"%{escaped}%", limit]
        )

    def articles_about(self, model: str, topic: int, limit: int = 20) -> list[ArticleRow]:
        """The articles whose largest topic it is, highest proportion first."""
        return self._articles(
            "JOIN article_topics t USING (seq) WHERE t.model = (SELECT id FROM models WHERE name = ?)"
            " AND t.topic = ? ORDER BY t.proportion DESC, t.seq DESC LIMIT ?",
            [model, topic, limit],
        )

    def all_articles(self, *, trained_only: bool) -> Iterator[ArticleRow]:
        """The stream in its order, in one reading transaction of bounded memory."""
        where = "WHERE role = 0" if trained_only else ""
        last, models = 0, self.models()
        while True:
            clause = f"{where} {'AND' if where else 'WHERE'} seq > ? ORDER BY seq LIMIT 5000"
            rows = self._articles(clause, [last], models)
            if not rows:
                return
            yield from rows
            last = rows[-1].seq

    def _articles(
        self, clause: str, parameters: Sequence[object], models: list[str] | None = None
    ) -> list[ArticleRow]:
        names = self.models() if models is None else models
        rows = self._rows(
            f"SELECT seq, page_id, {_TITLE}, revision_id, words, role, topics FROM articles {clause}",
            parameters,
        )
        return [
            ArticleRow(seq, page, title, revision, words, ROLES[role], _largest_topics(names, packed))
            for seq, page, title, revision, words, role, packed in rows
        ]

    def flow(self) -> list[Flow]:
        """The newest rates, oldest first."""
        return [
            Flow(*row) for row in self._rows("SELECT at, crawl_rate, train_rate, queue FROM flow ORDER BY id")
        ]

    def events(self, limit: int = 200) -> list[Event]:
        """The newest lines of the log, oldest first."""
        rows = self._rows("SELECT at, level, message FROM events ORDER BY id DESC LIMIT ?", [limit])
        return [Event(*row) for row in reversed(rows)]

    def runs(self) -> list[Run]:
        """Every run of a trainer on this session, oldest first."""
        return [
            Run(*row)
            for row in self._rows("SELECT started_at, ended_at, first_article, reason FROM runs ORDER BY id")
        ]

    def close(self) -> None:
        """Safe to call twice."""
        self._db.close()

    def __enter__(self) -> "SessionReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _beside(path: Path, suffix: str) -> Path:
    real = Path(os.path.realpath(path))  # SQLite follows links too
    return real.with_name(real.name + suffix)


def _matrix(data: bytes, dtype: Any, shares: bytes) -> Any:
    """(K, n) top-word rows out of their bytes; K is the number of shares."""
    return np.frombuffer(data, dtype).reshape(len(shares) // 4, -1)


def _largest_topics(models: list[str], packed: bytes | None) -> tuple[tuple[str, int, float], ...]:
    if not packed:
        return ()
    values = np.frombuffer(packed, "<u2").tolist()
    return tuple(
        (name, topic, share / 10_000)
        for name, topic, share in zip(models, values[::2], values[1::2], strict=False)
    )


def _errors(activity: dict[str, Any]) -> tuple[Event, ...]:
    """The source's last errors; heartbeats of older trainers have them without their times."""
    timed = (error for error in activity.get("errors", ()) if isinstance(error, list))
    return tuple(Event(at, "warning", text) for at, text in timed)


def _skips(progress: dict[str, Any]) -> dict[str, int]:
    """Skipped articles by reason; older sessions kept none."""
    told = progress.get("skips")
    skips: dict[str, int] = json.loads(told) if told else {}
    unknown = progress["skipped"] - sum(skips.values())
    return skips | {NOT_RECORDED: unknown} if unknown else skips


def _state(progress: dict[str, Any], beat: dict[str, Any] | None, pid: int | None, now: float) -> State:
    if pid is None:
        if progress["finished"]:
            return "finished"
        if beat is None:
            return "new"
        return "stopped" if beat["state"] == "stopped" else "dead"
    if beat is None or beat["pid"] != pid:
        return "starting"
    if now - beat["at"] > STALE_SECONDS:
        return "stalled"
    state: State = beat["state"]
    return state

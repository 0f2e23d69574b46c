"""The session file, written: everything of one stretch of training commits together or not at all.

Only one trainer writes (see :mod:`session.lock`), from one thread. Readers: :mod:`session.reader`.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from session.blobs import pack_state, unpack_state
from session.documents import Documents
from session.errors import DiskFull, NotASession, SessionError
from session.reading import Role
from session.schema import APPLICATION_ID, ROLES, VERSION, migrations
from session.settings import Settings

SQLITE_HEADER = b"SQLite format 3\0"
FLOW_ROWS = 900
EVENT_ROWS = 2000
RECENT_ARTICLES = 20_000
"""So many of the newest articles keep their counts, and their topics are inferred anew."""


@dataclass(slots=True)
class Progress:
    """How far the stream has come. ``crawled = articles + held_out + pending + skipped``, always."""

    articles: int = 0
    tokens: int = 0
    held_out: int = 0
    crawled: int = 0
    pending: int = 0
    skipped: int = 0
    minibatches: int = 0
    pending_offset: int = 0
    """Documents of the first pending row that are trained already."""
    next_seq: int = 1
    """Number of the next row of `articles`; they are never used twice, also where rows are dropped."""
    position: dict[str, Any] | None = None
    lap: float | None = None
    finished: bool = False
    elapsed_seconds: float = 0.0
    bytes_read: int = 0


@dataclass(slots=True)
class ModelRow:
    """What the store keeps of one model besides its evaluations."""

    state: Mapping[str, Any]
    topics: int
    topics_in_use: int
    updates: int
    rho: float
    log_likelihood: float | None


Largest = tuple[NDArray[np.intp], NDArray[np.floating[Any]]]
"""Each article's largest topic in one model, (n,), and its proportion, (n,)."""


@dataclass(slots=True)
class ArticleRows:
    """Articles read, with each model's largest topic where they were trained."""

    documents: Documents
    role: Role
    topics: Sequence[Largest] = ()
    """One pair a model."""


@dataclass(slots=True)
class Snapshot:
    """The top words of every topic of one model at one point of the stream."""

    model: int
    articles: int
    word_ids: NDArray[np.int32]
    probabilities: NDArray[np.float32]
    shares: NDArray[np.float32]


@dataclass(slots=True)
class Changes:
    """What has happened since the last commit."""

    pending: list[tuple[int, Documents]] = field(default_factory=list)
    held_out: list[Documents] = field(default_factory=list)
    articles: list[ArticleRows] = field(default_factory=list)
    metrics: list[tuple[int, int, int, float, str, float]] = field(default_factory=list)
    """(model, articles, tokens, seconds, metric, value)"""
    snapshots: list[Snapshot] = field(default_factory=list)
    models: dict[int, ModelRow] = field(default_factory=dict)
    renewed: list[tuple[int, Sequence[Largest]]] = field(default_factory=list)
    """(number of the first article, one pair a model) of stretches inferred anew."""


def connect(path: Path, *, timeout: float = 30.0) -> Database:
    """A connection that writes to an existing session; refuses what is none. Applies migrations."""
    check_header(path)
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        db = Database(connection)
        version = check_version(connection, path)
        # NORMAL with a write-ahead log: after a power cut the newest commits may be gone, but the file is
        # a whole earlier state, from which the same stream is trained again identically.
        connection.execute("PRAGMA synchronous = NORMAL")
        if version < VERSION:
            migrations.apply(db)
            connection.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise as_session_error(error, path) from None
    except BaseException:
        connection.close()
        raise
    return db


def as_session_error(error: sqlite3.Error, path: Path) -> SessionError:
    """An SQLite error as one line for people."""
    text = str(error)
    if "not a database" in text or "malformed" in text:
        return NotASession(f"{path} is damaged or no session: {text}")
    if "readonly" in text or "read-only" in text:
        return SessionError(f"{path} cannot be written: it or its folder is read-only")
    if "disk is full" in text:
        return DiskFull(f"no space left on the disk of {path}")
    return SessionError(f"{path}: {text}")


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version. Raises :class:`NotASession` for another program's file or a newer version."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise NotASession(f"{path} is an SQLite file, but no wikitopics session")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise NotASession(
            f"{path} was written by a newer wikitopics (format {version}; this one knows {VERSION}): upgrade"
        )
    return version


def check_header(path: Path) -> None:
    """Raises :class:`NotASession` for what is no SQLite file, a folder included."""
    try:
        with path.open("rb") as file:
            header = file.read(16)
    except IsADirectoryError:
        raise NotASession(f"{path} is a folder, no session") from None
    except OSError as error:
        raise SessionError(f"{path}: {error.strerror}") from None
    if header != SQLITE_HEADER:
        raise NotASession(f"{path} is no session: not an SQLite file")


def create(path: Path, settings: Settings, words: Sequence[str], models: Sequence[ModelRow]) -> None:
    """Make the session file, whole or not at all, readable by its owner only."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise SessionError(f"cannot create {path}: {error.strerror}") from None
    try:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            db = Database(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            migrations.apply(db)
            with db.atomic():
                db.table("settings").insert_all(
                    {"key": key, "value": json.dumps(value)} for key, value in settings.as_json().items()
                )
                db.table("vocabulary").insert(
                    {"id": 1, "fingerprint": settings.fingerprint, "words": "\n".join(words)}
                )
                for number, (spec, row) in enumerate(zip(settings.models, models, strict=True)):
                    db.table("models").insert(
                        {
                            "id": number,
                            "name": spec.name,
                            "kind": spec.kind,
                            "spec": json.dumps(spec.as_json()),
                        }
                        | _model_columns(row)
                    )
                db.table("progress").insert({"id": 1, **_progress_columns(Progress())})
                db.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        os.link(draft, path)  # unlike rename, fails where somebody was quicker
    except sqlite3.Error as error:
        raise as_session_error(error, path) from None
    except OSError as error:
        raise SessionError(f"cannot create {path}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


class Store:
    """An existing session, open for its one trainer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)
        self.settings = Settings.from_json(
            {row["key"]: json.loads(row["value"]) for row in self._db.table("settings").rows}
        )

    def vocabulary(self) -> tuple[str, ...]:
        """The words, by id."""
        return tuple(str(self._db.execute("SELECT words FROM vocabulary").fetchone()[0]).split("\n"))

    def progress(self) -> Progress:
        """As of the last commit."""
        row = self._db.table("progress").get(1)
        row["position"] = json.loads(row["position"]) if row["position"] else None
        row["finished"] = bool(row["finished"])
        return Progress(**{f.name: row[f.name] for f in fields(Progress)})

    def model_states(self) -> list[dict[str, Any]]:
        """The models' states in the order of the settings."""
        rows = self._db.execute("SELECT scalars, arrays FROM models ORDER BY id").fetchall()
        return [unpack_state(scalars, arrays) for scalars, arrays in rows]

    def model_scores(self) -> list[float | None]:
        """The models' last log-likelihoods."""
        return [row[0] for row in self._db.execute("SELECT log_likelihood FROM models ORDER BY id")]

    def pending(self) -> list[tuple[int, Documents]]:
        """Stretches crawled and not wholly trained, oldest first."""
        rows = self._db.execute("SELECT id, documents FROM pending ORDER BY id").fetchall()
        return [(number, Documents.from_bytes(data)) for number, data in rows]

    def held_out(self) -> Documents:
        """The held-out articles so far."""
        rows = self._db.execute("SELECT documents FROM held_out ORDER BY id").fetchall()
        return Documents.concatenate([Documents.from_bytes(data) for (data,) in rows])

    def commit(self, progress: Progress, changes: Changes, first_pending: int) -> None:
        """Write all of it in one transaction. Raises :class:`SessionError`; then nothing is written."""
        next_seq = progress.next_seq
        try:
            with self._db.atomic():
                for rows in changes.articles:
                    if self.settings.keep_articles != "none" or rows.role != "trained":
                        self._insert_articles(rows, next_seq)
                    if rows.role == "trained" and self.settings.keep_articles != "none":
                        self._insert_recent(rows.documents, next_seq)
                    if self.settings.keep_counts and rows.role != "skipped":
                        self._db.table("kept_counts").insert(
                            {"articles": len(rows.documents), "documents": rows.documents.to_bytes()}
                        )
                    next_seq += len(rows.documents)
                for first_seq, largest in changes.renewed:
                    self._renew_topics(first_seq, largest)
                self._db.execute("DELETE FROM pending WHERE id < ?", [first_pending])
                self._db.table("pending").insert_all(
                    {"id": number, "documents": documents.to_bytes()}
                    for number, documents in changes.pending
                    if number >= first_pending
                )
                self._db.table("held_out").insert_all(
                    {"documents": documents.to_bytes()} for documents in changes.held_out
                )
                self._db.conn.executemany(
                    "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?, ?)", changes.metrics
                )
                self._db.conn.executemany(
                    "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
                    [
                        (
                            s.model,
                            s.articles,
                            s.word_ids.tobytes(),
                            s.probabilities.tobytes(),
                            s.shares.tobytes(),
                        )
                        for s in changes.snapshots
                    ],
                )
                for number, row in changes.models.items():
                    self._db.table("models").update(number, _model_columns(row))
                self._db.table("progress").update(1, _progress_columns(progress) | {"next_seq": next_seq})
        except sqlite3.Error as error:
            raise as_session_error(error, self.path) from None
        progress.next_seq = next_seq

    def _insert_recent(self, documents: Documents, first_seq: int) -> None:
        nameless = replace(documents, titles=("",) * len(documents))  # `articles` has the titles
        self._db.table("recent").insert(
            {"first_seq": first_seq, "articles": len(documents), "documents": nameless.to_bytes()}
        )
        self._db.execute(
            "DELETE FROM recent WHERE first_seq + articles <= ?",
            [first_seq + len(documents) - RECENT_ARTICLES],
        )

    def recent(self) -> Iterator[tuple[int, Documents]]:
        """The newest trained articles (without titles) as committed: (number of the first, counts)."""
        numbers = self._db.execute("SELECT first_seq FROM recent ORDER BY first_seq").fetchall()
        for (first_seq,) in numbers:
            (data,) = self._db.execute(
                "SELECT documents FROM recent WHERE first_seq = ?", [first_seq]
            ).fetchone()
            yield first_seq, Documents.from_bytes(data)

    def _renew_topics(self, first_seq: int, largest: Sequence[Largest]) -> None:
        """Put each article's largest topics in the place of those that it had when it was read."""
        seqs = range(first_seq, first_seq + len(largest[0][0]))
        rows = self._db.execute(
            "SELECT seq, topics FROM articles WHERE seq BETWEEN ? AND ?", [seqs.start, seqs.stop - 1]
        ).fetchall()
        old = {seq: np.frombuffer(packed, "<u2").tolist() for seq, packed in rows if packed}
        self._db.conn.executemany(
            "DELETE FROM article_topics WHERE model = ? AND topic = ? AND proportion = ? AND seq = ?",
            [
                (model, values[2 * model], values[2 * model + 1], seq)
                for seq, values in old.items()
                for model in range(len(largest))
            ],
        )
        columns = _columns(largest)
        kept = [(place, seq) for place, seq in enumerate(seqs) if seq in old]
        self._db.conn.executemany(
            "UPDATE articles SET topics = ? WHERE seq = ?",
            [(columns[place].tobytes(), seq) for place, seq in kept],
        )
        self._insert_topics(columns, kept)

    def _insert_topics(self, columns: NDArray[np.uint16], places: Sequence[tuple[int, int]]) -> None:
        values = columns.tolist()
        for model in range(columns.shape[1] // 2):
            self._db.conn.executemany(
                "INSERT INTO article_topics VALUES (?, ?, ?, ?)",
                [
                    (model, values[place][2 * model], values[place][2 * model + 1], seq)
                    for place, seq in places
                ],
            )

    def _insert_articles(self, rows: ArticleRows, first_seq: int) -> None:
        documents = rows.documents
        seqs = range(first_seq, first_seq + len(documents))
        columns = _columns(rows.topics)
        packed: Iterable[bytes | None] = [None] * len(documents)
        if rows.topics:
            packed = [row.tobytes() for row in columns]
        self._db.conn.executemany(
            "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?)",
            zip(
                seqs,
                documents.page_ids.tolist(),
                documents.titles,
                documents.revision_ids.tolist(),
                documents.words.tolist(),
                [ROLES.index(rows.role)] * len(documents),
                packed,
                strict=True,
            ),
        )
        if rows.topics:
            self._insert_topics(columns, list(enumerate(seqs)))

    def keep_top(self, most: int) -> None:
        """Drop trained articles that are not among the ``most`` most about some topic."""
        with self._db.atomic():
            self._db.execute(
                "DELETE FROM article_topics WHERE (model, topic, proportion, seq) IN ("
                " SELECT model, topic, proportion, seq FROM (SELECT *, row_number() OVER"
                " (PARTITION BY model, topic ORDER BY proportion DESC) AS place FROM article_topics)"
                " WHERE place > ?)",
                [most],
            )
            self._db.execute(
                "DELETE FROM articles WHERE role = 0 AND seq NOT IN (SELECT seq FROM article_topics)"
            )

    def curve_points(self) -> list[int]:
        """Article counts at which models were measured."""
        return [row[0] for row in self._db.execute("SELECT DISTINCT articles FROM metrics ORDER BY articles")]

    def forget_points(self, articles: Iterable[int]) -> None:
        """Drop the measurements and snapshots at these points."""
        points = [(count,) for count in articles]
        with self._db.atomic():
            self._db.conn.executemany("DELETE FROM metrics WHERE articles = ?", points)
            self._db.conn.executemany("DELETE FROM snapshots WHERE articles = ?", points)

    def trim_log(self) -> None:
        """Bound the write-ahead log file, which a reader at the wrong moment lets grow."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Safe to call twice."""
        self._db.close()


class Pulse:
    """The small writes about the running trainer, on a connection (and thread) of their own.

    They say what is going on now; losing the newest of them costs nothing, so they never share a
    transaction with what was learnt.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = connect(path, timeout=5.0)

    def begin(self, first_article: int) -> int:
        """A run starts; returns its number. Old wishes of the control row are void."""
        now = time.time()
        with self._db.atomic():
            self._db.execute(
                "UPDATE runs SET ended_at = started_at, reason = 'killed' WHERE ended_at IS NULL"
            )
            self._db.execute("UPDATE control SET save = 0, stop = 0")
            self._db.table("runs").insert({"started_at": now, "first_article": first_article})
            return int(self._db.execute("SELECT max(id) FROM runs").fetchone()[0])

    def beat(
        self, state: str, activity: Mapping[str, Any], flow: tuple[float, float, int] | None
    ) -> dict[str, int]:
        """Say that the trainer lives and what it does; returns what others ask of it.

        ``flow``: (crawl rate, train rate, queue) to keep for the screen's graphs, or None.
        """
        now = time.time()
        with self._db.atomic():
            self._db.table("heartbeat").upsert(
                {"id": 1, "at": now, "pid": os.getpid(), "state": state, "activity": json.dumps(activity)},
                pk="id",
            )
            if flow is not None:
                self._db.execute(
                    "INSERT INTO flow (at, crawl_rate, train_rate, queue) VALUES (?, ?, ?, ?)", [now, *flow]
                )
                self._db.execute("DELETE FROM flow WHERE id <= (SELECT max(id) FROM flow) - ?", [FLOW_ROWS])
            row = dict(self._db.table("control").get(1))
            if row["save"]:
                self._db.execute("UPDATE control SET save = 0")
        return row

    def set_paused(self, paused: bool) -> None:
        """Note in the file that the trainer is to pause or go on."""
        self._db.execute("UPDATE control SET paused = ?", [int(paused)])

    def event(self, level: str, message: str) -> None:
        """Add a line to the session's log."""
        with self._db.atomic():
            self._db.table("events").insert({"at": time.time(), "level": level, "message": message})
            self._db.execute("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?", [EVENT_ROWS])

    def end(self, run: int, reason: str) -> None:
        """The run ends in good order."""
        self._db.table("runs").update(run, {"ended_at": time.time(), "reason": reason})

    def close(self) -> None:
        """Safe to call twice."""
        self._db.close()


def _columns(largest: Sequence[Largest]) -> NDArray[np.uint16]:
    """(n, 2 x models): topic and ten-thousandths of each model, one row an article."""
    pairs = [
        np.column_stack((topic, np.rint(np.asarray(share, np.float64) * 10_000))) for topic, share in largest
    ]
    return np.hstack(pairs).astype("<u2") if pairs else np.empty((0, 0), "<u2")


def _model_columns(row: ModelRow) -> dict[str, Any]:
    scalars, arrays = pack_state(row.state)
    values = {f.name: getattr(row, f.name) for f in fields(row) if f.name != "state"}
    return {"scalars": scalars, "arrays": arrays, **values}


def _progress_columns(progress: Progress) -> dict[str, Any]:
    values = asdict(progress)
    values["position"] = None if progress.position is None else json.dumps(progress.position)
    return values | {"finished": int(progress.finished), "committed_at": time.time()}


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as SQLite files do; False where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(16) == SQLITE_HEADER
    except OSError:
        return False

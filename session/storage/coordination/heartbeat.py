"""The small writes about the running trainer (heartbeat, rates, log), and whether another trainer is
alive."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from wikitopics.session.process import Process
from wikitopics.session.records import Flow, State, TrainerActivity
from wikitopics.session.storage.codec.heartbeat import Heartbeat, Wishes, encode_heartbeat
from wikitopics.session.storage.coordination.lock import in_use
from wikitopics.session.storage.database import connect, session_errors, writing
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.reader.status import STALE_SECONDS
from wikitopics.session.storage.tables import read_wishes

FLOW_ROWS = 900
EVENT_ROWS = 2000
BEATS_SECONDS = 2.0
"""A trainer's heart beats several times in this many seconds."""


class HeartbeatWriter:
    """The small writes about the running trainer, on a separate connection (and thread).

    They describe the present, and losing the newest costs nothing, so they never share a transaction with
    training results. Each raises `SessionError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = Process.own()
        self._db = connect(path)

    def begin(self, first_article: int) -> int:
        """Note the start of a run; returns its number."""
        now = time.time()
        with self._transaction():
            self._db.execute(
                "UPDATE runs SET ended_at = started_at, reason = 'killed' WHERE ended_at IS NULL"
            )
            read_wishes(self._db.conn)  # to check that there is a row
            self._db.table("runs").insert({"started_at": now, "first_article": first_article})
            return int(self._db.execute("SELECT max(id) FROM runs").fetchone()[0])

    def beat(self, state: State, activity: TrainerActivity, *, keep_flow: bool = False) -> Wishes:
        """Report that the trainer is alive and what it does; returns what others ask of it.

        ``keep_flow``: store the rates too, for the screen's graphs.
        """
        beat = Heartbeat(time.time(), self._process, state, activity)
        with self._transaction():
            self._db.table("heartbeat").upsert(encode_heartbeat(beat), pk="id")
            if keep_flow:
                flow = Flow(beat.at, activity.crawl_rate, activity.train_rate, activity.queue)
                self._db.table("flow").insert(asdict(flow))
                self._db.execute("DELETE FROM flow WHERE id <= (SELECT max(id) FROM flow) - ?", [FLOW_ROWS])
            wishes = read_wishes(self._db.conn)
            if wishes.save:
                self._db.execute("UPDATE control SET save = 0")
        return wishes

    def event(self, level: str, message: str) -> None:
        """Add a line to the session's log."""
        with self._transaction():
            self._db.table("events").insert({"at": time.time(), "level": level, "message": message})
            self._db.execute("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?", [EVENT_ROWS])

    def end(self, run: int, reason: str) -> None:
        """Note the regular end of a run."""
        with self._transaction():
            self._db.table("runs").update(run, {"ended_at": time.time(), "reason": reason})

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with session_errors(self._path), writing(self._db):
            yield

    def close(self) -> None:
        """Safe to call twice."""
        self._db.close()


def check_alone(path: Path) -> None:
    """Raise `SessionInUse` if another trainer's heartbeat continues although the lock was free.

    That happens if its lock file was deleted.
    """
    with SessionReader(path) as reader:
        beat = reader.heartbeat()
        if beat is None or beat.state == "stopped" or abs(time.time() - beat.at) > STALE_SECONDS:
            return
        alive = beat.process.lives()
        deadline = time.monotonic() + BEATS_SECONDS
        while alive is None and time.monotonic() < deadline:  # unknown, for example in a container
            time.sleep(0.1)
            alive = reader.heartbeat() != beat or None
    if alive:
        raise in_use(path, beat.process.pid)

"""The small writes about the running trainer (heartbeat, rates, log), and whether another one lives."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from session.process import Process
from session.records import Flow, State, TrainerActivity
from session.storage.codec.heartbeat import Heartbeat, Wishes, encode_heartbeat
from session.storage.coordination.lock import in_use
from session.storage.database import connect, session_errors, writing
from session.storage.reader import SessionReader
from session.storage.reader.status import STALE_SECONDS
from session.storage.tables import read_wishes

FLOW_ROWS = 900
EVENT_ROWS = 2000
BEATS_SECONDS = 2.0
"""A trainer's heart beats several times in so many seconds."""


class HeartbeatWriter:
    """The small writes about the running trainer, on a connection (and thread) of their own.

    They say what is going on now; losing the newest of them costs nothing, so they never share a
    transaction with what was learnt. Each raises :class:`session.errors.SessionError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = Process.own()
        self._db = connect(path)

    def begin(self, first_article: int) -> int:
        """A run starts; returns its number."""
        now = time.time()
        with self._transaction():
            self._db.execute(
                "UPDATE runs SET ended_at = started_at, reason = 'killed' WHERE ended_at IS NULL"
            )
            read_wishes(self._db.conn)  # that there is a row
            self._db.table("runs").insert({"started_at": now, "first_article": first_article})
            return int(self._db.execute("SELECT max(id) FROM runs").fetchone()[0])

    def beat(self, state: State, activity: TrainerActivity, *, keep_flow: bool = False) -> Wishes:
        """Say that the trainer lives and what it does; returns what others ask of it.

        ``keep_flow``: keep the rates too, for the screen's graphs.
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
        """The run ends in good order."""
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
    """Raises :class:`SessionInUse` where another trainer's heartbeat goes on, though the lock was free.

    That happens when somebody has deleted the lock file under it.
    """
    with SessionReader(path) as reader:
        beat = reader.heartbeat()
        if beat is None or beat.state == "stopped" or abs(time.time() - beat.at) > STALE_SECONDS:
            return
        alive = beat.process.lives()
        deadline = time.monotonic() + BEATS_SECONDS
        while alive is None and time.monotonic() < deadline:  # in a container, say
            time.sleep(0.1)
            alive = reader.heartbeat() != beat or None
    if alive:
        raise in_use(path, beat.process.pid)

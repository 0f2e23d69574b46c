"""What a trainer reports about itself, and what others ask of it, apart from what is learnt.

The tables `heartbeat`, `flow`, `events` and `runs`, and `control`, which others write and the trainer reads.
"""

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from wikitopics.session.records import JSON, Flow, Moment, State, Text, TrainerActivity
from wikitopics.session.storage.database import connect, only_row, session_errors, writing
from wikitopics.session.storage.decoding import columns_of, row_of
from wikitopics.session.system import Process

FLOW_ROWS = 900
EVENT_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A trainer's last sign of life."""

    at: float
    process: Process
    state: State
    activity: TrainerActivity


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """Requests from others to a running trainer."""

    paused: bool
    save: bool
    stop: bool


_PROCESS = "json_extract(activity, '$.process')"
HEARTBEAT = {"at": Moment, _PROCESS: Text, "state": State, "activity": Annotated[TrainerActivity, JSON]}
"""What a `Heartbeat` is read from."""


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
            only_row(self._db.conn, "control", {"id": int})  # to check that there is one
            self._db.table("runs").insert({"started_at": now, "first_article": first_article})
            return int(self._db.execute("SELECT max(id) FROM runs").fetchone()[0])

    def beat(self, state: State, activity: TrainerActivity, *, keep_flow: bool = False) -> ControlRequest:
        """Report that the trainer is alive and what it does; returns what others ask of it.

        ``keep_flow``: store the rates too, for the screen's graphs.
        """
        now, process = time.time(), self._process
        beat = {
            "id": 1,
            "at": now,
            "pid": process.pid,
            "state": state,
            "activity": json.dumps({**row_of(activity), "process": process.as_text()}, default=dict),
        }
        with self._transaction():
            self._db.table("heartbeat").upsert(beat, pk="id")
            if keep_flow:
                flow = Flow(now, activity.crawl_rate, activity.train_rate, activity.queue)
                self._db.table("flow").insert(row_of(flow))
                self._db.execute("DELETE FROM flow WHERE id <= (SELECT max(id) FROM flow) - ?", [FLOW_ROWS])
            request = ControlRequest(**only_row(self._db.conn, "control", columns_of(ControlRequest)))
            if request.save:
                self._db.execute("UPDATE control SET save = 0")
        return request

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


def request_control(path: Path, **columns: bool) -> None:
    """Ask a session's trainer to be `paused`, to `save` or to `stop`, or not. Raises `SessionError`."""
    with contextlib.closing(connect(path)) as db, session_errors(path):
        db.execute(f"UPDATE control SET {', '.join(f'{name} = :{name}' for name in columns)}", columns)

"""What a trainer reports about itself, apart from its results: the tables `heartbeat`, `flow`,
`events` and `runs`. What others ask of it: the table `control`, which they write and the trainer
reads.
"""

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

from wikitopics.session.errors import SessionError
from wikitopics.session.records import Flow, State, TrainerActivity
from wikitopics.session.storage.database import (
    RELEASED,
    connect,
    database,
    only_row,
    schema,
    session_errors,
    writing,
)
from wikitopics.session.storage.decoding import columns_of, row_of
from wikitopics.session.system import Process

FLOW_ROWS = 1800
"""The number of newest rows that stay in `flow`."""
EVENT_ROWS = 2000
"""The number of newest lines that stay in `events`."""


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """Requests from others to a running trainer."""

    paused: bool
    save: bool
    stop: bool
    hurry: bool
    """Whether a source that spreads its articles over time should deliver them as fast as it
    can."""
    lay_out: bool
    """Whether the maps of articles should be laid out anew."""


class HeartbeatWriter:
    """The small writes about the running trainer, on a separate connection (and thread).

    They describe the present, and losing the newest costs nothing, so they never share a
    transaction with training results. Every method raises `SessionError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = Process.own()
        self._db = database(connect(path))

    def begin(self, first_article: int) -> int:
        """Record the start of a run, and return its number."""
        now = time.time()
        with writing(self._db.conn, self._path):
            self._db.execute(
                "UPDATE runs SET ended_at = started_at, reason = 'killed' WHERE ended_at IS NULL"
            )
            only_row(self._db.conn, "control", {"id": int})  # to check that there is one
            self._db.table("runs").insert({"started_at": now, "first_article": first_article})
            return int(self._db.execute("SELECT max(id) FROM runs").fetchone()[0])

    def beat(
        self,
        state: State,
        activity: TrainerActivity,
        *,
        keep_flow: bool = False,
    ) -> ControlRequest:
        """Report that the trainer is alive and what it does; returns what others ask of it.

        ``keep_flow``: store the rates too, for the screen's graphs.
        """
        now = time.time()
        process = self._process
        activity_and_process = {**row_of(activity), "process": process.as_text()}
        row = [now, process.pid, state, json.dumps(activity_and_process, default=dict)]
        with writing(self._db.conn, self._path):
            self._db.execute("INSERT OR REPLACE INTO heartbeat VALUES (1, ?, ?, ?, ?)", row)
            if keep_flow:
                flow = Flow(now, activity.crawl_rate, activity.train_rate, activity.queue)
                self._db.table("flow").insert(row_of(flow))
                self._db.execute(
                    "DELETE FROM flow WHERE id <= (SELECT max(id) FROM flow) - ?", [FLOW_ROWS]
                )
            requested = only_row(self._db.conn, "control", columns_of(ControlRequest))
            request = ControlRequest(**requested)
            if request.save or request.hurry or request.lay_out:
                self._db.execute("UPDATE control SET save = 0, hurry = 0, lay_out = 0")
        return request

    def event(self, level: str, message: str) -> None:
        """Add a line to the session's log."""
        with writing(self._db.conn, self._path):
            self._db.table("events").insert({"at": time.time(), "level": level, "message": message})
            self._db.execute(
                "DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?", [EVENT_ROWS]
            )

    def end(self, run: int, reason: str, articles: int) -> None:
        """Record the regular end of a run, at a total of ``articles``. A resumed run that has
        trained on none is deleted, as when a finished session is opened again."""
        with writing(self._db.conn, self._path):
            self._db.table("runs").update(run, {"ended_at": time.time(), "reason": reason})
            idle = "id = ? AND first_article = ? AND first_article > 0"
            self._db.execute(f"DELETE FROM runs WHERE {idle}", [run, articles])

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._db.close()


def request_control(path: Path, **columns: bool) -> None:
    """Set fields of `ControlRequest` for a session's trainer, to True or False. Raises
    `SessionError`, also if the trainer is still one of an earlier version, which lacks a field."""
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    with contextlib.closing(connect(path)) as db, session_errors(path):
        (version,) = db.execute("PRAGMA user_version").fetchone()
        known = {column for table, _, column, *_ in schema(version) if table == "control"}
        if not known.issuperset(columns):
            raise SessionError(
                f"a trainer of version {RELEASED[version]} is running, which cannot do that: stop "
                "it, and start another"
            )
        db.execute(f"UPDATE control SET {assignments}", columns)


def withdraw_requests(path: Path) -> None:
    """Withdraw everything that was asked of an earlier trainer. Raises `SessionError`.

    The session may still have an earlier format, with fewer columns.
    """
    with contextlib.closing(connect(path)) as db, session_errors(path):
        names = db.execute("SELECT name FROM pragma_table_info('control') WHERE name <> 'id'")
        nothing = ", ".join(f"{name} = 0" for (name,) in names)
        db.execute(f"UPDATE control SET {nothing}")

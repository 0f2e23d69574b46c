"""What a trainer reports about itself, and what others ask of it, apart from what is learnt.

The tables `heartbeat`, `flow`, `events` and `runs`, and `control`, which others write and the trainer reads.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, get_args

from wikitopics.session.errors import Damaged
from wikitopics.session.records import BoundBy, Event, Flow, PastRun, State, TrainerActivity
from wikitopics.session.storage.database import connect, only_row, session_errors, writing
from wikitopics.session.storage.decoding import (
    check_of,
    flag,
    listed,
    moment,
    named,
    number,
    one_of,
    text,
    whole,
)
from wikitopics.session.storage.opened import OpenedSession
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


def encode_heartbeat(beat: Heartbeat) -> dict[str, object]:
    """The row of a heartbeat. Every field of the activity is a key of its JSON."""
    activity = beat.activity
    values = {field.name: getattr(activity, field.name) for field in fields(activity)}
    values["errors"] = [[error.at, error.message] for error in activity.errors]
    values["given"] = dict(activity.given)
    values["process"] = beat.process.as_text()
    return {
        "id": 1,
        "at": beat.at,
        "pid": beat.process.pid,
        "state": beat.state,
        "activity": json.dumps(values),
    }


def decode_heartbeat(at: float, state: State, values: Mapping[str, object]) -> Heartbeat:
    """Columns of the one row of `heartbeat`, ``values`` of the JSON; the inverse of `encode_heartbeat`."""
    place = "heartbeat.activity"
    known: dict[str, Any] = {
        name: decode(values[name], f"{place}.{name}")
        for name, decode in _ACTIVITY.items()
        if values.get(name) is not None
    }
    return Heartbeat(
        at=at,
        process=Process.from_text(text(values.get("process"), f"{place}.process")),
        state=state,
        activity=TrainerActivity(**known),
    )


def _error(value: object, place: str) -> Event:
    """[when, what]."""
    if not isinstance(value, list) or len(value) != 2:
        raise Damaged(f"{place} is not a time and a text")
    return Event(moment(value[0], place), "warning", text(value[1], place))


_ACTIVITY: Mapping[str, Callable[[object, str], object]] = {
    **dict.fromkeys(
        ("article_limit", "next_measurement", "queue", "requests", "requests_last_minute"), whole
    ),
    **dict.fromkeys(("allowed_per_minute", "batch_pages", "retries", "throttled"), whole),
    **dict.fromkeys(("crawl_rate", "train_rate", "latency_seconds", "elapsed_seconds"), number),
    "waiting_for": text,
    "waiting_until": moment,
    **dict.fromkeys(("failing", "compiling"), flag),
    "bound_by": partial(one_of, choices=get_args(BoundBy)),
    "errors": partial(listed, decode=_error),
    "given": named,
}
"""How each field of a `TrainerActivity` is checked; one that is missing has its default."""


class TrainerReader(OpenedSession):
    """Questions about the trainers that ran on a session: signs of life, rates, messages, and runs."""

    def heartbeat(self) -> Heartbeat | None:
        """The last heartbeat of a trainer; None if there never was one."""
        rows = self._select("heartbeat", "at, state, activity", "WHERE id = 1")
        return decode_heartbeat(*rows[0]) if rows else None

    def flow(self) -> list[Flow]:
        """The newest rates, oldest first."""
        return [
            Flow(*row) for row in self._select("flow", "at, crawl_rate, train_rate, queue", "ORDER BY id")
        ]

    def events(self, limit: int = 200, until: float | None = None) -> list[Event]:
        """The newest lines of the log, oldest first; ``until``: only those up to then, in seconds since
        the epoch."""
        where, bound = ("WHERE at <= ?", [until]) if until is not None else ("", [])
        clause = f"{where} ORDER BY id DESC LIMIT ?"
        newest_first = self._select("events", "at, level, message", clause, [*bound, limit])
        return [Event(*row) for row in reversed(newest_first)]

    def runs(self) -> list[PastRun]:
        """Every run of a trainer on this session, oldest first."""
        columns = "started_at, ended_at, first_article, reason"
        return [PastRun(*row) for row in self._select("runs", columns, "ORDER BY id")]


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
            only_row(self._db.conn, "control")  # to check that there is one
            self._db.table("runs").insert({"started_at": now, "first_article": first_article})
            return int(self._db.execute("SELECT max(id) FROM runs").fetchone()[0])

    def beat(self, state: State, activity: TrainerActivity, *, keep_flow: bool = False) -> ControlRequest:
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
            row = only_row(self._db.conn, "control")
            request = ControlRequest(
                *(check_of("control", name)(row[name]) for name in ("paused", "save", "stop"))
            )
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

"""Reading a session for the screen, `status` and the exports. Never changes anything."""

import contextlib
import os
import shutil
import sqlite3
import time
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated

from wikitopics.crawler.texts.kinds import BEFORE
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.options import HELD_OUT, PASSES, REPLICAS
from wikitopics.session.paths import BESIDE, check_length, is_at
from wikitopics.session.records import (
    JSON,
    Event,
    Flow,
    Moment,
    PastRun,
    Progress,
    State,
    Status,
    Text,
    TrainerActivity,
    per_hour,
)
from wikitopics.session.sources import kind_named, noun
from wikitopics.session.storage.counts import CountsReader
from wikitopics.session.storage.database import session_errors
from wikitopics.session.storage.decoding import columns_of
from wikitopics.session.storage.files import draft_of
from wikitopics.session.storage.models import ModelReader
from wikitopics.session.storage.places import PlaceReader
from wikitopics.session.storage.snippets import SnippetReader
from wikitopics.session.storage.topics import TopicReader
from wikitopics.session.system import UNKNOWN, Process, in_use, owner_pid

STALE_SECONDS = 15.0
"""A heartbeat older than this many seconds is no sign of life."""
BEATS_SECONDS = 2.0
"""A trainer's heart beats several times in this many seconds."""
HEARTBEAT_BYTES = 64 << 10
"""The most free space that a heartbeat needs."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A trainer's last sign of life. The defaults describe a session without one."""

    at: float = 0.0
    process: Process = UNKNOWN
    state: State = "new"
    activity: TrainerActivity = field(default_factory=TrainerActivity)


_PROCESS = "json_extract(activity, '$.process')"
HEARTBEAT = {
    "at": Moment,
    _PROCESS: Text,
    "state": State,
    "activity": Annotated[TrainerActivity, JSON],
}
"""The columns from which a `Heartbeat` is read."""


class SessionReader(ModelReader, TopicReader, PlaceReader, SnippetReader, CountsReader):
    """Everything that can be asked of a session. Models, topics, articles, snippets and word
    counts have their own modules."""

    def heartbeat(self) -> Heartbeat:
        """The last heartbeat of a trainer; in the state "new" if there never was one."""
        rows = self.select("heartbeat", HEARTBEAT, "WHERE id = 1")
        if not rows:
            return Heartbeat()
        at, process, state, activity = rows[0]
        return Heartbeat(at, Process.from_text(process), state, activity)

    def newest(self) -> tuple[int, int]:
        """The numbers of the newest measurement and of the newest snapshot; 0 if there is none.

        While a number stays the same, nothing has been added.
        """
        ((measurement, snapshot),) = self._rows(
            "SELECT (SELECT max(rowid) FROM metrics), (SELECT max(rowid) FROM snapshots)"
        )
        return measurement or 0, snapshot or 0

    def flow(self) -> list[Flow]:
        """The newest rates, oldest first."""
        return [Flow(*row) for row in self.select("flow", columns_of(Flow), "ORDER BY id")]

    def events(self, limit: int = 200, until: float | None = None) -> list[Event]:
        """The newest lines of the log, oldest first; ``until``: only those up to then, in seconds
        since the epoch."""
        newest_first = "WHERE at <= ifnull(?, at) ORDER BY id DESC LIMIT ?"
        rows = self.select("events", columns_of(Event), newest_first, [until, limit])
        return [Event(*row) for row in reversed(rows)]

    def runs(self) -> list[PastRun]:
        """Every run of a trainer on this session, oldest first."""
        return [PastRun(*row) for row in self.select("runs", columns_of(PastRun), "ORDER BY id")]

    def holdings(self) -> str:
        """What the session holds, for people: "1,200 documents (reviews.csv)"."""
        status = self.status()
        source = self.settings().source
        name = visible(kind_named(source).shown(status.source_name))
        return f"{status.documents:,} {noun(source)} ({name})"

    def check_there(self) -> None:
        """Raise `NoSession` if the file was removed or replaced: the open one is then no session
        any more."""
        if not is_at(self.path, self.file):
            raise NoSession(f"{self.path} was removed or replaced")

    def status(self) -> Status:
        """The session as it is now: what is committed, and what its trainer does.

        Raises `NoSession` as `check_there` does.
        """
        self.check_there()
        with self.one_moment():
            progress = self.progress()
            beat = self.heartbeat()
            settings = self.settings()
            models = self.model_statuses()
        models = tuple(
            replace(model, prequential_log_likelihood=progress.predicted(number))
            for number, model in enumerate(models)
        )
        now = time.time()
        pid = owner_pid(self.path)
        state = _state(progress.finished, beat, pid, now)
        activity = beat.activity
        # A heartbeat with another process number is that of an earlier run.
        is_live = pid is not None and beat.process.pid == pid
        is_at_work = is_live and beat.state != "stopped"
        is_late = state in ("running", "paused", "stalled") and now - beat.at > BEATS_SECONDS
        is_suspended = is_late and beat.process.is_suspended()
        if is_suspended:
            state = "stalled"
        elif is_late and state != "paused" and self._disk_full():
            # The trainer lives and waits, but cannot report that.
            state = "running"
            reason = f"the disk is full: {self.path}"
            activity = replace(activity.ended(), waiting_for=reason, failing=True)
        if is_at_work:  # the last commit may be old, as while the wiki cannot be reached
            progress.elapsed_seconds = max(progress.elapsed_seconds, activity.elapsed_seconds)
        checkpoint_age = max(0.0, now - progress.committed_at) if progress.crawled else None
        heartbeat_age = max(0.0, now - beat.at) if beat.state != "new" else None
        return Status(
            session=str(self.path),
            state=state,
            running=is_live,
            pid=pid,
            source=settings.source,
            source_name=settings.source_name,
            **{field.name: getattr(progress, field.name) for field in fields(Progress)},
            held_out_target=settings[HELD_OUT],
            passes=settings[PASSES],
            replicas=settings[REPLICAS],
            added=BEFORE in settings.source_options,
            articles_per_hour=per_hour(progress.articles, progress.elapsed_seconds),
            checkpoint_age_seconds=checkpoint_age,
            heartbeat_age_seconds=heartbeat_age,
            activity=activity if is_at_work else activity.ended(),
            models=models,
            suspended=is_suspended,
        )

    def _disk_full(self) -> bool:
        """Whether not even a heartbeat can be written."""
        try:
            return shutil.disk_usage(self.path.parent).free < HEARTBEAT_BYTES
        except OSError:
            return False


def backup(path: Path, target: Path) -> None:
    """Copy the session at ``path`` to a new file, readable by its owner only. A trainer may run
    meanwhile.

    Raises `SessionError` if ``target`` exists or cannot be written; then nothing is left behind.
    """
    for ending in ("", *BESIDE):
        if os.path.lexists(target.with_name(target.name + ending)):
            raise SessionError(f"{target}{ending} already exists: name a new file")
    check_length(target)
    with (
        session_errors(target),
        SessionReader(path) as reader,
        draft_of(target, mode=0o600) as draft,
    ):
        name = os.fsencode(draft)  # which need not be text
        reader._connection.execute("VACUUM INTO CAST(? AS TEXT)", [name])
        # On the copy, no trainer must seem to have died.
        with contextlib.closing(sqlite3.connect(draft)) as copy, copy:
            copy.execute("UPDATE heartbeat SET state = 'stopped'")


def check_alone(path: Path) -> None:
    """Raise `SessionInUse` if another trainer's heartbeat continues although the lock was free.

    That happens if its lock file was deleted.
    """
    with SessionReader(path) as reader:
        beat = reader.heartbeat()
        if beat.state in ("new", "stopped") or abs(time.time() - beat.at) > STALE_SECONDS:
            return
        alive = beat.process.lives()  # None if that is not known, for example in a container
        deadline = time.monotonic() + BEATS_SECONDS
        while alive is None and time.monotonic() < deadline:
            time.sleep(0.1)
            if reader.heartbeat() != beat:
                alive = True
    if alive:
        raise in_use(path, beat.process.pid)


def _state(finished: bool, beat: Heartbeat, pid: int | None, now: float) -> State:
    """What a session is doing; ``pid``: the process that holds its lock, if any."""
    if pid is None:
        if finished:
            return "finished"
        return beat.state if beat.state in ("new", "stopped") else "dead"
    if beat.state == "new" or beat.process.pid != pid:
        return "starting"
    if now - beat.at > STALE_SECONDS:
        return "stalled"
    # After its last heartbeat, which says "stopped", a trainer still runs until it releases the
    # session.
    return "stopping" if beat.state == "stopped" else beat.state

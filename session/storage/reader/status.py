"""One look at a session: what is committed, and whether a trainer is alive and what it does."""

import time
from dataclasses import replace

from wikitopics.session.errors import NoSession
from wikitopics.session.options import HELD_OUT
from wikitopics.session.records import State, Status, TrainerActivity, per_hour
from wikitopics.session.storage.codec.heartbeat import Heartbeat
from wikitopics.session.storage.coordination.lock import owner_pid
from wikitopics.session.storage.database import is_at
from wikitopics.session.storage.reader.opened import OpenedSession

STALE_SECONDS = 15.0
"""A heartbeat older than this many seconds is no sign of life."""


def status_of(opened: OpenedSession) -> Status:
    """The session as it is now.

    Raises `NoSession` if its file was removed or replaced, since the open file is then abandoned.
    """
    if not is_at(opened.path, opened.file):
        raise NoSession(f"{opened.path} was removed or replaced")
    with opened.one_moment():
        committed, beat, settings = opened.committed(), opened.heartbeat(), opened.settings()
        models = opened.model_statuses()
    progress = committed.progress
    models = tuple(
        replace(model, prequential_log_likelihood=progress.predicted(number))
        for number, model in enumerate(models)
    )
    now = time.time()
    pid = owner_pid(opened.path)
    live = pid is not None and beat is not None and beat.process.pid == pid  # not of another run
    at_work = live and beat is not None and beat.state != "stopped"
    activity = TrainerActivity() if beat is None else beat.activity
    return Status(
        session=str(opened.path),
        state=_state(progress.finished, beat, pid, now),
        running=live,
        pid=pid,
        source=settings.source,
        source_name=settings.source_name,
        articles=progress.articles,
        tokens=progress.tokens,
        held_out=progress.held_out,
        held_out_target=settings[HELD_OUT],
        crawled=progress.crawled,
        pending=progress.pending,
        skipped=progress.skipped,
        skips=progress.skips,
        elapsed_seconds=progress.elapsed_seconds,
        articles_per_hour=per_hour(progress.articles, progress.elapsed_seconds),
        bytes_read=progress.bytes_read,
        committed_at=committed.at,
        checkpoint_age_seconds=max(0.0, now - committed.at) if progress.crawled else None,
        heartbeat_age_seconds=None if beat is None else max(0.0, now - beat.at),
        lap=progress.lap,
        activity=activity if at_work else activity.ended(),
        models=models,
    )


def _state(finished: bool, beat: Heartbeat | None, pid: int | None, now: float) -> State:
    if pid is None:
        if finished:
            return "finished"
        if beat is None:
            return "new"
        return "stopped" if beat.state == "stopped" else "dead"
    if beat is None or beat.process.pid != pid:
        return "starting"
    if now - beat.at > STALE_SECONDS:
        return "stalled"
    # Its last word is "stopped", but it is not gone before it lets go of the session.
    return "stopping" if beat.state == "stopped" else beat.state

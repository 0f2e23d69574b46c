"""Reading sessions without ever blocking the keys: one thread owns the readers.

SQLite connections belong to the thread that made them, and a read may have to wait for the disk. So every
call goes through an executor with one thread, and returns plain values.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from wikitopics.session.analysis.metrics import metrics_of
from wikitopics.session.analysis.origin import addresses
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.paths import log_file, session_name
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.storage.files import last_line
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.look import Beside, Look

T = TypeVar("T")

STATUS_EVERY = 1.0
"""Seconds between two looks at a session in which nothing happens: ages grow, and trainers die."""
FULL_EVERY = 1.0
"""The least seconds between two readings of what was learnt, however often the trainer commits."""

LOGGED_WITHIN = 2.0
"""The most seconds between an event and its line in the log."""
MOST = 8
"""The most marked sessions; with more, their lines could not be told apart."""


class Readers:
    """The readers of some sessions, and the thread that they belong to. Methods without an underscore are for
    the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session-reader")
        self._readers: dict[Path, SessionReader] = {}
        self._closed = False

    async def _run(self, work: Callable[..., T], *given: object) -> T:
        """Have the thread do this. Raises SessionError once the readers are closed."""
        if self._closed:
            raise SessionError("this session is no longer being watched")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)

    def close(self, *, wait: bool = False) -> None:
        """Close all files; the thread ends as soon as it is done. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._thread.submit(self._let_go)
        self._thread.shutdown(wait=wait)

    def _reader(self, path: Path) -> SessionReader:
        if path not in self._readers:
            self._readers[path] = SessionReader(path)
        return self._readers[path]

    def _let_go(self, but: Sequence[Path] = ()) -> None:
        for path in self._readers.keys() - {*but}:
            self._readers.pop(path).leave()


class Follower(Readers):
    """Looks at one session."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._look: Look | None = None
        # What the look was read from: each part is read again when its own key changes.
        self._version: int | None = None
        self._learnt: tuple[object, ...] | None = None
        """The commit, the metrics wanted and the names given to topics."""
        self._measured: tuple[object, ...] | None = None
        """The newest measurement, and the metrics wanted."""
        self._kept: tuple[object, ...] | None = None
        """The newest snapshot, and the names given to topics."""
        self._looked_at = self._learnt_at = float("-inf")
        """By the monotonic clock."""
        self._past: tuple[Look, Look] | None = None
        """The last look into the past, and what it was made from."""

    async def look(self, metrics: Iterable[str], as_of: int | None = None) -> Look:
        """The session as it is now, or as it was after ``as_of`` articles; raises a `SessionError`."""
        wanted = tuple(metrics)

        def read(reader: SessionReader) -> Look:
            look = self._read(reader, wanted)
            return look if as_of is None else self._back_at(reader, look, as_of)

        return await self.ask(read)

    async def ask(self, question: Callable[[SessionReader], T]) -> T:
        """Put any other question to the reader, in its thread. Raises SessionError once the follower is
        closed."""
        return await self._run(self._answer, question)

    def _answer(self, question: Callable[[SessionReader], T]) -> T:
        reader = self._reader(self._path)
        try:
            return question(reader)
        except NoSession:  # removed: whatever is in its place at the next look is another session
            self._readers.pop(self._path).close()
            self._look = self._version = self._past = None
            self._learnt = self._measured = self._kept = None
            raise

    def _read(self, reader: SessionReader, metrics: tuple[str, ...]) -> Look:
        version, now, look = reader.version(), time.monotonic(), self._look
        asked_anew = self._learnt is None or metrics != self._learnt[1]
        rested = now - self._looked_at < STATUS_EVERY
        if look is not None and rested and version == self._version and not asked_anew:
            return look
        status, settings = reader.status(), reader.settings()
        if look is None:
            look = Look(status=status, at=0.0, address=addresses(settings), models=tuple(reader.models()))
        look = replace(
            look,
            status=status,
            at=time.time(),
            settings=settings.as_json(),  # the vocabulary's fingerprint comes when it is built
            # The reason why a trainer that is gone has ended.
            last_words="" if status.running else last_line(log_file(reader.path)),
        )
        if version != self._version:  # such as a heartbeat with new rates
            runs = tuple(reader.runs())
            look = replace(
                look,
                flow=tuple(reader.flow()),
                events=tuple(reader.events()),
                runs=look.runs if runs == look.runs else runs,  # the chart is redrawn only for different ones
            )
        learnt = (status.committed_at, metrics, reader.given_names())
        measured, kept = self._measured, self._kept
        if learnt != self._learnt and (asked_anew or now - self._learnt_at >= FULL_EVERY):
            # Most commits add neither measurements nor snapshots. Curves and topics then stay the same
            # objects, and nothing that shows them is redrawn.
            measurement, snapshot = reader.newest()
            measured, kept = (measurement, metrics), (snapshot, learnt[-1])
            look = replace(look, recent=tuple(reader.recent_articles()))
            if measured != self._measured:
                curves = {(m, metric): reader.curve(m, metric) for m in look.models for metric in metrics}
                look = replace(look, metrics=metrics_of(reader), curves=curves)
            if kept != self._kept:
                topics = {m: tuple(reader.topics(m, SNAPSHOT_WORDS)) for m in look.models}
                look = replace(look, topics=topics, changes=tuple(reader.topic_events()))
            self._learnt, self._learnt_at = learnt, now
        # Only now that nothing has failed: anything that could not be read is asked for again.
        self._look, self._version, self._looked_at = look, version, now
        self._measured, self._kept = measured, kept
        return look

    def _back_at(self, reader: SessionReader, look: Look, articles: int) -> Look:
        if self._past is None or self._past[0] is not look or self._past[1].as_of != articles:
            topics = {m: tuple(reader.topics(m, SNAPSHOT_WORDS, articles)) for m in look.models}
            when = look.moment(articles)
            events = () if when is None else tuple(reader.events(until=when + LOGGED_WITHIN))
            self._past = look, look.back_at(articles, topics, events)
        return self._past[1]


class Comparing(Readers):
    """Reads the curves of the marked sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Path, tuple[object, Beside]] = {}
        """What was read, with its commit and metric."""

    async def look(self, paths: Sequence[Path], metric: str) -> tuple[tuple[Beside, ...], dict[Path, str]]:
        """The sessions as of their last commits, and the reasons why some cannot be read. A commit that was
        read before gives the same object again."""
        return ((), {}) if self._closed else await self._run(self._look, paths, metric)

    def _look(self, paths: Sequence[Path], metric: str) -> tuple[tuple[Beside, ...], dict[Path, str]]:
        self._let_go(paths)
        found, failed = [], {}
        for path in paths[:MOST]:
            try:
                found.append(self._read(path, metric))
            except SessionError as error:
                failed[path] = str(error)
        return tuple(found), failed

    def _read(self, path: Path, metric: str) -> Beside:
        reader = self._reader(path)
        of = reader.status().committed_at, metric
        if path not in self._known or self._known[path][0] != of:
            models = tuple(reader.models())
            curves = {(model, metric): reader.curve(model, metric) for model in models}
            settings = reader.settings()
            words = settings.fingerprint, settings.rule
            self._known[path] = of, Beside(session_name(path), words, models, curves)
        return self._known[path][1]

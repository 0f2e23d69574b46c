"""Reading sessions without ever blocking the keys: one thread owns the readers.

SQLite connections belong to the thread that made them, and a read may have to wait for the disk. So every
call goes through an executor with one thread, and returns plain values.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import TypeVar

from wikitopics.session.analysis.proportions import addresses
from wikitopics.session.analysis.topics import metrics_of
from wikitopics.session.control import Trainers, last_words
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.paths import session_name
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.look import Beside, Replay, SessionView

T = TypeVar("T")

TrainerProcess = Popen[bytes]
"""The process of a trainer that this screen started."""

STATUS_EVERY = 1.0
"""Seconds between two looks at a session in which nothing happens: ages grow, and trainers die."""
FULL_EVERY = 1.0
"""The least seconds between two readings of what was learnt, however often the trainer commits."""

LOG_LINES = 200
"""The most lines of the log that are read: the newest."""
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
        self._look: SessionView | None = None
        # What the look was read from: each part is read again when its own key changes.
        self._version: int | None = None
        self._learnt: tuple[object, ...] | None = None
        """The commit, the metrics wanted, the order of words and the names given to topics."""
        self._measured: tuple[object, ...] | None = None
        """The newest measurement, and the metrics wanted."""
        self._kept: tuple[object, ...] | None = None
        """The newest snapshot, the order of words and the names given to topics."""
        self._looked_at = self._learnt_at = float("-inf")
        """By the monotonic clock."""
        self._past: tuple[SessionView, SessionView] | None = None
        """The last look into the past, and what it was made from."""

    async def look(
        self, metrics: Iterable[str], as_of: int | None = None, *, relevant: bool = True
    ) -> SessionView:
        """The session as it is now, or as it was after ``as_of`` articles; raises a `SessionError`.

        ``relevant``: with topics' most relevant words first, not the most probable.
        """
        wanted = tuple(metrics)

        def read(reader: SessionReader) -> SessionView:
            look = self._read(reader, wanted, relevant)
            return look if as_of is None else self._back_at(reader, look, as_of, relevant)

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

    def _read(self, reader: SessionReader, metrics: tuple[str, ...], relevant: bool) -> SessionView:
        version, now, look = reader.version(), time.monotonic(), self._look
        asked_anew = self._learnt is None or (metrics, relevant) != self._learnt[1:3]
        rested = now - self._looked_at < STATUS_EVERY
        if look is not None and rested and version == self._version and not asked_anew:
            return look
        status, settings = reader.status(), reader.settings()
        if look is None:
            look = SessionView(
                status=status, at=0.0, address=addresses(settings), models=tuple(reader.models())
            )
        look = replace(
            look,
            status=status,
            at=time.time(),
            settings=settings.as_json(),  # the vocabulary's fingerprint comes when it is built
            # The reason why a trainer that is gone has ended.
            last_words="" if status.running else last_words(reader.path),
        )
        if version != self._version:  # such as a heartbeat with new rates
            runs = tuple(reader.runs())
            look = replace(
                look,
                flow=tuple(reader.flow()),
                events=tuple(reader.events(LOG_LINES)),
                runs=look.runs if runs == look.runs else runs,  # the chart is redrawn only for different ones
            )
        learnt = (status.committed_at, metrics, relevant, reader.given_names())
        measured, kept = self._measured, self._kept
        if learnt != self._learnt and (asked_anew or now - self._learnt_at >= FULL_EVERY):
            # Most commits add neither measurements nor snapshots. Curves and topics then stay the same
            # objects, and nothing that shows them is redrawn.
            measurement, snapshot = reader.newest()
            measured, kept = (measurement, metrics), (snapshot, *learnt[2:])
            look = replace(look, recent=tuple(reader.recent_articles()))
            if measured != self._measured:
                curves = {(m, metric): reader.curve(m, metric) for m in look.models for metric in metrics}
                look = replace(look, metrics=metrics_of(reader), curves=curves)
            if kept != self._kept:
                topics = {m: tuple(reader.topics(m, SNAPSHOT_WORDS, relevant=relevant)) for m in look.models}
                look = replace(look, topics=topics, changes=tuple(reader.topic_events()))
            self._learnt, self._learnt_at = learnt, now
        # Only now that nothing has failed: anything that could not be read is asked for again.
        self._look, self._version, self._looked_at = look, version, now
        self._measured, self._kept = measured, kept
        return look

    def _back_at(
        self, reader: SessionReader, look: SessionView, articles: int, relevant: bool
    ) -> SessionView:
        if self._past is None or self._past[0] is not look or self._past[1].as_of != articles:
            topics = {
                m: tuple(reader.topics(m, SNAPSHOT_WORDS, articles, relevant=relevant)) for m in look.models
            }
            when = look.moment(articles)
            events = () if when is None else tuple(reader.events(until=when + LOGGED_WITHIN))
            self._past = look, look.back_at(articles, topics, events)
        return self._past[1]


class Comparing(Readers):
    """Reads the curves of the marked sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Path, tuple[object, Beside]] = {}
        """What was read, with its commit and metrics."""

    async def look(
        self, paths: Sequence[Path], metrics: tuple[str, ...]
    ) -> tuple[tuple[Beside, ...], dict[Path, str]]:
        """The sessions as of their last commits, and the reasons why some cannot be read. A commit that was
        read before gives the same object again."""
        return ((), {}) if self._closed else await self._run(self._look, paths, metrics)

    def _look(
        self, paths: Sequence[Path], metrics: tuple[str, ...]
    ) -> tuple[tuple[Beside, ...], dict[Path, str]]:
        self._let_go(paths)
        found, failed = [], {}
        for path in paths[:MOST]:
            try:
                found.append(self._read(path, metrics))
            except SessionError as error:
                failed[path] = str(error)
        return tuple(found), failed

    def _read(self, path: Path, metrics: tuple[str, ...]) -> Beside:
        reader = self._reader(path)
        of = reader.status().committed_at, metrics
        if path not in self._known or self._known[path][0] != of:
            models = tuple(reader.models())
            curves = {(model, metric): reader.curve(model, metric) for model in models for metric in metrics}
            settings = reader.settings()
            words = settings.fingerprint, settings.rule
            self._known[path] = of, Beside(session_name(path), words, models, curves)
        return self._known[path][1]


class Watch:
    """Watches one session until it is closed. It knows nothing of the screen."""

    def __init__(self, path: Path, trainers: Trainers, trainer: TrainerProcess | None = None) -> None:
        """``trainers``: those that this screen has started.
        ``trainer``: that of ``path``, if it has just been started."""
        self.path, self._trainers = path, trainers
        self.latest: SessionView | None = None
        self.trouble = ""
        """Why the session cannot be read now; "" if it can."""
        self.frozen_at: float | None = None
        """When the user froze the view, by the monotonic clock."""
        self.replay: Replay | None = None
        """The replay in progress: looks are then of its point in the past."""
        self.awaited = trainer
        """A trainer of ours that has not opened the session yet."""
        self._others: tuple[Beside, ...] = ()
        self._wake, self._compare_again = asyncio.Event(), asyncio.Event()
        self._follower, self._searcher = Follower(path), Follower(path)
        """The second one answers slow questions, in a thread of its own."""
        self._comparing = Comparing()

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader, which answers in its own thread. ``aside``: in another
        thread, so that following the session continues meanwhile."""
        return await (self._searcher if aside else self._follower).ask(question)

    async def begin_replay(self) -> None:
        """Go back to the first snapshot of topics, if there is one. Raises `SessionError`."""
        models = self.latest.models if self.latest is not None else ()
        kept = await self.ask(lambda reader: [reader.snapshots(model) for model in models])
        if points := tuple(sorted(set().union(*kept))):
            self.replay, self.frozen_at = Replay(points), None

    def close(self, *, wait: bool = False) -> None:
        """Close the session's file. Safe to call twice."""
        for each in (self._follower, self._searcher, self._comparing):
            each.close(wait=wait)

    async def look(self, metrics: tuple[str, ...], *, relevant: bool) -> int | None:
        """Read the session; afterwards `latest` and `trouble` tell how it is. ``relevant``: as in `Follower`.

        Returns the exit code of the awaited trainer, if it has failed before it opened the session.
        """
        try:
            as_of = None if self.replay is None else self.replay.articles
            look = await self._follower.look(metrics, as_of, relevant=relevant)
        except SessionError as error:
            self._lose_sight(error)
            return None
        code = None if self.awaited is None else self.awaited.poll()
        if look.status.running or code is not None:
            self.awaited = None
        if self.awaited is not None:  # whatever the previous trainer left behind
            look = replace(look, status=replace(look.status, state="starting"))
        if look.status.state == "dead":
            look = replace(look, status=replace(look.status, death=self._trainers.death(self.path)))
        self.latest, self.trouble = replace(look, others=self._others), ""
        return code if code and not look.status.running else None

    def _lose_sight(self, error: SessionError) -> None:
        """Say in few words why the session cannot be read, since the line has no room for advice. Once the
        file is gone, no rate is current any more."""
        latest, gone = self.latest, isinstance(error, NoSession)
        if gone and latest is not None:
            self.trouble = "its file was removed or replaced"
            if latest.status.lively:
                self.latest = replace(latest, status=replace(latest.status, state="stalled"))
        elif gone and self.awaited is not None:
            self.trouble = f"starting {session_name(self.path)} …"
        else:
            self.trouble = str(error)

    async def compare(self, compared: Sequence[Path], metrics: tuple[str, ...]) -> Mapping[Path, str]:
        """Read the curves of the marked sessions; returns the reasons why some cannot be read."""
        self._compare_again.clear()
        marked = [path for path in compared if path != self.path]
        others, failed = await self._comparing.look(marked, metrics)
        if [*map(id, others)] != [*map(id, self._others)]:
            self._others = others
            self._wake.set()
        return failed

    def look_again(self) -> None:
        """Read the session now, without waiting for the next turn."""
        self._wake.set()
        self._compare_again.set()

    async def turn(self, seconds: float) -> None:
        """Return when it is time to read the session again: after some seconds, or when asked to."""
        self._wake.clear()
        await _until(self._wake, seconds)

    async def compare_turn(self, seconds: float) -> None:
        """Return when it is time to read the marked sessions again."""
        await _until(self._compare_again, seconds)


async def _until(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)

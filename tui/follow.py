"""How sessions are read without ever blocking the keys: one thread owns the readers.

SQLite connections belong to the thread that made them, and a read may have to wait for the disk. So
every call goes through an executor with one thread, and returns plain values.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple, TypeVar

from wikitopics.session.analysis.answers import Answers
from wikitopics.session.analysis.areas import atlas
from wikitopics.session.analysis.article_map import MapFollower
from wikitopics.session.analysis.origin import addresses
from wikitopics.session.analysis.quality import metrics_of
from wikitopics.session.control import Trainers, last_words
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.paths import session_name
from wikitopics.session.records import SNAPSHOT_WORDS, ArticleRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.session_view import (
    MIXED,
    Beside,
    Curves,
    Leading,
    ModelTopics,
    Replay,
    SessionView,
)

T = TypeVar("T")

TrainerProcess = Popen[bytes]
"""The process of a trainer that this screen started."""

STATUS_EVERY = 1.0
"""Seconds between two readings of a session in which nothing happens: ages grow, and trainers
die."""
FULL_EVERY = 1.0
"""The minimum seconds between two readings of what was learnt, however often the trainer
commits."""

LONG_SECONDS = 1.0
"""What takes longer to read is told in the status line."""
LOG_LINES = 200
"""The maximum number of log lines read: the newest."""
LOGGED_WITHIN = 2.0
"""The maximum seconds between an event and its line in the log."""
MOST_COMPARED = 8
"""The maximum number of marked sessions; with more, their lines could not be told apart."""


class Readers:
    """The readers of some sessions, and the thread that they belong to."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session-reader")
        self._readers: dict[Path, SessionReader] = {}
        self._closed = False

    async def read(self, path: Path, question: Callable[[SessionReader], T]) -> T:
        """Put a question to a session's reader, in its thread. Raises SessionError once the readers
        are closed."""
        if self._closed:
            raise SessionError("this session is no longer being watched")
        return await asyncio.get_running_loop().run_in_executor(
            self._thread,
            self._answer,
            path,
            question,
        )

    def _answer(self, path: Path, question: Callable[[SessionReader], T]) -> T:
        if path not in self._readers:
            self._readers[path] = SessionReader(path)
        try:
            self._readers[path].check_there()
            return question(self._readers[path])
        except NoSession:  # removed: whatever is in its place the next time is another session
            self._readers.pop(path).close()
            raise

    def close(self, *, wait: bool = False) -> None:
        """Close all files; the thread ends as soon as it is done. Safe to call twice."""
        self.close_all_but(())
        self._closed = True
        self._thread.shutdown(wait=wait)

    def close_all_but(self, paths: Collection[Path]) -> None:
        """Close the files of all other sessions, in the thread."""

        def leave() -> None:
            for path in self._readers.keys() - paths:
                self._readers.pop(path).leave()

        if not self._closed:
            self._thread.submit(leave)


class Learnt(NamedTuple):
    """What the curves, the topics and the articles on the screen were read for."""

    committed_at: float
    metrics: tuple[str, ...]
    """The metrics wanted."""
    by_probability: bool
    """Whether topics' most probable words come first."""
    given_names: object
    """The names given to topics."""
    hidden_topics: object

    @property
    def of_topics(self) -> tuple[object, ...]:
        """What topics depend on, besides their snapshot."""
        return self.by_probability, self.given_names, self.hidden_topics


class Follower(Readers):
    """Reads one session again and again."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._session: SessionView | None = None
        # What the session was read from: each part is read again when its own key changes.
        self._version: int | None = None
        self._learnt: Learnt | None = None
        self._measured: tuple[object, ...] | None = None
        """The newest measurement, and the metrics wanted."""
        self._snapshot: tuple[object, ...] | None = None
        """The newest snapshot, and what else topics depend on."""
        self._read_at = float("-inf")
        """When the session was last read, by the monotonic clock."""
        self._learnt_at = float("-inf")
        """When what was learnt was last read."""
        self._trained_as: dict[int, int | None] = {}
        """The article that was the last one trained at each moment of a replay, by its number
        (`seq`)."""

    async def read_session(
        self,
        metrics: Iterable[str],
        as_of: int | None = None,
        *,
        by_probability: bool = False,
    ) -> SessionView:
        """The session as it is now, or as it was after ``as_of`` articles; raises a `SessionError`.

        ``by_probability``: with topics' most probable words as those shown.
        """
        wanted = tuple(metrics)

        def read(reader: SessionReader) -> SessionView:
            session = self._read(reader, wanted, by_probability)
            if as_of is None:
                return session
            return self._back_at(reader, session, as_of, by_probability)

        return await self.read(self._path, read)

    def _answer(self, path: Path, question: Callable[[SessionReader], T]) -> T:
        try:
            return super()._answer(path, question)
        except NoSession:
            self._session = None
            self._version = None
            self._learnt = None
            self._measured = None
            self._snapshot = None
            self._trained_as.clear()
            raise

    def _back_at(
        self,
        reader: SessionReader,
        session: SessionView,
        as_of: int,
        by_probability: bool,
    ) -> SessionView:
        """The session as it was after ``as_of`` articles."""
        moment = session.moment(as_of)
        events = () if moment is None else tuple(reader.events(until=moment + LOGGED_WITHIN))
        if as_of not in self._trained_as:
            number = session.status.documents_after(as_of)
            self._trained_as[as_of] = reader.trained_as(number)
        last = self._trained_as[as_of]
        recent = () if last is None else tuple(reader.recent_articles(up_to=last))
        return session.back_at(
            as_of,
            _topics(reader, session.models, as_of, by_probability),
            events,
            recent,
            _leading(reader, session.models, recent),
        )

    def _read(
        self, reader: SessionReader, metrics: tuple[str, ...], by_probability: bool
    ) -> SessionView:
        version = reader.version()
        now = time.monotonic()
        session = self._session
        known = self._learnt
        is_same_request = known is not None and (metrics, by_probability) == (
            known.metrics,
            known.by_probability,
        )
        is_recent = now - self._read_at < STATUS_EVERY
        if session is not None and is_recent and version == self._version and is_same_request:
            return session

        status = reader.status()
        settings = reader.settings()
        if session is None:
            session = SessionView(
                status,
                0.0,
                address=addresses(settings),
                models=tuple(reader.models()),
            )
        session = replace(
            session,
            status=status,
            at=time.time(),
            settings=settings.as_json(),  # the vocabulary's fingerprint comes when it is built
            # If the trainer is gone: why it ended.
            last_words="" if status.running else last_words(reader.path),
        )
        if version != self._version:  # such as a heartbeat with new rates
            session = replace(
                session,
                flow=tuple(reader.flow()),
                events=tuple(reader.events(LOG_LINES)),
                runs=tuple(reader.runs()),
            )
        learnt = Learnt(
            status.committed_at,
            metrics,
            by_probability,
            reader.given_names(),
            reader.hidden_topics(),
        )
        measured = self._measured
        snapshot = self._snapshot
        may_read = not is_same_request or now - self._learnt_at >= FULL_EVERY
        if learnt != self._learnt and may_read:
            newest_measurement, newest_snapshot = reader.newest()
            measured = (newest_measurement, metrics)
            snapshot = (newest_snapshot, *learnt.of_topics)
            session = self._read_learnt(reader, session, learnt, measured, snapshot)
            self._learnt = learnt
            self._learnt_at = now
        # Set only now that nothing has failed: whatever could not be read will be read again.
        self._session = session
        self._version = version
        self._read_at = now
        self._measured = measured
        self._snapshot = snapshot
        return session

    def _read_learnt(
        self,
        reader: SessionReader,
        session: SessionView,
        learnt: Learnt,
        measured: tuple[object, ...],
        snapshot: tuple[object, ...],
    ) -> SessionView:
        """The session with the newest articles, curves and topics.

        Most commits add neither measurements nor snapshots. Curves and topics then stay the same
        objects, and nothing that shows them is redrawn.
        """
        models = session.models
        # Skipped ones are recorded while others wait to be learnt, and would fill the lists.
        recent = tuple(reader.recent_articles(up_to=reader.newest_counted()))
        session = replace(session, recent=recent, leading=_leading(reader, models, recent))
        if measured != self._measured:
            curves = _curves(reader, models, learnt.metrics)
            session = replace(session, metrics=metrics_of(reader), curves=curves)
        if snapshot != self._snapshot:
            atlases = {model: atlas(reader, model) for model in models}
            new_changes = reader.topic_events(after=len(session.changes))
            session = replace(
                session,
                topics=_topics(reader, models, None, learnt.by_probability),
                atlases={model: found for model, found in atlases.items() if found is not None},
                changes=(*session.changes, *new_changes),
            )
        return session


def _curves(reader: SessionReader, models: Sequence[str], metrics: Sequence[str]) -> Curves:
    curves = {}
    for model in models:
        for metric in metrics:
            curves[model, metric] = reader.curve(model, metric)
    return curves


def _topics(
    reader: SessionReader,
    models: Sequence[str],
    as_of: int | None,
    by_probability: bool,
) -> ModelTopics:
    topics = {}
    for model in models:
        rows = reader.topics(model, SNAPSHOT_WORDS, as_of)
        if by_probability:
            rows = [replace(row, shown=row.words) for row in rows]
        topics[model] = tuple(rows)
    return topics


def _leading(
    reader: SessionReader, models: Sequence[str], recent: Sequence[ArticleRow]
) -> dict[str, Leading]:
    seqs = [article.seq for article in recent]
    try:
        return {model: reader.leading_topics(model, seqs, MIXED) for model in models}
    except SessionError:  # damaged proportions leave the rest of the screen intact
        return {}


def told_in_brief(what: str, done: int, total: int) -> str:
    """How far reading is, for a line with little room: "reading topics: 69%"; "" at the end.

    The arguments are those of an `Advance`, such as ("topics of articles read", 69, 100).
    """
    if done >= total:
        return ""
    first_word, *_ = what.split()
    return f"reading {first_word}: {done / total:.0%}"


class Watch:
    """Watches one session until it is closed. It knows nothing of the screen."""

    def __init__(
        self,
        path: Path,
        trainers: Trainers,
        trainer: TrainerProcess | None = None,
    ) -> None:
        """``trainers``: those that this screen has started. ``trainer``: that of ``path``, if it
        has just been started."""
        self.path = path
        self._trainers = trainers
        self.latest: SessionView | None = None
        self.trouble = ""
        """Why the session cannot be read now; "" if it can."""
        self.reading = ""
        """What the thread for slow questions reads, and how far it is, if that takes long."""
        self._asked_at = 0.0
        """When that thread was last asked, by the monotonic clock."""
        self.frozen_at: float | None = None
        """When the user froze the view, by the monotonic clock."""
        self.replay: Replay | None = None
        """The replay in progress: what is read is then of its point in the past."""
        self.awaited = trainer
        """A trainer of ours that has not opened the session yet."""
        self.answers: Answers | None = None
        """The newest answers, used only in the thread for slow questions."""
        self._maps: tuple[SessionReader | None, dict[str, MapFollower]] = (None, {})
        """The maps of each model's articles, and their reader; used only in the same thread."""
        self.due = asyncio.Event()
        """Set when the session is to be read at once."""
        self._follower = Follower(path)
        """For the session itself."""
        self._searcher = Readers()
        """For slow questions about it."""
        self._comparing = Readers()
        """For the marked sessions."""
        self._others: dict[Path, tuple[object, Beside]] = {}
        """The marked sessions, each as it was read, with its commit and the metrics wanted."""

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader, which answers in its own thread. ``aside``: in
        another thread, so that following the session continues meanwhile."""
        if not aside:
            return await self._follower.read(self.path, question)

        def answered(reader: SessionReader) -> T:
            self._asked_at = time.monotonic()
            try:
                return question(reader)
            finally:
                self.reading = ""

        return await self._searcher.read(self.path, answered)

    def _advance(self, what: str, done: int, total: int) -> None:
        """Say how much has been read, in the thread for slow questions: an `Advance`."""
        if time.monotonic() - self._asked_at > LONG_SECONDS:
            self.reading = told_in_brief(what, done, total)

    def answering(self, reader: SessionReader, model: str, committed_at: float) -> Answers:
        """Answers as of this commit or a later one; only in the thread for slow questions."""
        # A commit is read when it is first seen, so that keys rarely wait for that.
        before = self.answers
        if before is None or not before.still_hold(reader, model, committed_at):
            self.answers = None  # what the earlier ones hold of all articles takes much memory
            texts = None if before is None else before.texts_of(reader)
            del before
            answers = Answers(reader, model, texts, self._advance)
            self.answers = answers
            return answers
        return before

    def map_of(self, reader: SessionReader, model: str) -> MapFollower:
        """The map of a model's articles, as far as it has been read; only in the thread for slow
        questions."""
        known_reader, maps = self._maps
        if known_reader is not reader:  # the file was replaced
            maps = {}
            self._maps = (reader, maps)
        if model not in maps:
            maps[model] = MapFollower(model, self._advance)
        return maps[model]

    async def begin_replay(self) -> None:
        """Go back to the first snapshot of topics, if there is one. Raises `SessionError`."""
        models = self.latest.models if self.latest is not None else ()
        snapshots = await self.ask(lambda reader: [reader.snapshots(model) for model in models])
        points = tuple(sorted(set().union(*snapshots)))
        if points:
            self.replay = Replay(points)
            self.frozen_at = None

    def close(self, *, wait: bool = False) -> None:
        """Close the session's file. Safe to call twice."""
        for readers in (self._follower, self._searcher, self._comparing):
            readers.close(wait=wait)

    async def update(self, metrics: tuple[str, ...], *, by_probability: bool) -> int | None:
        """Read the session into `latest`, or say in `trouble` what is wrong.

        ``by_probability``: as for `Follower.read_session`.

        Returns the exit code of the awaited trainer, if it failed before it opened the session.
        """
        as_of = None if self.replay is None else self.replay.articles
        try:
            session = await self._follower.read_session(
                metrics, as_of, by_probability=by_probability
            )
        except SessionError as error:
            self._cannot_read(error)
            return None
        code = None if self.awaited is None else self.awaited.poll()
        if session.status.running or code is not None:
            self.awaited = None
        status = session.status
        if self.awaited is not None:  # whatever the previous trainer left behind
            activity = replace(status.activity, waiting_for=last_words(self.path) or None)
            status = replace(status, state="starting", activity=activity)
        if status.state == "dead":
            status = replace(status, death=self._trainers.death(self.path))
        others = tuple(other for _, other in self._others.values())
        self.latest = replace(session, status=status, others=others)
        self.trouble = ""
        return code if code and not status.running else None

    def _cannot_read(self, error: SessionError) -> None:
        """Say why in few words, since the line has no room for advice."""
        self.trouble = str(error)
        if not isinstance(error, NoSession):
            return
        if self.latest is not None:
            self.trouble = "its file was removed or replaced"
            if self.latest.status.lively:  # no rate is current any more
                status = replace(self.latest.status, state="stalled")
                self.latest = replace(self.latest, status=status)
        elif self.awaited is not None:
            self.trouble = f"starting {session_name(self.path)} …"

    async def compare(
        self, compared: Sequence[Path], metrics: tuple[str, ...]
    ) -> Mapping[Path, str]:
        """Read the curves of the marked sessions; returns the reasons why some cannot be read. A
        commit that was read before gives the same object again."""
        paths = [path for path in compared if path != self.path][:MOST_COMPARED]
        self._comparing.close_all_but(paths)
        before = self._others

        def read(reader: SessionReader) -> tuple[object, Beside]:
            commit = (reader.status().committed_at, metrics)
            if reader.path in before:
                known_commit, known = before[reader.path]
                if known_commit == commit:
                    return commit, known
            settings = reader.settings()
            models = tuple(reader.models())
            other = Beside(
                session_name(reader.path),
                (settings.fingerprint, settings.rule),
                models,
                _curves(reader, models, metrics),
            )
            return commit, other

        others: dict[Path, tuple[object, Beside]] = {}
        failed: dict[Path, str] = {}
        for path in paths:
            try:
                others[path] = await self._comparing.read(path, read)
            except SessionError as error:
                failed[path] = str(error)
        self._others = others
        return failed

    def read_again(self) -> None:
        """Read the session now, without waiting for the next turn."""
        self.due.set()


async def wait_until(due: asyncio.Event, seconds: float) -> None:
    """Return when it is time to read a session again: after some seconds, or at once if it is
    due."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(due.wait(), seconds)
    due.clear()

"""Looks at sessions, and how they are read without ever blocking the keys: one thread owns the
readers.

SQLite connections belong to the thread that made them, and a read may have to wait for the disk. So
every call goes through an executor with one thread, and returns plain values.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from subprocess import Popen
from typing import Any, TypeVar

from textual.dom import DOMNode
from textual.worker import WorkType

from wikitopics.session.analysis.answers import Answers
from wikitopics.session.analysis.areas import Area, Atlas, atlas
from wikitopics.session.analysis.origin import Address, addresses
from wikitopics.session.analysis.quality import metrics_of
from wikitopics.session.analysis.story import times
from wikitopics.session.control import Trainers, last_words
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.metrics import METRICS, Metric
from wikitopics.session.paths import session_name
from wikitopics.session.records import (
    SNAPSHOT_WORDS,
    ArticleRow,
    Curve,
    Event,
    Flow,
    PastRun,
    Status,
    TopicEvent,
    TopicRow,
)
from wikitopics.session.sources import noun, unit_noun
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.text import plural

# Background work, so that the screen is drawn and keys are answered meanwhile.


Work = Callable[[], Coroutine[Any, Any, None]]


def run_in_background(node: DOMNode, work: Work, group: str, *, exclusive: bool = True) -> None:
    """Start work of a group; if exclusive, it replaces whatever of the group is still running.

    The work is called only when its turn comes: a coroutine made earlier and replaced by then would
    never be awaited.
    """
    called: WorkType[None] = work
    # Without a description, Textual builds one from everything passed to the work: 0.3 s for a
    # large session.
    node.run_worker(called, group=group, description=group, exclusive=exclusive)


ModelTopics = Mapping[str, tuple[TopicRow, ...]]
"""model -> its topics, topic k at index k."""
Leading = Mapping[int, Sequence[tuple[int, float]]]
"""The largest (topic, proportion) of articles, by their number."""
MIXED = 5
"""The maximum number of topics read for an article."""
Curves = Mapping[tuple[str, str], Curve]
"""(model, metric) -> Curve, for the metrics shown."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Another session, whose curves are drawn over those of the one on screen."""

    name: str
    words: tuple[object, object]
    """The fingerprint and the rule of its vocabulary."""
    models: tuple[str, ...]
    curves: Curves


@dataclass(frozen=True, slots=True)
class SessionView:
    """All that is shown of a session at one instant; a later instant is another `SessionView`."""

    status: Status
    at: float
    """When it was read, in seconds since the epoch."""
    settings: Mapping[str, object] = field(default_factory=dict)
    address: Address = lambda article: None
    """The address at which an article can be read in a browser."""
    models: tuple[str, ...] = ()
    """At least one."""
    metrics: tuple[Metric, ...] = METRICS
    """The metrics that the chart can show."""
    curves: Curves = field(default_factory=dict)
    topics: ModelTopics = field(default_factory=dict)
    atlases: Mapping[str, Atlas] = field(default_factory=dict)
    """By model: its topics as they are grouped and placed now, even in a replay; no entry before
    its first snapshot."""
    changes: tuple[TopicEvent, ...] = ()
    """The topic events of all models, oldest first."""
    recent: tuple[ArticleRow, ...] = ()
    leading: Mapping[str, Leading] = field(default_factory=dict)
    """By model: the largest topics of the recent articles, as far as they can be read."""
    flow: tuple[Flow, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[PastRun, ...] = ()
    last_words: str = ""
    """The last message of a trainer that is no longer running, if a screen started it."""
    others: tuple[Beside, ...] = ()
    """The marked sessions."""
    as_of: int | None = None
    """In a replay, the number of articles; None: now."""

    def topics_of(self, model: str) -> tuple[TopicRow, ...]:
        """The topics of a model, topic k at index k; none before the first snapshot."""
        return self.topics.get(model, ())

    def areas_of(self, model: str) -> Mapping[int, Area]:
        """The area of each topic of a model, by the topic's number; topics not in use have none."""
        return self.atlases[model].area_of if model in self.atlases else {}

    def topic_label(self, model: str, topic: int) -> str:
        """A topic's number and its name, or only the number if the topic is not known yet."""
        rows = self.topics_of(model)
        return rows[topic].label if topic < len(rows) else f"#{topic}"

    @property
    def noun(self) -> str:
        """What the texts of its source are called: "articles" or "documents"."""
        return noun(self.status.source)

    @property
    def counted(self) -> str:
        """What its number of articles counts: its `noun`, or with several passes "document
        reads"."""
        return unit_noun(self.status.source, self.status.passes)

    def some(self, number: int) -> str:
        """A number of articles: "1 article", "300 documents", "900 document reads"."""
        return plural(number, self.counted[:-1])

    def topics_after(self, model: str) -> str:
        """The number of articles that the shown topics of a model are based on, in words; "" before
        the first snapshot."""
        rows = self.topics_of(model)
        return f"after {self.some(rows[0].articles)}" if rows else ""

    def of_model(self, model: str) -> str:
        """A title's mention of its model: nothing if there is only one."""
        return f" · {model}" if len(self.models) > 1 else ""

    def of_now(self) -> str:
        """A title's mark for a panel that shows the present even in a replay."""
        return "" if self.as_of is None else " · now"

    def course(self) -> Curve | None:
        """Training progress over time, from the longest of the curves; None before the first
        measurement."""
        longest = max(self.curves.values(), key=lambda curve: curve.articles.size, default=None)
        return longest if longest is not None and longest.articles.size else None

    def moment(self, articles: int) -> float | None:
        """About when it had trained on this many articles, in seconds since the epoch; None if not
        known."""
        (at,) = times([articles], self.course(), self.runs).tolist()
        return at if isfinite(at) else None

    def back_at(
        self,
        articles: int,
        topics: ModelTopics,
        events: tuple[Event, ...],
        recent: tuple[ArticleRow, ...],
        leading: Mapping[str, Leading],
    ) -> "SessionView":
        """What was learnt, as it was after this many articles, given the topics, the log and the
        newest articles of that time."""
        curves = {key: curve.up_to(articles) for key, curve in self.curves.items()}
        return replace(
            self,
            as_of=articles,
            curves=curves,
            topics=topics,
            changes=tuple(one for one in self.changes if one.articles <= articles),
            recent=recent,
            leading=leading,
            events=events,
            runs=tuple(run for run in self.runs if run.first_article <= articles),
        )

    def seen_by_now(self, article: ArticleRow) -> bool:
        """Whether the article had been read at the moment shown; True if that is not known."""
        return self.as_of is None or not self.recent or article.seq <= self.recent[0].seq

    def changes_of(self, models: Sequence[str]) -> list[TopicEvent]:
        """The topic events of these models, newest snapshot first."""
        return sorted(
            (one for one in self.changes if one.model in models), key=lambda one: -one.articles
        )

    def metric(self, name: str) -> Metric:
        """The metric of this name, whether or not this session has measurements of it."""
        return next((one for one in self.metrics if one.name == name), Metric.undeclared(name))


@dataclass(slots=True)
class Choice:
    """What the user has chosen to see, shared by the views so that they agree."""

    model: str | None = None
    """None: all models on the chart, the first in the lists."""
    metric: str = METRICS[0].name
    ascii_only: bool = False
    order: str = "share"
    """One of `ORDERS`."""
    relevant: bool = True
    """Whether a topic's most relevant words come first, not its most probable ones."""
    compared: list[Path] = field(default_factory=list)
    """The marked sessions, whose curves are drawn over those of the one on screen."""
    pinned: set[tuple[str, int]] = field(default_factory=set)
    """(model, topic) of those pinned to the top of the lists."""

    def pinned_of(self, model: str) -> frozenset[int]:
        """The model's pinned topics."""
        return frozenset(topic for of, topic in self.pinned if of == model)

    def model_of(self, look: SessionView) -> str:
        """The model whose topics are listed."""
        return self.models_of(look)[0]

    def models_of(self, look: SessionView) -> tuple[str, ...]:
        """The models on the chart."""
        return (self.model,) if self.model in look.models else look.models


@dataclass(slots=True)
class Replay:
    """The state of a replay. What it shows comes from `SessionView.back_at`."""

    points: tuple[int, ...]
    """Articles at each snapshot, ascending; at least one."""
    index: int = 0
    playing: bool = True

    @property
    def articles(self) -> int:
        """The number of articles after which the session is shown."""
        return self.points[self.index]

    def play(self) -> None:
        """Pause or continue; after the last point, start again."""
        self.playing = not self.playing
        if self.playing and self.index == len(self.points) - 1:
            self.index = 0

    def tick(self) -> bool:
        """Go on to the next point if the replay is playing; returns whether it was playing."""
        if not self.playing:
            return False
        self.index += self.index < len(self.points) - 1
        self.playing = self.index < len(self.points) - 1
        return True

    def step(self, by: int) -> None:
        """Pause at an earlier or later point."""
        self.playing = False
        self.index = min(max(self.index + by, 0), len(self.points) - 1)


T = TypeVar("T")

TrainerProcess = Popen[bytes]
"""The process of a trainer that this screen started."""

STATUS_EVERY = 1.0
"""Seconds between two looks at a session in which nothing happens: ages grow, and trainers die."""
FULL_EVERY = 1.0
"""The minimum seconds between two readings of what was learnt, however often the trainer
commits."""

LOG_LINES = 200
"""The maximum number of log lines read: the newest."""
LOGGED_WITHIN = 2.0
"""The maximum seconds between an event and its line in the log."""
MOST = 8
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


class Follower(Readers):
    """Looks at one session."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._look: SessionView | None = None
        # What the look was read from: each part is read again when its own key changes.
        self._version: int | None = None
        self._learnt: tuple[object, ...] | None = None
        """The commit, the metrics wanted, the order of words, the names given to topics, and those
        hidden."""
        self._measured: tuple[object, ...] | None = None
        """The newest measurement, and the metrics wanted."""
        self._snapshot: tuple[object, ...] | None = None
        """The newest snapshot, the order of words, the names given to topics, and those hidden."""
        self._looked_at = self._learnt_at = float("-inf")
        """By the monotonic clock."""
        self._trained_as: dict[int, int | None] = {}
        """The article that was the last one trained at each moment of a replay, by its number
        (`seq`)."""

    async def look(
        self,
        metrics: Iterable[str],
        as_of: int | None = None,
        *,
        relevant: bool = True,
    ) -> SessionView:
        """The session as it is now, or as it was after ``as_of`` articles; raises a `SessionError`.

        ``relevant``: with topics' most relevant words first, not the most probable.
        """
        wanted = tuple(metrics)

        def read(reader: SessionReader) -> SessionView:
            look = self._read(reader, wanted, relevant)
            if as_of is None:
                return look
            topics, moment = _topics(reader, look.models, as_of, relevant), look.moment(as_of)
            events = () if moment is None else tuple(reader.events(until=moment + LOGGED_WITHIN))
            if as_of not in self._trained_as:
                self._trained_as[as_of] = reader.trained_as(as_of)
            last = self._trained_as[as_of]
            recent = () if last is None else tuple(reader.recent_articles(up_to=last))
            return look.back_at(
                as_of,
                topics,
                events,
                recent,
                _leading(reader, look.models, recent),
            )

        return await self.read(self._path, read)

    def _answer(self, path: Path, question: Callable[[SessionReader], T]) -> T:
        try:
            return super()._answer(path, question)
        except NoSession:
            self._look = self._version = None
            self._learnt = self._measured = self._snapshot = None
            self._trained_as.clear()
            raise

    def _read(self, reader: SessionReader, metrics: tuple[str, ...], relevant: bool) -> SessionView:
        version, now, look = reader.version(), time.monotonic(), self._look
        other_request = self._learnt is None or (metrics, relevant) != self._learnt[1:3]
        recent = now - self._looked_at < STATUS_EVERY
        if look is not None and recent and version == self._version and not other_request:
            return look
        status, settings = reader.status(), reader.settings()
        if look is None:
            look = SessionView(
                status,
                0.0,
                address=addresses(settings),
                models=tuple(reader.models()),
            )
        look = replace(
            look,
            status=status,
            at=time.time(),
            settings=settings.as_json(),  # the vocabulary's fingerprint comes when it is built
            # If the trainer is gone: why it ended.
            last_words="" if status.running else last_words(reader.path),
        )
        if version != self._version:  # such as a heartbeat with new rates
            flow, events = tuple(reader.flow()), tuple(reader.events(LOG_LINES))
            look = replace(look, flow=flow, events=events, runs=tuple(reader.runs()))
        learnt = (
            status.committed_at,
            metrics,
            relevant,
            reader.given_names(),
            reader.hidden_topics(),
        )
        measured, snapshot = self._measured, self._snapshot
        if learnt != self._learnt and (other_request or now - self._learnt_at >= FULL_EVERY):
            # Most commits add neither measurements nor snapshots. Curves and topics then stay the
            # same objects, and nothing that shows them is redrawn.
            newest = reader.newest()
            measured, snapshot = (newest[0], metrics), (newest[1], *learnt[2:])
            newcomers = tuple(reader.recent_articles())
            look = replace(look, recent=newcomers, leading=_leading(reader, look.models, newcomers))
            if measured != self._measured:
                curves = _curves(reader, look.models, metrics)
                look = replace(look, metrics=metrics_of(reader), curves=curves)
            if snapshot != self._snapshot:
                topics = _topics(reader, look.models, None, relevant)
                atlases = {
                    model: one for model in look.models if (one := atlas(reader, model)) is not None
                }
                changes = tuple(reader.topic_events())
                look = replace(look, topics=topics, atlases=atlases, changes=changes)
            self._learnt, self._learnt_at = learnt, now
        # Set only now that nothing has failed: whatever could not be read will be read again.
        self._look, self._version, self._looked_at = look, version, now
        self._measured, self._snapshot = measured, snapshot
        return look


def _curves(reader: SessionReader, models: Sequence[str], metrics: Sequence[str]) -> Curves:
    return {(model, metric): reader.curve(model, metric) for model in models for metric in metrics}


def _topics(
    reader: SessionReader,
    models: Sequence[str],
    as_of: int | None,
    relevant: bool,
) -> ModelTopics:
    return {m: tuple(reader.topics(m, SNAPSHOT_WORDS, as_of, relevant=relevant)) for m in models}


def _leading(
    reader: SessionReader, models: Sequence[str], recent: Sequence[ArticleRow]
) -> dict[str, Leading]:
    seqs = [article.seq for article in recent]
    try:
        return {model: reader.leading_topics(model, seqs, MIXED) for model in models}
    except SessionError:  # damaged proportions leave the rest of the screen intact
        return {}


class Watch:
    """Watches one session until it is closed. It knows nothing of the screen."""

    def __init__(
        self,
        path: Path,
        trainers: Trainers,
        trainer: TrainerProcess | None = None,
    ) -> None:
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
        self.answers: Answers | None = None
        """The newest answers, used only in the thread for slow questions."""
        self.due = asyncio.Event()
        """Set when the session is to be read at once."""
        self._follower, self._searcher, self._comparing = Follower(path), Readers(), Readers()
        """For the session itself, for slow questions about it, and for the marked sessions."""
        self._others: dict[Path, tuple[object, Beside]] = {}
        """The marked sessions, each as it was read, with its commit and the metrics wanted."""

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader, which answers in its own thread. ``aside``: in
        another thread, so that following the session continues meanwhile."""
        return await (self._searcher if aside else self._follower).read(self.path, question)

    async def begin_replay(self) -> None:
        """Go back to the first snapshot of topics, if there is one. Raises `SessionError`."""
        models = self.latest.models if self.latest is not None else ()
        snapshots = await self.ask(lambda reader: [reader.snapshots(model) for model in models])
        if points := tuple(sorted(set().union(*snapshots))):
            self.replay, self.frozen_at = Replay(points), None

    def close(self, *, wait: bool = False) -> None:
        """Close the session's file. Safe to call twice."""
        for readers in (self._follower, self._searcher, self._comparing):
            readers.close(wait=wait)

    async def look(self, metrics: tuple[str, ...], *, relevant: bool) -> int | None:
        """Read the session into `latest`, or say in `trouble` what is wrong. ``relevant``: as in
        `Follower`.

        Returns the exit code of the awaited trainer, if it failed before it opened the session.
        """
        try:
            as_of = None if self.replay is None else self.replay.articles
            look = await self._follower.look(metrics, as_of, relevant=relevant)
        except SessionError as error:
            # Say it in few words, since the line has no room for advice.
            self.trouble = str(error)
            if isinstance(error, NoSession) and self.latest is not None:
                self.trouble = "its file was removed or replaced"
                if self.latest.status.lively:  # no rate is current any more
                    status = replace(self.latest.status, state="stalled")
                    self.latest = replace(self.latest, status=status)
            elif isinstance(error, NoSession) and self.awaited is not None:
                self.trouble = f"starting {session_name(self.path)} …"
            return None
        code = None if self.awaited is None else self.awaited.poll()
        if look.status.running or code is not None:
            self.awaited = None
        if self.awaited is not None:  # whatever the previous trainer left behind
            says = replace(look.status.activity, waiting_for=last_words(self.path) or None)
            look = replace(look, status=replace(look.status, state="starting", activity=says))
        if look.status.state == "dead":
            look = replace(look, status=replace(look.status, death=self._trainers.death(self.path)))
        others = tuple(other for _, other in self._others.values())
        self.latest, self.trouble = replace(look, others=others), ""
        return code if code and not look.status.running else None

    async def compare(
        self, compared: Sequence[Path], metrics: tuple[str, ...]
    ) -> Mapping[Path, str]:
        """Read the curves of the marked sessions; returns the reasons why some cannot be read. A
        commit that was read before gives the same object again."""
        paths = [path for path in compared if path != self.path][:MOST]
        self._comparing.close_all_but(paths)
        before, others, failed = self._others, {}, {}

        def read(reader: SessionReader) -> tuple[object, Beside]:
            key = reader.status().committed_at, metrics
            if (known := before.get(reader.path)) and known[0] == key:
                return known
            settings, models = reader.settings(), tuple(reader.models())
            words = settings.fingerprint, settings.rule
            return key, Beside(
                session_name(reader.path),
                words,
                models,
                _curves(reader, models, metrics),
            )

        for path in paths:
            try:
                others[path] = await self._comparing.read(path, read)
            except SessionError as error:
                failed[path] = str(error)
        self._others = others
        return failed

    def look_again(self) -> None:
        """Read the session now, without waiting for the next turn."""
        self.due.set()


async def wait_until(due: asyncio.Event, seconds: float) -> None:
    """Return when it is time to read a session again: after some seconds, or at once if it is
    due."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(due.wait(), seconds)
    due.clear()

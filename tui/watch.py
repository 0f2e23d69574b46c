"""The session on screen: its newest look, what hinders reading it, the replay, and the sessions beside it."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import TypeVar

from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.paths import session_name
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.follow import Comparing, Follower
from wikitopics.tui.look import Beside, Choice, Look, Replay

T = TypeVar("T")

TrainerProcess = Popen[bytes]
"""The process of a trainer that this screen started."""


class Watch:
    """Watches one session until it is closed. It knows nothing of the screen."""

    def __init__(self, path: Path, trainer: TrainerProcess | None = None) -> None:
        """``trainer``: the trainer of ``path``, if it has just been started."""
        self.path = path
        self.latest: Look | None = None
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

    async def look(self, metrics: tuple[str, ...]) -> int | None:
        """Read the session; afterwards `latest` and `trouble` tell how it is.

        Returns the exit code of the awaited trainer, if it has failed before it opened the session.
        """
        try:
            as_of = None if self.replay is None else self.replay.articles
            look = await self._follower.look(metrics, as_of)
        except SessionError as error:
            self._lose_sight(error)
            return None
        code = None if self.awaited is None else self.awaited.poll()
        if look.status.running or code is not None:
            self.awaited = None
        if self.awaited is not None:  # whatever the previous trainer left behind
            look = replace(look, status=replace(look.status, state="starting"))
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

    async def compare(self, choice: Choice) -> Mapping[Path, str]:
        """Read the curves of the marked sessions; returns the reasons why some cannot be read."""
        self._compare_again.clear()
        marked = [path for path in choice.compared if path != self.path]
        others, failed = await self._comparing.look(marked, choice.metric)
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

"""An app that follows one session: it reads the session repeatedly and hands each look to the view in
sight."""

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from textual import on

from wikitopics.session import escapes
from wikitopics.session.control import launch
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.paths import session_name, session_path
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.background import begin
from wikitopics.tui.comparing import Comparing
from wikitopics.tui.controls import Ending, TrainerProcess
from wikitopics.tui.curves import wanted
from wikitopics.tui.dialogs.starting import Starting, State
from wikitopics.tui.follower import Follower
from wikitopics.tui.look import Beside, Choice, Look
from wikitopics.tui.messages import LookAgain, Ready, TrainerAsks
from wikitopics.tui.replay import FRAME_SECONDS, Replay
from wikitopics.tui.screens import Main
from wikitopics.tui.terminal import TerminalApp, drawn_on
from wikitopics.tui.views.dashboard import VAST
from wikitopics.tui.widgets.statusline import StatusLine, condition, window_title

T = TypeVar("T")

POLL_SECONDS = 0.5
COMPARE_SECONDS = 2.0
"""Seconds between two looks at the marked sessions."""
TITLE_SECONDS = 1.0


class Following(TerminalApp[Ending]):
    """The reading half of the app; keys and dialogs belong to `Wikitopics`."""

    def __init__(
        self,
        open_reader: Callable[[Path], SessionReader],
        path: Path,
        choice: Choice,
        trainer: TrainerProcess | None,
        notify_by: str | None = None,
    ) -> None:
        """``trainer``: the trainer of ``path``, if it has just been started. ``notify_by``: how to announce
        its end, as in `NOTIFY`."""
        super().__init__()
        self.path = path
        self.choice = choice
        self.latest: Look | None = None
        self.frozen_at: float | None = None
        """When the user froze the view, by the monotonic clock."""
        self.replay: Replay | None = None
        """The replay in progress: looks are then of its point in the past."""
        self._open_reader = open_reader
        self._awaited = trainer
        """A trainer of ours that has not opened the session yet."""
        self._notify_by = notify_by
        self._entitled = float("-inf"), ""
        """When the terminal got its last title, and which."""
        self._trouble = ""
        self._wake = asyncio.Event()
        self.follower = self._new_follower(path)
        self.searcher = self._new_follower(path)
        """Answers slow questions, in a thread of its own."""
        self.comparing = Comparing(open_reader)
        self._others: tuple[Beside, ...] = ()
        self._compare_again = asyncio.Event()

    @property
    def main(self) -> Main:
        """The screen below all dialogs."""
        main = self.screen_stack[0]
        assert isinstance(main, Main)
        return main

    def begin_following(self) -> None:
        """Read the session from now on; if there is none yet, wait for its trainer to create it."""
        self.wait_for_session()
        self.set_interval(FRAME_SECONDS, self._tick)
        begin(self, self._follow, "follow")
        begin(self, self._compare, "compare")

    def on_unmount(self) -> None:
        """Close the session's file, whatever ended the app."""
        self.stop_following()
        if self._entitled[1]:
            self.tell_terminal(escapes.GIVE_BACK_TITLE)

    def _new_follower(self, path: Path) -> Follower:
        return Follower(lambda: self._open_reader(path))

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader, which answers in its own thread. ``aside``: in another
        thread, so that following the session continues meanwhile."""
        return await (self.searcher if aside else self.follower).ask(question)

    def stop_following(self, *, wait: bool = False) -> None:
        """Close the session's file. Safe to call twice."""
        for each in (self.follower, self.searcher, self.comparing):
            each.close(wait=wait)

    def wait_for_session(self) -> None:
        """If there is no session yet, show what its trainer says until there is one or the user gives up."""
        trainer = self._awaited
        if trainer is None or self.path.exists():
            return

        def state() -> State:
            code = trainer.poll()
            if self.path.exists():
                return "begun", ""
            return "" if code in (None, launch.UNREACHABLE) else "ended", launch.last_words(self.path)

        def answered(answer: str | None) -> None:
            if answer == "begun":
                self._wake.set()
            elif answer == "ended" and (question := launch.question(self.path)):
                self.post_message(TrainerAsks(question))
            else:  # the error is shown after the screen has closed
                self.exit("demo" if answer == "demo" else "stop")

        self.push_screen(Starting(state, sample=self.path != session_path("demo")), answered)

    async def _follow(self) -> None:
        while True:
            follower = self.follower
            try:
                look = await follower.look(
                    wanted(self.latest, self.choice, small=self.size.width >= VAST),
                    None if self.replay is None else self.replay.articles,
                )
            except SessionError as error:
                if follower is self.follower:
                    self._trouble = self._words_for(error)
                    self._lose_sight(error)
            else:
                if follower is not self.follower:
                    continue
                if not self.is_running:
                    return
                self._trouble = ""
                if isinstance(self.screen, Starting):
                    self.screen.dismiss("begun")  # the session can be shown: no question is left
                look = replace(self._with_awaited(look), others=self._others)
                changed = _applies(self.latest) != _applies(look)
                self._give_notice(self.latest, look)
                self.latest = look
                if changed:
                    self.keys_changed()
                if self.frozen_at is None:
                    self.show()
            self.show_status()
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)

    async def _compare(self) -> None:
        """Keep the curves of the marked sessions current; one that cannot be read is reported and
        unmarked."""
        while True:
            self._compare_again.clear()
            comparing = self.comparing
            marked = [path for path in self.choice.compared if path != self.path]
            others, failed = await comparing.look(marked, self.choice.metric)
            if comparing is self.comparing and self.is_running:
                for path, why in failed.items():
                    if path not in self.choice.compared:
                        continue  # unmarked while it was being read
                    self.choice.compared.remove(path)
                    told = f"{session_name(path)} is no longer compared: {why}"
                    self.notify(told, severity="warning", markup=False)
                if len(others) != len(self._others) or any(
                    a is not b for a, b in zip(others, self._others, strict=True)
                ):
                    self._others = others
                    self._wake.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._compare_again.wait(), COMPARE_SECONDS)

    def _lose_sight(self, error: SessionError) -> None:
        """Once the file is gone, no rate is current any more."""
        latest = self.latest
        if latest is None or not isinstance(error, NoSession) or not latest.status.lively:
            return
        self.latest = replace(latest, status=replace(latest.status, state="stalled"))
        if self.frozen_at is None:
            self.show()

    def _words_for(self, error: SessionError) -> str:
        """Why the session cannot be read, in few words: the line has no room for advice."""
        if not isinstance(error, NoSession):
            return str(error)
        if self.latest is not None:
            return "its file was removed or replaced"
        return f"starting {session_name(self.path)} …" if self._awaited else str(error)

    def _with_awaited(self, look: Look) -> Look:
        """The look, with a trainer started a moment ago shown as starting, whatever the previous one left
        behind."""
        code = None if self._awaited is None else self._awaited.poll()
        if code and not look.status.running:
            if question := launch.question(self.path):
                self.post_message(TrainerAsks(question))
            else:
                words = launch.last_words(self.path) or f"the trainer ended with code {code}"
                self.notify(words, severity="error", markup=False)
        if look.status.running or code is not None:
            self._awaited = None
        return look if self._awaited is None else replace(look, status=replace(look.status, state="starting"))

    def keys_changed(self) -> None:
        """Relabel the keys: which ones apply, or what they do, has changed."""
        labels = self.main.labels = {}
        if self.latest is not None and self.latest.status.state == "paused":
            labels["app.pause"] = "Resume"
        if self.frozen_at is not None:
            labels["app.freeze"] = "Unfreeze"
        if self.replay is not None and not self.replay.playing:
            labels["replay.play"] = "Play"
        self.refresh_bindings()

    def show(self) -> None:
        """Draw the newest look in the view in sight."""
        if self.latest is not None and self.main.ready:
            self.main.view.show(self.latest, self.choice)

    @on(Ready)
    def _view_ready(self) -> None:
        if not gc.get_freeze_count():
            # Objects made up to the first frame stay to the end. Searching them for garbage repeatedly would
            # cost a twentieth of a second in the middle of a key press.
            gc.freeze()
        self.show()
        self.show_status()
        self.main.settle()

    @on(LookAgain)
    def look_again(self) -> None:
        """Read the session now, without waiting for the next turn."""
        self._wake.set()
        self._compare_again.set()

    async def action_view(self, index: int) -> None:
        """Open a view, by its number."""
        await self.main.open_view(index)
        self.show()

    async def follow(self, path: Path, trainer: TrainerProcess | None = None) -> None:
        """Look at another session from now on."""
        if path != self.path:
            self.stop_following()
            self.path, self._awaited = path, trainer
            self.follower, self.latest = self._new_follower(path), None
            self.searcher = self._new_follower(path)
            self.comparing, self._others = Comparing(self._open_reader), ()
            self.choice.model, self.frozen_at, self.replay = None, None, None
            self.choice.pinned.clear()
        await self.action_view(0)
        self._wake.set()

    # Replay ---------------------------------------------------------------------------------------

    async def action_replay(self) -> None:
        """Start a replay from the first snapshot, or end it."""
        if self.replay is not None:
            self.action_replay_end()
            return
        if self.latest is None:
            return
        models = self.latest.models
        try:
            kept = await self.ask(lambda reader: [reader.snapshots(model) for model in models])
        except SessionError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        points = tuple(sorted(set().union(*kept)))
        if points:
            self.replay, self.frozen_at = Replay(points), None
            self._replay_moved()
        else:
            self.notify("nothing to replay yet: snapshots begin with the first minibatch")

    def action_replay_play(self) -> None:
        if self.replay is not None:
            self.replay.play()
            self._replay_moved()

    def action_replay_step(self, by: int) -> None:
        if self.replay is not None:
            self.replay.step(by)
            self._replay_moved()

    def action_replay_end(self) -> None:
        self.replay = None
        self._replay_moved()

    def _tick(self) -> None:
        if self.replay is not None and self.replay.tick():
            self._replay_moved()

    def _replay_moved(self) -> None:
        self.keys_changed()
        self.show_status()
        self._wake.set()

    def await_trainer(self, trainer: TrainerProcess) -> None:
        """Note that a trainer has just been started on the session that is shown."""
        self._awaited = trainer
        self._wake.set()

    @property
    def is_awaiting(self) -> bool:
        """Whether a trainer that was started here has not opened the session yet."""
        return self._awaited is not None

    # The terminal beside the screen -----------------------------------------------------------------

    def tell_terminal(self, sequence: str) -> None:
        """Send the terminal a sequence that draws nothing, if it supports such sequences."""
        if self._driver is not None and not self.is_headless and escapes.obeys(drawn_on()):
            self._driver.write(sequence)

    def _entitle(self) -> None:
        """Give the terminal's window the newest title, at most once a second."""
        now = time.monotonic()
        title = window_title(self.latest.status if self.latest else None, self.path, self._trouble)
        if title != self._entitled[1] and now - self._entitled[0] >= TITLE_SECONDS:
            if not self._entitled[1]:
                self.tell_terminal(escapes.KEEP_TITLE)
            self._entitled = now, title
            self.tell_terminal(escapes.title(title))

    def _give_notice(self, before: Look | None, now: Look) -> None:
        """Announce that the trainer has ended, if that is wanted."""
        if self._notify_by is None or before is None or not before.status.running or now.status.running:
            return
        words = f"wikitopics, {session_name(self.path)}: {condition(now.status)[1].lower()}"
        self.tell_terminal(escapes.notice(self._notify_by, words))

    def show_status(self) -> None:
        """Draw the status line: the newest state, even if the view is frozen, or that of the replay."""
        self._entitle()
        if not (self.is_running and self.main.ready):  # while the app closes, its widgets go first
            return
        frozen = None if self.frozen_at is None else time.monotonic() - self.frozen_at
        line = self.main.query_one(StatusLine)
        line.ascii_only = self.choice.ascii_only
        line.show(self.latest.status if self.latest else None, self._trouble, frozen, self.replay)


def _applies(look: Look | None) -> tuple[object, ...]:
    """The values that decide which keys have a meaning."""
    if look is None:
        return (None,)
    return look.status.running, look.status.state, len(look.models) > 1

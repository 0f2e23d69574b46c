"""The screen's entry point: `run` opens it on a session and returns when it is closed."""

import gc
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input

from wikitopics.session import control, escapes
from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_name
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.system import Signals
from wikitopics.tui.chart import wanted
from wikitopics.tui.follow import TrainerProcess, Watch
from wikitopics.tui.inks import INKS, Drawn, Lines
from wikitopics.tui.keys import EVERYWHERE, IN_BAR, STAY, binding
from wikitopics.tui.look import Choice, SessionView, run_in_background
from wikitopics.tui.palette import Finds, Help, commands
from wikitopics.tui.questions import Starting
from wikitopics.tui.terminal import (
    DARK,
    LIGHT,
    Preferences,
    TerminalApp,
    drawn_on,
    few_colours,
    obey_signals,
    open_app,
    plain_terminal,
    preferences,
    speaks_utf8,
)
from wikitopics.tui.training import Ending, Training
from wikitopics.tui.views.articles import Articles
from wikitopics.tui.views.crawl import Crawl
from wikitopics.tui.views.dashboard import VAST, Dashboard
from wikitopics.tui.views.log import Log
from wikitopics.tui.views.map import Map
from wikitopics.tui.views.sessions import Sessions
from wikitopics.tui.views.topics import Topics
from wikitopics.tui.views.view import OpenArticle, OpenSession, OpenTopic, Ready, View
from wikitopics.tui.widgets.bars import (
    FindBar,
    Hint,
    KeyBar,
    condition,
    fitted,
    pieces,
    shown_key,
    window_title,
)

# The main screen: status line, one of the views, key bar.

VIEWS: tuple[type[View], ...] = (Dashboard, Topics, Articles, Crawl, Log, Sessions, Map)
"""The views in the order of their keys 1, 2, 3 …"""


class Main(Screen[None]):
    """Holds the views. A view is made when it is first opened, so that the first frame comes soon."""

    AUTO_FOCUS = ""
    """The view in sight decides where the focus goes."""
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("tab", "panel(1)", "Next panel", show=False),
        Binding("shift+tab", "panel(-1)", "Previous panel", show=False),
    ]

    def compose(self) -> ComposeResult:
        yield Lines(id="status")
        yield Container(id="views")
        yield FindBar()
        yield KeyBar()

    def __init__(self) -> None:
        super().__init__(id="main")
        self.current = 0
        self._made: dict[int, View] = {}
        self._composed = False

    async def on_mount(self) -> None:
        self._composed = True
        self.bindings_updated_signal.subscribe(self, lambda _: self.hint())
        await self.open_view(self.current)

    @property
    def ready(self) -> bool:
        """Whether the view in sight can draw yet."""
        return self.current in self._made and self.view.is_mounted

    @property
    def view(self) -> View:
        """The view in sight."""
        return self._made[self.current]

    async def open_view(self, index: int) -> None:
        """Bring a view to the front; before the screen is mounted, decide which one it will be.

        The view can take keys when this returns; keys typed meanwhile wait and are not lost.
        """
        self.current = index
        if not self._composed:
            return
        self.query_one(FindBar).shut()
        for other in self._made.values():
            other.display = False
        new = index not in self._made
        if new:
            self._made[index] = VIEWS[index]()
        view = self._made[index]
        view.display = True
        # Before it is mounted: changing a class later restyles everything in the view.
        view.fit(self.size.width, self.size.height)
        if new:
            await self.query_one("#views").mount(view)
        self.settle()

    def settle(self) -> None:
        """Put the focus where this view wants it."""
        if not self.ready:
            return
        self.set_focus(self.view.home())
        self.hint()

    def action_panel(self, by: int) -> None:
        """Focus the next or previous panel; if a panel is maximised, maximise that one instead."""
        view = self.view
        maximised = view.has_class("-max")
        if maximised:
            view.maximise()
            self.app.stylesheet.update(view)  # at once: what is still hidden cannot have the focus
        if by > 0:
            self.focus_next()
        else:
            self.focus_previous()
        if maximised:
            view.action_maximise()

    @property
    def finding(self) -> bool:
        """Whether typed keys go into the find line."""
        return self.query_one(FindBar).is_open

    def open_find(self) -> None:
        """Let the user type what to find in the view in sight."""
        sought = self.view.FINDS
        if sought and not self.finding:
            self.query_one(FindBar).open(sought)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if self.finding:
            self.view.find(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.query_one(FindBar).shut()
        self.view.find(event.value)
        self.settle()

    def on_resize(self) -> None:
        for view in self._made.values():
            view.fit(self.size.width, self.size.height)

    def hint(self) -> None:
        """Redraw the key bar."""
        if not self.ready:
            return
        views = [
            Hint(str(i + 1), kind.TITLE, f"app.view({i})", active=i == self.current)
            for i, kind in enumerate(VIEWS)
        ]
        labels, by_id = self._labels(), {}
        for active in self.active_bindings.values():
            binding = active.binding
            if active.enabled and binding.id in IN_BAR and binding.id not in by_id:
                display = shown_key(binding, self.app.get_key_display(binding))
                label = labels.get(binding.id, binding.description)
                action = self._action(active.node, binding.action)
                by_id[binding.id] = Hint(display, label, action, stays=binding.id in STAY)
        keys = [by_id[name] for name in IN_BAR if name in by_id]
        for bar in self.query(KeyBar):  # there is none any more while the screen closes
            bar.show(views, keys)

    def _labels(self) -> dict[str, str]:
        """What a key does now where its binding says otherwise, by the binding's id."""
        watch, labels = self.view.host.watched, {}
        if watch.latest is not None and watch.latest.status.state == "paused":
            labels["app.pause"] = "Resume"
        if watch.frozen_at is not None:
            labels["app.freeze"] = "Unfreeze"
        if watch.replay is not None and not watch.replay.playing:
            labels["replay.play"] = "Play"
        return labels

    def _action(self, node: object, action: str) -> str:
        """An action string that works from anywhere."""
        if node is self.app and not action.startswith(("app.", "screen.")):
            return f"app.{action}"
        return f"app.in_view({action!r})" if node is self.view else action


POLL_SECONDS = 0.5
COMPARE_SECONDS = 2.0
"""Seconds between two looks at the marked sessions."""
FRAME_SECONDS = 0.25
"""Seconds that a replay shows each snapshot."""


class Wikitopics(TerminalApp[Ending]):
    """The app: the session that it watches, the trainers that it commands, and the views that show it."""

    TITLE = "wikitopics"
    COMPONENT_CLASSES = INKS
    COMMANDS = App.COMMANDS | {Finds}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        *(
            binding(f"view.{title.lower()}", str(i), f"view({i - 1})", title, f"open {title}")
            for i, title in enumerate((kind.TITLE for kind in VIEWS), start=1)
        ),
        *EVERYWHERE,
    ]

    def __init__(
        self,
        path: Path,
        *,
        trainers: control.Trainers | None = None,
        trainer: TrainerProcess | None = None,
        signals: Signals | None = None,
        preferences: Preferences | None = None,
        notify_by: str | None = None,
    ) -> None:
        """``trainer``: the trainer of ``path``, if one of ``trainers`` has just been started for it.
        ``notify_by``: how to announce the end of a trainer, as in `NOTIFY`."""
        super().__init__()
        self.choice = Choice(ascii_only=plain_terminal())
        self._trainers = trainers or control.Trainers()
        self.watched = Watch(path, self._trainers, trainer)
        self.training = Training(self, self._trainers)
        self._signals = signals or Signals()
        self._preferences = preferences or Preferences()
        self._notify_by = notify_by

    @property
    def path(self) -> Path:
        """The session on screen."""
        return self.watched.path

    @property
    def latest(self) -> SessionView | None:
        """The newest look at it."""
        return self.watched.latest

    @property
    def main(self) -> Main:
        """The screen below all dialogs."""
        main = self.screen_stack[0]
        assert isinstance(main, Main)
        return main

    def get_default_screen(self) -> Main:
        return Main()

    def on_mount(self) -> None:
        if self._preferences.theme is not None:
            self.theme = self._preferences.theme
        self.set_class(self.choice.ascii_only, "-ascii")
        self.set_class(few_colours(self), "-few-colours")
        self.set_class(escapes.links(drawn_on()), "-links")
        self.set_keymap(self._preferences.keys)
        # A closed terminal leaves trainers running; ending the screen itself ends those it started.
        obey_signals(self, self._signals, lambda number: "leave" if number == signal.SIGHUP else "stop")
        self.training.wait_for_session()
        self.set_interval(FRAME_SECONDS, self._tick)
        self._begin_watching()

    def on_unmount(self) -> None:
        """Close the session's file, whatever ended the app."""
        self.watched.close()
        self.give_back_title()

    # Watching -------------------------------------------------------------------------------------

    def _begin_watching(self) -> None:
        """Read the session from now on, and the marked ones beside it."""
        run_in_background(self, self._follow, "follow")
        run_in_background(self, self._compare, "compare")

    async def _follow(self) -> None:
        watch = self.watched
        while True:
            before = watch.latest
            failed = await watch.look(self._wanted(), relevant=self.choice.relevant)
            if not self.is_running:
                return
            if failed:
                self.training.failed(failed)
            if not watch.trouble and isinstance(self.screen, Starting):
                self.screen.dismiss("begun")  # the session can be shown: no question is left
            if watch.latest is not before:
                self._give_notice(before, watch.latest)
                if _applies(before) != _applies(watch.latest):
                    self.refresh_bindings()
                if watch.frozen_at is None:
                    self.show()
            self.show_status()
            await watch.turn(POLL_SECONDS)

    def _wanted(self) -> tuple[str, ...]:
        """The metrics whose curves are shown."""
        return wanted(self.watched.latest, self.choice, small=self.size.width >= VAST)

    async def _compare(self) -> None:
        """Keep the curves of the marked sessions current; one that cannot be read is reported and
        unmarked."""
        watch = self.watched
        while True:
            for path, why in (await watch.compare(self.choice.compared, self._wanted())).items():
                if self.is_running and path in self.choice.compared:  # not unmarked meanwhile
                    self.choice.compared.remove(path)
                    words = f"{session_name(path)} is no longer compared: {why}"
                    self.notify(words, severity="warning", markup=False)
            await watch.compare_turn(COMPARE_SECONDS)

    async def follow(self, path: Path, trainer: TrainerProcess | None = None) -> None:
        """Look at another session from now on."""
        if path != self.path:
            self.watched.close()
            self.watched = Watch(path, self._trainers, trainer)
            self.choice.model = None
            self.choice.pinned.clear()
            self._begin_watching()
        await self.action_view(0)
        self.look_again()

    def look_again(self) -> None:
        """Read the session now, without waiting for the next turn."""
        self.watched.look_again()

    def show(self) -> None:
        """Draw the newest look in the view in sight."""
        if self.latest is not None and self.main.ready:
            self.main.view.show(self.latest)

    def show_status(self) -> None:
        """Draw the status line: the newest state, even if the view is frozen, or that of the replay."""
        watch, status = self.watched, self.latest.status if self.latest else None
        self.entitle(window_title(status, self.path, watch.trouble))
        if not (self.is_running and self.main.ready):  # while the app closes, its widgets go first
            return
        frozen = None if watch.frozen_at is None else time.monotonic() - watch.frozen_at
        told = pieces(status, watch.trouble, frozen, watch.replay, self.choice.ascii_only)
        self.main.query_one("#status", Lines).show_lines(lambda width, _: [fitted(told, width)])

    def _give_notice(self, before: SessionView | None, now: SessionView | None) -> None:
        """Announce that the trainer has ended, if that is wanted."""
        if self._notify_by is None or before is None or not before.status.running:
            return
        if now is not None and not now.status.running:
            words = f"wikitopics, {session_name(self.path)}: {condition(now.status)[1].lower()}"
            self.tell_terminal(escapes.notice(self._notify_by, words))

    # What views ask for ---------------------------------------------------------------------------

    @on(Ready)
    def _view_ready(self) -> None:
        if not gc.get_freeze_count():
            # Objects made up to the first frame stay to the end. Searching them for garbage repeatedly would
            # cost a twentieth of a second in the middle of a key press.
            gc.freeze()
        self.show()
        self.show_status()
        self.main.settle()

    @on(OpenTopic)
    async def _open_topic(self, event: OpenTopic) -> None:
        await self.action_view(VIEWS.index(Topics))
        view = self.main.view
        if isinstance(view, Topics):
            self.call_after_refresh(view.open, event.topic, event.at)

    @on(OpenArticle)
    async def _open_article(self, event: OpenArticle) -> None:
        await self.action_view(VIEWS.index(Articles))
        self.call_after_refresh(self.main.view.find, event.title)

    @on(OpenSession)
    async def _open_session(self, event: OpenSession) -> None:
        await self.follow(event.path)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys without a meaning here and now are neither shown nor obeyed."""
        if action == "replaying":
            return self.watched.replay is not None and self.screen is self.main and not self.main.finding
        if not isinstance(self.screen_stack[0], Main):
            return True
        view = self.main.view
        match action:
            case "in_view":
                return view.check_action(str(parameters[0]), ())
            case "find":
                return bool(view.FINDS)
            case "pause" | "save" | "restart":
                return not self.training.idle(action) or None  # `on_key` says why
        return True

    # Keys ---------------------------------------------------------------------------------------

    async def action_view(self, index: int) -> None:
        """Open a view, by its number."""
        await self.main.open_view(index)
        self.show()

    async def action_in_view(self, action: str) -> None:
        await self.run_action(action, self.main.view)

    def action_freeze(self) -> None:
        watch = self.watched
        watch.frozen_at = time.monotonic() if watch.frozen_at is None else None
        if watch.frozen_at is None:
            self.show()
        self.show_status()
        self.refresh_bindings()

    def action_pause(self) -> None:
        self.training.pause()

    def action_save(self) -> None:
        self.training.save()

    def action_restart(self) -> None:
        self.training.restart()

    async def action_leave(self) -> None:
        self.training.leave()

    async def action_replay(self) -> None:
        """Start a replay from the first snapshot, or end it."""
        watch = self.watched
        if watch.replay is not None:
            watch.replay = None
        elif watch.latest is None:
            return
        else:
            try:
                await watch.begin_replay()
            except SessionError as error:
                self.notify(str(error), severity="warning", markup=False)
                return
            if watch.replay is None:
                self.notify("nothing to replay yet: snapshots begin with the first minibatch")
                return
        self._replay_moved()

    def action_replaying(self, what: str, by: int = 0) -> None:
        """Play, step or end."""
        replay = self.watched.replay
        assert replay is not None
        if what == "end":
            self.watched.replay = None
        elif what == "play":
            replay.play()
        else:
            replay.step(by)
        self._replay_moved()

    def _tick(self) -> None:
        if self.watched.replay is not None and self.watched.replay.tick():
            self._replay_moved()

    def _replay_moved(self) -> None:
        self.refresh_bindings()
        self.show_status()
        self.look_again()

    def action_find(self) -> None:
        self.main.open_find()

    def on_key(self, event: events.Key) -> None:
        """Handle a key that nothing has taken: one that has nothing to do now, or one typed while the find
        line was opening."""
        active = self.screen.active_bindings.get(event.key)
        if active is not None and (why := self.training.idle(active.binding.action)):
            self.notify(why, markup=False)
        if event.is_printable and event.character is not None and self.screen is self.main:
            self.main.query_one(FindBar).take(event.character)

    def action_export(self) -> None:
        from wikitopics.tui.export import Export

        self.push_screen(Export(self.path, self.latest.models if self.latest is not None else ()))

    def action_theme(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    def action_help(self) -> None:
        self.push_screen(Help(commands(self)))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for command in commands(self):
            does = command.does[0].upper() + command.does[1:]
            yield SystemCommand(does, f"{command.where}, key {command.key}", command.act)
        yield SystemCommand("Change the theme", "Dark, light and others", self.action_change_theme)
        yield SystemCommand("Plain ASCII", "Draw with or without braille and boxes", self.action_ascii)
        picture = self.main.view.action_picture
        yield SystemCommand("Picture of this screen", "Save it as an SVG file", picture)

    def action_ascii(self) -> None:
        self.choice.ascii_only = not self.choice.ascii_only
        self.plain_signs.enabled = self.choice.ascii_only or not speaks_utf8()
        self.set_class(self.choice.ascii_only, "-ascii")
        self.show()
        self.show_status()
        for widget in self.main.query(Drawn):
            widget.redraw()
        self.main.hint()


def _applies(look: SessionView | None) -> tuple[object, ...]:
    """The values that decide which keys have a meaning."""
    if look is None:
        return (None,)
    return look.status.running, look.status.state, len(look.models) > 1


def names() -> frozenset[str]:
    """The names of all keys, here and in the views."""
    every = [*Wikitopics.BINDINGS, *(binding for kind in VIEWS for binding in kind.BINDINGS)]
    return frozenset(binding.id for binding in every if isinstance(binding, Binding) and binding.id)


def run(
    path: Path,
    signals: Signals,
    trainers: control.Trainers | None = None,
    trainer: TrainerProcess | None = None,
    notify_by: str | None = None,
) -> Ending | None:
    """Open the screen on the session at ``path`` until the user closes it.

    ``trainer``: the trainer of this session, if one of ``trainers`` has just been started for it; the session
    need not exist yet then. ``notify_by``: as for the app. Returns what to do with the trainers; None if none
    was running. Raises `SessionError` if there is no session to show.
    """
    if trainer is None:
        SessionReader(path).close()  # if it is not a session, say so now, in one line
    app = Wikitopics(
        path,
        trainers=trainers,
        trainer=trainer,
        signals=signals,
        preferences=preferences(names()),
        notify_by=notify_by,
    )
    try:
        return open_app(app, gone="leave")
    finally:
        app.watched.close(wait=True)

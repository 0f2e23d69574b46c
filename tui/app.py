"""The screen's entry point: `run` opens it on a session and returns when it is closed."""

import asyncio
import gc
import signal
import time
from collections.abc import Iterable, Mapping
from functools import cache, partial
from pathlib import Path

from rich.text import Text
from textual import events
from textual.app import SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from wikitopics.session import config, control, escapes, sources
from wikitopics.session.analysis.story import SCORE
from wikitopics.session.errors import SessionError
from wikitopics.session.metrics import METRICS
from wikitopics.session.paths import DEMO_SESSION, session_name, session_path
from wikitopics.session.records import ArticleRow
from wikitopics.session.signals import Signals
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.background import run_in_background
from wikitopics.tui.bars import FindBar, caption, condition, fitted, pieces, window_title
from wikitopics.tui.export import Export
from wikitopics.tui.flow import nothing_left
from wikitopics.tui.follow import TrainerProcess, Watch, wait_until
from wikitopics.tui.help import Help
from wikitopics.tui.host import Ending, Host
from wikitopics.tui.inks import INKS, Drawn, Lines
from wikitopics.tui.main_screen import EVERYWHERE, NUMBERED, VIEWS, Main
from wikitopics.tui.new_session import NewSession
from wikitopics.tui.palette import WRITE_REPORT, Commands, Finds, commands
from wikitopics.tui.questions import AskContact, Question, Starting, after_demo, agreement, closing
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.terminal import (
    Preferences,
    is_refused,
    obey_signals,
    open_app,
    preferences,
    write_action,
)
from wikitopics.tui.typed_ahead import TypedAhead
from wikitopics.tui.views.ask import AskView
from wikitopics.tui.views.atlas import TopicAtlas
from wikitopics.tui.views.dashboard import VAST, Dashboard
from wikitopics.tui.views.topics import TopicView

POLL_SECONDS = 0.5
FRAME_SECONDS = 0.25
"""Seconds for which a replay shows each snapshot."""


class Wikitopics(Host):
    """The app: it watches a session, shows the session in its views, and commands trainers."""

    TITLE = "wikitopics"
    COMPONENT_CLASSES = INKS
    COMMANDS = {Commands, Finds}  # noqa: RUF012 - Textual's own convention
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        *(
            Binding(
                str(number),
                f"view({kind.TITLE!r})",
                kind.TITLE,
                id=f"view.{kind.TITLE.lower()}",
                tooltip=f"open {kind.TITLE}",
            )
            for number, kind in enumerate(NUMBERED, start=1)
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
        says: str = "",
    ) -> None:
        """``trainer``: the trainer of ``path``, if one of ``trainers`` has just been started for
        it. ``notify_by``: how to announce the end of a trainer, as in `NOTIFY`. ``says``: a notice
        to begin with."""
        super().__init__()
        self.choice = Choice(ascii_only=self.plain_signs.enabled)
        self._trainers = trainers or control.Trainers()
        self.watched = Watch(path, self._trainers, trainer)
        self._signals = signals or Signals()
        self._preferences = preferences or Preferences()
        self._notify_by = notify_by
        self._says = says
        self._demo_over = False
        """Whether a demo started here is over and the user has not yet been asked what to do
        next."""
        self._typed_ahead = TypedAhead(self, super().on_event)

    @property
    def main(self) -> Main:
        """The screen below all dialogs."""
        main = self.screen_stack[0]
        assert isinstance(main, Main)
        return main

    def get_default_screen(self) -> Main:
        return Main()

    def on_mount(self) -> None:
        self.theme = self._preferences.theme or self.theme
        self.draw_in_ascii(self.choice.ascii_only)
        self.set_keymap(self._preferences.keys)

        def ending(signal_number: int) -> Ending:
            # A closed terminal leaves trainers running; a signal to end the screen stops those that
            # it started.
            return "leave" if signal_number == signal.SIGHUP else "stop"

        obey_signals(self, self._signals, ending)
        if self._says:
            self.notify(self._says, markup=False)
        self.wait_for_session()
        self.set_interval(FRAME_SECONDS, self._tick)
        run_in_background(self, self._follow, "follow")

    def on_unmount(self) -> None:
        """Close the session's file, whatever ended the app."""
        self.watched.close()
        self.give_back_title()

    # Watching -------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        """Keep reading the session and those marked to be compared with it."""
        watch = self.watched
        while True:
            previous = watch.latest
            metrics = self._metrics_needed()
            unreadable = await watch.compare(self.choice.compared, metrics)
            for path, why in unreadable.items():
                if self.is_running and path in self.choice.compared:  # still marked
                    self.choice.compared.remove(path)
                    words = f"{session_name(path)} is no longer compared: {why}"
                    self.notify(words, severity="warning")
            code = await watch.update(metrics, by_probability=self.choice.by_probability)
            if not self.is_running:
                return
            if code:
                self._trainer_failed(code)
            if watch.latest is not previous:
                self._give_notice(previous, watch.latest)
                self._demo_over |= self._ends_demo(previous, watch.latest)
                self.refresh_bindings()
                if watch.frozen_at is None:
                    self.show()
            self.show_status()
            if self._demo_over and self.screen is self.main and not self.main.finding:
                self._demo_over = False
                self.push_screen(after_demo(), self._do_next)
            await wait_until(watch.due, POLL_SECONDS)

    def _metrics_needed(self) -> tuple[str, ...]:
        """The metrics whose curves are needed: for the large chart, the small charts and the
        story."""
        needed = {self.choice.metric, SCORE.name}
        if self.size.width >= VAST:
            metrics = METRICS if self.latest is None else self.latest.metrics
            needed.update(metric.name for metric in metrics if metric.brief)
        return tuple(sorted(needed))

    def _trainer_failed(self, code: int) -> None:
        """A trainer has ended before it opened the session: ask the question it ended with, or say
        why it ended."""
        question = control.question(self.path)
        if question:
            self._ask_to_agree(question)
        else:
            words = control.last_words(self.path) or f"the trainer ended with code {code}"
            self.notify(words, severity="error")

    async def follow(self, path: Path, trainer: TrainerProcess | None = None) -> None:
        """Switch to another session."""
        if path != self.path or trainer is not None:
            self.watched.close()
            self.watched = Watch(path, self._trainers, trainer)
            self.choice.model = None
            self.choice.pinned.clear()
            run_in_background(self, self._follow, "follow")  # it replaces the one that runs
        await self.action_view(Dashboard.TITLE)
        self.watched.read_again()

    def show(self) -> None:
        """Draw the session as it was last read, in the view in sight."""
        if self.latest is not None and self.main.ready:
            self.main.view.show(self.latest)

    def show_status(self) -> None:
        """Draw the status line: the newest state, even if the view is frozen, or the state of the
        replay."""
        watch = self.watched
        status = self.latest.status if self.latest else None
        self.entitle(window_title(status, self.path, watch.trouble))
        if not (self.is_running and self.main.ready):  # while the app closes, its widgets go first
            return
        frozen_for = None if watch.frozen_at is None else time.monotonic() - watch.frozen_at
        parts = pieces(
            status,
            watch.trouble,
            frozen_for,
            watch.replay,
            self.size.width,
            offers=not self.READ_ONLY,
            reading=watch.reading,
        )
        self.main.query_one("#status", Lines).show_lines(lambda width, _: [fitted(parts, width)])
        words = "" if status is None or watch.replay is not None else caption(status)
        below = self.main.query_one("#caption", Lines)
        below.display = bool(words)
        below.show_lines(lambda *_: [[(f" {words}", "accent")]])

    def _give_notice(self, previous: SessionView | None, now: SessionView | None) -> None:
        """Announce that the trainer has ended, if the user asked for that."""
        if self._notify_by is None or previous is None or not previous.status.running:
            return
        if now is not None and not now.status.running:
            _, state, _ = condition(now.status)
            words = f"wikitopics, {session_name(self.path)}: {state.lower()}"
            self.tell_terminal(escapes.notice(self._notify_by, words))

    # What views ask for ---------------------------------------------------------------------------

    def settle(self) -> None:
        """Put the focus where the view in sight wants it."""
        self.main.settle()

    async def view_ready(self) -> None:
        """Draw a view that has just been made."""
        _freeze_first_objects()
        self.show()
        self.show_status()
        self.settle()
        self.call_later(self._typed_ahead.type_next)

    async def on_event(self, event: events.Event) -> None:
        """Handle an event. A key that is typed before there is a view, or while a dialog opens,
        waits for the view or the dialog, and so does each key after that one. A key that closes the
        screen does not wait."""
        is_typed = isinstance(event, events.Key) and not event.is_forwarded
        if not (is_typed and self._typed_ahead.must_wait()):
            await super().on_event(event)
            return
        assert isinstance(event, events.Key)
        if self._typed_ahead.closes_at_once(event):
            # Not by way of the widgets, which may be waiting.
            await self.action_leave()
        else:
            self._typed_ahead.add(event)

    async def open_topic(self, topic: int) -> None:
        """Show everything about this topic of the model in use."""
        await self.action_view(TopicView.TITLE)
        view = self.main.view
        if isinstance(view, TopicView):
            self.call_after_refresh(view.open, topic)

    async def action_ask(self, article: ArticleRow | None = None) -> None:
        """Show the card of this article; without one, a field for a text to ask about."""
        origin = self.main.current
        await self.action_view(AskView.TITLE)
        view = self.main.view
        assert isinstance(view, AskView)
        view.open(article, origin)

    action_open_topic = open_topic

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Neither show nor obey keys that have no meaning here and now."""
        if is_refused(self, action):
            return False
        if action == "replaying":  # the keys that move or end a replay
            return (
                self.watched.replay is not None
                and self.screen is self.main
                and not self.main.finding
            )
        if not isinstance(self.screen_stack[0], Main):
            return True
        if not self.main.ready:
            return action == "leave"
        view = self.main.view
        match action:
            case "in_view":
                return view.check_action(str(parameters[0]), ())
            case "find":
                return bool(view.FINDS)
            case "hurry":
                return self.latest is not None and self.latest.status.activity.pace > 0
            case "retry":
                return self.latest is not None and self.latest.status.may_retry
            case "pause" | "save" | "restart" | "lay_out":
                if self.why_idle(action):
                    return None  # shown as disabled; `on_key` says why
        return True

    # Starting trainers ----------------------------------------------------------------------------

    def wait_for_session(self) -> None:
        """If there is no session yet, show what its trainer says until there is one or the user
        gives up."""
        path = self.path
        trainer = self.watched.awaited
        if trainer is None or path.exists():
            return

        async def answered(answer: str | None) -> None:
            question = ""
            if answer == "ended":  # the trainer, perhaps with a question
                question = control.question(path)
            if question:
                self._ask_to_agree(question)
            elif answer == "begun":
                self.watched.read_again()
            elif answer == "again":
                self._start_again()
            elif answer == "demo":
                self.exit("demo")
            elif self.latest is not None:
                # The user gave up just when the session had been opened.
                await self.action_leave()
            else:  # given up, or ended with an error, which is shown after the screen has closed
                self.exit("stop")

        self.push_screen(
            Starting(path, trainer, sample=path != session_path(DEMO_SESSION)), answered
        )

    def _ask_to_agree(self, question: str) -> None:
        def answered(answer: str | None) -> None:
            if answer == "yes":
                self._start_again(agreed=True)
            elif not self.path.exists():
                self.exit("stop")

        self.push_screen(agreement(question), answered)

    def _start_again(self, *, agreed: bool = False) -> None:
        """Start the trainer again, and wait for its session if there is none yet."""
        try:
            self.watched.awaited = self._trainers.start_again(self.path, agreed=agreed)
        except SessionError as error:
            if self.path.exists():
                self.notify(str(error), severity="warning")
            else:  # there is nothing to show
                self.exit("stop", message=Text(str(error)))
            return
        self.watched.read_again()
        self.wait_for_session()

    @write_action
    def action_new_session(self) -> None:
        """Ask for a new session's settings, start its trainer, and show it."""

        async def created(new: tuple[Path, TrainerProcess] | None) -> None:
            if new is not None:
                await self.follow(*new)

        self.push_screen(NewSession(self._trainers), created)

    @write_action
    def action_restart(self) -> None:
        """Start the trainer of this session again, if there is anything left to do."""
        if self.latest is None:
            return
        why_not = nothing_left(self.latest.status)
        if why_not:
            self.notify(why_not)
            return

        def answered(answer: str | None) -> None:
            if answer == "saved":
                self.action_restart()

        with self.warning():
            # If the server requires a contact and none is set, the user is asked for one first. But
            # a trainer that this screen started may have been given its contact as an option, and
            # is started again with the same options.
            if self.path in self._trainers.paths() or not _lacks_contact(self.latest):
                self._start_again()
            else:
                self.push_screen(AskContact(leave="Back", sample=False), answered)

    def why_idle(self, action: str) -> str:
        """Why the key of this action would do nothing now; "" if it would do something."""
        status = None if self.latest is None else self.latest.status
        if action in ("pause", "save", "lay_out"):
            if status is None or not status.running:
                return (
                    f"nothing to {action.replace('_', ' ')}: no trainer is running on this session"
                )
        elif action == "restart":
            if self.watched.awaited is not None:
                return "nothing to start: the trainer is starting"
            if status is None or status.pid is not None:
                return "nothing to start: the trainer is running"
        return ""

    # The end of the demo --------------------------------------------------------------------------

    def _ends_demo(self, previous: SessionView | None, now: SessionView | None) -> bool:
        """Whether a demo that this screen has started has just been read to its end."""
        if previous is None or now is None or self.path not in self._trainers.paths():
            return False
        has_ended = now.status.state == "finished" and previous.status.state != "finished"
        return has_ended and bool(sources.kind_named(now.status.source).on_screen)

    async def _do_next(self, action: str | None) -> None:
        if action:
            await self.run_action(action)
            # Ask again once the form for an export has closed.
            self._demo_over = action.startswith("export")

    @write_action
    async def action_again(self) -> None:
        """Delete the session and start it again."""
        with self.warning():
            await asyncio.to_thread(control.remove, self.path)
            await self.follow(self.path, self._trainers.start_again(self.path))
            self.wait_for_session()

    # Commanding trainers --------------------------------------------------------------------------

    @write_action
    def action_hurry(self) -> None:
        """Have the trainer read the rest of the demo as fast as it can."""
        self._command(hurry=True)

    @write_action
    def action_pause(self) -> None:
        """Have the trainer pause, or continue."""
        is_paused = self.latest is not None and self.latest.status.state == "paused"
        self._command(paused=not is_paused)

    @write_action
    def action_lay_out(self) -> None:
        """Have the trainer lay out the map of articles anew."""
        self._command(lay_out=True)
        self.notify("the trainer lays out the map anew", timeout=5)

    @write_action
    def action_save(self) -> None:
        """Have the trainer save now."""
        self._command(save=True)

    action_retry = action_save  # a trainer that is asked to save tries again at once

    def _command(self, **requests: bool) -> None:
        path = self.path

        async def ask() -> None:
            with self.warning():
                await asyncio.to_thread(control.ask, path, **requests)

        run_in_background(self, ask, "control", exclusive=False)

    # Ending ---------------------------------------------------------------------------------------

    async def action_leave(self) -> None:
        """Close the screen; if it started trainers, ask first whether they should keep running."""
        running = self._trainers.running()
        if not running:
            self.exit()
        elif isinstance(self.screen, Question):
            # The question in front may be the one below: then this answers it. Any other question
            # closes, and takes "stop" for no answer.
            self.screen.dismiss("stop")
        else:

            def answered(answer: str | None) -> None:
                if answer == "leave":
                    self.exit("leave")
                elif answer == "stop":
                    self.exit("stop")

            self.push_screen(closing(running), answered)

    # Keys ---------------------------------------------------------------------------------------

    async def action_view(self, title: str) -> None:
        """Open a view, by its title."""
        await self.main.open_view(title)
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

    async def action_replay(self) -> None:
        """Start a replay from the first snapshot, or end it."""
        watch = self.watched
        if watch.replay is not None:
            watch.replay = None
        elif watch.latest is not None:
            with self.warning():
                await watch.begin_replay()
                if watch.replay is None:
                    self.notify("nothing to replay yet: snapshots begin with the first minibatch")
        self._replay_moved()

    def action_replaying(self, what: str, *by: int) -> None:
        """Play, step through or end the replay."""
        replay = self.watched.replay
        assert replay is not None
        if what == "end":
            self.watched.replay = None
        else:
            getattr(replay, what)(*by)  # the replay's method of this name
        self._replay_moved()

    def _tick(self) -> None:
        if self._typed_ahead:  # what the keys waited for may have been closed
            self.call_later(self._typed_ahead.type_next)
        if self.watched.replay is not None and self.watched.replay.tick():
            self._replay_moved()

    def _replay_moved(self) -> None:
        self.refresh_bindings()
        self.show_status()
        self.watched.read_again()

    def action_find(self) -> None:
        if self.main.view.FINDS and not self.main.finding:
            self.main.query_one(FindBar).open(self.main.view.FINDS)

    def on_key(self, event: events.Key) -> None:
        """Handle a key that no widget has taken: say why it does nothing now, or pass it to the
        find line, which may have been still opening when the key was typed."""
        active = self.screen.active_bindings.get(event.key)
        if active is not None:
            why = self.why_idle(active.binding.action)
            if why:
                self.notify(why)
        if event.is_printable and event.character is not None and self.screen is self.main:
            self.main.query_one(FindBar).take(event.character)

    @write_action
    async def action_export(self, report: bool = False) -> None:
        models = self.latest.models if self.latest is not None else ()
        form = Export(self.path, models)
        await self.push_screen(form)
        if report:
            form.go()

    def action_help(self) -> None:
        self.push_screen(Help(commands(self.main)))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for command in commands(self.main):
            does = command.does[0].upper() + command.does[1:]
            yield SystemCommand(f"{does} · {command.key}", "", command.act)
        yield SystemCommand(
            "Change the theme: dark, light and others", "", self.action_change_theme
        )
        yield SystemCommand(
            "Plain ASCII: draw with or without braille and boxes", "", self.action_ascii
        )
        if not is_refused(self, "export"):  # `Finds` lists it first
            yield SystemCommand(WRITE_REPORT, "", partial(self.action_export, True), discover=False)

    def action_ascii(self) -> None:
        self.choice.ascii_only = not self.choice.ascii_only
        self.draw_in_ascii(self.choice.ascii_only)
        self.show()
        self.show_status()
        for widget in self.main.query(Drawn):
            widget.redraw()
        self.main.hint()


@cache
def _freeze_first_objects() -> None:
    """Exclude what exists before the first frame, and lives until the process ends, from garbage
    collection: a search through it would cost a twentieth of a second in the middle of a key press.

    Only the first call does. To ask the collector whether it was made takes 5 ms: it counts.
    """
    gc.freeze()


def _lacks_contact(session: SessionView) -> bool:
    """Whether the server requires a contact, and there is none. Raises SessionError."""
    kind = sources.kind_named(session.status.source)
    identity = session.settings.get("source_options")
    if not isinstance(identity, Mapping) or kind.fault(identity):
        return False  # the trainer reports what is wrong
    return kind.needs_contact(identity) and config.lacks_contact()


def names() -> frozenset[str]:
    """The names of all keys, here and in the views."""
    bindings = [*Wikitopics.BINDINGS, *TopicAtlas.BINDINGS]
    for kind in VIEWS.values():
        bindings += kind.BINDINGS
    return frozenset(
        binding.id for binding in bindings if isinstance(binding, Binding) and binding.id
    )


def run(
    path: Path,
    signals: Signals,
    trainers: control.Trainers | None = None,
    trainer: TrainerProcess | None = None,
    notify_by: str | None = None,
    says: str = "",
) -> Ending | None:
    """Open the screen on the session at ``path`` until the user closes it.

    ``trainer``: the trainer of this session, if one of ``trainers`` has just been started for it;
    the session need not exist yet in that case. ``notify_by`` and ``says``: as for the app. Returns
    what to do with the trainers, or None if none was running. Raises `SessionError` if there is no
    session to show.
    """
    if trainer is None:
        SessionReader(path).close()  # if it is not a session, say so now, in one line
    settings = preferences(names())
    app = Wikitopics(
        path,
        trainers=trainers,
        trainer=trainer,
        signals=signals,
        preferences=settings,
        notify_by=notify_by,
        says=says,
    )
    try:
        return open_app(app, gone="leave")
    finally:
        app.watched.close(wait=True)

"""The screen's entry point: `run` opens it on a session and returns when it is closed."""

import asyncio
import re
import signal
import time
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path

from textual import events, on
from textual.app import App, SystemCommand
from textual.dom import DOMNode
from textual.notifications import SeverityLevel
from textual.screen import Screen

from wikitopics.session import escapes
from wikitopics.session.control import requests
from wikitopics.session.control.naming import rename
from wikitopics.session.errors import SessionError
from wikitopics.session.signals import Signals
from wikitopics.session.storage.files import replacing
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.background import begin
from wikitopics.tui.browser import open_page
from wikitopics.tui.commanding import Commanding
from wikitopics.tui.controls import Controls, Ending, TrainerProcess, Trainers
from wikitopics.tui.dialogs.help import Help
from wikitopics.tui.inks import INKS, Drawn
from wikitopics.tui.keys import EVERYWHERE
from wikitopics.tui.listing import ORDERS
from wikitopics.tui.look import Choice
from wikitopics.tui.messages import OpenArticle, OpenSession, OpenTopic
from wikitopics.tui.palette import Finds
from wikitopics.tui.preferences import Preferences, preferences
from wikitopics.tui.screens import VIEWS, Main
from wikitopics.tui.terminal import (
    SMALL_HEIGHTS,
    SMALL_WIDTHS,
    drawn_on,
    few_colours,
    obey_signals,
    open_app,
    plain_terminal,
    speaks_utf8,
)
from wikitopics.tui.themes import DARK, LIGHT, house, inks, suitable
from wikitopics.tui.views.articles import Articles
from wikitopics.tui.views.topics import Topics
from wikitopics.tui.widgets.findbar import FindBar
from wikitopics.tui.words import visible

FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
"""For pictures of the screen."""

TOPIC_ACTIONS = ("rename", "pin")
"""Actions for the selected topic."""

ASKING_ACTIONS = ("find", "maximise", "models", "order", "pause", "save", "restart", "browse")
"""Other actions that apply only at times."""


class Wikitopics(Commanding):
    """The app: keys, dialogs and the requests of views, around the session that it follows."""

    TITLE = "wikitopics"
    CSS_PATH = "room.tcss"
    COMPONENT_CLASSES = set(INKS)  # noqa: RUF012 - Textual's own convention
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = App.COMMANDS | {Finds}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS = EVERYWHERE
    HORIZONTAL_BREAKPOINTS = SMALL_WIDTHS
    VERTICAL_BREAKPOINTS = SMALL_HEIGHTS

    def __init__(
        self,
        open_reader: Callable[[Path], SessionReader],
        path: Path,
        controls: Controls,
        *,
        trainers: Trainers | None = None,
        trainer: TrainerProcess | None = None,
        signals: Signals | None = None,
        preferences: Preferences | None = None,
        notify_by: str | None = None,
    ) -> None:
        """``trainer``: the trainer of ``path``, if one of ``trainers`` has just been started for it."""
        choice = Choice(ascii_only=plain_terminal())
        super().__init__(open_reader, path, choice, controls, trainers, trainer, notify_by)
        self.choice.patterned = few_colours(self)
        self._signals = signals or Signals()
        self._preferences = preferences or Preferences()
        for theme in house(self.console.color_system):
            self.register_theme(theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return inks(self.current_theme)

    def get_default_screen(self) -> Main:
        return Main()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a message; nothing in it can control the terminal."""
        super().notify(visible(message), title=title, severity=severity, timeout=timeout, markup=markup)

    def on_mount(self) -> None:
        self.theme = self._preferences.theme or suitable()
        self.set_class(self.choice.ascii_only, "-ascii")
        self.set_class(not speaks_utf8(), "-ascii-text")
        self.set_class(escapes.links(drawn_on()), "-links")
        self.set_keymap(self._preferences.keys)
        obey_signals(self, self._signals, _ending)
        self.begin_following()

    # What views ask for ---------------------------------------------------------------------------

    @on(OpenTopic)
    async def _open_topic(self, event: OpenTopic) -> None:
        await self.action_view(VIEWS.index(Topics))
        view = self.main.view
        if isinstance(view, Topics):
            self.call_after_refresh(view.open, event.topic)

    @on(OpenArticle)
    async def _open_article(self, event: OpenArticle) -> None:
        await self.action_view(VIEWS.index(Articles))
        self.call_after_refresh(self.main.view.find, event.title)

    @on(OpenSession)
    async def _open_session(self, event: OpenSession) -> None:
        await self.follow(event.path)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys without a meaning here and now are neither shown nor obeyed."""
        if action.startswith("replay_"):
            return self.replay is not None and self.screen is self.main and not self.main.finding
        if action in {*ASKING_ACTIONS, *TOPIC_ACTIONS} and isinstance(self.screen_stack[0], Main):
            view = self.main.view
            status = self.latest.status if self.latest is not None else None
            return {
                "find": bool(view.finds()),
                "maximise": view.PANELS > 1,
                "models": self.latest is not None and view.OF_MODEL and len(self.latest.models) > 1,
                "order": view.LISTS_TOPICS,
                "pause": status is not None and status.running,
                "save": status is not None and status.running,
                "restart": status is not None and status.pid is None and not self.is_awaiting,
                "browse": self._address() is not None,
                **dict.fromkeys(TOPIC_ACTIONS, view.chosen_topic() is not None),
            }[action]
        return True

    # Keys ---------------------------------------------------------------------------------------

    async def action_in_view(self, action: str) -> None:
        await self.run_action(action, self.main.view)

    def action_freeze(self) -> None:
        self.frozen_at = time.monotonic() if self.frozen_at is None else None
        if self.frozen_at is None:
            self.show()
        self.show_status()
        self.keys_changed()

    def _address(self) -> str | None:
        """The address of the selected article."""
        article = self.main.view.chosen_article()
        return None if article is None or self.latest is None else self.latest.address(article)

    async def action_browse(self) -> None:
        address = self._address()
        if address is not None:
            begin(self, partial(self._browse, address), "browse", exclusive=False)

    async def _browse(self, address: str) -> None:
        if not await asyncio.to_thread(open_page, address):
            self.copy_to_clipboard(address)
            self.notify(f"no browser can be opened here; copied: {address}", markup=False)

    def action_models(self) -> None:
        if self.latest is None:
            return
        order: list[str | None] = [None, *self.latest.models]
        self.choice.model = order[(order.index(self.choice.model) + 1) % len(order)]
        self.show()

    def action_order(self) -> None:
        orders = list(ORDERS)
        self.choice.order = orders[(orders.index(self.choice.order) + 1) % len(orders)]
        self.show()

    def action_pin(self) -> None:
        row, look = self.main.view.chosen_topic(), self.latest
        model = None if look is None else self.choice.model_of(look)
        if row is not None and model is not None:
            self.choice.pinned ^= {(model, row.topic)}
            self.show()

    def action_maximise(self) -> None:
        self.main.view.maximise()
        self.call_after_refresh(self.show)

    def action_panel(self, by: int) -> None:
        """Focus the next or previous panel; if a panel is maximised, maximise that one instead."""
        view = self.main.view
        maximised = view.has_class("-max")
        if maximised:
            view.maximise()
            self.stylesheet.update(view)  # at once: what is still hidden cannot have the focus
        if by > 0:
            self.main.focus_next()
        else:
            self.main.focus_previous()
        if maximised:
            self.action_maximise()

    def action_find(self) -> None:
        self.main.open_find()

    def on_key(self, event: events.Key) -> None:
        """Handle a key that nothing has taken: it may have been typed while the find line was opening."""
        if event.is_printable and event.character is not None and self.screen is self.main:
            self.main.query_one(FindBar).take(event.character)

    def action_rename(self) -> None:
        from wikitopics.tui.dialogs.rename import Rename  # forms are heavy: not before the first frame

        row, look = self.main.view.chosen_topic(), self.latest
        model = None if look is None else self.choice.model_of(look)
        if row is None or model is None:
            return
        path, topic = self.path, row.topic

        def renamed(name: str | None) -> None:
            if name is not None:
                self.notify(f"#{topic} is now called {name}", markup=False)
                self.look_again()

        self.push_screen(Rename(row, lambda name: rename(path, model, topic, name)), renamed)

    def action_export(self) -> None:
        from wikitopics.tui.dialogs.export import Export  # forms are heavy: not before the first frame

        models = self.latest.models if self.latest is not None else ()
        try:
            folder = Path.cwd()
        except OSError:  # it has been deleted
            folder = Path()
        self.push_screen(Export(self._open_reader, self.path, models, folder))

    def action_copy(self) -> None:
        text = "\n".join(map(visible, self.main.view.copied().split("\n")))
        if text:
            self.copy_to_clipboard(text)
            self.notify(f"copied: {text[:60]}", markup=False)

    def action_theme(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    def action_help(self) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for key, words, _, where in self._commands():
            groups.setdefault(where, []).append((key, words))
        self.push_screen(Help(list(groups.items())))

    def _commands(self) -> Iterable[tuple[str, str, Callable[[], Coroutine[object, object, bool]], str]]:
        """(key, what it does, how to do it, where it works) for everything that applies now."""
        seen = set()
        for active in self.main.active_bindings.values():
            binding = active.binding
            if not binding.id or binding.id in seen or not active.enabled or not binding.tooltip:
                continue
            seen.add(binding.id)
            where = "Everywhere" if active.node is self else self.main.view.TITLE
            node = active.node

            def act(action: str = binding.action, node: DOMNode = node) -> Coroutine[object, object, bool]:
                return self.run_action(action, node)

            key = binding.key_display or self.get_key_display(binding)
            yield key, binding.tooltip, act, where

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for key, words, act, where in self._commands():
            yield SystemCommand(words[0].upper() + words[1:], f"{where}, key {key}", act)
        yield SystemCommand("Change the theme", "Dark, light and others", self.action_change_theme)
        yield SystemCommand("Plain ASCII", "Draw with or without braille and boxes", self.action_ascii)
        yield SystemCommand("Picture of this screen", "Save it as an SVG file", self.action_picture)

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """The screen as an SVG in a font that the viewer has; Textual's would be fetched from the network."""
        head, end, drawn = super().export_screenshot(title=title, simplify=simplify).partition("</style>")
        head = re.sub(r"<!--.*?-->|@font-face\s*\{.*?\}", "", head, flags=re.DOTALL)
        return head.replace("Fira Code, monospace", FONTS) + end + drawn

    def action_picture(self) -> None:
        """Save a picture of the screen in the current folder."""
        name = f"{self.path.stem}-{self.main.view.TITLE.lower()}-{time.strftime('%Y%m%d-%H%M%S')}.svg"
        begin(self, partial(self._save_picture, Path(name), self.export_screenshot()), "picture")

    async def _save_picture(self, target: Path, svg: str) -> None:
        def write() -> None:
            with replacing(target) as file:
                file.write(svg.encode())

        try:
            await asyncio.to_thread(write)
        except SessionError as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            self.notify(f"saved: {target.absolute()}", markup=False)

    def action_ascii(self) -> None:
        self.choice.ascii_only = self.plain_signs.enabled = not self.choice.ascii_only
        self.set_class(self.choice.ascii_only, "-ascii")
        self.show()
        self.show_status()
        for widget in self.main.query(Drawn):
            widget.refresh()
        self.main.hint()


def _ending(number: signal.Signals) -> Ending:
    """A closed terminal leaves trainers running; ending the screen itself ends those it started."""
    return "leave" if number == signal.SIGHUP else "stop"


def run(
    path: Path,
    signals: Signals,
    trainers: Trainers | None = None,
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
    controls = Controls(requests.pause, requests.resume, requests.save)
    app = Wikitopics(
        SessionReader,
        path,
        controls,
        trainers=trainers,
        trainer=trainer,
        signals=signals,
        preferences=preferences(),
        notify_by=notify_by,
    )
    try:
        return open_app(app, gone="leave")
    finally:
        app.stop_following(wait=True)

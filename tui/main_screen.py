"""The main screen: status line, one of the views, key bar."""

import time
from collections.abc import Mapping
from string import ascii_lowercase

from textual import events, on
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from wikitopics.tui.bars import FindBar, Hint, KeyBar
from wikitopics.tui.inks import Lines
from wikitopics.tui.lists import RowList
from wikitopics.tui.questions import Dialog
from wikitopics.tui.terminal import bindings, keymap
from wikitopics.tui.views.articles import Articles
from wikitopics.tui.views.ask import AskView
from wikitopics.tui.views.atlas import AtlasView
from wikitopics.tui.views.crawl import Crawl
from wikitopics.tui.views.dashboard import Dashboard
from wikitopics.tui.views.emergence import Emergence
from wikitopics.tui.views.log import Log
from wikitopics.tui.views.sessions import Sessions
from wikitopics.tui.views.topics import TopicView
from wikitopics.tui.views.view import View

EVERYWHERE = [
    *bindings("everywhere"),
    Binding("ctrl+c", "leave", "Quit", priority=True, system=True),
    Binding("ctrl+q", "leave", "Quit", priority=True, system=True),
]


NUMBERED: tuple[type[View], ...] = (Dashboard, TopicView, Articles, Crawl, Log, Sessions, AtlasView)
"""The views in the order of their keys 1, 2, 3 …"""
UNNUMBERED: tuple[type[View], ...] = (Emergence, AskView)
VIEWS: Mapping[str, type[View]] = {kind.TITLE: kind for kind in NUMBERED + UNNUMBERED}
"""All views, by their titles."""


class Jump(Dialog[str]):
    """A letter on the frame of each panel; ends with the key that is pressed."""

    def __init__(self, panels: Mapping[str, Widget]) -> None:
        super().__init__()
        self._panels = panels

    def compose(self) -> ComposeResult:
        for letter, panel in self._panels.items():
            label = Static(f"[{letter}]", classes="letter", markup=False)
            label.styles.offset = panel.region.offset
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss(event.key)

    def on_click(self) -> None:
        self.dismiss("")


class Main(Screen[None]):
    """Holds the views. A view is made when it is first opened, so that the first frame comes
    soon."""

    AUTO_FOCUS = ""
    """The view in sight decides where the focus goes."""
    ALLOW_IN_MAXIMIZED_VIEW = "#status, #caption, #find, #keys"
    ESCAPE_TO_MINIMIZE = False
    """Escape ends a search, even in a maximised panel."""

    def compose(self) -> ComposeResult:
        yield Lines(id="status")
        yield Container(id="views")
        yield Lines(id="caption")
        yield FindBar(id="find")
        yield KeyBar(id="keys")

    def __init__(self) -> None:
        super().__init__(id="main")
        self.current = NUMBERED[0].TITLE
        """The title of the view in sight."""
        self._made: dict[str, View] = {}
        self._composed = False
        self._hints_soon = False
        """Whether the key bar is to be redrawn once what has come in is handled."""

    async def on_mount(self) -> None:
        self._composed = True
        self.bindings_updated_signal.subscribe(self, lambda _: self._hint_soon())
        await self.open_view(self.current)

    @property
    def ready(self) -> bool:
        """Whether the view in sight can draw yet."""
        return self.current in self._made and self.view.is_mounted

    @property
    def view(self) -> View:
        """The view in sight."""
        return self._made[self.current]

    async def open_view(self, title: str) -> None:
        """Bring a view to the front; before the screen is mounted, decide which one it will be.

        The view can take keys when this returns; keys typed meanwhile wait and are not lost.
        """
        self.current = title
        if not self._composed:
            return
        self.query_one(FindBar).shut()
        self.maximized = None
        for other in self._made.values():
            if other.display:
                other.hidden_at = time.monotonic()
            other.display = False
        is_new = title not in self._made
        if is_new:
            self._made[title] = VIEWS[title]()
        view = self._made[title]
        view.display = True
        # Before it is mounted: changing a class later restyles everything in the view.
        view.fit(self.size.width, self.size.height)
        if is_new:
            await self.query_one("#views").mount(view)
        self.settle()

    def _compositor_refresh(self) -> None:
        """Textual's drawing of what has changed on this screen, also while dialogs cover it."""
        draws_all = self in self._dirty_widgets
        regions = self._compositor._dirty_regions
        if regions:
            for dialog in self.app.screen_stack[1:-1]:  # Textual marks only the one in front
                dialog._set_dirty(*regions)
        super()._compositor_refresh()
        if draws_all and self is not self.app.screen:
            # Textual marks a screen under a dialog to be drawn once more, all of it, whenever it
            # has been drawn. Once more is enough: that would mark it again, and so on.
            self._repaint_required = False

    def settle(self) -> None:
        """Put the focus where this view wants it."""
        if not self.ready:
            return
        self.set_focus(self.view.home())
        self.hint()

    def action_jump(self) -> None:
        """Show the letter of each panel in sight, and focus the one whose letter is pressed."""
        panels: dict[str, Widget] = {}
        free = set(ascii_lowercase) - {"g"}  # gg goes to the top of a list
        for panel in self.focus_chain:
            # The first free letter of its title; if it has none, the first of the alphabet.
            title = str(panel.border_title or "").lower()
            first_free = next(letter for letter in title + ascii_lowercase if letter in free)
            free.remove(first_free)
            panels[first_free] = panel

        def pressed(key: str | None) -> None:
            if key == "g" and isinstance(self.focused, RowList):  # the second g of gg
                self.focused.action_to(0)
            elif key in panels:
                self.set_focus(panels[key])

        self.app.push_screen(Jump(panels), pressed)

    @property
    def finding(self) -> bool:
        """Whether typed keys go into a field."""
        # A widget that takes "a" takes every letter.
        if self.focused is not None and self.focused.check_consume_key("a", "a"):
            return True
        return self.query_one(FindBar).has_class("-open")

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

    def _hint_soon(self) -> None:
        """Redraw the key bar once for all that changes with one event: asking what every key does
        takes longer than most changes do."""
        if not self._hints_soon:
            self._hints_soon = self.call_later(self.hint)

    def hint(self) -> None:
        """Redraw the key bar."""
        self._hints_soon = False
        if not self.ready:
            return
        views = []
        for number, kind in enumerate(NUMBERED, start=1):
            is_current = kind.TITLE in (self.current, self.view.PART_OF)
            action = f"app.view({kind.TITLE!r})"
            views.append(Hint(str(number), kind.TITLE, action, active=is_current))
        keys = self._key_hints()
        for bar in self.query(KeyBar):  # there is none any more while the screen closes
            bar.show(views, keys)

    def _key_hints(self) -> list[Hint]:
        """The keys of the key bar that work now, in the bar's order."""
        hidden = self.view.host.NOT_IN_BAR
        in_bar = [name for name in keymap()["bar"] if name not in hidden]
        labels = self._changed_labels()
        hints: dict[str, Hint] = {}
        for active in self.active_bindings.values():
            binding = active.binding
            if binding.id is None or binding.id not in in_bar or binding.id in hints:
                continue
            if not active.enabled:
                continue
            hints[binding.id] = Hint(
                self.app.get_key_display(binding),
                labels.get(binding.id, binding.description),
                self._action_from_anywhere(active),
                stays=binding.id in keymap()["stay"],
            )
        return [hints[name] for name in in_bar if name in hints]

    def _changed_labels(self) -> dict[str, str]:
        """What keys do now where their bindings say otherwise, by the keys' names."""
        labels = {}
        watch = self.view.host.watched
        if watch.latest is not None and watch.latest.status.state == "paused":
            labels["app.pause"] = "Resume"
        if watch.frozen_at is not None:
            labels["app.freeze"] = "Unfreeze"
        if watch.replay is not None and not watch.replay.playing:
            labels["replay.play"] = "Play"
        return labels

    def _action_from_anywhere(self, active: ActiveBinding) -> str:
        """The action of a key, written so that it works wherever it is run: with the name of the
        app or of the focus before it, whichever the key belongs to. Actions of the view are run by
        the app's action ``in_view``."""
        action = active.binding.action
        if active.node is self.view:
            return f"app.in_view({action!r})"
        if active.node is self.focused:
            return f"focused.{action}"
        if active.node is self.app and not action.startswith(("app.", "screen.")):
            return f"app.{action}"
        return action

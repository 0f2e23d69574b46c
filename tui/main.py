"""The main screen: status line, one of the views, key bar."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input

from wikitopics.tui.inks import Lines
from wikitopics.tui.keys import IN_BAR, STAY
from wikitopics.tui.views.articles import Articles
from wikitopics.tui.views.crawl import Crawl
from wikitopics.tui.views.dashboard import Dashboard
from wikitopics.tui.views.log import Log
from wikitopics.tui.views.map import Map
from wikitopics.tui.views.sessions import Sessions
from wikitopics.tui.views.topics import Topics
from wikitopics.tui.views.view import View
from wikitopics.tui.widgets.bars import FindBar, Hint, KeyBar, shown_key

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
        self.focus_next() if by > 0 else self.focus_previous()
        if maximised:
            view.action_maximise()

    @property
    def finding(self) -> bool:
        """Whether typed keys go into the find line."""
        return self.query_one(FindBar).is_open

    def open_find(self) -> None:
        """Let the user type what to find in the view in sight."""
        if self.view.FINDS and not self.finding:
            self.query_one(FindBar).open(self.view.FINDS)

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
        by_id, watch, labels = {}, self.view.host.watched, {}
        # What keys do now where their bindings say otherwise.
        if watch.latest is not None and watch.latest.status.state == "paused":
            labels["app.pause"] = "Resume"
        if watch.frozen_at is not None:
            labels["app.freeze"] = "Unfreeze"
        if watch.replay is not None and not watch.replay.playing:
            labels["replay.play"] = "Play"
        for active in self.active_bindings.values():
            binding, action = active.binding, active.binding.action
            if not active.enabled or binding.id not in IN_BAR or binding.id in by_id:
                continue
            # An action that works from anywhere.
            if active.node is self.app and not action.startswith(("app.", "screen.")):
                action = f"app.{action}"
            elif active.node is self.view:
                action = f"app.in_view({action!r})"
            display = shown_key(binding, self.app.get_key_display(binding))
            label = labels.get(binding.id, binding.description)
            by_id[binding.id] = Hint(display, label, action, stays=binding.id in STAY)
        keys = [by_id[name] for name in IN_BAR if name in by_id]
        for bar in self.query(KeyBar):  # there is none any more while the screen closes
            bar.show(views, keys)

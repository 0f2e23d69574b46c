"""The main screen: status line, one of the views, key bar; its keys, the command palette and the
help."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple, cast

from rich.style import Style
from rich.table import Column, Table
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.color import Color
from textual.command import Hit, Hits, Provider
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.markup import escape
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider
from textual.widget import Widget
from textual.widgets import Input, Static

from wikitopics.session.errors import SessionError
from wikitopics.session.records import in_line
from wikitopics.tui.bars import STATES, FindBar, Hint, KeyBar
from wikitopics.tui.inks import DOTS, Lines
from wikitopics.tui.lists import RowList
from wikitopics.tui.questions import Dialog
from wikitopics.tui.terminal import bindings, is_refused, keymap
from wikitopics.tui.text import ASCII_BARS, BARS, MISMATCH, nearness, plural, share, visible
from wikitopics.tui.topics import FOLDS, NEWCOMER, PINNED, matching
from wikitopics.tui.views.articles import Articles
from wikitopics.tui.views.ask import AskView
from wikitopics.tui.views.atlas import ASCII_SIGNS, SIGNS, AtlasView
from wikitopics.tui.views.crawl import Crawl
from wikitopics.tui.views.dashboard import Dashboard
from wikitopics.tui.views.emergence import ASCII_SHADES, SHADES, Emergence
from wikitopics.tui.views.log import MOMENTS, Log
from wikitopics.tui.views.sessions import Sessions
from wikitopics.tui.views.topics import TopicView
from wikitopics.tui.views.view import ATLAS, EMERGENCE, View

if TYPE_CHECKING:
    from wikitopics.tui.app import Wikitopics

EVERYWHERE = [
    *bindings("everywhere"),
    Binding("ctrl+c", "leave", "Quit", priority=True, system=True),
    Binding("ctrl+q", "leave", "Quit", priority=True, system=True),
]


NUMBERED: tuple[type[View], ...] = (Dashboard, TopicView, Articles, Crawl, Log, Sessions, AtlasView)
"""The views in the order of their keys 1, 2, 3 …"""
VIEWS: tuple[type[View], ...] = (*NUMBERED, Emergence, AskView)
"""The same, then the views without a number, at the indices `EMERGENCE` and `ASK`."""


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
        self.maximized = None
        for other in self._made.values():
            other.display = False
        if new := index not in self._made:
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

    def action_jump(self) -> None:
        """Show the letter of each panel in sight, and focus the one whose letter is pressed."""
        panels: dict[str, Widget] = {}
        free = [*ascii_lowercase.replace("g", "")]
        for panel in self.focus_chain:
            letters = str(panel.border_title or "").lower() + ascii_lowercase
            letter = next(ch for ch in letters if ch in free)
            free.remove(letter)
            panels[letter] = panel

        def pressed(key: str | None) -> None:
            if key == "g" and isinstance(self.focused, RowList):
                self.focused.action_to(0)
            elif key in panels:
                self.set_focus(panels[key])

        self.app.push_screen(Jump(panels), pressed)

    @property
    def finding(self) -> bool:
        """Whether typed keys go into a field."""
        field = self.focused is not None and self.focused.check_consume_key("a", "a")
        return field or self.query_one(FindBar).has_class("-open")

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
        current = ATLAS if self.current == EMERGENCE else self.current
        views = [
            Hint(str(i + 1), kind.TITLE, f"app.view({i})", active=i == current)
            for i, kind in enumerate(NUMBERED)
        ]
        by_id, watch, in_bar, labels = (
            {},
            self.view.host.watched,
            keymap()["bar"],
            dict[str | None, str](),
        )
        # What keys do now where their bindings say otherwise.
        if watch.latest is not None and watch.latest.status.state == "paused":
            labels["app.pause"] = "Resume"
        if watch.frozen_at is not None:
            labels["app.freeze"] = "Unfreeze"
        if watch.replay is not None and not watch.replay.playing:
            labels["replay.play"] = "Play"
        for active in self.active_bindings.values():
            binding, action = active.binding, active.binding.action
            if not active.enabled or binding.id not in in_bar or binding.id in by_id:
                continue
            # Write the action so that it works from anywhere.
            if active.node is self.app and not action.startswith(("app.", "screen.")):
                action = f"app.{action}"
            elif active.node is self.view:
                action = f"app.in_view({action!r})"
            elif active.node is self.focused:
                action = f"focused.{action}"
            key, label = (
                self.app.get_key_display(binding),
                labels.get(binding.id, binding.description),
            )
            by_id[binding.id] = Hint(key, label, action, stays=binding.id in keymap()["stay"])
        keys = [by_id[name] for name in in_bar if name in by_id]
        for bar in self.query(KeyBar):  # there is none any more while the screen closes
            bar.show(views, keys)


TOPICS, TITLES = 8, 12
"""The maximum number of hits of each kind."""
LEAST = 3
"""The minimum number of letters for a search of titles."""


class KeyCommand(NamedTuple):
    """A key that applies now."""

    key: str
    does: str
    where: str
    """The view in which it works, or "Everywhere"."""
    act: Callable[[], Coroutine[object, object, bool]]


def commands(app: "Wikitopics") -> Iterator[KeyCommand]:
    """Every key that applies now, once each."""
    seen = set()
    for node, one, enabled, _ in app.main.active_bindings.values():
        if not one.id or one.id in seen or not enabled or not one.tooltip:
            continue
        seen.add(one.id)
        key, act = app.get_key_display(one), partial(app.run_action, one.action, node)
        yield KeyCommand(
            key,
            one.tooltip,
            "Everywhere" if node is app else app.main.view.TITLE,
            act,
        )


REPORT = "Write the report: one page, opened in the browser"
COMMAND, TOPIC, TITLE = 0.3, 0.2, 0.1
"""What kind of hit comes first where the words match equally well."""


EXACT, BEGINNING = 4.0, 2.0
"""The fitness of the same words, and of the start of a word."""


def fitness(query: str, text: str) -> float:
    """How well the text matches what was typed, for the order of hits: 4 for the same words, 3 for
    whole words in it, 2 for the start of a word, 1 for letters in a row, 0 otherwise."""
    sought = query.strip()
    return (
        EXACT if sought.casefold() == text.casefold() else float(MISMATCH - nearness(sought, text))
    )


def fitness_of_title(query: str, title: str) -> float:
    """The same for titles, among which there is a whole word for nearly everything: one in a longer
    title counts as the start of a word, so that commands and topics that begin with it come
    first."""
    fit = fitness(query, title)
    return fit if fit == EXACT else min(fit, BEGINNING)


def is_scattered(query: str, text: str) -> bool:
    """Whether all letters of what was typed are in the text in this order, blanks left aside."""
    letters = iter(text.casefold())
    return all(letter in letters for letter in query.casefold() if not letter.isspace())


class Commands(SystemCommandsProvider):
    """The commands for the palette, those first that contain what was typed as it stands."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, words, act, _ in self.app.get_system_commands(self.screen):
            does, _, key = title.rpartition(" · ")
            fit = max(fitness(query, does or title), EXACT * (query.strip() == key))
            if fit > 0:
                yield Hit(fit + COMMAND, matcher.highlight(title), act, title, words)
            elif is_scattered(query, title):
                yield Hit(COMMAND, Content(title), act, title, words)


class Finds(Provider):
    """Topics and articles for the command palette: each hit opens what it names. The report comes
    first."""

    async def discover(self) -> Hits:
        app = cast("Wikitopics", self.app)
        if not is_refused(app, "export"):
            yield Hit(1.0, REPORT, partial(app.action_export, True))

    async def search(self, query: str) -> Hits:
        app = cast("Wikitopics", self.app)
        look = app.latest
        if look is None:
            return
        model = app.choice.model_of(look)
        for rank, row in enumerate(matching(look.topics_of(model), query)[:TOPICS]):
            words = f"Topic, {share(row.share)}: {in_line(word for word, _ in row.words)}"
            fit = max(
                fitness(query, row.name), fitness(query, f"#{row.topic}"), 1.0
            )  # one of its words fits
            yield self._hit(
                fit + TOPIC - rank / 100,
                row.label,
                words,
                partial(app.open_topic, row.topic),
            )
        title = query.strip()
        if len(title) < LEAST:
            return
        try:
            articles = await app.watched.ask(
                lambda reader: reader.find_articles(title, TITLES), aside=True
            )
        except SessionError:
            return  # the status line says why the session cannot be read
        for article in articles:
            fit = fitness_of_title(query, article.title)
            words = f"{look.noun[:-1].capitalize()} of {plural(article.words, 'word')}"
            yield self._hit(fit + TITLE, article.title, words, partial(app.action_ask, article))

    def _hit(self, score: float, text: str, words: str, act: Callable[[], Awaitable[None]]) -> Hit:
        text, words = visible(text), visible(words)
        return Hit(score, Content(text), partial(self.app.call_later, act), text, escape(words))


# The help: all keys that work now, by the place in which they work, and all signs, by subject.

ABOUT = (
    "The curve is measured on held-out texts that no model ever trains on: lower perplexity is "
    "better. Training runs in a process of its own and can continue without this screen."
)


def legend(*, ascii_only: bool) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Every sign that is drawn and what it means, by subject."""
    shades, sizes = (SHADES, ASCII_SHADES)[ascii_only], (SIGNS, ASCII_SIGNS)[ascii_only]
    yield "The trainer", [(sign, words.lower()) for sign, words, _ in STATES.values()]
    yield "What happened", [(sign, words) for sign, _, words in MOMENTS.values()]
    topics = (
        (DOTS[ascii_only], "a topic, in the colour of its area"),
        (
            (BARS, ASCII_BARS)[ascii_only][1::2],
            "its share since half as many articles had been read",
        ),
        (NEWCOMER, "a word that has joined its top ten since then"),
        (PINNED, "pinned to the top"),
        (FOLDS[ascii_only], "an area, folded or unfolded"),
        (shades[1::2], "Emergence: fuller where more of the text is the topic's own"),
        (shades[0], "Emergence: not born yet, or gone"),
        (sizes, "atlas: a larger sign for a larger share"),
        *(
            []
            if ascii_only
            else [("█▌", "the topics of an article, in the colours of their areas")]
        ),
    )
    yield "Topics", topics
    sessions = ("●", "the one on screen"), ("+", "marked: its curves are drawn too")
    yield "Sessions", sessions


COLUMN = 6
"""Width of the column of keys, in cells."""


class Help(Dialog[None]):
    """The help, closed by any of the usual keys."""

    BINDINGS = [Binding("escape,q,question_mark,enter,space", "dismiss(None)", "Close")]  # noqa: RUF012

    def __init__(self, commands: Iterable[KeyCommand]) -> None:
        """``commands``: listed under the place in which they work."""
        super().__init__()
        self._groups: dict[str, list[tuple[str, str]]] = {}
        for command in commands:
            self._groups.setdefault(command.where, []).append((command.key, command.does))

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc closes"
            yield Static(Content(ABOUT), classes="reason")
            signs = legend(ascii_only=self.app.has_class("-ascii"))
            accent = Style(color=Color.parse(self.app.theme_variables["accent"]).rich_color)
            moving = "Moving about", keymap()["always"].items()
            for heading, keys in (*self._groups.items(), moving, *signs):
                yield Static(Content.styled(f"\n{heading}", "bold"))
                columns = Column(style=accent, justify="right", width=COLUMN), Column()
                table = Table.grid(*columns, padding=(0, 2, 0, 0))
                for key, words in keys:
                    table.add_row(Text(key), Text(words))
                yield Static(table)

"""What the command palette finds: the keys that apply now, topics by number, name and word, articles by
title."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.command import Hit, Hits, Provider
from textual.containers import VerticalScroll
from textual.content import Content
from textual.markup import escape
from textual.widgets import Static

from wikitopics.session.errors import SessionError
from wikitopics.session.records import in_line
from wikitopics.tui.questions import Dialog
from wikitopics.tui.text import folded, nearness, plural, share, visible
from wikitopics.tui.widgets.rowlist import matching

if TYPE_CHECKING:
    from wikitopics.tui.app import Wikitopics


TOPICS, TITLES = 8, 12
"""The most hits of each kind."""
LEAST = 3
"""The number of letters from which titles are searched."""


class Command(NamedTuple):
    """A key that applies now."""

    key: str
    does: str
    where: str
    """The view in which it works, or "Everywhere"."""
    act: Callable[[], Coroutine[object, object, bool]]


def commands(app: "Wikitopics") -> Iterator[Command]:
    """Everything that applies now, once each."""
    seen = set()
    for node, binding, enabled, _ in app.main.active_bindings.values():
        if not binding.id or binding.id in seen or not enabled or not binding.tooltip:
            continue
        seen.add(binding.id)
        key = binding.key_display or app.get_key_display(binding)
        where = "Everywhere" if node is app else app.main.view.TITLE
        yield Command(key, binding.tooltip, where, partial(app.run_action, binding.action, node))


class Finds(Provider):
    """Each hit opens the topic or article that it names."""

    async def search(self, query: str) -> Hits:
        app = cast("Wikitopics", self.app)
        look = app.latest
        if look is None:
            return
        model = app.choice.model_of(look)
        for rank, row in enumerate(matching(look.topics_of(model), query)[:TOPICS]):
            words = f"Topic, {share(row.share)}: {in_line(word for word, _ in row.words)}"
            yield self._hit(0.9 - rank / 100, row.label, words, partial(app.open_topic, row.topic))
        title = query.strip()
        if len(title) < LEAST:
            return
        try:
            articles = await app.watched.ask(lambda reader: reader.find_articles(title, TITLES), aside=True)
        except SessionError:
            return  # the status line says why the session cannot be read
        for article in articles:
            near = nearness(query, article.title)
            words = f"{look.noun[:-1].capitalize()} of {plural(article.words, 'word')}"
            yield self._hit(0.5 - near / 10, article.title, words, partial(app.open_article, article.title))

    def _hit(self, score: float, text: str, words: str, act: Callable[[], Awaitable[None]]) -> Hit:
        text, words = visible(text), visible(words)
        return Hit(score, Content(text), partial(self.app.call_later, act), text, escape(words))


# All keys that work now, grouped by purpose.

ABOUT = (
    "The curve is measured on held-out texts that no model ever trains on: lower perplexity is better. "
    "Training runs in a process of its own and can continue without this screen."
)
ALWAYS = (
    ("Tab", "to the next panel; Shift+Tab to the previous one"),
    ("↑↓", "move in a list, as j and k do; also Page Up, Page Down"),
    ("Home", "to the top of a list, as g does; End or G to its end"),
    ("Enter", "open the selected item of a list"),
    ("Ctrl+P", "find any command, topic or title by name"),
)
"""Keys that are not our own bindings, or have too many names to be listed with them."""

COLUMN = 8
"""Cells of the keys and the space after them."""


class Help(Dialog[None]):
    """Closed by any of the usual keys."""

    BINDINGS = [Binding("escape,q,question_mark,enter,space", "dismiss(None)", "Close")]  # noqa: RUF012

    def __init__(self, commands: Iterable[Command]) -> None:
        """``commands``: listed below the place in which they work."""
        super().__init__()
        self._groups: dict[str, list[tuple[str, str]]] = {}
        for command in commands:
            self._groups.setdefault(command.where, []).append((command.key, command.does))

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc closes"
            yield Static(Content(f"{ABOUT}\n"), classes="reason")
            yield Keys((*self._groups.items(), ("Moving about", ALWAYS)))


class Keys(Static):
    """Every key beside what it does, which is folded in a column of its own."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        super().__init__()
        self._groups = groups
        self._width = 0

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width != self._width:
            self._width = event.size.width
            lines = []
            for heading, keys in self._groups:
                lines += [Content(), Content.styled(heading, "bold")]
                for key, words in keys:
                    first, *more = folded(words, self._width - COLUMN)
                    lines.append(Content.assemble((f"{key:>{COLUMN - 2}}", "$accent"), f"  {first}"))
                    lines += [Content(" " * COLUMN + line) for line in more]
            self.update(Content("\n").join(lines[1:]))

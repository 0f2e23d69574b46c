"""The help: all keys that work now, by the place in which they work, and all signs, by subject."""

from collections.abc import Iterable, Iterator, Sequence

from rich.style import Style
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.color import Color
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from wikitopics.session.analysis.spotlight import MEANINGS
from wikitopics.session.wording import FOUND_SIGNS
from wikitopics.tui.bars import STATES
from wikitopics.tui.inks import ASCII_DOT, DOT
from wikitopics.tui.palette import KeyCommand
from wikitopics.tui.questions import Dialog
from wikitopics.tui.sky import ASCII_FOUND, ASCII_SIGN, LIT, SIGN
from wikitopics.tui.terminal import keymap
from wikitopics.tui.text import ASCII_BARS, BARS
from wikitopics.tui.topic_list import (
    ASCII_FOLDED,
    ASCII_UNFOLDED,
    FOLDED,
    NEWCOMER,
    PINNED,
    UNFOLDED,
)
from wikitopics.tui.views.atlas import ASCII_SIGNS, SIGNS
from wikitopics.tui.views.emergence import ASCII_CURSOR, ASCII_SHADES, CURSOR, SHADES
from wikitopics.tui.views.log import MOMENTS

ABOUT = (
    "The curve is measured on held-out texts that no model ever trains on: lower perplexity is "
    "better. Training runs in a process of its own and can continue without this screen."
)


def legend(*, ascii_only: bool) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Every sign that is drawn and what it means, by subject."""
    if ascii_only:
        dot = ASCII_DOT
        folds = ASCII_FOLDED + ASCII_UNFOLDED
        bars = ASCII_BARS
        shades = ASCII_SHADES
        cursor = ASCII_CURSOR
        sizes = ASCII_SIGNS
        articles = ".:#"
        chosen = ASCII_SIGN
        found = ASCII_FOUND
    else:
        dot = DOT
        folds = FOLDED + UNFOLDED
        bars = BARS
        shades = SHADES
        cursor = CURSOR
        sizes = SIGNS
        articles = "⠂⡂⣶"
        chosen = SIGN
        found = LIT
    yield "The trainer", [(sign, words.lower()) for sign, words, _ in STATES.values()]
    yield "What happened", [(sign, words) for sign, _, words in MOMENTS.values()]
    yield "The spotlight", [("", words) for words in MEANINGS.values()]
    topics = [
        (dot, "a topic, in the colour of its area; grey: it belongs to none"),
        (
            every_other(bars),
            "its share since half as many articles were read; flat: within 6 % of itself",
        ),
        (NEWCOMER, "a word that has joined its top ten since then"),
        (PINNED, "pinned to the top"),
        *(
            (sign, f"before its name: {how_many} of its replicas, models with other seeds, have it")
            for _, sign, how_many in FOUND_SIGNS
        ),
        (folds, "an area, folded or unfolded"),
        (every_other(shades), "Emergence: fuller where more of the text is the topic's own"),
        (shades[0], "Emergence: not born yet, or gone"),
        (cursor, "Emergence: where the cursor is"),
        (sizes, "atlas of topics: a larger sign for a larger share"),
    ]
    if not ascii_only:
        topics.append(("█▌", "the topics of an article, in the colours of their areas"))
    yield "Topics", topics
    yield (
        "The map",
        [
            (articles, "articles, each near those like it; more dots where there are more"),
            (chosen, "the selected article, or the text that was asked about"),
            (found, "found"),
        ],
    )
    yield "Sessions", [("●", "the one on screen"), ("+", "marked: its curves are drawn too")]


def every_other(signs: str) -> str:
    """Every other one of a row of signs that grow step by step: enough to explain them all."""
    return signs[1::2]


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
            for heading, keys in self._groups.items():
                yield from self._section(heading, keys)
            yield from self._section("Moving about", keymap()["always"].items())
            for heading, signs in legend(ascii_only=self.app.has_class("-ascii")):
                yield from self._section(heading, signs)

    def _section(self, heading: str, rows: Iterable[tuple[str, str]]) -> ComposeResult:
        """Keys or signs, each with what it means."""
        yield Static(Content.styled(f"\n{heading}", "bold"))
        accent = Style(color=Color.parse(self.app.theme_variables["accent"]).rich_color)
        table = Table.grid(
            Column(style=accent, justify="right", width=COLUMN),
            Column(),
            padding=(0, 2, 0, 0),
        )
        for key, words in rows:
            table.add_row(Text(key), Text(words))
        yield Static(table)

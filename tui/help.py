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

from wikitopics.tui.bars import STATES
from wikitopics.tui.commands import KeyCommand
from wikitopics.tui.inks import DOTS
from wikitopics.tui.questions import Dialog
from wikitopics.tui.terminal import keymap
from wikitopics.tui.text import ASCII_BARS, BARS
from wikitopics.tui.topic_list import FOLDS, NEWCOMER, PINNED
from wikitopics.tui.views.atlas import ASCII_SIGNS, SIGNS
from wikitopics.tui.views.emergence import ASCII_SHADES, SHADES
from wikitopics.tui.views.log import MOMENTS

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

"""All keys that work now, grouped by purpose."""

from collections.abc import Iterable, Iterator, Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from wikitopics.tui.dialogs.dialog import Dialog
from wikitopics.tui.palette import Command
from wikitopics.tui.words import folded

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
            self.update(Content("\n\n").join(self._told()))

    def _told(self) -> Iterator[Content]:
        for heading, keys in self._groups:
            lines = [Content.styled(heading, "bold")]
            for key, words in keys:
                first, *more = folded(words, self._width - COLUMN)
                lines.append(Content.assemble((f"{key:>{COLUMN - 2}}", "$accent"), f"  {first}"))
                lines += [Content(" " * COLUMN + line) for line in more]
            yield Content("\n").join(lines)

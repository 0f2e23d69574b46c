"""The line for typing what to find; results show as the user types."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Input

from wikitopics.tui.widgets.entry import Entry


class FindBar(Horizontal):
    """Enter keeps what was found, Escape discards it."""

    BINDINGS = [Binding("escape", "let_go", "Cancel", id="find.cancel", tooltip="cancel the search")]  # noqa: RUF012 - Textual's own convention

    def __init__(self) -> None:
        super().__init__(id="find")

    def compose(self) -> ComposeResult:
        yield Entry()

    def open(self, what: str) -> None:
        """Show the line; ``what`` says what can be found here."""
        line = self.query_one(Input)
        with self.prevent(Input.Changed):
            line.value = ""
        line.placeholder = f"find {what}"
        self.add_class("-open")
        self.screen.set_focus(line)  # now, not by a message: keys already typed are meant for it

    def take(self, typed: str) -> None:
        """Add text typed before the line had the focus, which went to the widget that had it then."""
        line = self.query_one(Input)
        if self.is_open and self.screen.focused is line:
            line.insert_text_at_cursor(typed)

    @property
    def is_open(self) -> bool:
        """Whether the line is in sight."""
        return self.has_class("-open")

    def shut(self) -> None:
        """Hide the line and change nothing."""
        self.remove_class("-open")

    def action_let_go(self) -> None:
        line = self.query_one(Input)
        line.post_message(Input.Submitted(line, ""))

"""The line for typing what to find; results show as the user types."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input


class FindBar(Horizontal):
    """Enter keeps what was found, Escape discards it."""

    BINDINGS = [Binding("escape", "let_go", "Cancel", id="find.cancel", tooltip="cancel the search")]  # noqa: RUF012 - Textual's own convention

    class Sought(Message):
        """Find this; ``done``: the line is closed again."""

        def __init__(self, text: str, done: bool) -> None:
            super().__init__()
            self.text = text
            self.done = done

    def __init__(self) -> None:
        super().__init__(id="find")

    def compose(self) -> ComposeResult:
        yield Input(compact=True)

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

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.has_class("-open"):
            self.post_message(self.Sought(event.value, done=False))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.shut()
        self.post_message(self.Sought(event.value, done=True))

    def action_let_go(self) -> None:
        self.shut()
        self.post_message(self.Sought("", done=True))

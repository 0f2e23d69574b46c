"""The first question, on a screen of its own, since there is no session to open a screen on yet."""

from textual.binding import Binding

from wikitopics.session.signals import Signals
from wikitopics.tui.dialogs.contact import Answer, AskContact, ContactBook
from wikitopics.tui.terminal import SMALL_HEIGHTS, SMALL_WIDTHS, TerminalApp, obey_signals, open_app
from wikitopics.tui.themes import house, inks, suitable


class Contact(TerminalApp[Answer]):
    """The question, and nothing else."""

    CSS_PATH = "room.tcss"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = SMALL_WIDTHS
    VERTICAL_BREAKPOINTS = SMALL_HEIGHTS
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("ctrl+c,ctrl+q", "leave", "Quit", priority=True, show=False),
    ]

    def __init__(self, book: ContactBook, signals: Signals) -> None:
        super().__init__()
        self._book, self._signals = book, signals
        for theme in house(self.console.color_system):
            self.register_theme(theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return inks(self.current_theme)

    def on_mount(self) -> None:
        obey_signals(self, self._signals, lambda _: "quit")
        self.theme = suitable()
        self.push_screen(AskContact(self._book), self.exit)

    def action_leave(self) -> None:
        self.exit("quit")


def ask(book: ContactBook) -> Answer:
    """Ask for the contact and return what the user decided."""
    with Signals() as signals:
        return open_app(Contact(book, signals)) or "quit"

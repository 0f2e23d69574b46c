"""The first question, on a screen of its own, since there is no session to open a screen on yet."""

from textual.binding import Binding

from wikitopics.session.signals import Signals
from wikitopics.tui.dialogs.contact import Answer, AskContact
from wikitopics.tui.terminal import TerminalApp, obey_signals, open_app


class Contact(TerminalApp[Answer]):
    """The question, and nothing else."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("ctrl+c,ctrl+q", "leave", "Quit", priority=True, show=False),
    ]

    def __init__(self, signals: Signals) -> None:
        super().__init__()
        self._signals = signals

    def on_mount(self) -> None:
        obey_signals(self, self._signals, lambda _: "quit")
        self.push_screen(AskContact(), self.exit)

    def action_leave(self) -> None:
        self.exit("quit")


def ask() -> Answer:
    """Ask for the contact and return what the user decided."""
    with Signals() as signals:
        return open_app(Contact(signals)) or "quit"

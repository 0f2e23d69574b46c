"""Ask for a contact for Wikimedia, once, before the first article is fetched: as a dialog, or on a screen of
its own while there is no session to open a screen on."""

from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static

from wikitopics.session import config
from wikitopics.session.errors import SessionError
from wikitopics.session.request import DOWNLOAD
from wikitopics.session.signals import Signals
from wikitopics.tui.dialogs.dialog import Dialog
from wikitopics.tui.keys import SUSPEND
from wikitopics.tui.terminal import TerminalApp, obey_signals, open_app
from wikitopics.tui.widgets.entry import Entry

Answer = Literal["saved", "demo", "quit"]

WHY = (
    "Wikipedia is run by a charity, and programs may read it for free. In return, its rules ask every "
    "program to say whom to contact if it misbehaves, so that it need not be blocked."
)
WHERE = (
    "An e-mail address, User:Name or the address of your web page will do. It is kept in your configuration "
    "file, readable only by you, and sent to the wiki with each request. It goes to nobody else, and never "
    "into a session, a log or an export."
)


class AskContact(Dialog[Answer]):
    """One field for the contact, and ways to go on without one."""

    TELLS = "#contact-told"
    AUTO_FOCUS = ""
    BINDINGS = [Binding("escape", "leave", "Quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, *, leave: str = "Quit", sample: bool = True) -> None:
        """``leave``: the label for leaving without an answer. ``sample``: whether the embedded sample is
        offered."""
        super().__init__()
        self._leave, self._offers_sample = leave, sample
        self._saved = config.contact() or ""
        """The contact saved so far, which is asked for again because it is not acceptable."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog form", can_focus=False) as box:
            box.border_title = "wikitopics: before the first article"
            yield Static(Content(WHY), classes="reason")
            yield Static("Your contact, for Wikimedia", classes="label")
            example = "you@host.org or https://host.org/you"
            yield Entry(self._saved, placeholder=example, id="address")
            wrong = (self._saved and config.contact_problem(self._saved)) or ""
            yield Static(Content(wrong), id="contact-told", classes="told")
            yield Static(Content(WHERE), classes="hint")
            yield Static(Content(f"What will be downloaded: {DOWNLOAD}."), classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Save and start", variant="primary", id="save", compact=True)
                if self._offers_sample:
                    yield Button("Try the embedded sample", id="demo", compact=True)
                yield Button(self._leave, id="quit", compact=True)

    def on_mount(self) -> None:
        # Scrolling to the field would go too far: on a low terminal, the lines above are hidden only later.
        self.query_one(Input).focus(scroll_visible=False)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._saved:
            self.tell("")

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def _submitted(self) -> None:
        text = self.query_one(Input).value.strip()
        wrong = config.contact_problem(text)
        if wrong is None:
            try:
                config.save_contact(text)
            except SessionError as error:
                wrong = str(error)
        if wrong is None:
            self.dismiss("saved")
        else:
            self.tell(wrong)
            self.query_one(self.TELLS).scroll_visible(animate=False)

    @on(Button.Pressed, "#demo")
    def _sample(self) -> None:
        self.dismiss("demo")

    @on(Button.Pressed, "#quit")
    def action_leave(self) -> None:
        self.dismiss("quit")


class Contact(TerminalApp[Answer]):
    """The question, and nothing else."""

    CSS_PATH = "../app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("ctrl+c,ctrl+q", "leave", "Quit", priority=True, show=False),
        SUSPEND,
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

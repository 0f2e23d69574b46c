"""The first question: whom may Wikimedia write to? Asked once, before the first article is fetched."""

from collections.abc import Callable
from typing import Literal

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static

from session.errors import SessionError
from tui.terminal import obey_signals, open_app
from tui.themes import ANSI_INKS, DARK, LIGHT, suitable

Answer = Literal["saved", "demo", "quit"]

WHY = (
    "Wikipedia is run by a charity and may be read by programs for free. In return its rules ask every "
    "program to say whom to write to if it misbehaves, so that they need not block it."
)
WHERE = (
    "An e-mail address or the address of a web page of yours will do. It is kept in your configuration file, "
    "readable by you only, and sent to the wiki with each request; to nobody else, and never into a session, "
    "a log or an export."
)
VOLUME = (
    "about 3 kB an article, up to 1,800 MB an hour at the highest rate that Wikimedia allows; "
    "--rpm and --max-mb make it less"
)


class Contact(App[Answer]):
    """One field, and a way around it."""

    CSS_PATH = "room.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("escape", "leave", "Quit"),
        Binding("ctrl+c,ctrl+q", "leave", "Quit", priority=True, show=False),
        Binding("ctrl+d", "demo", "Sample"),
    ]

    def __init__(
        self, validate: Callable[[str], str | None], save: Callable[[str], object], volume: str
    ) -> None:
        super().__init__()
        self._validate, self._save, self._volume = validate, save, volume
        self.register_theme(DARK)
        self.register_theme(LIGHT)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return ANSI_INKS

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="contact"), VerticalScroll(classes="dialog form") as box:
            box.border_title = "wikitopics: before the first article"
            yield Static(Content(WHY))
            yield Static("Your contact", classes="label")
            yield Input(placeholder="you@example.org or https://example.org/you", id="address", compact=True)
            yield Static(id="contact-told", classes="told")
            yield Static(Content(WHERE), classes="hint")
            yield Static(Content(f"What will be downloaded: {self._volume}."), classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Save and start", variant="primary", id="save", compact=True)
                yield Button("Try the embedded sample", id="demo", compact=True)
                yield Button("Quit", id="quit", compact=True)

    def on_mount(self) -> None:
        obey_signals(self)
        self.theme = suitable()
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _typed(self) -> None:
        self.query_one("#contact-told", Static).update("")

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def _submitted(self) -> None:
        text = self.query_one(Input).value.strip()
        wrong = self._validate(text)
        if wrong is None:
            try:
                self._save(text)
            except SessionError as error:
                wrong = str(error)
        if wrong is None:
            self.exit("saved")
        else:
            self.query_one("#contact-told", Static).update(Content(wrong))

    @on(Button.Pressed, "#demo")
    def action_demo(self) -> None:
        self.exit("demo")

    @on(Button.Pressed, "#quit")
    def action_leave(self) -> None:
        self.exit("quit")


def ask(
    validate: Callable[[str], str | None], save: Callable[[str], object], *, volume: str = VOLUME
) -> Answer:
    """Ask for the contact on a screen of its own.

    ``validate`` gives the one line that says what is wrong with a text, None if it will do; ``save`` keeps
    it and may raise :class:`session.errors.SessionError`. Returns what the user decided.
    """
    return open_app(Contact(validate, save, volume)) or "quit"

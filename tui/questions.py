"""The dialogs: their base, small questions, a starting trainer, and the contact."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from wikitopics.extra import REPORT as REPORT_EXTRA
from wikitopics.session import config
from wikitopics.session.control import UNREACHABLE, last_words
from wikitopics.session.errors import SessionError
from wikitopics.session.naming import LONGEST_NAME
from wikitopics.session.paths import session_name
from wikitopics.session.records import TopicRow
from wikitopics.session.request import DOWNLOAD
from wikitopics.session.signals import Signals
from wikitopics.tui.background import run_in_background
from wikitopics.tui.bars import TextField
from wikitopics.tui.follow import TrainerProcess
from wikitopics.tui.terminal import TerminalApp, bindings, obey_signals, open_app
from wikitopics.tui.text import visible

# Base of the dialogs: a screen in front of the others, which ends once.


class Dialog(ModalScreen[ScreenResultType]):
    """A dialog. It ends with its first answer, but only while in front: Textual ends whatever is in
    front."""

    BINDINGS = [Binding("escape", "dismiss(None)", "Close")]  # noqa: RUF012 - Textual's own convention
    TELLS = ""
    """The selector of the line in which `tell` shows words."""

    def __init__(self) -> None:
        super().__init__()
        self._due: tuple[ScreenResultType | None] | None = None
        """The result with which it ends when it comes to the front again, in a tuple of its own, as
        None may be a result."""

    def box(self, title: str, below: str = "", classes: str = "dialog form") -> VerticalScroll:
        """The frame of the dialog, with a title and a text at its lower edge."""
        box = VerticalScroll(classes=classes, can_focus=False)
        box.border_title = Content(title)
        box.border_subtitle = below
        return box

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """End with ``result``, at once or when it comes to the front again; later answers are
        ignored."""
        if self.is_active:
            return super().dismiss(result)
        if self._due is None:
            self._due = (result,)
        return AwaitComplete()

    def tell(self, words: str) -> None:
        """Show these words in the dialog, unless it has been closed."""
        for line in self.query(self.TELLS).results(Static):
            line.update(Content(visible(words)))

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Show a `SessionError` raised in the block, which ends the block."""
        try:
            yield
        except SessionError as error:
            self.tell(str(error))

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._due is not None:
            self.dismiss(*self._due)


def field(label: str, widget: Widget, classes: str = "") -> Widget:
    """A label and its field in one row, as forms have them."""
    return Horizontal(Static(Content(label), classes="label"), widget, classes=f"field {classes}")


# A question with a few answers.


class Question(Dialog[str | None]):
    """Answered by arrow keys and Enter, an answer's letter, or a click; Escape gives None."""

    def __init__(self, title: str, text: str, answers: Sequence[Sequence[str]]) -> None:
        """``answers``: (return value, letter, label)."""
        super().__init__()
        self._title = title
        self._text = text
        self._answers = answers

    def compose(self) -> ComposeResult:
        with self.box(self._title, classes="dialog ask"):
            yield Static(Content(self._text), classes="reason")
            yield OptionList()

    def on_mount(self) -> None:
        self.offer(self._answers)
        self.query_one(OptionList).focus()

    def offer(self, answers: Sequence[Sequence[str]]) -> None:
        """Let the user choose among these answers; the first is selected."""
        self._answers = answers
        choices = self.query_one(OptionList)
        choices.set_options(
            Option(Content.assemble((f" {letter} ", "bold $accent"), f" {label}"), id=name)
            for name, letter, label in answers
        )
        choices.highlighted = 0

    def on_key(self, event: events.Key) -> None:
        for name, letter, _ in self._answers:
            if letter == event.key:
                event.stop()
                self.dismiss(name)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


# A dialog with one field for the name of a topic.

HINT = (
    f"At most {LONGEST_NAME} characters. Enter saves it for every screen and export; an empty name "
    "restores the automatic one."
)


class Rename(Dialog[str | None]):
    """Returns the topic's new name, or None if nothing changes."""

    TELLS = "#rename-told"

    def __init__(self, row: TopicRow, rename: Callable[[str], str]) -> None:
        """``rename`` takes the typed text and returns the topic's new name; it may raise
        `SessionError`."""
        super().__init__()
        self._row = row
        self._rename = rename

    def compose(self) -> ComposeResult:
        with self.box(f"Name of topic {self._row.topic}", "Esc cancels"):
            yield TextField(visible(self._row.name), id="topic-name")
            yield Static(id="rename-told", classes="told")
            yield Static(HINT, classes="hint")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        async def rename() -> None:
            with self.telling():
                name = await asyncio.to_thread(self._rename, event.value)  # a trainer may be saving
                if self.is_current:
                    self.dismiss(name)

        if event.value == visible(self._row.name):
            self.dismiss(None)
        else:
            run_in_background(self, rename, "rename")


# Shows what a trainer says and asks before it has a session, and offers a way to avoid the wait.

EVERY = 0.2
"""Seconds between two checks of the trainer."""


class Starting(Question):
    """Returns "begun" once there is a session, "ended" if its trainer has ended, otherwise the
    answer: "again" after it could not reach the wiki, "demo" or "stop"."""

    BINDINGS = [Binding("escape", "dismiss('stop')", "Give up")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, path: Path, trainer: TrainerProcess, *, sample: bool) -> None:
        """``trainer``: that of the session at ``path``; ``sample``: whether the sample is
        offered."""
        self._path = path
        self._trainer = trainer
        self._is_unreachable = False
        """Whether the trainer has ended because it could not reach the wiki."""
        answers = [("stop", "q", "Give up")]
        if sample:
            answers.insert(0, ("demo", "d", "Try the embedded sample instead"))
        super().__init__("Starting", "starting the trainer …", answers)

    def on_mount(self) -> None:
        self.set_interval(EVERY, self._check_trainer)

    def _check_trainer(self) -> None:
        if not self.is_current:  # `dismiss` would close what is in front, such as the palette
            return
        code = self._trainer.poll()
        if os.path.exists(self._path):  # Path.exists raises for a folder that is not readable
            self.dismiss("begun")
        elif code not in (None, UNREACHABLE):
            self.dismiss("ended")
        else:
            words = last_words(self._path)
            if words:
                self.query_one(".reason", Static).update(Content(visible(words)))
        if code == UNREACHABLE and not self._is_unreachable:
            self._is_unreachable = True
            self.offer([("again", "a", "Try again"), *self._answers])


def agreement(question: str) -> Question:
    """A question that a trainer asks before it begins; returns "yes" if the user agrees."""
    # A hasty Enter selects the first answer.
    answers = [("no", "n", "Do not start"), ("yes", "y", "Continue")]
    return Question("Before it starts", f"{visible(question)}.", answers)


def after_demo() -> Question:
    """The question after the demo; returns the action that is to follow, "" for none."""
    missing = REPORT_EXTRA.missing()
    page = f"once {missing[0]} is installed (how?)" if missing else "a page for the browser"
    # A hasty Enter selects the first answer.
    answers = (
        ("", "l", "Look around here, for example on the map (7)"),
        ("again", "a", "Watch again, as a new session in place of this one"),
        ("export(True)", "r", f"Write the report, {page}"),
        ("new_session", "w", "Start on Wikipedia"),
        ("leave", "q", "Quit"),
    )
    words = "That was a small wiki. On Wikipedia, this goes on for as long as you like."
    return Question("The demo is over", words, answers)


def closing(running: Iterable[Path]) -> Question:
    """The question before a screen closes that has started the trainers of these sessions; returns
    "leave" or "stop", which is to become of them, or "cancel"."""
    answers = (
        ("leave", "l", "Leave it running"),
        ("stop", "s", "Save and stop"),
        ("cancel", "c", "Cancel"),
    )
    names = ", ".join(session_name(path) for path in running)
    words = f"This screen started the trainer of {names}, which can continue without it."
    return Question("Close the screen", words, answers)


# Ask for a contact for Wikimedia, once, before the first article is fetched: as a dialog, or on a
# screen of its own while there is no session to open a screen on.

Answer = Literal["saved", "demo", "quit"]

WHY = (
    "Wikipedia is run by a charity, and programs may read it for free. In return, its rules ask "
    "every program to say whom to contact if it misbehaves, so that it need not be blocked."
)
WHERE = (
    "An e-mail address, User:Name or the address of your web page will do. It is kept in your "
    "configuration file, readable only by you, and sent to the wiki with each request. It goes to "
    "nobody else, and never into a session, a log or an export."
)


class AskContact(Dialog[Answer]):
    """One field for the contact, and ways to go on without one."""

    TELLS = "#contact-told"
    AUTO_FOCUS = ""
    BINDINGS = [Binding("escape", "dismiss('quit')", "Quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, *, leave: str = "Quit", sample: bool = True) -> None:
        """``leave``: the label for leaving without an answer. ``sample``: whether the embedded
        sample is offered."""
        super().__init__()
        self._leave = leave
        self._offers_sample = sample
        self._saved = config.contact() or ""
        """The contact saved so far, which is asked for again because it is not acceptable."""

    def compose(self) -> ComposeResult:
        with self.box("wikitopics: before the first article"):
            yield Static(Content(WHY), classes="reason")
            yield Static("Your contact, for Wikimedia", classes="label")
            example = "you@host.org, User:You or https://host.org/you"
            yield TextField(self._saved, placeholder=example, id="address")
            wrong = config.contact_problem(self._saved) if self._saved else None
            yield Static(Content(wrong or ""), id="contact-told", classes="told")
            yield Static(Content(WHERE), classes="hint")
            yield Static(Content(f"What will be downloaded: {DOWNLOAD}."), classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Save and start", variant="primary", id="save", compact=True)
                if self._offers_sample:
                    yield Button("Try the embedded sample", id="demo", compact=True)
                yield Button(self._leave, id="quit", compact=True)

    def on_mount(self) -> None:
        # Scrolling to the field would go too far: on a low terminal, the lines above are hidden
        # only later.
        self.query_one(Input).focus(scroll_visible=False)

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def _submitted(self) -> None:
        text = self.query_one(Input).value.strip()
        try:
            wrong = config.contact_problem(text)
            if wrong:
                raise SessionError(wrong)
            config.save_contact(text)
            self.dismiss("saved")
        except SessionError as error:
            self.tell(str(error))
            self.query_one(self.TELLS).scroll_visible(animate=False)

    @on(Button.Pressed, "#demo, #quit")
    def _declined(self, event: Button.Pressed) -> None:
        answer: Answer = "demo" if event.button.id == "demo" else "quit"
        self.dismiss(answer)


class Contact(TerminalApp[Answer]):
    """An app that asks for the contact, and does nothing else."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("ctrl+c,ctrl+q", "quit", "Quit", priority=True, show=False),
        *bindings("everywhere", "app.suspend"),
    ]

    def __init__(self, signals: Signals) -> None:
        super().__init__()
        self._signals = signals

    def on_mount(self) -> None:
        obey_signals(self, self._signals, lambda _: "quit")
        self.push_screen(AskContact(), self.exit)


def ask_contact() -> Answer:
    """Ask for the contact and return what the user decided."""
    with Signals() as signals:
        return open_app(Contact(signals)) or "quit"

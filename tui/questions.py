"""The base of all dialogs, and the small ones: questions, a new name, a trainer that starts."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, OptionList, Static
from textual.widgets.option_list import Option

from wikitopics.session.control import checked
from wikitopics.session.errors import SessionError
from wikitopics.session.records import TopicRow
from wikitopics.session.storage.decoding import LONGEST_NAME
from wikitopics.tui.look import run_in_background
from wikitopics.tui.text import visible
from wikitopics.tui.widgets.bars import Entry

# Base of the dialogs: a screen in front of the others, which ends once.


class Dialog(ModalScreen[ScreenResultType]):
    """Ends with its first answer, and only when it is in front: Textual would end whichever screen is."""

    BINDINGS = [Binding("escape", "dismiss(None)", "Close")]  # noqa: RUF012 - Textual's own convention
    TELLS = ""
    """The selector of the line in which `tell` shows words."""

    def __init__(self) -> None:
        super().__init__()
        self._due: tuple[ScreenResultType | None] | None = None

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """End with ``result``, at once or when it comes to the front again; later answers are ignored."""
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
        """What is done within this tells a `SessionError`, and ends with it."""
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


# The parts of a form: a row with a label and its field, and a checkbox.


def field(label: str, widget: Widget, classes: str = "") -> Widget:
    """A label and its field in one row."""
    return Horizontal(Static(Content(label), classes="label"), widget, classes=f"field {classes}")


class Tick(Checkbox):
    """A checkbox whose state is visible without colour."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        """The sign in the box."""
        return "x" if self.value else " "


# A question with a few answers.


class Ask(Dialog[str | None]):
    """Answered by arrow keys and Enter, an answer's letter, or a click; Escape gives None."""

    def __init__(self, title: str, text: str, answers: Sequence[Sequence[str]]) -> None:
        """``answers``: (return value, letter, label)."""
        super().__init__()
        self._title, self._text, self._answers = title, text, answers

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog ask", can_focus=False) as box:
            box.border_title = Content(self._title)
            yield Static(Content(self._text), classes="reason")
            yield OptionList()

    def on_mount(self) -> None:
        self.offer(self._answers)
        self.query_one(OptionList).focus()

    def offer(self, answers: Sequence[Sequence[str]]) -> None:
        """Let the user choose among these answers; the first is selected."""
        self._answers, choices = answers, self.query_one(OptionList)
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
    f"At most {LONGEST_NAME} characters. Enter saves it for every screen and export; an empty name restores "
    "the one made of its words."
)


class Rename(Dialog[str | None]):
    """Returns the topic's new name, or None if nothing changes."""

    TELLS = "#rename-told"

    def __init__(self, row: TopicRow, rename: Callable[[str], str]) -> None:
        """``rename`` takes the typed text and returns the topic's new name; it may raise `SessionError`."""
        super().__init__()
        self._row, self._rename = row, rename

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog form", can_focus=False) as box:
            box.border_title = Content(f"Name of topic {self._row.topic}")
            box.border_subtitle = "Esc cancels"
            yield Entry(visible(self._row.name), id="topic-name")
            yield Static(id="rename-told", classes="told")
            yield Static(HINT, classes="hint")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.tell("")
        with self.telling():
            checked(event.value)

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

State = tuple[Literal["", "offline", "begun", "ended"], str]
"""Whether the session exists or its trainer has ended, perhaps because it could not reach the wiki; and the
trainer's last message."""


class Starting(Ask):
    """Returns "begun" once there is a session, "ended" if its trainer has ended, otherwise the answer:
    "again" after it could not reach the wiki, "demo" or "stop"."""

    BINDINGS = [Binding("escape", "dismiss('stop')", "Quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, state: Callable[[], State], *, sample: bool) -> None:
        """``sample``: whether the embedded sample is offered."""
        self._state, self._offline = state, False
        answers = [("demo", "d", "Try the embedded sample instead")] if sample else []
        super().__init__("Starting", "starting the trainer …", [*answers, ("stop", "q", "Quit")])

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(EVERY, self._look)

    def _look(self) -> None:
        outcome, words = self._state()
        if outcome in ("begun", "ended"):
            self.dismiss(outcome)
            return
        if words:
            self.query_one(".reason", Static).update(Content(visible(words)))
        if outcome == "offline" and not self._offline:
            self._offline = True
            self.offer([("again", "a", "Try again"), *self._answers])


class Agree(Ask):
    """A question that a trainer asks before it begins; returns "yes" if the user agrees."""

    def __init__(self, question: str) -> None:
        # A hasty Enter selects the first answer.
        answers = [("no", "n", "Do not start"), ("yes", "y", "Continue")]
        super().__init__("Before it starts", f"{visible(question)}.", answers)

"""A question with a few answers."""

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from wikitopics.tui.dialogs.dialog import Dialog


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
            yield OptionList(*map(_option, self._answers))

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def offer(self, *answer: str) -> None:
        """Add an answer, as in ``answers``, before all others."""
        self._answers = [answer, *self._answers]
        listed = self.query_one(OptionList)
        listed.set_options(map(_option, self._answers))
        listed.highlighted = 0

    def on_key(self, event: events.Key) -> None:
        for name, letter, _ in self._answers:
            if letter == event.key:
                event.stop()
                self.dismiss(name)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


def _option(answer: Sequence[str]) -> Option:
    name, letter, words = answer
    return Option(Content.assemble((f" {letter} ", "bold $accent"), f" {words}"), id=name)

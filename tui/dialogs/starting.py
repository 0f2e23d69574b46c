"""Shows what a trainer says and asks before it has a session, and offers a way to avoid the wait."""

from collections.abc import Callable
from typing import Literal

from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from wikitopics.tui.dialogs.ask import Ask
from wikitopics.tui.words import visible

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
            self.offer("again", "a", "Try again")


class Agree(Ask):
    """A question that a trainer asks before it begins; returns "yes" if the user agrees."""

    def __init__(self, question: str) -> None:
        # A hasty Enter selects the first answer.
        answers = [("no", "n", "Do not start"), ("yes", "y", "Continue")]
        super().__init__("Before it starts", f"{visible(question)}.", answers)

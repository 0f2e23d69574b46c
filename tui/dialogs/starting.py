"""While a trainer makes contact there is no session yet: what it says and asks, and a way around waiting."""

from collections.abc import Callable
from typing import Literal

from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from tui.dialogs.ask import Ask
from tui.words import visible

EVERY = 0.2
"""Seconds between two looks at the trainer."""

State = tuple[Literal["", "begun", "ended"], str]
"""Whether the session is there by now, or its trainer has ended, and what that said last."""


class Starting(Ask):
    """Gives "begun" once there is a session, "ended" where its trainer has, else the answer: "demo" or
    "stop"."""

    BINDINGS = [Binding("escape", "dismiss('stop')", "Quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, state: Callable[[], State], *, sample: bool) -> None:
        """``sample``: whether the embedded sample is offered."""
        self._state = state
        answers = [("demo", "d", "Try the embedded sample instead")] if sample else []
        super().__init__("Starting", "starting the trainer …", [*answers, ("stop", "q", "Quit")])

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(EVERY, self._look)

    def _look(self) -> None:
        outcome, words = self._state()
        if outcome:
            self.dismiss(outcome)
        elif words:
            self.query_one(".reason", Static).update(Content(visible(words)))


class Agree(Ask):
    """What a trainer asks before it begins; gives "yes" for an agreement."""

    def __init__(self, question: str) -> None:
        # The first answer is the one that a hasty Enter gives.
        answers = [("no", "n", "Do not begin"), ("yes", "y", "Go on")]
        super().__init__("Before it begins", f"{visible(question)}.", answers)

"""Stand-ins for what the screen talks to."""

from collections.abc import Callable
from pathlib import Path

from tui.controls import Controls


class Told:
    """Stands for a trainer: notes what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def controls(self) -> Controls:
        def note(word: str) -> Callable[[Path], None]:
            return lambda path: self.said.append(word)

        return Controls(note("pause"), note("resume"), note("save"), note("stop"))

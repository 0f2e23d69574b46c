"""Stand-ins for what the screen talks to."""

from collections.abc import Callable
from pathlib import Path

from tui.controls import Controls


class Process:
    """A trainer's process that ended with ``code``, or lives."""

    def __init__(self, code: int | None = None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code


class Told:
    """Stands for a trainer: notes what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def controls(self) -> Controls:
        def note(word: str) -> Callable[[Path], None]:
            return lambda path: self.said.append(word)

        return Controls(note("pause"), note("resume"), note("save"), note("stop"))

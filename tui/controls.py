"""What the screen can ask of a trainer; the only way in which it ever changes anything."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Trainer(Protocol):
    """The process of a trainer that this screen started."""

    def poll(self) -> int | None:
        """None as long as it lives, then its exit code."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the screen can ask of a trainer; each raises SessionError where none runs."""

    pause: Callable[[Path], None]
    resume: Callable[[Path], None]
    save: Callable[[Path], None]
    stop: Callable[[Path], None]

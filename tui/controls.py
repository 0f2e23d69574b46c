"""What the screen can ask of a trainer; the only way in which it ever changes anything."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Controls:
    """What the screen can ask of a trainer; each raises SessionError where none runs."""

    pause: Callable[[Path], None]
    resume: Callable[[Path], None]
    save: Callable[[Path], None]
    stop: Callable[[Path], None]

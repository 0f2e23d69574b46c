"""What the screen can ask of a trainer: the only way in which it changes anything."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol


class TrainerProcess(Protocol):
    """The process of a trainer that this screen started."""

    def poll(self) -> int | None:
        """None as long as it lives, then its exit code."""

    def terminate(self) -> None:
        """Have it save and exit."""


class Trainers(Protocol):
    """The trainers that this screen has started, including those that have ended."""

    def start(self, path: Path, arguments: list[str]) -> TrainerProcess:
        """Start one. Raises `SessionError`."""

    def start_again(self, path: Path, *, agreed: bool = False) -> TrainerProcess:
        """Start one on a session that has been trained before, with its previous options. Raises the same.

        ``agreed``: whether the user agreed to the previous trainer's question. This applies to this start
        only.
        """

    def paths(self) -> Sequence[Path]:
        """The sessions that they train, or have trained."""

    def running(self) -> Sequence[Path]:
        """The sessions whose trainers are running."""


Ending = Literal["leave", "stop", "demo"]
"""What to do with the trainers started by a screen when it is closed: leave them running, stop them, or
stop them and open the embedded sample instead."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the screen can ask of a trainer; each method raises SessionError if none is running."""

    pause: Callable[[Path], None]
    resume: Callable[[Path], None]
    save: Callable[[Path], None]

"""What the screen can ask of a trainer; the only way in which it ever changes anything."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol


class TrainerProcess(Protocol):
    """The process of a trainer that this screen started."""

    def poll(self) -> int | None:
        """None as long as it lives, then its exit code."""

    def terminate(self) -> None:
        """Have it save and end."""


class Trainers(Protocol):
    """The trainers that this screen has started, those that have ended included."""

    def start(self, path: Path, arguments: list[str]) -> TrainerProcess:
        """Start one. Raises :class:`session.errors.SessionError`."""

    def start_again(self, path: Path, *, agreed: bool = False) -> TrainerProcess:
        """Start one on a session that has been trained before, with the options it had. Raises the same.

        ``agreed``: to what the previous trainer asked. The answer holds for this start alone.
        """

    def paths(self) -> Sequence[Path]:
        """The sessions that they train, or have trained."""

    def running(self) -> Sequence[Path]:
        """The sessions whose trainers live."""


Ending = Literal["leave", "stop", "demo"]
"""What is to become of the trainers that a screen has started when it is closed: to be left running, to be
stopped, or to be stopped and the embedded sample opened instead."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the screen can ask of a trainer; each raises SessionError where none runs."""

    pause: Callable[[Path], None]
    resume: Callable[[Path], None]
    save: Callable[[Path], None]

"""Stand-ins for what the screen talks to."""

from collections.abc import Callable
from pathlib import Path

from tests.tui import canned
from tui.controls import Controls


class Process:
    """A trainer's process that ended with ``code``, or lives."""

    def __init__(self, code: int | None = None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.code = -15


class Launcher:
    """Records arguments instead of starting trainers, which ended with ``code``, or live and have begun."""

    def __init__(self, code: int | None = None) -> None:
        self.code = code
        self.started: list[list[str]] = []

    def __call__(self, path: Path, words: list[str]) -> Process:
        self.started.append(words)
        if self.code is None:
            canned.build(path, canned.Recipe(state="starting", restarts=()))
        return Process(self.code)


class Started:
    """Trainers that the screen has started: so far those given, by session."""

    def __init__(self, processes: dict[Path, Process]) -> None:
        self.processes = processes

    def start(self, path: Path, arguments: list[str]) -> Process:
        process = self.processes[path] = self.launch(path, arguments)
        return process

    def start_again(self, path: Path, *, agreed: bool = False) -> Process:
        return self.start(path, ["agreed" if agreed else "again"])

    def paths(self) -> list[Path]:
        return list(self.processes)

    def launch(self, path: Path, arguments: list[str]) -> Process:
        raise NotImplementedError

    def running(self) -> list[Path]:
        return [path for path, process in self.processes.items() if process.poll() is None]


class Told:
    """Stands for a trainer: notes what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def controls(self) -> Controls:
        def note(word: str) -> Callable[[Path], None]:
            return lambda path: self.said.append(word)

        return Controls(note("pause"), note("resume"), note("save"))

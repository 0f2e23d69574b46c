"""Stand-ins for what the screen talks to."""

from pathlib import Path

from tests.tui import canned


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


def start_nothing(path: Path, arguments: list[str]) -> Process:
    """For tests in which no trainer is started."""
    raise NotImplementedError

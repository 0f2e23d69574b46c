"""Stand-ins for what the screen talks to."""

from pathlib import Path

from tests.tui import canned
from wikitopics.session.records import TopicRow


def topic(number=0, name="", share=0.5, before=0.5, words: tuple[str, ...] = ()) -> TopicRow:
    """A topic of 64 articles, whose share was ``before`` after 32; its words are equally likely."""
    equal = tuple((word, 0.1) for word in words)
    return TopicRow(number, name, share, equal, equal, frozenset(), (before, share), 64, 32)


class Process:
    """A trainer's process that ended with ``code``, or lives."""

    def __init__(self, code: int | None = None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.code = -15

    def wait(self) -> int | None:
        return self.code


class Launcher:
    """Records arguments instead of starting trainers, which ended with ``code``, or live and
    ``begin``."""

    def __init__(self, code: int | None = None, *, begin: bool = True) -> None:
        self.code = code
        self.begin = begin
        self.started: list[list[str]] = []

    def __call__(self, path: Path, words: list[str]) -> Process:
        self.started.append(words)
        if self.code is None and self.begin:
            canned.build(path, canned.Recipe(state="starting", restarts=()))
        return Process(self.code)


def start_nothing(path: Path, arguments: list[str]) -> Process:
    """For tests in which no trainer is started."""
    raise NotImplementedError

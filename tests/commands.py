"""The command line, run in this process or in one of its own."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
ACTS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""A character that acts on the terminal, or turns what it shows."""


@dataclass
class Outcome:
    """What a command gives back."""

    code: int
    out: str
    err: str


class CommandLine:
    """The command line in this process: ``cli("status")``."""

    def __init__(self, capsys):
        self.capsys = capsys

    def __call__(self, *arguments):
        from wikitopics.cli import run

        self.capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = self.capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def ok(self, *arguments):
        """What a command gives back, which must not fail."""
        outcome = self(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome

    def json(self, *arguments):
        """What a command prints with ``--json``."""
        outcome = self(*arguments, "--json")
        assert outcome.out, outcome.err
        return json.loads(outcome.out)

    def rows(self, table, *options):
        """The rows of an exported table, as objects."""
        return json.loads(self.ok("export", table, "--format", "json", *options).out)


@pytest.fixture
def cli(capsys, short_layouts):
    return CommandLine(capsys)


@pytest.fixture
def one_line() -> Callable[..., None]:
    """Asserts that a command failed with this exit code and one line of error, which says these
    things."""

    def check(outcome: Outcome, code: int, *says: str) -> None:
        assert outcome.code == code, outcome.err
        assert outcome.err.startswith("wikitopics: ")
        assert outcome.err.count("\n") == 1
        assert outcome.err.endswith("\n")
        assert outcome.out == ""
        for text in says:
            assert text in outcome.err

    return check


@pytest.fixture
def spawn() -> Callable[..., subprocess.Popen[str]]:
    """Starts the command line in a process of its own."""

    def start(
        *arguments: object, program: tuple[str, ...] = ("-m", "wikitopics"), **more: Any
    ) -> Any:
        folders = [str(ROOT)]
        if os.environ.get("PYTHONPATH"):
            folders.append(os.environ["PYTHONPATH"])
        options: dict[str, Any] = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "env": {**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        }
        command = [sys.executable, *program, *(str(argument) for argument in arguments)]
        return subprocess.Popen(command, **(options | more))

    return start


def python(code: str, *arguments: object, **environment: str) -> str:
    """What a program prints that ends well."""
    command = [sys.executable, "-c", code, *(str(argument) for argument in arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Ended:
    """Stands for the process of a trainer that has come to its end."""

    def __init__(self, code):
        self.pid = os.getpid()
        self.returncode = code

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        return self.returncode


@pytest.fixture
def trainers_run_here(monkeypatch, counted_here, short_layouts):
    """Trainers that Python calls start run in this process, to their end: a process of their own
    would first load all that this one has loaded, which takes longer than a small test."""
    from wikitopics.cli import run
    from wikitopics.session.control import log_file

    def start(path, arguments, keeps=()):
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            log_file(path).open("w") as log,
            contextlib.redirect_stdout(log),
            contextlib.redirect_stderr(log),
        ):
            return Ended(run(arguments))

    monkeypatch.setattr("wikitopics.session.control.start_trainer", start)


RESTING = """
import sys
from wikitopics.session.training.run import Run, wait_for
from wikitopics.cli import main

articles = int(sys.argv.pop(1))
do = Run.do

async def rest(self, work):
    if self.stream.progress.articles >= articles:
        await wait_for(self.stopping, 600)
    return await do(self, work)

Run.do = rest
main()
"""


@pytest.fixture
def spawn_resting(
    spawn: Callable[..., subprocess.Popen[str]],
) -> Callable[..., subprocess.Popen[str]]:
    """Starts a trainer that does not come to its end: ``spawn_resting(articles, "train", …)``.

    Once it has trained on so many articles it waits to be stopped or killed. What it has trained
    since its last commit is not saved by then: only its first step is certain to be.
    """
    return lambda articles, *arguments: spawn(articles, *arguments, program=("-c", RESTING))

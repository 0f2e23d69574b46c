"""The command line, run in this process or in one of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Outcome:
    """What a command gave back."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command line in this process: ``cli("status", "--json")``."""
    from wikitopics.cli import run

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def one_line() -> Callable[..., None]:
    """Asserts that a command failed with this exit code and one line of error, which says these things."""

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

    def start(*arguments: object, **more: Any) -> subprocess.Popen[str]:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.Popen(
            [sys.executable, "-m", "wikitopics", *map(str, arguments)],
            **{
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "env": environment,
                **more,
            },
        )

    return start

"""What the command line says when somebody is lost: one line each, with what to do next."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("typed", "meant"), [("wath", "'watch'"), ("topic", "'topics'"), ("xyz", "demo, train")]
)
def test_an_unknown_command_is_answered_with_what_there_is(
    cli: Call, one_line: Call, typed: str, meant: str
) -> None:
    one_line(cli(typed), 2, meant)


def test_whoever_names_no_session_is_told_which_there_are(cli: Call, one_line: Call, home: Path) -> None:
    one_line(cli("status"), 1, "wikitopics demo")
    home.mkdir()
    (home / "night.db").write_bytes(b"")
    one_line(cli("status"), 1, "Available: night")


def test_train_without_a_contact_says_who_asks_for_it(cli: Call, one_line: Call) -> None:
    one_line(cli("train"), 2, "Wikimedia", "--contact")


def test_a_vocabulary_that_could_not_be_written_is_not_built(cli: Call, one_line: Call) -> None:
    one_line(cli("vocab", "build", "missing.jsonl", "-o", "/nowhere/words.txt"), 2, "no folder /nowhere")

"""docs/commands.md lists what `--json` prints: these keys, in this order."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from tests.commands import ROOT
from wikitopics.cli import wikitopics
from wikitopics.session.records import TopicEvent
from wikitopics.session.storage.reader import SessionReader

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").split("## JSON\n")[1].split("\n## ")[0]
ROWS = {
    command: (kind, re.findall(r"`(\w+)`", keys))
    for command, kind, keys in re.findall(r"^\| `([^`]+)` \| ([\w ]+) \| (.*) \|$", PAGE, re.MULTILINE)
}
"""What the page says of each command: "object", "array" or "an object per line", and its keys."""


@pytest.mark.parametrize("command", [row for row in ROWS if row != "history"])
def test_keys_are_those_of_the_page(
    command: str, cli: Callable[..., Any], trained: Path, tmp_path: Path
) -> None:
    with SessionReader(trained) as reader:
        title = next(row.title for row in reader.recent_articles(10_000) if row.role == "trained")
        text = tmp_path / "text"
        text.write_text(" ".join(reader.vocabulary()), encoding="utf-8")
    given = {"K": "0", "TOPIC": "0", "TITLE": title, "FILE": str(text), "SESSION": "default"}
    offline = ["--offline"] if command == "doctor" else []
    outcome = cli(*(given.get(word, word) for word in command.split()), *offline, "--json")
    kind, keys = ROWS[command]
    found = json.loads(outcome.out.splitlines()[-1] if kind == "an object per line" else outcome.out)
    assert isinstance(found, list) == (kind == "array")
    objects = found if kind == "array" else [found]
    assert objects
    assert all(list(one) == keys for one in objects)


def test_keys_of_events() -> None:
    """The session above is too short to have any."""
    assert ROWS["history"] == ("array", [field.name for field in fields(TopicEvent)])


def test_every_command_with_json_is_on_the_page() -> None:
    listed = {command.split()[0] for command in ROWS}
    context = click.Context(wikitopics)
    for name in wikitopics.list_commands(context):
        command = wikitopics.get_command(context, name)
        assert command is not None
        takes_json = any("--json" in parameter.opts for parameter in command.params)
        assert takes_json == (name in listed | {"demo"}), name  # the demo prints what `train` does

"""The manual page wikitopics.1, made from the program's own help.

python docs/man/make.py        # writes it beside this script
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from wikitopics.cli import wikitopics
from wikitopics.session import __version__

PAGE = Path(__file__).with_name("wikitopics.1")
COMMANDS = Path(__file__).parents[1] / "commands.md"
"""The page that lists the exit codes."""
WIDTH = 78
CHANGES = Path(__file__).parents[2] / "CHANGELOG.md"
"""The page that dates each version."""
FILES = """
The session folder (wikitopics doctor prints it; set WIKITOPICS_HOME to use another) holds a .db
file for each session, vocabularies that were built, and logs. The config file, which doctor prints
too, holds the contact, keys and the theme.
"""


def roff(text: str) -> str:
    """Text in ASCII in which roff finds no commands of its own."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = re.sub(r"[^\x00-\x7f]", lambda sign: f"\\[u{ord(sign[0]):04X}]", escaped)
    lines = []
    for line in escaped.splitlines():
        begins_like_a_command = line.startswith((".", "'"))
        lines.append(f"\\&{line}" if begins_like_a_command else line)
    return "\n".join(lines)


def filled(text: str) -> str:
    """A paragraph in lines short enough for a reader of the source."""
    return roff(textwrap.fill(text.strip(), WIDTH))


def released() -> str:
    """When this version was released; "" if it has not been."""
    heading = rf"^## {re.escape(__version__)} - (\S+)$"
    found = re.search(heading, CHANGES.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def commands(
    group: click.Group, above: click.Context
) -> Iterator[tuple[click.Command, click.Context]]:
    """All commands of a group, each with those below it; `above`: the group's context."""
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command is not None
        context = click.Context(
            command,
            above,
            info_name=name,
            max_content_width=WIDTH,
            terminal_width=WIDTH,
        )
        yield command, context
        if isinstance(command, click.Group):
            yield from commands(command, context)


def made() -> str:
    """The page."""
    settings = {**wikitopics.context_settings, "max_content_width": WIDTH, "terminal_width": WIDTH}
    top = click.Context(wikitopics, info_name="wikitopics", **settings)
    lines = [
        f'.TH WIKITOPICS 1 "{released()}" "wikitopics {__version__}" "User Commands"',
        ".SH NAME",
        "wikitopics \\- a live topic model of Wikipedia in the terminal",
        ".SH SYNOPSIS",
        ".nf",
        roff("wikitopics [OPTIONS] [COMMAND] [ARGS]..."),
        ".SH DESCRIPTION",
        ".nf",
        roff(wikitopics.get_help(top)),
        ".SH COMMANDS",
    ]
    for command, context in commands(wikitopics, top):
        lines += [
            ".SS " + roff(context.command_path),
            ".nf",
            roff(command.get_help(context)),
            ".fi",
        ]
    lines += [".SH FILES", filled(FILES), ".SH EXIT STATUS"]
    row = re.compile(r"^\| (\d+) \| (.*) \|$", re.MULTILINE)
    for code, meaning in row.findall(COMMANDS.read_text(encoding="utf-8")):
        lines += [".TP", code, filled(meaning)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(made(), encoding="utf-8")

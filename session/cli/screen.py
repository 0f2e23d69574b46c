"""`wikitopics`, `watch` and `demo` with the screen: start a trainer where none runs, then look at it."""

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import click

from session.cli.options import session_option
from session.cli.output import error_line, say
from session.paths import command, log_file, session_path

START_SECONDS = 90.0


@click.command(
    epilog="""\b
Examples:
  wikitopics watch
  wikitopics watch --session night"""
)
@session_option
def watch(session: str) -> int:
    """The screen alone, on a session that something else trains, or that is finished."""
    from session.reader import SessionReader

    path = session_path(session)
    SessionReader(path).close()
    return show(path)


def open_screen(ctx: click.Context, session: str, options: dict[str, Any]) -> int:
    """`wikitopics` without a command."""
    from session.cli.train import as_request
    from session.lock import owner_pid

    path = session_path(session)
    need_terminal(command("train", path))
    if owner_pid(path) is not None:
        return show(path)
    request = as_request(ctx, options)
    request.specs()  # a wrong option is told here, not in the trainer's log
    if contact_missing(path, request):
        answer = ask_contact()
        if answer == "quit":
            return 0
        if answer == "demo":
            return open_demo("demo", None, None)
    return start_and_show(path, ["train", *sys.argv[1:]])


def contact_missing(path: Path, request: Any) -> bool:
    """Whether the crawl about to start needs a contact and none is known."""
    from session.reader import SessionReader
    from session.sources import needs_contact, source_options

    if request.contact:
        return False
    if path.exists():
        with SessionReader(path) as reader:
            settings = reader.settings()
        return needs_contact(settings["source"], settings["source_options"])
    return needs_contact(request.source_kind(), source_options(request, None))


def ask_contact() -> str:
    """Ask for the contact on the screen and keep it; "saved", "demo" or "quit"."""
    from session import contact
    from tui.contact import ask
    from tui.dialogs.contact import ContactBook

    return ask(ContactBook(contact.wrong, contact.save, contact.VOLUME))


def open_demo(session: str, articles: int | None, wiki_size: int | None) -> int:
    """`wikitopics demo` with the screen."""
    from session.lock import owner_pid

    path = session_path(session)
    need_terminal(command("demo --headless", path))
    if owner_pid(path) is not None:
        return show(path)
    arguments = ["demo", "--headless", "--session", session]
    if articles is not None:
        arguments += ["--articles", str(articles)]
    if wiki_size is not None:
        arguments += ["--wiki-size", str(wiki_size)]
    return start_and_show(path, arguments)


def need_terminal(instead: str) -> None:
    """Raises :class:`session.errors.BadUsage` where no screen can be drawn; ``instead`` works there."""
    from session.errors import BadUsage

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadUsage(f"the screen needs a terminal: `{instead}` works without one")


def start_and_show(path: Path, arguments: list[str]) -> int:
    """Start a trainer in a process of its own, wait until its session exists, show it."""
    from session.files import last_line
    from session.launch import start_trainer

    process = start_trainer(path, arguments)
    importlib.import_module("tui.app")  # takes a second, which the trainer needs too
    deadline = time.monotonic() + START_SECONDS
    while not path.exists():
        code = process.poll()
        if code is not None:
            say(last_line(log_file(path)) or error_line(f"the trainer ended with code {code}"))
            return code
        if time.monotonic() > deadline:
            say(error_line(f"the trainer did not start in time; see its log: {log_file(path)}"))
            return 1
        time.sleep(0.02)
    return show(path, process)


def show(path: Path, trainer: Any = None) -> int:
    """Open the screen, with the process of the ``trainer`` just started; returns when it is closed."""
    need_terminal(command("status", path))
    from tui.app import run

    run(path, trainer)
    return 0

"""`wikitopics`, `watch` and `demo` with the screen: start a trainer if none is running, then show it."""

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wikitopics.cli.options import reading, session_option, take
from wikitopics.cli.output import error_line, say
from wikitopics.crawler.mediawiki.source import CONTACT
from wikitopics.session.errors import BadUsage, NoSession
from wikitopics.session.options import NOTIFY
from wikitopics.session.paths import command, log_file, session_path
from wikitopics.session.system import Signals, owner, owner_pid

if TYPE_CHECKING:
    from wikitopics.session.control import Trainers
    from wikitopics.session.request import TrainRequest

BEGIN_SECONDS = 30.0
"""Seconds that a screen waits for a trainer that has not yet announced the session."""


@click.command(
    epilog="""\b
Examples:
  wikitopics watch
  wikitopics watch --session night"""
)
@session_option
@take(NOTIFY)
def watch(session: str, notify: str | None) -> int:
    """Open the screen on a session, without starting a trainer.

    If the session does not exist yet, wait for it: as long as a trainer is starting, otherwise half a minute.
    """
    return attach(session_path(session), notify)


def attach(path: Path, notify: str | None = None) -> int:
    """Open the screen on a session that exists or that a trainer is about to create."""
    try:
        reading(path).close()
    except NoSession as error:
        if not on_terminal():
            raise
        try:
            say(f"{error}; waiting for it to begin (Ctrl+C quits)")
            wait_for_session(path)
        except KeyboardInterrupt:
            return 0
        reading(path).close()
    return show(path, notify=notify)


def wait_for_session(path: Path) -> None:
    """Return when there is a session at ``path``, or nothing seems to be creating one."""
    enough = time.monotonic() + BEGIN_SECONDS
    while not path.exists() and (owner(path) is not None or time.monotonic() < enough):
        time.sleep(0.1)


def open_screen(session: str, options: dict[str, Any]) -> int:
    """`wikitopics` without a command."""
    from wikitopics.session.request import TrainRequest

    path = session_path(session)
    need_terminal(command("train", path))
    notify = options[NOTIFY.name]
    if owner_pid(path) is not None:
        return attach(path, notify)
    request = TrainRequest(**options)
    request.specs()  # a wrong option is reported here, not in the trainer's log
    if contact_missing(path, request):
        from wikitopics.tui.newsession import ask

        answer = ask()  # and save it
        if answer == "quit":
            return 0
        if answer == "demo":
            return open_demo("demo", None, None, notify)
    return show(path, ["train", *sys.argv[1:]], notify)


def contact_missing(path: Path, request: "TrainRequest") -> bool:
    """Whether the crawl about to start needs a contact, and none is given and none saved that will do."""
    from wikitopics.session import config, sources

    if CONTACT in request:
        return False
    if path.exists():
        with reading(path) as reader:
            settings = reader.settings()
        kind, identity = sources.described(settings.source), settings.source_options
        sources.check_identity(kind, identity)
    else:
        kind = request.kind()
        identity = request.identity(kind)
    return kind.needs_contact(identity) and config.lacks_contact()


def open_demo(session: str, articles: int | None, wiki_size: int | None, notify: str | None = None) -> int:
    """`wikitopics demo` with the screen."""
    path = session_path(session)
    need_terminal(command("demo --headless", path))
    if owner_pid(path) is not None:
        return attach(path, notify)
    arguments = ["demo", "--headless", "--session", session]
    if articles is not None:
        arguments += ["--articles", str(articles)]
    if wiki_size is not None:
        arguments += ["--wiki-size", str(wiki_size)]
    return show(path, arguments, notify)


def on_terminal() -> bool:
    """Whether a screen can be drawn and keys can be read."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def need_terminal(instead: str) -> None:
    """Raise `BadUsage` if no screen can be drawn; ``instead`` works without one."""
    if not on_terminal():
        raise BadUsage(f"the screen needs a terminal: `{instead}` works without one")


def show(path: Path, arguments: list[str] | None = None, notify: str | None = None) -> int:
    """Open the screen on a session; with ``arguments`` for a trainer, start one first.

    However the screen ends, the trainers that it started end with it, unless the user leaves them running or
    the terminal is closed. Signals are handled from before a trainer is started, so that none leaves one
    behind.
    """
    from wikitopics.session.control import Trainers, forget

    need_terminal(command("status", path))
    trainers, trainer, ending = Trainers(), None, None
    with Signals() as signals:
        try:
            if arguments is not None:
                trainer = trainers.start(path, arguments)
            from wikitopics.tui.app import run

            if not signals.noted:
                ending = run(path, signals, trainers, trainer, notify)
        finally:
            paths = [path, *trainers.paths()]
            if ending == "leave" or signal.SIGHUP in signals.noted:
                trainers.detach()
            end_trainers(paths, trainers, signals)
    code = 0 if trainer is None or path.exists() or ending == "demo" else not_begun(path, trainers.code(path))
    for each in trainers.paths():
        forget(each)
    return open_demo("demo", None, None, notify) if ending == "demo" else code


def end_trainers(paths: Sequence[Path], trainers: "Trainers", signals: Signals) -> None:
    """End the trainers that are not left running, and print one line about the state of each session."""
    ended = trainers.running()
    if ended:
        say("saving and stopping …")
    before = len(signals.noted)
    trainers.stop(give_up=lambda: len(signals.noted) > before)
    for path in dict.fromkeys(paths):
        holder = owner(path)
        if holder is not None:
            known = f"pid {holder.pid}" if holder.pid else "pid unknown"
            say(f"the trainer ({known}) keeps running; `{command('stop', path)}` stops it")
        elif path.exists():
            say(f"{'saved; ' if ended else ''}`{command('topics', path)}` lists the topics")


def not_begun(path: Path, code: int | None) -> int:
    """Say why there is no session; returns the exit code."""
    from wikitopics.session.control import question
    from wikitopics.session.storage.files import last_line

    if not code or code < 0 or question(path):
        say("stopped before training began")
        return 0
    say(last_line(log_file(path)) or error_line(f"the trainer ended with code {code}"))
    return code

"""The screen: `watch`, `demo`, and `wikitopics` without a command."""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wikitopics.cli import options, output
from wikitopics.cli.options import Command, reading, take, whole
from wikitopics.cli.train import check_meant, run_trainer
from wikitopics.crawler.embedded import PACE, WIKI_SIZE, Demo
from wikitopics.crawler.mediawiki.kinds import CONTACT
from wikitopics.crawler.texts.kinds import TEXTS
from wikitopics.extra import WEB
from wikitopics.session import escapes
from wikitopics.session.errors import BadUsage
from wikitopics.session.options import ARTICLES, NOTIFY
from wikitopics.session.paths import DEMO_SESSION, command, log_file, session_name, session_path
from wikitopics.session.signals import Signals
from wikitopics.session.system import owner, owner_pid

if TYPE_CHECKING:
    from wikitopics.session.control import Trainers
    from wikitopics.session.request import TrainRequest


@click.command(cls=Command)
@click.option(
    "--headless", is_flag=True, help="Print progress lines instead of opening the screen."
)
@take(
    ARTICLES,
    help="Stop when the session has trained on N articles. A new session makes its wiki large "
    "enough for N.",
)
@take(WIKI_SIZE)
@take(PACE)
@take(NOTIFY)
@click.option(
    "--session",
    default=DEMO_SESSION,
    metavar="NAME",
    show_default=True,
    help="The session's name or path.",
)
@options.progress_option
def demo(headless: bool, session: str, as_json: bool, **settings: Any) -> int:
    """See the whole system work, with no network and no settings.

    Crawls a small wiki that comes with the program, through the same client that crawls Wikipedia.
    Its articles are generated from the word counts of 20,000 real ones. The demo finishes when each
    has been read once; --wiki-size makes it longer.

    Examples:
      wikitopics demo
      wikitopics demo --headless --articles 5000
    """
    if not headless:
        return open_demo(session, settings[NOTIFY.name], sys.argv[2:], settings[WIKI_SIZE.name])
    from wikitopics.session.request import TrainRequest

    return run_trainer(session, TrainRequest(source=Demo.name, **settings, **Demo.presets), as_json)


# The screen: start a trainer if none is running, then show the session.


@click.command(cls=Command)
@options.session_option
@take(NOTIFY)
@click.option(
    "--web", is_flag=True, help="Serve a read-only screen to browsers on this computer instead."
)
@click.option(
    "--port",
    metavar="N",
    type=whole(1, 65_535),
    help="The port of --web (default: a free one).",
)
@click.option("--host", metavar="NAME", hidden=True)  # accepted only to say what to do instead
def watch(session: str, notify: str | None, web: bool, port: int | None, host: str | None) -> int:
    """Open the screen on a session, without starting a trainer.

    If the session does not exist yet, wait for it: for a few seconds, and as long as its trainer is
    starting.

    Examples:
      wikitopics watch
      wikitopics watch --session night
      wikitopics watch --web
    """
    given_for_browsers = port is not None or host is not None
    if (web and notify is not None) or (not web and given_for_browsers):
        raise click.UsageError("--port and --host need --web; --notify does not work with --web")
    if web:
        return serve_screens(session_path(session), port, host)
    return attach(session_path(session), notify)


def serve_screens(path: Path, port: int | None, host: str | None) -> int:
    """`wikitopics watch --web`: serve an existing session until a signal comes."""
    tunnel = "ssh -L {0}:127.0.0.1:{0} HOST".format
    if host not in (None, "127.0.0.1", "localhost"):
        raise BadUsage(
            f"--web serves this computer only: from another one, use `{tunnel(port or 'PORT')}`"
        )
    if WEB.missing():
        raise BadUsage(WEB.needed("watch --web"))
    reading(path).close()
    from wikitopics.tui.web import HOST, serve

    def announce(port: int, token: str) -> None:
        output.say("a read-only screen for anybody who has this address; Ctrl+C ends it")
        output.say(f"from another computer: `{tunnel(port)}`, then the same address there")
        output.put_line(f"http://{HOST}:{port}/{token}/")

    with Signals() as signals:
        serve(path, port or 0, signals, announce)
    return 0


BEGIN_SECONDS = 15.0
"""Seconds that a trainer may take from its start until it holds its session."""


def attach(path: Path, notify: str | None) -> int:
    """Open the screen on a session that exists or that a trainer is about to create."""
    if not path.exists() and on_terminal() and not escapes.is_dumb():
        try:
            _wait_for(path)
        except KeyboardInterrupt:
            return 0
    reading(path).close()
    return show(path, notify=notify)


def _wait_for(path: Path) -> None:
    """Return once the session exists, or if no trainer has been about to create it for a while."""
    if owner(path) is not None:
        output.say(f"waiting for {session_name(path)} to begin (Ctrl+C quits)")
    else:  # a trainer that has just been started does not hold its session yet
        output.say(
            f"there is no session {session_name(path)} yet: waiting {BEGIN_SECONDS:.0f} s for its "
            "trainer (Ctrl+C quits)"
        )
    until = time.monotonic() + BEGIN_SECONDS
    while not path.exists() and time.monotonic() < until:
        if owner(path) is not None:
            until = time.monotonic() + 1.0
        time.sleep(0.1)


def open_screen(session: str, settings: dict[str, Any]) -> int:
    """`wikitopics` without a command."""
    from wikitopics.session.request import TrainRequest

    path = session_path(session)
    need_terminal(command("train", path))
    notify = settings[NOTIFY.name]
    if owner_pid(path) is not None:
        return attach(path, notify)
    request = TrainRequest(**settings)
    request.specs()  # a wrong option is reported here, not in the trainer's log
    check_meant(path, request)
    if made_in_python(path) and TEXTS not in request:
        # Its texts are gone with the program: a trainer would only fail.
        return show(path, notify=notify, says=MADE_IN_PYTHON)
    if contact_missing(path, request):
        from wikitopics.tui.questions import ask_contact

        answer = ask_contact()  # which also saves the contact
        if answer == "demo":
            return open_demo(DEMO_SESSION, notify)
        if answer != "saved":
            return 0
    return show(path, ["train", *sys.argv[1:]], notify)


MADE_IN_PYTHON = (
    "This session was made in Python, and only that program can give it its texts again: nothing "
    "is left to train here. `wikitopics --session NAME` opens another session."
)


def made_in_python(path: Path) -> bool:
    """Whether a session is of texts from a Python program, which are gone."""
    from wikitopics.crawler.texts.files import GIVEN

    if not path.exists():
        return False
    with reading(path) as reader:
        texts = reader.settings().source_options.get(TEXTS.name)
    if not isinstance(texts, list | tuple):
        return False
    paths = map(str, texts)
    return any(path.endswith(GIVEN) and not os.path.exists(path) for path in paths)


def contact_missing(path: Path, request: "TrainRequest") -> bool:
    """Whether the crawl about to start needs a contact, but none is given and no acceptable one is
    saved."""
    from wikitopics.session import config, sources

    if CONTACT in request:
        return False
    if path.exists():
        with reading(path) as reader:
            settings = reader.settings()
        kind = sources.kind_named(settings.source)
        identity = settings.source_options
        sources.check_identity(kind, identity)
    else:
        kind = request.kind()
        identity = request.identity(kind)
    return kind.needs_contact(identity) and config.lacks_contact()


def open_demo(
    session: str,
    notify: str | None = None,
    given: Sequence[str] = (),
    wiki_size: int | None = None,
) -> int:
    """`wikitopics demo` with the screen. ``given``: its options for the trainer, which refuses a
    session another ``wiki_size``."""
    path = session_path(session)
    need_terminal(command("demo --headless", path))
    if owner_pid(path) is not None:
        return attach(path, notify)
    if wiki_size is None and has_read_all(path):
        return show(path, notify=notify, says=DEMO_FINISHED)
    return show(path, ["demo", "--headless", "--session", session, *Demo.on_screen, *given], notify)


DEMO_FINISHED = (
    "This demo has read all its articles. `wikitopics demo --session NAME` begins another one; "
    "`wikitopics` crawls Wikipedia."
)


def has_read_all(path: Path) -> bool:
    """Whether a session has finished, and has nothing left to read: a trainer would end at once."""
    if not path.exists():
        return False
    with reading(path) as reader:
        progress = reader.progress()
    return progress.finished and progress.lap == 1.0


def on_terminal() -> bool:
    """Whether a screen can be drawn and keys can be read."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def need_terminal(instead: str) -> None:
    """Raise `BadUsage` if no screen can be drawn; ``instead`` works without one."""
    if not on_terminal():
        raise BadUsage(f"the screen needs a terminal: `{instead}` works without one")
    if escapes.is_dumb():
        raise BadUsage(
            f"this terminal (TERM=dumb) cannot show the screen: `{instead}` works without it"
        )


def show(
    path: Path,
    arguments: list[str] | None = None,
    notify: str | None = None,
    says: str = "",
) -> int:
    """Open the screen on a session; with ``arguments`` for a trainer, start one first. ``says``: a
    notice that the screen begins with.

    However the screen ends, the trainers that it started end with it, unless the user leaves them
    running or the terminal is closed. Signals are handled from before a trainer is started, so that
    none leaves one behind.
    """
    from wikitopics.session.control import Trainers, forget, question
    from wikitopics.session.storage.files import last_line

    need_terminal(command("status", path))
    trainers = Trainers()
    trainer = None
    ending = None
    with Signals() as signals:
        try:
            if arguments is not None:
                trainer = trainers.start(path, arguments)
            from wikitopics.tui.app import run

            if not signals.noted:
                ending = run(path, signals, trainers, trainer, notify, says)
        finally:
            paths = [path, *trainers.paths()]
            if ending == "leave" or signal.SIGHUP in signals.noted:
                trainers.detach()
            end_trainers(paths, trainers, signals)
    code = 0
    made_no_session = trainer is not None and not path.exists()
    if made_no_session and ending != "demo":
        trainer_code = trainers.code(path) or 0  # negative: the signal that ended it
        if trainer_code > 0 and not question(path):
            code = trainer_code
            message = last_line(log_file(path))
            output.say(message or output.error_line(f"the trainer ended with code {code}"))
        else:
            output.say("stopped before training began")
    for each in trainers.paths():
        forget(each)
    if ending == "demo":
        return open_demo(DEMO_SESSION, notify)
    return code


def end_trainers(paths: Sequence[Path], trainers: "Trainers", signals: Signals) -> None:
    """End the trainers that are not left running, and print one line about the state of each
    session."""
    were_running = trainers.running()
    if were_running:
        output.say("saving and stopping …")
    signals_before = len(signals.noted)
    trainers.stop(give_up=lambda: len(signals.noted) > signals_before)
    for path in dict.fromkeys(paths):
        holder = owner(path)
        if holder is not None:
            pid = f"pid {holder.pid}" if holder.pid else "pid unknown"
            output.say(f"the trainer ({pid}) keeps running; `{command('stop', path)}` stops it")
        elif path.exists():
            saved = "saved; " if were_running else ""
            output.say(f"{saved}`{command('topics', path)}` lists the topics")

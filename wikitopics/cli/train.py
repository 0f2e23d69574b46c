"""`train`, a trainer without a screen; `watch`, the screen; `demo`, both on a wiki in the
program."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from wikitopics.cli import options, output
from wikitopics.cli.options import Command, SettingsCommand, reading, take, whole
from wikitopics.crawler.dumps.kind import YES
from wikitopics.crawler.embedded import PACE, WIKI_SIZE, Demo
from wikitopics.crawler.errors import Unconfirmed
from wikitopics.crawler.mediawiki.kinds import CONTACT
from wikitopics.crawler.texts.kind import TEXTS
from wikitopics.model import kinds
from wikitopics.session import escapes
from wikitopics.session.errors import BadUsage, Say, os_error_as
from wikitopics.session.escapes import visible
from wikitopics.session.options import ARTICLES, MODEL, NOTIFY, ON_END
from wikitopics.session.paths import command, log_file, session_name, session_path
from wikitopics.session.settings import load_kind, options_of
from wikitopics.session.sources import WEB
from wikitopics.session.system import (
    Signals,
    acting_later,
    kill_group,
    owner,
    owner_pid,
    start_command,
)

if TYPE_CHECKING:
    from wikitopics.session.control import Trainers
    from wikitopics.session.request import TrainRequest
    from wikitopics.session.training.monitor import Report


# `train --on-end COMMAND` and `--notify HOW`, carried out when a trainer ends unless it is killed.

PATIENCE = 20.0
"""The maximum seconds that the command may take: whoever stopped the trainer waits for it."""


@dataclass(slots=True)
class End:
    """How a trainer ends."""

    reason: str = ""
    tell: Say = lambda reason: None
    """Called with the reason, unless the trainer ends with an error."""


@contextlib.contextmanager
def at_end(command: str | None, path: Path, tell: Say, notify: str | None = None) -> Iterator[End]:
    """Run ``command`` and give notice once after the block, even if it raises; the block sets the
    reason."""
    end, code = End(), 0
    try:
        yield end
    except BaseException as error:
        end.reason = (
            "interrupted"
            if isinstance(error, output.INTERRUPTED)
            else str(error) or type(error).__name__
        )
        code = output.exit_code(error)
        raise
    finally:
        with (
            acting_later() as signals
        ):  # whoever reads that the trainer has ended may send a signal
            if not code:
                end.tell(end.reason)
            if notify is not None and escapes.obeys(sys.stderr):
                with contextlib.suppress(OSError):
                    notice = f"wikitopics, {session_name(path)}: {end.reason}"
                    sys.stderr.write(escapes.notice(notify, notice))
                    sys.stderr.flush()
            if command is not None:
                _run(command, path, end.reason, code, tell, signals)


def _run(command: str, path: Path, reason: str, code: int, tell: Say, signals: Signals) -> None:
    """Run the command with the user's shell. Its output goes to standard error, and its result
    changes nothing. Ctrl+C ends it; other signals take effect once it has ended."""
    said = {
        "WIKITOPICS_REASON": visible(" ".join(reason.split())),
        "WIKITOPICS_EXIT_CODE": str(code),
    }
    try:
        process = start_command(command, path, stdin=subprocess.DEVNULL, stdout=2, **said)
    except (OSError, ValueError) as error:
        tell(output.error_line(f"--on-end cannot be run: {error}"))
        return
    failed = signals.wait(process, PATIENCE, until=(signal.SIGINT,))
    if failed is None:  # Ctrl+C does not reach its process group
        kill_group(process)
        interrupted = signal.SIGINT in signals.noted
        why = "was interrupted" if interrupted else f"took over {PATIENCE:.0f} s and was killed"
        tell(output.error_line(f"--on-end {why}"))
    elif failed:
        tell(output.error_line(f"--on-end failed with code {failed}"))


HELP = "help"
"""The value of `--model` that asks for a list of the kinds."""


@click.command(cls=SettingsCommand)
@options.session_option
@options.log_option
@options.progress_option
def train(session: str, as_json: bool, log: str | None, **settings: Any) -> int:
    """Crawl and train until stopped, without a screen.

    Resumes the session if it exists. Ctrl+C saves and stops; all articles crawled are kept.

    Examples:
      wikitopics train --contact me@host.org --hours 8
      wikitopics train --session de --lang de
      wikitopics train --session links --tokens links
      wikitopics train --model lda:topics=50 --model hdp --model scvb0:topics=200
      wikitopics train --session whole --source dump --contact me@host.org
      wikitopics train --texts reviews.csv --text-column review --vocab reviews.txt
    """
    if HELP in settings[MODEL.name]:
        for name in kinds.names():
            _describe_kind(name)
        return 0
    from wikitopics.session.request import TrainRequest

    request = TrainRequest(**settings)
    check_meant(session_path(session), request)
    return run_trainer(session, request, as_json, log)


def check_meant(path: Path, request: "TrainRequest") -> None:
    """Raise `BadUsage` if no session is named and `default` holds other texts than those that are
    asked for.

    Named, it learns these too. Every other difference is refused for any session.
    """
    from wikitopics.session.request import added_texts

    is_named = (
        click.get_current_context().get_parameter_source("session") is not ParameterSource.DEFAULT
    )
    if is_named or TEXTS not in request or not path.exists():
        return
    with reading(path) as reader:
        progress = reader.progress()
        takes_more = progress.finished and progress.lap == 1
        if takes_more and added_texts(request, reader.settings()) is not None:
            raise BadUsage(
                f"session {session_name(path)} holds {reader.holdings()}: `--session NAME` makes "
                f"another session of these texts, `--session {session_name(path)}` lets this one "
                "learn them, too"
            )


def _describe_kind(name: str) -> None:
    """Print a value of `--model`: a kind of model and the keys it takes."""
    try:
        kind = load_kind(name)
    except BadUsage as error:
        output.put_line(f"{name}: {error}")
        return
    output.put_line(f"{name}: {kind.label}" + (f", {kind.summary}" if kind.summary else ""))
    for option in options_of(kind):
        default = "" if option.default in (None, "") else f"; default {option.default}"
        output.put_line(f"  {option.name}={option.takes()}{default}: {option.help}")


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
    default="demo",
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
        return open_demo(session, settings[NOTIFY.name], sys.argv[2:])
    from wikitopics.session.request import TrainRequest

    return run_trainer(session, TrainRequest(source=Demo.name, **settings, **Demo.presets), as_json)


def run_trainer(
    session: str,
    request: "TrainRequest",
    as_json: bool,
    log: str | None = None,
) -> int:
    """Train in this process, printing progress; returns the exit code."""
    from wikitopics.session.training.start import train as start

    path = session_path(session)
    with (
        contextlib.nullcontext(output.say) if log is None else also_to(Path(log), path) as tell,
        at_end(request.get(ON_END), path, tell, request.get(NOTIFY)) as end,
    ):
        progress = JsonLines(tell) if as_json else ProgressLines(tell)
        end.tell = progress.end
        try:
            end.reason = start(path, request, progress, tell)
        except Unconfirmed as what:
            if not output.agrees(f"{what}. Continue?", str(what)):
                end.reason, end.tell = "nothing was started", tell
                return 0
            end.reason = start(path, request.giving(**{YES.name: True}), progress, tell)
    return 0


@contextlib.contextmanager
def also_to(log: Path, session: Path) -> Iterator[Say]:
    """Yield a function that writes a line to standard error and, with the time, to a file.

    The file also gets the error that ends the command, which `run` writes to standard error.
    """
    from wikitopics.session.storage.database import keep_sessions
    from wikitopics.session.storage.files import open_to_append

    keep_sessions(log)
    if os.path.realpath(log) == os.path.realpath(session):
        raise BadUsage(f"--log {log} is the session itself: name another file")
    with os_error_as(f"cannot write {log}"):
        log.parent.mkdir(parents=True, exist_ok=True)
        file = open_to_append(log)

    def keep(message: str) -> None:
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {visible(message)}\n"
        with contextlib.suppress(OSError):  # a full disk is no reason to stop training
            file.write(line.encode(errors="backslashreplace"))
            file.flush()

    def tell(message: str) -> None:
        output.say(message)
        keep(message)

    try:
        yield tell
    except Exception as error:
        keep(output.error_line(str(error) or type(error).__name__))
        raise
    finally:
        with contextlib.suppress(OSError):
            file.close()


COMPILING = "compiling the models, only once after installation: this takes about half a minute"


class ProgressLines:
    """Progress lines on stderr: two early ones, then every 30 s (5 s on a terminal)."""

    def __init__(self, tell: Say) -> None:
        self._tell = tell
        self._next = 0.0
        self._every = 5.0 if sys.stderr.isatty() else 30.0
        self._last: Report | None = None
        self._told_compiling = False

    def _tell_compiling(self, report: "Report") -> None:
        """Say once why nothing is learnt yet, if that is why."""
        if report.activity.compiling and not self._told_compiling:
            self._told_compiling = True
            self._tell(COMPILING)

    def __call__(self, report: "Report") -> None:
        self._tell_compiling(report)
        measured_before = self._last is not None and self._last.measured.perplexities
        first = bool(report.measured.perplexities) and not measured_before
        self._last = report
        if report.state == "stopping" or (time.monotonic() < self._next and not first):
            return
        self._next = time.monotonic() + self._every
        self._tell(self._line(report))

    def _line(self, report: "Report") -> str:
        progress, now = report.progress, report.activity
        parts = [
            output.duration(report.activity.elapsed_seconds),
            f"{progress.articles:,} {report.noun}",
        ]
        if report.passes > 1:
            parts.append(f"pass {progress.pass_:,} of {report.passes:,}")
        if progress.articles == 0:
            parts.append(f"{progress.held_out:,} held out")
        if measured := report.measured.perplexities:
            scores = ", ".join(f"{name} {value:,.0f}" for name, value in measured.items())
            parts.append(f"perplexity after {report.measured.articles:,}: {scores}")
        if now.crawl_rate:
            parts.append(f"reading {output.rate(now.crawl_rate * 3600)} {report.noun}/h")
        seconds = _seconds_left(report)
        if progress.lap is not None:
            parts.append(f"{progress.lap:.1%} of the source read")
        if seconds is not None:
            from wikitopics.session.records import age  # loads NumPy

            parts.append(f"{age(seconds)} left")
        if report.state == "paused":
            parts.append("paused")
        if now.waiting_for and report.state != "stopping":
            parts.append(now.wait(time.time()))
        return "  ".join(parts)

    def end(self, reason: str) -> None:
        """The last line."""
        if self._last is not None:
            self._tell(self._line(self._last))
            reason = f"{reason}; everything is saved"
        self._tell(reason)


def _seconds_left(report: "Report") -> float | None:
    """Seconds until everything wanted has been read; None if that is unknown or the state not
    "running"."""
    progress = report.progress
    seconds = report.activity.seconds_left(progress.articles, progress.crawled, progress.lap)
    return seconds if report.state == "running" else None


class JsonLines(ProgressLines):
    """The same as JSON objects on standard output, one per line."""

    @staticmethod
    def _values(report: "Report") -> dict[str, object]:
        from wikitopics.session.records import per_hour

        progress = report.progress
        return {
            "state": report.state,
            **output.fields_of(
                progress,
                "articles",
                "tokens",
                "held_out",
                "crawled",
                "pending",
                "skipped",
            ),
            "elapsed_seconds": round(report.activity.elapsed_seconds, 3),
            "articles_per_hour": round(
                per_hour(progress.articles, report.activity.elapsed_seconds), 1
            ),
            "crawled_per_hour": round(report.activity.crawl_rate * 3600, 1),
            "perplexity": dict(report.measured.perplexities),
            "waiting_for": report.activity.waiting_for,
            "lap": progress.lap,
            "seconds_left": _seconds_left(report),
            "passes": report.passes,
            "pass": progress.pass_,
        }

    def __call__(self, report: "Report") -> None:
        self._last = report
        if output.nobody_reads():
            raise output.ReaderGone
        self._tell_compiling(report)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            output.put_json(self._values(report))

    def end(self, reason: str) -> None:
        """The last object says why the run ended."""
        from wikitopics.session.training.run import FINISHED

        # First a line: the reader may be gone, but the log should have it.
        self._tell(reason if self._last is None else f"{reason}; everything is saved")
        if self._last is not None:
            state = "finished" if reason == FINISHED else "stopped"
            output.put_json(self._values(self._last) | {"state": state, "reason": reason})


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
    if (notify if web else port or host) is not None:
        raise click.UsageError("--port and --host need --web; --notify cannot be combined with it")
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


def attach(path: Path, notify: str | None = None) -> int:
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
        told = (
            f"there is no session {session_name(path)} yet: waiting {BEGIN_SECONDS:.0f} s for its "
            "trainer"
        )
        output.say(f"{told} (Ctrl+C quits)")
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
        from wikitopics.tui.questions import ask

        answer = ask()  # and save it
        if answer != "saved":
            return open_demo("demo", notify) if answer == "demo" else 0
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
    given = texts if isinstance(texts, list | tuple) else ()
    return any(str(each).endswith(GIVEN) and not os.path.exists(str(each)) for each in given)


def contact_missing(path: Path, request: "TrainRequest") -> bool:
    """Whether the crawl about to start needs a contact, but none is given and no acceptable one is
    saved."""
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


def open_demo(session: str, notify: str | None = None, given: Sequence[str] = ()) -> int:
    """`wikitopics demo` with the screen. ``given``: its options for the trainer."""
    path = session_path(session)
    need_terminal(command("demo --headless", path))
    if owner_pid(path) is not None:
        return attach(path, notify)
    return show(path, ["demo", "--headless", "--session", session, *Demo.on_screen, *given], notify)


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
    trainers, trainer, ending = Trainers(), None, None
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
    if trainer is not None and not path.exists() and ending != "demo":
        status = trainers.code(path)
        if not status or status < 0 or question(path):
            output.say("stopped before training began")
        else:
            code = status
            output.say(
                last_line(log_file(path))
                or output.error_line(f"the trainer ended with code {code}")
            )
    for each in trainers.paths():
        forget(each)
    return open_demo("demo", notify) if ending == "demo" else code


def end_trainers(paths: Sequence[Path], trainers: "Trainers", signals: Signals) -> None:
    """End the trainers that are not left running, and print one line about the state of each
    session."""
    ended = trainers.running()
    if ended:
        output.say("saving and stopping …")
    before = len(signals.noted)
    trainers.stop(give_up=lambda: len(signals.noted) > before)
    for path in dict.fromkeys(paths):
        holder = owner(path)
        if holder is not None:
            known = f"pid {holder.pid}" if holder.pid else "pid unknown"
            output.say(f"the trainer ({known}) keeps running; `{command('stop', path)}` stops it")
        elif path.exists():
            output.say(f"{'saved; ' if ended else ''}`{command('topics', path)}` lists the topics")

"""`train`, a trainer without a screen."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from wikitopics.cli import options, output
from wikitopics.cli.compare import lines_of
from wikitopics.cli.ending import at_end
from wikitopics.cli.options import SettingsCommand, reading
from wikitopics.cli.progress import JsonLines, ProgressLines
from wikitopics.crawler.dumps.kinds import YES
from wikitopics.crawler.errors import Unconfirmed
from wikitopics.crawler.texts.kinds import TEXTS
from wikitopics.model import kinds
from wikitopics.session.errors import BadUsage, Say, SessionError, os_error_as
from wikitopics.session.escapes import visible
from wikitopics.session.options import MODEL, NOTIFY, ON_END
from wikitopics.session.paths import session_name, session_path
from wikitopics.session.settings import load_kind, options_of, vary_in_topics
from wikitopics.session.sources import noun

if TYPE_CHECKING:
    from wikitopics.session.request import TrainRequest

HELP = "help"
"""The value of `--model` that asks for a list of the kinds."""


@click.command(cls=SettingsCommand, context_settings={"allow_extra_args": True})
@options.session_option
@options.log_option
@options.progress_option
def train(session: str, as_json: bool, log: str | None, **settings: Any) -> int:
    """Crawl and train until stopped, without a screen.

    Resumes the session if it exists. Ctrl+C saves and stops; all articles crawled are kept.

    With several numbers of topics, a model of each (lda-10, lda-20 …) learns from the same
    articles, and the end of the run shows how they compare, as `compare` does at any time.

    Examples:
      wikitopics train --contact me@host.org --hours 8
      wikitopics train --session de --lang de
      wikitopics train --session links --tokens links
      wikitopics train --model lda:topics=50 --model hdp --model scvb0:topics=200
      wikitopics train --session sizes --topics 25,50,100,200 --replicas 5
      wikitopics train --session whole --source dump --contact me@host.org
      wikitopics train --texts reviews.csv --text-column review --vocab reviews.txt
    """
    _check_nothing_is_left(click.get_current_context())
    if HELP in settings[MODEL.name]:
        for name in kinds.names():
            _describe_kind(name)
        return 0
    from wikitopics.session.request import TrainRequest

    return run_trainer(session, TrainRequest(**settings), as_json, log)


def _check_nothing_is_left(ctx: click.Context) -> None:
    """Raise a usage error for words that are no options, such as the files that a shell makes of
    `--texts *.parquet`."""
    if not ctx.args:
        return
    are_files = any(map(os.path.exists, ctx.args))
    advice = f": give their folder, or {TEXTS.flag} before each file" if are_files else ""
    ctx.fail(f"unexpected arguments ({' '.join(ctx.args):.200}){advice}")


def check_meant(path: Path, request: "TrainRequest") -> None:
    """Raise `BadUsage` if no session is named and `default` holds other texts than those that are
    asked for.

    A session that is named learns these texts, too. Every other difference is refused elsewhere,
    for any session.
    """
    from wikitopics.session.request import added_texts

    is_named = (
        click.get_current_context().get_parameter_source("session") is not ParameterSource.DEFAULT
    )
    if is_named or TEXTS not in request or not path.exists():
        return
    with reading(path) as reader:
        progress = reader.progress()
        has_read_all = progress.finished and progress.lap == 1
        if has_read_all and added_texts(request, reader.settings()) is not None:
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
    summary = f", {kind.summary}" if kind.summary else ""
    output.put_line(f"{name}: {kind.label}{summary}")
    for option in options_of(kind):
        default = "" if option.default in (None, "") else f"; default {option.default}"
        output.put_line(f"  {option.name}={option.takes()}{default}: {option.help}")


def run_trainer(
    session: str,
    request: "TrainRequest",
    as_json: bool,
    log: str | None = None,
) -> int:
    """Train in this process, printing progress; returns the exit code."""
    from wikitopics.session.training.run import FINISHED
    from wikitopics.session.training.start import train as start

    path = session_path(session)
    messages = contextlib.nullcontext(output.say) if log is None else also_to(Path(log), path)
    with messages as tell:
        with at_end(request.get(ON_END), path, tell, request.get(NOTIFY)) as end:
            progress = JsonLines(tell) if as_json else ProgressLines(tell)
            end.tell = progress.end
            check_meant(path, request)
            try:
                end.reason = start(path, request, progress, tell)
            except Unconfirmed as cost:
                if not output.agrees(f"{cost}. Continue?", str(cost)):
                    end.reason = "nothing was started"
                    end.tell = tell
                    return 0
                end.reason = start(path, request.giving(**{YES.name: True}), progress, tell)
        if end.reason == FINISHED:
            _tell_how_topics_vary(path, tell)
    return 0


def _tell_how_topics_vary(path: Path, tell: Say) -> None:
    """Tell what `compare` prints, if the session has models of one kind with different numbers of
    topics."""
    from wikitopics.session.analysis.comparison import compare

    try:
        with reading(path) as reader:
            settings = reader.settings()
            if not vary_in_topics((model.kind, model.topics) for model in settings.models):
                return
            result = compare([reader])
    except SessionError as error:  # such as nothing held out: all is saved nevertheless
        tell(f"the models are not compared: {error}")
        return
    for line in lines_of(result, noun(settings.source)):
        tell(line)


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
    except output.ReaderGone:  # not a failure
        raise
    except Exception as error:
        keep(output.error_line(str(error) or type(error).__name__))
        raise
    finally:
        with contextlib.suppress(OSError):
            file.close()

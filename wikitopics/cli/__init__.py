"""The command line. Heavy imports happen inside the commands: `wikitopics --version` loads none of them."""

import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence

import click

from wikitopics.cli.main import wikitopics
from wikitopics.cli.output import (
    ReaderGone,
    error_line,
    exit_code,
    mend_standard_streams,
    say,
    standard_output,
)

LONGEST_EXIT = 0.5
"""The most seconds that the process may take to exit once everything is done."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: run the command, turn every error that a user can cause into one line, exit."""
    mend_standard_streams()
    code = run(sys.argv[1:] if arguments is None else arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # everything is done: nothing is left to interrupt
    # The interpreter waits for its threads: an abandoned minibatch, kernels being compiled, a DNS lookup.
    last = threading.Timer(LONGEST_EXIT, os._exit, [code])
    last.daemon = True
    with contextlib.suppress(RuntimeError):  # no memory for a thread
        last.start()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        result = wikitopics.main(list(arguments), prog_name="wikitopics", standalone_mode=False)
        with standard_output():
            pass  # flushing may fail, and should fail here
    except (click.exceptions.Exit, click.Abort, ReaderGone) as end:
        return exit_code(end)
    except Exception as error:
        text = _explained(error)
        if text is None:
            raise
        say(error_line(text))
        return exit_code(error)
    return result if isinstance(result, int) else 0


def _session_in(message: str) -> str:
    """Advice if what a command cannot place is the name of a session."""
    from wikitopics.session.paths import session_folder

    words = re.findall(r"command '([\w.-]+)'|argument \(([\w.-]+)\)", message)
    names = [name for name in map("".join, words) if os.path.exists(session_folder() / f"{name}.db")]
    return f"for the session: `--session {names[0]}`; " if names else ""


def _explained(error: Exception) -> str | None:
    """An error in words for the user; None if it is a fault of the program."""
    if isinstance(error, click.UsageError):
        context = error.ctx.command_path if error.ctx else "wikitopics"
        message = error.format_message()
        return f"{message.removesuffix('.')} ({_session_in(message)}see `{context} --help`)"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, MemoryError) or str(error) == "can't start new thread":
        return "out of memory: close other programs, or train fewer topics or models at once"
    if isinstance(error, OSError) and error.strerror:
        of = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return of + error.strerror
    # Every room's errors carry an exit code.
    return str(error) if isinstance(error, OSError) or hasattr(error, "exit_code") else None

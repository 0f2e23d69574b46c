"""The command line. Heavy imports happen inside the commands: `wikitopics --version` loads none of them."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Sequence

import click

from wikitopics.cli.main import wikitopics
from wikitopics.cli.output import (
    ReaderGone,
    error_line,
    forget_output,
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
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.UsageError as error:
        context = error.ctx.command_path if error.ctx else "wikitopics"
        say(error_line(f"{error.format_message()} (see `{context} --help`)"))
        return 2
    except click.ClickException as error:
        say(error_line(error.format_message()))
        return 1
    except ReaderGone:
        return 0
    except OSError as error:  # for example, help written to a full disk
        forget_output()
        say(error_line(str(error)))
        return 1
    except Exception as error:
        if short_of_memory(error):
            say(error_line("out of memory: close other programs, or train fewer topics or models at once"))
            return 1
        code = getattr(error, "exit_code", None)  # every room's errors carry one
        if not isinstance(code, int):
            raise
        say(error_line(str(error)))
        return code
    return result if isinstance(result, int) else 0


def short_of_memory(error: Exception) -> bool:
    """Whether the system refused memory, for data or for another thread's stack."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    )

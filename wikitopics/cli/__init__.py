"""The command line. Heavy imports happen inside the commands: `wikitopics --version` loads none of
them."""

import contextlib
import importlib
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import shell_complete

from wikitopics.cli import options, output
from wikitopics.processes import collect_rarely
from wikitopics.session import __version__
from wikitopics.session.errors import SessionError, did_you_mean

_COMMANDS = {
    "demo": "screen",
    "train": "train",
    "watch": "screen",
    "status": "sessions",
    "topics": "topics",
    "history": "topics",
    "articles": "sessions",
    "find": "texts",
    "similar": "texts",
    "infer": "texts",
    "compare": "compare",
    "export": "export",
    "report": "export",
    "vocab": "vocab",
    "sessions": "sessions",
    "stop": "sessions",
    "pause": "sessions",
    "resume": "sessions",
    "save": "sessions",
    "backup": "sessions",
    "doctor": "doctor",
}
"""The module of each command, in the order of the help."""
_LOADING_SECONDS = 10
"""CPU seconds in which NumPy, SciPy and Numba must have been loaded."""
_MEMORY = 400 * 2**20
"""Bytes of address space that a command needs in addition, mostly for its threads."""
_FILES = 64
"""Files that may be open at once. A trainer opens up to 28 for itself; more with several models, or
a screen."""


class LazyGroup(options.SettingsCommand, options.Group):
    """Imports a subcommand's module only when that subcommand, or the help, is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"wikitopics.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def takes_settings(self, args: Sequence[str]) -> bool:
        return not args or args[0] not in _COMMANDS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The options of `train` are listed once, by `wikitopics train --help`.
        names = ("session", "contact", "version")
        options = [option for option in self.get_params(ctx) if option.name in names]
        help_option = self.get_help_option(ctx)
        if help_option is not None:
            options.append(help_option)
        records = [option.get_help_record(ctx) for option in options]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        self.format_commands(ctx, formatter)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = did_you_mean(args[0], _COMMANDS)
            raise click.UsageError(f"No such command '{args[0]}'. {meant}", ctx) from error
        if _COMMANDS[str(name)] != "sessions":  # these compute nothing
            _check_limits()
        return name, command, rest


def _check_limits() -> None:
    """Raise SessionError if the shell allows too few open files for a trainer and its processes, or
    too little memory."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < _FILES:
        raise SessionError(
            f"`ulimit -n {most}` allows too few open files: set a limit of {_FILES} or more"
        )
    # Without enough memory, OpenBLAS retries for ever while it is loaded, and no signal is handled
    # meanwhile. So another process, which has a time limit, loads it first.
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return
    from wikitopics.session.signals import acting_later

    memory = max(0, most - _MEMORY)
    code = (
        "from resource import *; "
        f"setrlimit(RLIMIT_CPU, ({_LOADING_SECONDS}, {_LOADING_SECONDS})); "
        f"setrlimit(RLIMIT_AS, ({memory}, {memory})); "
        "import scipy.special, numba"
    )
    with acting_later():
        probe = subprocess.run([sys.executable, "-c", code], capture_output=True)
    if probe.returncode:
        kilobytes = most // 1024
        raise SessionError(f"`ulimit -v {kilobytes}` leaves too little memory: set a higher limit")


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@options.session_option
@options.log_option
@options.progress_option
@click.version_option(__version__, prog_name="wikitopics", message="%(prog)s %(version)s")
@click.pass_context
def wikitopics(
    ctx: click.Context,
    /,
    session: str,
    log: str | None,
    as_json: bool,
    **settings: Any,
) -> int | None:
    """A live topic model of Wikipedia in the terminal.

    Without a command: open the screen on the session and, if no trainer is running on it, start one
    with the options given (those of `wikitopics train`).

    Examples:
      wikitopics demo                      see it all work, no network needed
      wikitopics --contact me@host.org     crawl English Wikipedia and watch
      wikitopics train --hours 8           the same overnight, without a screen
      wikitopics watch                     watch a session that is training elsewhere
      wikitopics topics --top 8            print the topics, eight words each
      wikitopics export map -o map.html    write the map of all articles as a page
    """
    if ctx.invoked_subcommand is not None:
        options.refuse_early_options(ctx)
        return None
    _check_limits()
    from wikitopics.cli.screen import open_screen

    return open_screen(session, settings)


# Running it: every error that a user can cause is one line, and has an exit code.

_COMPLETION = "_WIKITOPICS_COMPLETE"
"""The environment variable by which a shell asks for completions."""
LONGEST_EXIT = 0.5
"""The maximum seconds that the process may take to exit once everything is done."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: run the command, turn every error that a user can cause into one line, exit."""
    collect_rarely()
    output.mend_standard_streams()
    warnings.showwarning = _say_warning
    if arguments is None:
        arguments = sys.argv[1:]
    try:
        code = run(arguments)
    except KeyboardInterrupt as second:  # while the first one was being answered
        code = output.exit_code(second)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # everything is done: nothing is left to interrupt
    # The interpreter waits for its threads: an abandoned minibatch, kernels being compiled, a DNS
    # lookup.
    last = threading.Timer(LONGEST_EXIT, os._exit, [code])
    last.daemon = True
    with contextlib.suppress(RuntimeError):  # no memory for a thread
        last.start()
    sys.exit(code)


def _say_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning as every other message, without the line of code that gave it."""
    output.say(str(message))


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code.

    Click's own `main` is not used: it ends silently at any broken pipe, not only that of standard
    output.
    """
    shell = os.environ.get(_COMPLETION)
    if shell:
        return shell_complete(wikitopics, {}, "wikitopics", _COMPLETION, shell)
    try:
        try:
            with wikitopics.make_context("wikitopics", list(arguments)) as context:
                result = wikitopics.invoke(context)
        except OSError as error:
            if output.is_echo(error):  # of help, or the version
                raise output.output_failed(error) from None
            raise
        with output.standard_output():
            pass  # flushing may fail, and should fail here
    except (click.exceptions.Exit, output.ReaderGone, *output.INTERRUPTED) as end:
        if isinstance(end, KeyboardInterrupt):
            output.say("")  # ends the line in which the terminal shows ^C
        return output.exit_code(end)
    except Exception as error:
        text = _explained(error)
        if text is None:
            raise
        output.say(output.error_line(text))
        return output.exit_code(error)
    return result if isinstance(result, int) else 0


def _session_in(message: str) -> str:
    """Advice if the word that a command does not accept is the name of a session."""
    from wikitopics.session.paths import session_folder

    for match in re.finditer(r"command '([\w.-]+)'|argument \(([\w.-]+)\)", message):
        word = match[1] or match[2]
        if os.path.exists(session_folder() / f"{word}.db"):
            return f"to name the session, use `--session {word}`; "
    return ""


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
    if isinstance(error, BrokenPipeError):
        return f"the connection to another process broke: {error}"
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return error.strerror
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    is_ours = hasattr(error, "exit_code")  # every room's errors carry one
    if is_ours or isinstance(error, OSError):
        return str(error)
    return None

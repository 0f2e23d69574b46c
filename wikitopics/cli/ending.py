"""`train --on-end COMMAND` and `--notify HOW`: what is done when a trainer ends."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wikitopics.cli import output
from wikitopics.session import escapes
from wikitopics.session.errors import Say
from wikitopics.session.escapes import visible
from wikitopics.session.paths import session_name
from wikitopics.session.signals import Signals, acting_later
from wikitopics.session.system import kill_group, start_command

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
    end = End()
    code = 0
    try:
        yield end
    except BaseException as error:
        if isinstance(error, output.INTERRUPTED):
            end.reason = "interrupted"
        else:
            end.reason = str(error) or type(error).__name__
        code = output.exit_code(error)
        raise
    finally:
        # Whoever reads that the trainer has ended may send a signal.
        with acting_later() as signals:
            try:
                if not code:
                    end.tell(end.reason)
            finally:  # also if nobody reads it
                if notify is not None and escapes.obeys(sys.stderr):
                    _give_notice(notify, f"wikitopics, {session_name(path)}: {end.reason}")
                if command is not None:
                    _run(command, path, end.reason, code, tell, signals)


def _give_notice(how: str, text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(escapes.notice(how, text))
        sys.stderr.flush()


def _run(command: str, path: Path, reason: str, code: int, tell: Say, signals: Signals) -> None:
    """Run the command with the user's shell. Its output goes to standard error, and its result
    changes nothing. Ctrl+C ends it; other signals take effect once it has ended."""
    variables = {
        "WIKITOPICS_REASON": visible(" ".join(reason.split())),
        "WIKITOPICS_EXIT_CODE": str(code),
    }
    try:
        process = start_command(command, path, stdin=subprocess.DEVNULL, stdout=2, **variables)
    except (OSError, ValueError) as error:
        tell(output.error_line(f"--on-end cannot be run: {error}"))
        return
    exit_code = signals.wait(process, PATIENCE, until=(signal.SIGINT,))
    if exit_code is None:
        kill_group(process)  # Ctrl+C at the terminal does not reach its process group
        why = f"took over {PATIENCE:.0f} s and was killed"
        if signal.SIGINT in signals.noted:
            why = "was interrupted"
        tell(output.error_line(f"--on-end {why}"))
    elif exit_code:
        tell(output.error_line(f"--on-end failed with code {exit_code}"))

"""`train --on-end COMMAND` and `--notify HOW`, carried out when a trainer ends unless it is killed."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wikitopics.cli.output import INTERRUPTED, error_line, exit_code
from wikitopics.session import escapes
from wikitopics.session.escapes import visible
from wikitopics.session.paths import session_name
from wikitopics.session.signals import Signals, acting_later

PATIENCE = 20.0
"""The most seconds that the command may take: whoever stopped the trainer waits for it."""


@dataclass(slots=True)
class End:
    """How a trainer ends."""

    reason: str = ""
    tell: Callable[[str], None] = lambda reason: None
    """Is told the reason, unless that is an error."""


@contextlib.contextmanager
def at_end(
    command: str | None, path: Path, tell: Callable[[str], None], notify: str | None = None
) -> Iterator[End]:
    """Run ``command`` and give notice once after the block, even if it raises; the block sets the reason."""
    end, code = End(), 0
    try:
        yield end
    except BaseException as error:
        end.reason = "interrupted" if isinstance(error, INTERRUPTED) else str(error) or type(error).__name__
        code = exit_code(error)
        raise
    finally:
        with acting_later() as signals:  # whoever has read that the trainer has ended may send one
            if not code:
                end.tell(end.reason)
            _notify(notify, path, end.reason)
            if command is not None:
                _run(command, path, end.reason, code, tell, signals)


def _notify(how: str | None, path: Path, reason: str) -> None:
    """Notify on standard error, if that is a terminal that supports it."""
    if how is not None and escapes.obeys(sys.stderr):
        with contextlib.suppress(OSError):
            sys.stderr.write(escapes.notice(how, f"wikitopics, {session_name(path)}: {reason}"))
            sys.stderr.flush()


def _run(
    command: str, path: Path, reason: str, code: int, tell: Callable[[str], None], signals: Signals
) -> None:
    """Run the command with the user's shell. Its output goes to standard error, and its result changes
    nothing. Ctrl+C ends it, other signals act when it has ended."""
    variables = {
        # Passed in the environment, so that no shell can interpret them.
        "WIKITOPICS_SESSION": str(path.absolute()),
        "WIKITOPICS_REASON": visible(" ".join(reason.split())),
        "WIKITOPICS_EXIT_CODE": str(code),
    }
    try:
        process = subprocess.Popen(
            command,
            shell=True,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=2,  # standard error
            start_new_session=True,  # so that the whole group can be killed
        )
    except (OSError, ValueError) as error:
        tell(error_line(f"--on-end cannot be run: {error}"))
        return
    failed = signals.wait(process, PATIENCE, until=(signal.SIGINT,))
    if failed is None:  # Ctrl+C does not reach its group
        with contextlib.suppress(ProcessLookupError):  # nobody of its group is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        interrupted = signal.SIGINT in signals.noted
        why = "was interrupted" if interrupted else f"took over {PATIENCE:.0f} s and was killed"
        tell(error_line(f"--on-end {why}"))
    elif failed:
        tell(error_line(f"--on-end failed with code {failed}"))

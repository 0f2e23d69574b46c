"""Requests to a running trainer from another process, always through the session's file."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from wikitopics.session.errors import NotRunning, SessionError
from wikitopics.session.process import Process
from wikitopics.session.storage.lock import owner
from wikitopics.session.storage.tables.trainer import request_control

OBEY_SECONDS = 3.0
"""Seconds to wait for an answer. A trainer at work looks for requests twice a second; one still starting
does not."""
PATIENCE_SECONDS = 30.0


def ask(path: Path, **columns: bool) -> None:
    """Ask the trainer to be `paused`, or not, or to `save`: commit now instead of within the next seconds.

    Raises `NotRunning`.
    """
    _running(path)
    request_control(path, **columns)


def stop(path: Path, tell: Callable[[str], None] = lambda _: None) -> None:
    """Have the trainer commit and exit; returns when it has.

    If it does not obey, it is sent SIGTERM, but only if its process is known for certain. ``tell`` takes a
    line for people about a trainer that is suspended. Raises `NotRunning`, and `SessionError` if the trainer
    does not end in time.
    """
    trainer = _running(path)
    if trainer.is_suspended():
        tell(f"waiting for the trainer: {_how_to_end(trainer)}")
    try:
        request_control(path, stop=True)
    except SessionError as error:  # there is no file yet, or it cannot be written
        if not trainer.lives():
            raise SessionError(f"{error}; {_how_to_end(trainer)}") from None
    else:
        if _ended(path, trainer, OBEY_SECONDS):
            return
    if trainer.lives():
        _signal(trainer)
    if not _ended(path, trainer, PATIENCE_SECONDS):
        raise SessionError(
            f"the trainer has not ended within {PATIENCE_SECONDS:.0f} s; {_how_to_end(trainer)}"
        )


def _running(path: Path) -> Process:
    trainer = owner(path)
    if trainer is None:
        raise NotRunning(f"no trainer is running on {path}")
    return trainer


def _ended(path: Path, trainer: Process, seconds: float) -> bool:
    """Whether the trainer releases the session within ``seconds``."""
    deadline = time.monotonic() + seconds
    while owner(path) == trainer:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _signal(trainer: Process) -> None:
    try:
        os.kill(trainer.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except OSError as error:
        raise SessionError(f"the trainer (pid {trainer.pid}) cannot be signalled: {error.strerror}") from None


def _how_to_end(trainer: Process) -> str:
    if trainer.is_suspended():
        return f"it is suspended, as by Ctrl+Z; once continued (`kill -CONT {trainer.pid}`) it saves and ends"
    number = f"pid {trainer.pid}" if trainer.pid else "pid unknown"
    return f"end it on the machine where it runs ({number})"

"""The terminal is given back as it was found, whatever ends the screen."""

import asyncio
import contextlib
import os
import signal
import sys
from functools import partial
from typing import Any, TypeVar

from textual.app import App

T = TypeVar("T")

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def obey_signals(app: App[Any]) -> None:
    """From inside the running app: the signals that end a program end it in good order."""
    loop = asyncio.get_running_loop()
    for number in ENDING:
        loop.add_signal_handler(number, partial(app.exit, return_code=128 + number))


def open_app(app: App[T]) -> T | None:
    """Run ``app`` in this terminal and return what it returns.

    A terminal that is gone (SIGHUP) cannot be written to any more: that is no error of ours.
    """
    try:
        result = app.run()
    except OSError:
        if os.isatty(sys.__stdout__.fileno() if sys.__stdout__ else 1):
            raise
        return None
    if app.return_code and app.return_code > 128:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        raise SystemExit(app.return_code)
    if app.return_code:
        raise SystemExit(app.return_code)
    return result


def plain_terminal() -> bool:
    """Whether the terminal cannot be trusted with more than ASCII."""
    encoding = (getattr(sys.__stdout__, "encoding", None) or "ascii").lower()
    return "utf" not in encoding or os.environ.get("TERM", "") in {"linux", "vt100", "vt220", "dumb"}

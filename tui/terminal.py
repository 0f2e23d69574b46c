"""The terminal is given back as it was found, whatever ends the screen."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from typing import TypeVar

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from session import escapes
from session.signals import Signals

T = TypeVar("T")

SMALL_WIDTHS = [(0, "-narrow"), (50, "-broad")]
SMALL_HEIGHTS = [(0, "-low"), (16, "-high")]
"""From how many cells on a screen has which class: dialogs shed their margins where there is no room."""

HANG_UP_PATIENCE = 3.0
"""Seconds for an orderly end after SIGHUP."""


class TerminalDriver(LinuxDriver):
    """Draws on the terminal also where standard error, on which Textual draws, goes to a file."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = drawn_on()


def drawn_on() -> TextIOWrapper | None:
    """The stream that is the terminal: the screen opens only where standard output is one."""
    return sys.__stderr__ if sys.__stderr__ is not None and sys.__stderr__.isatty() else sys.__stdout__


def obey_signals(app: App[T], signals: Signals, result: Callable[[signal.Signals], T | None]) -> None:
    """From inside the running app: the signals that end a program end it in good order, with ``result``."""
    loop = asyncio.get_running_loop()

    def end(number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            # Most often the terminal is gone, and what is written to it goes nowhere or blocks.
            last_resort = threading.Timer(HANG_UP_PATIENCE, os._exit, (0,))
            last_resort.daemon = True
            last_resort.start()
        if not loop.is_closed():
            loop.call_soon_threadsafe(app.exit, result(number))

    signals.tell(end)


def open_app(app: App[T], *, gone: T | None = None) -> T | None:
    """Run ``app`` in this terminal and return what it returns; exits with code 1 after a fault of ours,
    when its traceback has been printed.

    A terminal that is gone (SIGHUP, a cut connection) cannot be written to any more: that is no fault, and
    ``gone`` is returned.
    """
    try:
        result = app.run()
    except OSError:
        if os.isatty(1):
            raise
        return gone
    if app.return_code:
        raise SystemExit(app.return_code)
    return result


def speaks_utf8() -> bool:
    """Whether the terminal can be sent text beyond ASCII.

    Python writes UTF-8 even where the locale is C, and says so in $LC_CTYPE; what the user has said
    counts for more. Where nothing is said, today's terminals can.
    """
    encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
    names = ["LC_ALL", "LANG"] if sys.flags.utf8_mode else ["LC_ALL", "LC_CTYPE", "LANG"]
    said = next((os.environ[name] for name in names if os.environ.get(name)), "UTF-8")
    return all("utf" in name.lower() for name in (encoding, said))


def few_colours(app: App[T]) -> bool:
    """Whether the terminal shows 16 colours at most, or is to show none."""
    return app.no_color or app.console.color_system in {None, "standard"}


def plain_terminal() -> bool:
    """Whether the terminal cannot be trusted with line drawing and braille."""
    return not speaks_utf8() or os.environ.get("TERM", "") in escapes.PLAIN


@contextlib.contextmanager
def title_given_back() -> Iterator[None]:
    """Whatever title the terminal gets in the block, it has its own again behind it, if it can."""
    terminal = drawn_on()
    if terminal is None or not escapes.obeys(terminal):
        yield
        return
    terminal.write(escapes.KEEP_TITLE)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # a terminal that is gone has no title
            terminal.write(escapes.GIVE_BACK_TITLE)
            terminal.flush()

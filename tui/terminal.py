"""The terminal is returned as it was found, however the screen ends."""

import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import Any, TypeVar, cast

from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.css.query import NoMatches
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.widget import MountError

from wikitopics.session import escapes
from wikitopics.session.signals import Signals
from wikitopics.tui.themes import house, inks, suitable
from wikitopics.tui.words import in_ascii, visible

FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
"""For pictures of the screen."""

T = TypeVar("T")

LOOK_SECONDS = 1.0
"""Seconds between two checks that the terminal still exists."""
TITLE_SECONDS = 1.0
"""The least seconds between two titles of the window."""
PATIENCE = 3.0
"""Seconds without progress after which a terminal is given up, once a signal ends the screen."""


class TerminalDriver(LinuxDriver):
    """Draws on the terminal even if standard error, on which Textual draws, goes to a file."""

    def __init__(self, app: App[object], **more: Any) -> None:
        super().__init__(app, **more)
        terminal = drawn_on()
        assert terminal is not None
        self.drawing = Drawing(terminal.fileno(), terminal.encoding)
        self._file = cast(TextIOWrapper, self.drawing)

    def run_input_thread(self) -> None:
        """Read keys to the end; input that no terminal should send is dropped, with what came beside it.

        Textual cannot read bytes that are not UTF-8, and sequences with numbers of no character.
        """
        while not self.exit_event.is_set():
            with contextlib.suppress(ValueError, OverflowError):
                super().run_input_thread()

    # Textual works in the signals' handlers, where the main thread may hold any lock.

    def _sigtstp_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._suspend)

    def _sigcont_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._paint_anew)

    def _suspend(self) -> None:
        """Give the terminal back and stop, until `fg` continues this process."""
        numbers = signal.SIGTSTP, signal.SIGCONT
        self.suspend_application_mode()
        ours = [signal.signal(number, signal.SIG_DFL) for number in numbers]
        # Unlike SIGSTOP, this stops nothing in a terminal without a shell to continue it.
        signal.raise_signal(signal.SIGTSTP)
        for number, handler in zip(numbers, ours, strict=True):
            signal.signal(number, handler)
        self._paint_anew()

    def _paint_anew(self) -> None:
        """Take the terminal again, which others may have changed meanwhile, and paint all of the screen."""
        if self._writer_thread is not None and self._writer_thread.is_alive():  # SIGSTOP gave nothing back
            self.suspend_application_mode()
        self.resume_application_mode()
        self._app.refresh(layout=True)

    def suspend_application_mode(self) -> None:
        if isinstance(self._app, TerminalApp):
            self._app.give_back_title()
        super().suspend_application_mode()


class Drawing:
    """Output on its way to the terminal; it goes nowhere once the terminal is gone.

    A terminal may accept no output for long, as behind a connection that hangs. Drawing waits for it, but
    once the screen should end, only until it has accepted nothing for `PATIENCE`.
    """

    def __init__(self, terminal: int, encoding: str) -> None:
        self.ending = False
        self._terminal, self._encoding = terminal, encoding
        try:
            # Opened again: non-blocking is for this program only, and the shell shares the other descriptor.
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
            self._file = os.open(os.ttyname(terminal), flags)
        except OSError:  # another user's terminal, as behind sudo
            self._file = terminal

    def write(self, text: str) -> None:
        """Send all of it."""
        data, given = text.encode(self._encoding, "replace"), time.monotonic()
        while data:
            try:
                data = data[os.write(self._file, data) :]
                given = time.monotonic()
            except BlockingIOError:
                select.select([], [self._file], [], 0.1)
                if self.ending and time.monotonic() > given + PATIENCE:
                    self._forget()
            except OSError:
                self._forget()

    def flush(self) -> None:
        """Do nothing: no output is kept back."""

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._file

    def _forget(self) -> None:
        """Discard everything that this program writes to the terminal from now on."""
        nowhere, terminal = os.open(os.devnull, os.O_WRONLY), os.fstat(self._file).st_rdev
        for number in (1, 2, self._terminal, self._file):
            if os.fstat(number).st_rdev == terminal:
                os.dup2(nowhere, number)
        os.close(nowhere)


class PlainSigns(LineFilter):
    """Replaces signs beyond ASCII, cell by cell; and all else beyond it if the terminal cannot be sent it.

    What would look alike in ASCII, as braille and bars do, is drawn so by the widgets themselves.
    """

    SIGNS = str.maketrans(
        dict.fromkeys("─━▔–—", "-")
        | dict.fromkeys("│┃▏▎▍▌▋▊▉▐▕", "|")
        | dict.fromkeys("╭╮╰╯┌┐└┘┤┬◆", "+")
        | dict.fromkeys("▂▃▄▅▆▇", " ")  # the ends of a scrollbar, which is drawn in shades
        | dict.fromkeys("▼▾↓", "v")
        | dict.fromkeys("▲▴↑", "^")
        | dict.fromkeys("“”", '"')
        | dict.fromkeys("…≈", "~")
        | {"×": "x"}
        | {"▁": "_", "█": "#", "←": "<", "‹": "<", "→": ">", "·": ".", "┊": ":", "●": "*", "🔎": "> "}
    )

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            one if one.text.isascii() else Segment(self._plain(one.text), one.style, one.control)
            for one in segments
        ]

    def _plain(self, text: str) -> str:
        text = text.translate(self.SIGNS)
        return text if speaks_utf8() else in_ascii(text)


class TerminalApp(App[T]):
    """An app on this terminal, in our colours, that can be asked to end at any moment, even while it is
    opening."""

    CSS_PATH = "app.tcss"
    # The cells from which a screen has each class: dialogs drop their margins where there is no room.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (50, "-broad")]  # noqa: RUF012 - Textual's own convention
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-high")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.plain_signs = PlainSigns(enabled=plain_terminal())
        self._entitled = float("-inf"), ""
        """When the terminal got its last title, and which."""
        for theme in house(self.console.color_system):
            self.register_theme(theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return inks(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return [*filters, self.plain_signs] if self.plain_signs.enabled else filters

    def on_mount(self) -> None:
        self.theme = suitable()
        # Of 16 colours none but black, white and two greys are left: too few to shade what is selected.
        self.set_class(self.no_color and self.console.color_system in {None, "standard"}, "-unshaded")

    def notify(self, message: str, **more: Any) -> None:
        """Show a message; nothing in it can control the terminal."""
        super().notify(visible(message), **more)

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """The screen as an SVG in a font that the viewer has; Textual's would be fetched from the network."""
        head, end, drawn = super().export_screenshot(title=title, simplify=simplify).partition("</style>")
        head = re.sub(r"<!--.*?-->|@font-face\s*\{.*?\}", "", head, flags=re.DOTALL)
        return head.replace("Fira Code, monospace", FONTS) + end + drawn

    def tell_terminal(self, sequence: str) -> None:
        """Send the terminal a sequence that draws nothing, if it supports such sequences."""
        if self._driver is not None and not self.is_headless and escapes.obeys(drawn_on()):
            self._driver.write(sequence)

    def entitle(self, title: str) -> None:
        """Give the terminal's window this title, at most once a second."""
        now = time.monotonic()
        if title != self._entitled[1] and now - self._entitled[0] >= TITLE_SECONDS:
            if not self._entitled[1]:
                self.tell_terminal(escapes.KEEP_TITLE)
            self._entitled = now, title
            self.tell_terminal(escapes.title(title))

    def give_back_title(self) -> None:
        """Give the terminal's window back the title that it had."""
        if self._entitled[1]:
            self.tell_terminal(escapes.GIVE_BACK_TITLE)
            self._entitled = float("-inf"), ""

    def _handle_exception(self, error: Exception) -> None:
        """Ignore errors once the app is ending: Textual mounts nothing more then, so a missing widget is
        no fault."""
        if not (self._exit and isinstance(error, MountError | NoMatches)):
            super()._handle_exception(error)


def drawn_on() -> TextIOWrapper | None:
    """The stream of the terminal: the screen opens only if standard output is one."""
    return sys.__stderr__ if sys.__stderr__ is not None and sys.__stderr__.isatty() else sys.__stdout__


def obey_signals(app: App[T], signals: Signals, result: Callable[[signal.Signals], T | None]) -> None:
    """In the running app, let the signals that end a program end it in good order, with ``result``.

    A terminal that is gone without a signal, because SIGHUP is ignored, counts as SIGHUP.
    """

    driver = app._driver

    def ended(_: signal.Signals) -> None:
        if isinstance(driver, TerminalDriver):
            driver.drawing.ending = True

    def look() -> None:
        if not os.isatty(0):
            looking.stop()
            signals.hang_up()

    signals.at_once = ended
    for number in signals.noted:
        ended(number)
    signals.tell(lambda number: app.exit(result(number)))
    if isinstance(driver, TerminalDriver):
        looking = app.set_interval(LOOK_SECONDS, look)


def open_app(app: App[T], *, gone: T | None = None) -> T | None:
    """Run ``app`` in this terminal and return its result. After a fault of ours, print the traceback and exit
    with code 1.

    A terminal that is gone (SIGHUP, a lost connection) cannot be written to any more. That is not a fault,
    and ``gone`` is returned.
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

    Python writes UTF-8 even if the locale is C, and says so in $LC_CTYPE; what the user has set takes
    precedence. If nothing is set, today's terminals can.
    """
    encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
    names = ["LC_ALL", "LANG"] if sys.flags.utf8_mode else ["LC_ALL", "LC_CTYPE", "LANG"]
    said = next((os.environ[name] for name in names if os.environ.get(name)), "UTF-8")
    return all("utf" in name.lower() for name in (encoding, said))


def few_colours(app: App[T]) -> bool:
    """Whether the terminal shows 16 colours at most, or should show none."""
    return app.no_color or app.console.color_system in {None, "standard"}


def plain_terminal() -> bool:
    """Whether the terminal cannot be trusted with line drawing and braille."""
    return not speaks_utf8() or os.environ.get("TERM", "") in escapes.PLAIN

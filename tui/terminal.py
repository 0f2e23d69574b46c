"""The terminal, restored however the screen ends; its colours and keys; and the user's settings."""

import contextlib
import functools
import os
import re
import select
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TypeVar, cast

from rich.segment import Segment
from textual.app import App
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import MountError

from wikitopics.session import config, escapes
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.paths import config_file
from wikitopics.session.signals import Signals
from wikitopics.tui.text import in_ascii, visible

# Our two themes, dark and light; Textual's own are in the palette as well.


def table(name: str) -> dict[str, Any]:
    """Read a TOML file of this folder, by its name."""
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


_THEMES = table("themes.toml")


def _rows(part: str) -> dict[str, list[Any]]:
    """A part of `themes.toml`, the names of the 16 colours of terminals replaced by the colours."""
    vga = _THEMES["vga"]
    return {name: [vga.get(cell, cell) for cell in row] for name, row in _THEMES[part].items()}


_COLOURS = _rows("colours")
_INKS = _rows("inks")


def _theme(name: str, column: int, *, dark: bool) -> Theme:
    """A theme of this column of `themes.toml`."""
    colours = {colour: row[column] for colour, row in _COLOURS.items()}
    return Theme(
        name,
        dark=dark,
        variables={ink: row[column] for ink, row in _INKS.items()},
        **colours,
    )


DARK = _theme("wikitopics-dark", 0, dark=True)
LIGHT = _theme("wikitopics-light", 1, dark=False)
DARK_16 = _theme("wikitopics-dark", 2, dark=True)
LIGHT_16 = _theme("wikitopics-light", 3, dark=False)


def house(colours: str | None) -> tuple[Theme, Theme]:
    """The dark and light themes for a terminal with this number of ``colours`` (Rich's name for
    it)."""
    return (DARK_16, LIGHT_16) if colours == "standard" else (DARK, LIGHT)


READABLE = 3.0
"""The minimum contrast of a sign or a bold word with its background [WCAG 2]."""
GROUNDS = {"frame", "focus", "cursor", "bar"}
"""The inks that nothing is written in."""


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, from 1 to 21 [WCAG 2]."""

    def linear(part: float) -> float:
        if part <= 0.04045:
            return part / 12.92
        return float(((part + 0.055) / 1.055) ** 2.4)

    def luminance(colour: Color) -> float:
        red, green, blue = (linear(part) for part in colour.normalized)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def inks(theme: Theme) -> dict[str, str]:
    """Our inks mixed from the colours of another theme; those that are written in, readable."""
    if theme.ansi:
        ansi = {ink: name for ink, (*_, name, _, _) in _INKS.items()}
        if not theme.dark:
            ansi["cursor"] = "ansi_bright_cyan"
        return ansi
    colours = theme.to_color_system().generate()
    ground = Color.parse(colours["background"])
    text = Color.parse(colours["foreground"])

    def readable(colour: Color) -> Color:
        """The colour, with as much of the text's colour as makes it readable."""
        for part in range(11):
            blended = colour.blend(text, part / 10)
            if contrast(blended, ground) >= READABLE:
                return blended
        return text

    mixed = {}
    for ink, (*_, name, part) in _INKS.items():
        colour = ground.blend(Color.parse(colours[name]), part)
        if ink not in GROUNDS:
            colour = readable(colour)
        mixed[ink] = colour.hex
    return mixed


# The keys, and the actions that they may run.

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def keymap() -> dict[str, Any]:
    """The default keys, by the place in which they work, and those of the bottom line."""
    return table("keys.toml")


def bindings(place: str, *names: str) -> list[BindingType]:
    """The keys that work in this place, or only those of these ``names``."""
    keys = keymap()[place]
    return [
        Binding(
            key["keys"],
            key["action"],
            key["label"],
            id=name,
            tooltip=key.get("does", ""),
            key_display=key.get("shown"),
            priority="first" in key,
        )
        for name, key in keys.items()
        if not names or name in names
    ]


def write_action(action: F) -> F:
    """Mark an action that writes a file, starts a process or commands a trainer: a read-only screen
    neither shows nor runs it, whatever calls it."""

    @functools.wraps(action)
    def unless_read_only(node: Any, *values: Any) -> Any:
        return None if node.app.READ_ONLY else action(node, *values)

    unless_read_only.__dict__["writes"] = True
    return cast(F, unless_read_only)


def is_refused(node: DOMNode, action: str) -> bool:
    """Whether `write_action` marks the action, and the screen of this widget is read-only."""
    writes = hasattr(getattr(node, f"action_{action}", None), "writes")
    return writes and cast("TerminalApp[Any]", node.app).READ_ONLY


# The screen's settings in the user's config file.
#
# theme = "light"            # "dark", or the name of any theme in the palette
# [keys]
# "app.freeze" = "f"         # binding = key; the names of the bindings are in docs/screen.md


@dataclass(frozen=True, slots=True)
class Preferences:
    """The defaults: the theme follows the terminal, and the keys are ours."""

    theme: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


def preferences(names: Collection[str]) -> Preferences:
    """Read the config file; ``names``: the names of all keys. Raises `BadUsage` naming the line
    that is not valid."""
    settings = config.load()
    file = config_file()
    themes = {name: name for name in (DARK.name, LIGHT.name, *BUILTIN_THEMES)}
    themes |= {"dark": DARK.name, "light": LIGHT.name}
    theme = settings.get("theme")
    if theme is not None and not (isinstance(theme, str) and theme in themes):
        raise BadUsage(
            f"{file}: theme {theme!r} is not one of dark, light, {', '.join(BUILTIN_THEMES)}"
        )
    keys = settings.get("keys", {})
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise BadUsage(f'{file}: the table [keys] must hold lines like "app.freeze" = "f"')
    unknown = sorted(set(keys).difference(names))
    if unknown:
        raise BadUsage(
            f"{file}: [keys] names {unknown[0]!r}. Available: {', '.join(sorted(names))}"
        )
    chosen = None if theme is None else themes[theme]
    return Preferences(chosen, dict(keys))


FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
"""For pictures of the screen."""

T = TypeVar("T")

CHECK_SECONDS = 1.0
"""Seconds between two checks that the terminal still exists."""
PATIENCE = 3.0
"""Seconds without progress after which a terminal is given up, once a signal ends the screen."""


class TerminalDriver(LinuxDriver):
    """Draws on the terminal even if standard error, on which Textual draws, goes to a file."""

    def __init__(self, app: App[object], **more: Any) -> None:
        super().__init__(app, **more)
        terminal = drawn_on()
        assert terminal is not None
        self.output = TerminalOutput(terminal.fileno(), terminal.encoding)
        self._file = cast(TextIOWrapper, self.output)

    def run_input_thread(self) -> None:
        """Read keys to the end; invalid input is dropped together with the chunk it came in.

        Textual fails on bytes that are not UTF-8, and on sequences with a number that is no
        character's.
        """
        while not self.exit_event.is_set():
            with contextlib.suppress(ValueError, OverflowError):
                super().run_input_thread()

    # Textual would work inside the signal handlers, where the main thread may hold any lock.

    def _sigtstp_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._suspend)

    def _sigcont_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._paint_anew)

    def _suspend(self) -> None:
        """Give the terminal back and stop, until `fg` continues this process."""
        self.suspend_application_mode()
        our_stop = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        our_continue = signal.signal(signal.SIGCONT, signal.SIG_DFL)
        # Unlike SIGSTOP, this stops nothing in a terminal without a shell to continue it.
        signal.raise_signal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, our_stop)
        signal.signal(signal.SIGCONT, our_continue)
        self._paint_anew()

    def _paint_anew(self) -> None:
        """Take the terminal again, which others may have changed meanwhile, and paint all of the
        screen."""
        is_drawing = self._writer_thread is not None and self._writer_thread.is_alive()
        if is_drawing:  # SIGSTOP gave nothing back
            self.suspend_application_mode()
        self.resume_application_mode()
        self._app.refresh(layout=True)

    def suspend_application_mode(self) -> None:
        if isinstance(self._app, TerminalApp):
            self._app.give_back_title()
        super().suspend_application_mode()


class TerminalOutput:
    """Output on its way to the terminal; it goes nowhere once the terminal is gone.

    A terminal may accept no output for long, as over a connection that hangs. Output waits for it,
    but once the screen should end, only until it has accepted nothing for `PATIENCE` seconds.
    """

    def __init__(self, terminal: int, encoding: str) -> None:
        self.ending = False
        self._terminal = terminal
        self._encoding = encoding
        try:
            # Opened again: non-blocking is for this program only, and the shell shares the other
            # descriptor.
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
            self._file = os.open(os.ttyname(terminal), flags)
        except OSError:  # another user's terminal, as behind sudo
            self._file = terminal

    def write(self, text: str) -> None:
        """Send all of it."""
        data = text.encode(self._encoding, "replace")
        progress = time.monotonic()
        while data:
            try:
                data = data[os.write(self._file, data) :]
                progress = time.monotonic()
            except BlockingIOError:
                select.select([], [self._file], [], 0.1)
                if self.ending and time.monotonic() > progress + PATIENCE:
                    self._forget()
            except OSError:
                self._forget()

    def flush(self) -> None:
        """Do nothing: output is not buffered."""

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._file

    def _forget(self) -> None:
        """Discard everything that this program writes to the terminal from now on."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        terminal = os.fstat(self._file).st_rdev
        for number in (1, 2, self._terminal, self._file):
            if os.fstat(number).st_rdev == terminal:
                os.dup2(nowhere, number)
        os.close(nowhere)


class PlainSigns(LineFilter):
    """Replaces signs beyond ASCII, cell by cell; and all other text beyond ASCII if the terminal
    lacks UTF-8.

    Signs that would look alike in ASCII, such as braille and bars, are drawn in ASCII by the
    widgets.
    """

    SIGNS = str.maketrans(
        {sign: plain for plain, signs in table("signs.toml")["plain"].items() for sign in signs}
    )

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        texts = [segment.text.translate(self.SIGNS) for segment in segments]
        if not speaks_utf8():
            texts = [in_ascii(text) for text in texts]
        return [
            Segment(text, segment.style, segment.control)
            for text, segment in zip(texts, segments, strict=True)
        ]


class TerminalApp(App[T]):
    """An app on this terminal, in our colours, that can be asked to end at any moment, even while
    it is opening."""

    DRIVER: type[Driver] = TerminalDriver
    READ_ONLY = False
    """Whether nothing outside the screen may be changed from it."""
    NOT_IN_BAR: frozenset[str] = frozenset()
    """Keys, by name, that work but are not offered in the bottom line."""

    CSS_PATH = "app.tcss"
    # The size, in cells, from which a screen has each class: dialogs drop their margins if there is
    # no room.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (50, "-broad")]  # noqa: RUF012 - Textual's own convention
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-high")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(driver_class=self.DRIVER)
        self.plain_signs = PlainSigns(enabled=plain_terminal())
        self._entitled = ""
        """The last title that the terminal got."""
        for theme in house(self.console.color_system):
            self.register_theme(theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return inks(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        if self.plain_signs.enabled:
            return [*filters, self.plain_signs]
        return filters

    def on_mount(self) -> None:
        background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
        self.theme = LIGHT.name if background in {"7", "15"} else DARK.name
        has_16 = self.console.color_system in {None, "standard"}
        self.set_class(self.no_color or has_16, "-few-colours")
        self.set_class(escapes.links(drawn_on()), "-links")
        # Without colour, only black, white and two greys of 16 are left: too few to shade what is
        # selected.
        self.set_class(self.no_color and has_16, "-unshaded")

    def action_theme(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    def draw_in_ascii(self, on: bool) -> None:
        """Draw without signs beyond ASCII, or with them if the terminal can be sent them."""
        self.plain_signs.enabled = on or not speaks_utf8()
        self.set_class(on, "-ascii")

    def notify(self, message: str, *, markup: bool = False, **more: Any) -> None:
        """Show a message; nothing in it can control the terminal."""
        super().notify(visible(message), markup=markup, **more)

    @contextlib.contextmanager
    def warning(self) -> Iterator[None]:
        """Show a `SessionError` raised in the block as a warning; it ends the block."""
        try:
            yield
        except SessionError as error:
            self.notify(str(error), severity="warning")

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """The screen as an SVG in a font that the viewer has; Textual's would be fetched from the
        network."""
        svg = super().export_screenshot(title=title, simplify=simplify)
        head, end, drawn = svg.partition("</style>")
        head = re.sub(r"<!--.*?-->|@font-face\s*\{.*?\}", "", head, flags=re.DOTALL)
        return head.replace("Fira Code, monospace", FONTS) + end + drawn

    def tell_terminal(self, sequence: str) -> None:
        """Send the terminal a sequence that draws nothing, if it supports such sequences."""
        if self._driver is not None and not self.is_headless and escapes.obeys(drawn_on()):
            self._driver.write(sequence)

    def entitle(self, title: str) -> None:
        """Give the terminal's window this title."""
        if title != self._entitled:
            if not self._entitled:
                self.tell_terminal(escapes.KEEP_TITLE)
            self._entitled = title
            self.tell_terminal(escapes.title(title))

    def give_back_title(self) -> None:
        """Give the terminal's window back the title that it had."""
        if self._entitled:
            self.tell_terminal(escapes.GIVE_BACK_TITLE)
            self._entitled = ""

    def _handle_exception(self, error: Exception) -> None:
        """Ignore missing widgets once the app is ending: Textual mounts nothing more then, so they
        are no fault."""
        if not (self._exit and isinstance(error, MountError | NoMatches)):
            super()._handle_exception(error)


def drawn_on() -> TextIOWrapper | None:
    """The stream of the terminal: the screen opens only if standard output is a terminal."""
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        return sys.__stderr__
    return sys.__stdout__


def obey_signals(
    app: App[T], signals: Signals, result: Callable[[signal.Signals], T | None]
) -> None:
    """Let the signals that end a program end the running app in good order, with ``result``.

    A terminal that is gone without a signal, because SIGHUP is ignored, counts as SIGHUP.
    """

    driver = app._driver

    def ended(_: signal.Signals) -> None:
        if isinstance(driver, TerminalDriver):
            driver.output.ending = True

    def check_terminal() -> None:
        if not os.isatty(0):
            checking.stop()
            signals.hang_up()

    signals.at_once = ended
    for number in signals.noted:
        ended(number)
    signals.tell(lambda number: app.exit(result(number)))
    if isinstance(driver, TerminalDriver):
        checking = app.set_interval(CHECK_SECONDS, check_terminal)


def open_app(app: App[T], *, gone: T | None = None) -> T | None:
    """Run ``app`` in this terminal and return its result. After a fault of ours, print the
    traceback and exit with code 1.

    A terminal that is gone (SIGHUP, a lost connection) cannot be written to any more. That is not a
    fault, and ``gone`` is returned.
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

    Python writes UTF-8 even if the locale is C, and says so in $LC_CTYPE; what the user has set
    takes precedence. If nothing is set, today's terminals can.
    """
    encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
    locale = os.environ.get("LC_ALL") or ""
    if not locale and not sys.flags.utf8_mode:
        locale = os.environ.get("LC_CTYPE") or ""
    locale = locale or os.environ.get("LANG") or "UTF-8"
    return "utf" in encoding.lower() and "utf" in locale.lower()


def plain_terminal() -> bool:
    """Whether the terminal cannot be trusted with line drawing and braille."""
    return not speaks_utf8() or os.environ.get("TERM", "") in escapes.PLAIN

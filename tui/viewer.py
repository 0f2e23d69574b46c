"""A read-only screen for one browser, in a process that `web` starts. Keys and drawing pass through
pipes."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import platformdirs
from textual.binding import Binding
from textual.drivers.web_driver import WebDriver

from wikitopics.tui.app import Wikitopics, names
from wikitopics.tui.main_screen import NUMBERED
from wikitopics.tui.terminal import open_app, preferences, write_action

_CACHE = platformdirs.user_cache_dir("wikitopics")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OUTSIDE = ("os", "pty", "shutil", "socket", "webbrowser")
"""The modules whose events are about something outside the process."""
_HARMLESS = ("os.listdir", "os.putenv", "os.scandir", "os.unsetenv", "os.walk", "socket.__new__")
"""Events of these modules that change nothing there."""


def changes(event: str, values: tuple[Any, ...]) -> bool:
    """Whether this audit event of Python's is about changing anything outside the process, other
    than the kernel cache: the process may have to compile kernels."""
    if event == "sqlite3.connect":
        database = values[0]
        return database != ":memory:" and "?mode=ro" not in str(database)
    if event == "subprocess.Popen":
        program: object = values[0]
        return program != "ps"  # which tells whether a trainer lives where there is no /proc
    if event == "open":
        path, _, flags = values
        if not flags & _WRITING or isinstance(path, int):  # a number: it is open already
            return False
        return not str(path).startswith(_CACHE)
    module = event.partition(".")[0]
    if module not in _OUTSIDE or event in _HARMLESS:
        return False
    paths = [str(value) for value in values if not isinstance(value, int)]
    is_in_cache = bool(paths) and all(path.startswith(_CACHE) for path in paths)
    return not is_in_cache


def _forbid(event: str, values: tuple[Any, ...]) -> None:
    if changes(event, values):
        raise PermissionError(f"this screen is read-only ({event})")


class PipeDriver(WebDriver):
    """Ends with the server, even if the server is killed, because that closes the pipes."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            os._exit(0)


class Viewer(Wikitopics):
    """The screen without the actions that change anything outside it."""

    DRIVER = PipeDriver
    READ_ONLY = True
    # A tap that misses its neighbour would end the screen. The browser's tab can be closed instead.
    NOT_IN_BAR = frozenset({"app.quit"})
    # What the page's buttons type: no text, as digits are, which go into a dialog or a search.
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding(f"f{number}", f"view({kind.TITLE!r})", show=False)
        for number, kind in enumerate(NUMBERED, start=1)
    ]

    @write_action
    def action_suspend_process(self) -> None:
        """Do nothing: suspending would stop this process, and the browser could not continue it."""


def main(path: Path) -> None:
    """Show the session at ``path`` to the browser behind standard input and output, until it is
    closed."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # nobody is left to draw for
    app = Viewer(path, preferences=preferences(names()))
    sys.addaudithook(_forbid)  # the last line of defence, below all keys and commands
    open_app(app)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

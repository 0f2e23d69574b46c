"""Trainers in processes of their own: started here, and either left running or ended by whoever started
them."""

import contextlib
import fcntl
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from wikitopics.crawler.child import start_python
from wikitopics.crawler.dumps.source import YES
from wikitopics.crawler.ownfile import open_own
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.paths import log_file
from wikitopics.session.sources import described, run_options
from wikitopics.session.storage.files import last_line
from wikitopics.session.storage.reader import SessionReader

TRYING = re.compile(r"(?<=trying for another )\d+(?= s$)")
"""Matches the seconds left in the message of a trainer that cannot reach its wiki."""
UNREACHABLE = 3
"""The exit code of a trainer that could not reach its wiki."""
MESSAGE = "wikitopics: "
"""The beginning of the one line with which a command says what went wrong."""
NOBODY_ASKED = f"(add {YES.flag} to agree: without a terminal nobody can be asked)"
"""The end of the last line of a trainer that had a question and no terminal to ask it on."""
STOP_SECONDS = 30.0
"""Seconds that a trainer may take to save and exit."""


class Trainers:
    """The trainers that one screen has started. They end with the screen unless they are left running."""

    def __init__(self) -> None:
        self._started: dict[Path, subprocess.Popen[bytes]] = {}
        self._arguments: dict[Path, list[str]] = {}

    def start(self, path: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
        """Run ``wikitopics ARGUMENTS``, which trains the session at ``path``. Raises SessionError."""
        self._arguments[path] = arguments
        return self.start_again(path)

    def start_again(self, path: Path, *, agreed: bool = False) -> subprocess.Popen[bytes]:
        """Resume training a session with the options of its last start here, otherwise with those of its
        last run: limits, such as `--rpm`, must not be lost with whoever set them.

        ``agreed``: whether the user agreed to the trainer's question. This applies to this start only.
        """
        arguments = self._arguments.get(path) or ["train", "--session", str(path), *_of_last_run(path)]
        answer = [YES.flag] if agreed else []
        process = self._started[path] = start_trainer(path, [*arguments, *answer])
        return process

    def paths(self) -> list[Path]:
        """The sessions that they train, or have trained."""
        return list(self._started)

    def running(self) -> list[Path]:
        """The sessions whose trainers are running."""
        return [path for path, process in self._started.items() if process.poll() is None]

    def code(self, path: Path) -> int | None:
        """The exit code of the last trainer of a session; None if it runs, or is not known."""
        return self._started[path].poll() if path in self._started else None

    def death(self, path: Path) -> str:
        """How the last trainer of a session died: "killed by signal 9"; "" if it runs, or is not known."""
        return death(self.code(path))

    def leave(self) -> None:
        """Let them run on their own: `stop` will not end them."""
        self._started.clear()

    def stop(self, give_up: Callable[[], bool]) -> None:
        """Have all of them save and exit, and wait for that, until ``give_up`` says that it takes too
        long."""
        for process in self._started.values():
            process.terminate()  # our own child, so its pid cannot be another's
        deadline = time.monotonic() + STOP_SECONDS
        while self.running() and time.monotonic() < deadline and not give_up():
            time.sleep(0.05)


def death(code: int | None) -> str:
    """How a trainer died that ended with this code: "killed by signal 9"; "" if it did not, or still runs."""
    if not code:
        return ""
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def start_trainer(path: Path, arguments: list[str], keeps: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """Run ``wikitopics ARGUMENTS`` in the background, writing its messages to the log beside the session.

    ``keeps``: as for `start_python`. Raises SessionError.
    """
    doing = f"write {log_file(path)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = open_own(log_file(path), os.O_WRONLY | os.O_APPEND)
        try:
            _begin_anew(log)
            doing = "start a trainer"
            return start_python(
                "wikitopics", arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, keeps=keeps
            )
        finally:
            os.close(log)
    except OSError as error:
        raise SessionError(f"cannot {doing}: {error.strerror}") from None


def _of_last_run(path: Path) -> Iterator[str]:
    """The options of a session's last run that the session does not keep, for the command line."""
    with contextlib.suppress(NoSession), SessionReader(path) as reader:
        status = reader.status()
        for option in run_options(described(status.source)):
            with contextlib.suppress(KeyError, ValueError):  # another version may have taken other values
                yield f"{option.flag}={option.check(status.activity.given[option.name])}"


def last_words(path: Path) -> str:
    """The last message in the trainer's log. If it names seconds left, they are counted down to now."""
    log = log_file(path)
    try:
        age = max(0.0, time.time() - log.stat().st_mtime)
    except OSError:
        return ""
    told = last_line(log).removeprefix(MESSAGE)
    return TRYING.sub(lambda told: f"{max(0, int(told[0]) - int(age))}", told)


def question(path: Path) -> str:
    """The question with which the last trainer ended; "" for none."""
    told = last_words(path)
    asked = told.removesuffix(NOBODY_ASKED)
    return "" if asked == told else asked.strip()


def forget(path: Path) -> None:
    """Remove the log of a trainer that has ended without making a session. A traceback in it is kept."""
    log = log_file(path)
    with contextlib.suppress(OSError):
        if not os.path.exists(path) and b"Traceback" not in log.read_bytes():
            log.unlink()


def _begin_anew(log: int) -> None:
    """Empty the log, unless a trainer still writes to it: each holds a lock on it as long as it lives."""
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    os.ftruncate(log, 0)

"""What a screen or a command may do: start a trainer, ask it for something, list sessions."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from wikitopics.crawler.dumps.kinds import YES
from wikitopics.own_files import open_own
from wikitopics.processes import start_python
from wikitopics.session import errors
from wikitopics.session.errors import NoSession, NotASession, NotRunning, SessionError
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.paths import log_file, no_session, session_folder
from wikitopics.session.records import Status
from wikitopics.session.sources import kind_named, run_options
from wikitopics.session.storage.database import is_ours, remove_database
from wikitopics.session.storage.files import last_line
from wikitopics.session.storage.heartbeats import request_control
from wikitopics.session.storage.reader import SessionReader, check_alone
from wikitopics.session.system import Process, TrainerLock, owner

# Trainers in processes of their own: started here, and either left running or ended by whoever
# started them.

UNREACHABLE = 3
"""The exit code of a trainer that could not reach its wiki."""
MESSAGE = "wikitopics: "
"""The beginning of the one line with which a command says what went wrong."""
NOBODY_ASKED = f"(add {YES.flag} to agree: there is no terminal to ask on)"
"""The end of the last line of a trainer that had a question and no terminal to ask it on."""
STOP_SECONDS = 30.0
"""Seconds that a trainer may take to save and exit."""


class Trainers:
    """The trainers that one screen has started. They end with the screen unless they are left
    running."""

    def __init__(self) -> None:
        self._started: dict[Path, subprocess.Popen[bytes]] = {}
        self._arguments: dict[Path, list[str]] = {}

    def start(self, path: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
        """Run ``wikitopics ARGUMENTS``, which trains the session at ``path``. Raises
        SessionError."""
        self._arguments[path] = arguments
        return self.start_again(path)

    def start_again(self, path: Path, *, agreed: bool = False) -> subprocess.Popen[bytes]:
        """Resume training a session with the options of its last start here, otherwise with those
        of its last run, so that limits such as `--rpm` outlive the program that set them.

        ``agreed``: whether the user agreed to the trainer's question. This applies to this start
        only.
        """
        arguments = self._arguments.get(path)
        if not arguments:
            arguments = ["train", "--session", str(path), *_of_last_run(path)]
        if agreed:
            arguments = [*arguments, YES.flag]
        process = start_trainer(path, arguments)
        self._started[path] = process
        return process

    def paths(self) -> list[Path]:
        """The sessions that these trainers train, or have trained."""
        return list(self._started)

    def running(self) -> list[Path]:
        """The sessions whose trainers are running."""
        return [path for path, process in self._started.items() if process.poll() is None]

    def code(self, path: Path) -> int | None:
        """The exit code of the last trainer of a session; None if the trainer runs, or is not
        known."""
        if path not in self._started:
            return None
        return self._started[path].poll()

    def death(self, path: Path) -> str:
        """How the last trainer of a session died: "killed by signal 9"; "" if it runs, or is not
        known."""
        return death(self.code(path))

    def detach(self) -> None:
        """Let them run on their own: `stop` will not end them."""
        self._started.clear()

    def stop(self, give_up: Callable[[], bool]) -> None:
        """Have all trainers save and exit, and wait for that until ``give_up`` returns True, for at
        most `STOP_SECONDS`."""
        for process in self._started.values():
            process.terminate()  # our own child, so its pid cannot be another's
        deadline = time.monotonic() + STOP_SECONDS
        while self.running() and time.monotonic() < deadline and not give_up():
            time.sleep(0.05)


def death(code: int | None) -> str:
    """How a trainer with this exit code died: "killed by signal 9"; "" if it ended well or still
    runs."""
    if not code:
        return ""
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def start_trainer(
    path: Path, arguments: list[str], keeps: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Run ``wikitopics ARGUMENTS`` in the background, writing its messages to the log beside the
    session.

    ``keeps``: as for `start_python`. Raises SessionError.
    """
    doing = f"write {log_file(path)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = open_own(log_file(path), os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "ab", buffering=0) as log:
            # Empty the log, unless a trainer still writes to it: each holds a lock on it as long as
            # it lives.
            with suppress(BlockingIOError):
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(log.fileno(), 0)
            doing = "start a trainer"
            return start_python(
                "wikitopics",
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                keeps=keeps,
            )
    except OSError as error:
        raise SessionError(f"cannot {doing}: {error.strerror}") from None


def _of_last_run(path: Path) -> Iterator[str]:
    """The options of a session's last run that are not kept as its settings, for the command
    line."""
    with suppress(NoSession), SessionReader(path) as reader:
        status = reader.status()
        for option in run_options(kind_named(status.source)):
            with suppress(KeyError, ValueError):  # another version may have taken other values
                yield f"{option.flag}={option.check(status.activity.given[option.name])}"


def last_words(path: Path) -> str:
    """The last message in the trainer's log."""
    return last_line(log_file(path)).removeprefix(MESSAGE)


def question(path: Path) -> str:
    """The question with which the last trainer ended; "" for none."""
    message = last_words(path)
    return message.removesuffix(NOBODY_ASKED).strip() if message.endswith(NOBODY_ASKED) else ""


def forget(path: Path) -> None:
    """Remove the log of a trainer that has ended without making a session. A traceback in it is
    kept."""
    log = log_file(path)
    with suppress(OSError):
        if not os.path.exists(path) and b"Traceback" not in log.read_bytes():
            log.unlink()


# Requests to a running trainer from another process, always through the session's file.

OBEY_SECONDS = 3.0
"""Seconds to wait for an answer. A working trainer looks for requests twice a second; one that is
still starting does not."""


def ask(path: Path, **columns: bool) -> None:
    """Ask the trainer to pause (`paused`) or to resume, to `hurry`, to `lay_out` the maps anew, or
    to `save`: to commit now rather than within seconds, and to retry now if the wait is the
    trainer's own choice.

    Raises `NotRunning`.
    """
    _running(path)
    request_control(path, **columns)


def write_report(path: Path, target: Path, tell: errors.Say) -> str:
    """Write the report of a session in another process, and return its last message.

    Drawing charts in a screen's own process would keep it from answering keys. ``tell`` takes each
    message, such as how far it is. Raises `SessionError`.
    """
    with errors.os_error_as("cannot start a process that writes the report"):
        process = start_python(
            "wikitopics",
            ["report", "--session", str(path), "-o", str(target)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    message = ""
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            message = line.decode(errors="replace").strip() or message
            tell(message)
    code = process.returncode
    if code < 0 or (code and not message):  # its last message, if any, is not about that
        message = f"the report was not written: {death(code)}"
    if code:
        raise SessionError(message.removeprefix(MESSAGE))
    return message


def stop(path: Path, tell: errors.Say = lambda _: None) -> None:
    """Have the trainer commit and exit; returns when it has.

    If it does not obey, it is sent SIGTERM, but only if its process is known for certain. ``tell``
    takes a line for people about a trainer that is suspended. Raises `NotRunning`, and
    `SessionError` if the trainer does not end in time.
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
        unreachable = f"the trainer (pid {trainer.pid}) cannot be signalled"
        with errors.os_error_as(unreachable), suppress(ProcessLookupError):
            os.kill(trainer.pid, signal.SIGTERM)
    if not _ended(path, trainer, STOP_SECONDS):
        raise SessionError(
            f"the trainer did not end within {STOP_SECONDS:.0f} s; {_how_to_end(trainer)}"
        )


def _running(path: Path) -> Process:
    """The trainer that runs on a session. Raises `NotRunning`."""
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


def _how_to_end(trainer: Process) -> str:
    if trainer.is_suspended():
        return (
            f"it is suspended (as by Ctrl+Z); once resumed (`kill -CONT {trainer.pid}`), it saves "
            "and ends"
        )
    number = f"pid {trainer.pid}" if trainer.pid else "pid unknown"
    return f"end it on the machine where it runs ({number})"


# The sessions of this user: listing them, and deleting one with all that belongs to it, and nothing
# else.


def list_sessions() -> list[tuple[str, Path, Status | str]]:
    """(name, file, status) of every session in the session folder, by name; a message instead of
    the status if the file cannot be read."""
    sessions = []
    files = session_folder().glob("[!.]*.db")
    for path in sorted(files, key=lambda path: path.stem):
        status: Status | str
        try:
            with SessionReader(path) as reader:
                status = reader.status()
        except SessionError as error:
            status = str(error)
        sessions.append((path.stem, path, status))
    return sessions


def check_removable(path: Path) -> None:
    """Raise now the errors with which `remove` would refuse, except that for a running trainer."""
    if is_ours(path):
        return
    if not os.path.exists(path):  # checked last: another process may be deleting it
        raise no_session(path)
    if not os.access(path, os.R_OK):
        raise SessionError(f"{path}: Permission denied: nothing was deleted")
    raise NotASession(f"{path} is not a wikitopics session: nothing was deleted")


def remove(path: Path, *, texts: bool = True) -> None:
    """Delete the session at ``path``, its log, SQLite's files beside it, and texts given in Python.

    ``texts``: whether to delete the texts too: they may be those of the next session of this name.
    No trainer can begin meanwhile. If ``path`` is a symbolic link, only the link is deleted. A
    damaged session is deleted too. Raises `NoSession`, `NotASession` for another file,
    `SessionInUse` while a trainer runs.
    """
    check_removable(path)
    with TrainerLock(path):
        check_removable(path)  # another process may have deleted it just now
        with suppress(NotASession):  # damaged: then it has no heartbeat
            check_alone(path)
        try:
            if path.is_symlink():
                path.unlink()
            else:
                remove_database(path)
                if texts:
                    InMemoryTexts.of(path).remove()
            log_file(path).unlink(missing_ok=True)
        except OSError as error:
            raise SessionError(f"cannot delete {error.filename}: {error.strerror}") from None

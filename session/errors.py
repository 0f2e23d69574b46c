"""Errors that a user can run into; each message is one clear line, and each class has an exit
code."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from wikitopics.session.escapes import visible


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for somebody who wrote ``word`` where only ``known`` words are accepted."""
    names = list(known)
    close = difflib.get_close_matches(word.lower(), names, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Available: {', '.join(names)}"


Say = Callable[[str], None]
"""Takes a line for people."""
NO_TOPICS = "no topics yet: they appear after the first minibatch"


class SessionError(Exception):
    """Base of this room's errors. Names in its message cannot act on the terminal that shows it."""

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__())


class BadUsage(SessionError):
    """An option that is not valid, or contradicts the settings with which the session was
    created."""

    exit_code = 2


@contextmanager
def os_error_as(what: str, kind: type[SessionError] = SessionError) -> Iterator[None]:
    """Raise an error of this class for an OSError in the block: ``what``, and the system's
    reason."""
    try:
        yield
    except FileNotFoundError:
        raise kind(f"{what}: no such file or folder") from None
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from None


@contextmanager
def errors_of(
    what: str, hint: str = ": fix the package, and the next `train` continues"
) -> Iterator[None]:
    """Raise a `SessionError` for anything that ``what`` raises in the block: code of another
    package may raise any exception."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())
        raise SessionError(f"{what} fails: {reason}{hint}") from error


class SessionInUse(SessionError):
    """Another trainer holds the session."""

    exit_code = 4


class NotASession(SessionError):
    """The file is not a session, or was written by a newer version."""

    exit_code = 5


class Damaged(NotASession):
    """Something in the file cannot have been written by a session. ``what``: a few words on what it
    is."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the session is damaged ({what}): restore a backup, or start another session"
        )


class MissingKind(SessionError):
    """A session's kind of model or source came with a package that is no longer installed; takes
    its name."""

    def __init__(self, noun: str, name: str) -> None:
        super().__init__(
            f"no installed package provides the {noun} {name!r}: install the one that did when "
            "this session was created"
        )


class NotRunning(SessionError):
    """A request needs a running trainer, and there is none."""


class NoSession(SessionError):
    """The named session does not exist. ``what``: the message, perhaps with other names. ``how``:
    what to do on the command line, which callers from Python are not told."""

    def __init__(self, what: str, how: str = "") -> None:
        super().__init__(what + how)
        self.what = what


class NotNow(SessionError):
    """Nothing can be saved until the cause is removed; a trainer waits for that."""


class DiskFull(NotNow):
    """The disk is full: space has to be freed."""

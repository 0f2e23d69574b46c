"""What a user can run into; each message is one clear line, each class has the exit code of its kind."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to say to whoever wrote ``word`` where only ``known`` words make sense."""
    names = list(known)
    close = difflib.get_close_matches(word.lower(), names, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"Available: {', '.join(names)}"


NO_TOPICS = "no topics yet: they appear after the first minibatch"


class SessionError(Exception):
    """Base of this room's errors."""

    exit_code = 1


class BadUsage(SessionError):
    """An option that makes no sense, or contradicts what the session was created with."""

    exit_code = 2


class SessionInUse(SessionError):
    """Another trainer holds the session."""

    exit_code = 4


class NotASession(SessionError):
    """The file is no session, or was written by a newer version."""

    exit_code = 5


class Damaged(NotASession):
    """Something in the file is not as any session of ours has it; takes what it is, in a few words."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the session is damaged ({what}): restore a backup, or start another --session")


class MissingKind(SessionError):
    """A session's kind of model or source came with a package that is gone; takes which one that is."""

    def __init__(self, noun: str, name: str) -> None:
        super().__init__(
            f"no installed package provides the {noun} {name!r}: install the one that did when this session "
            "began"
        )


class NotRunning(SessionError):
    """A running trainer was asked for, and none runs."""


class NoSession(SessionError):
    """The named session does not exist."""


class NotNow(SessionError):
    """Nothing can be saved until its cause is gone: a trainer waits for that."""


class DiskFull(NotNow):
    """Somebody has to make room."""

"""Errors that a user can run into; each message is one clear line, and each class has an exit code."""

import difflib
import os
import unicodedata
from collections.abc import Iterable
from typing import TextIO

# Text for terminals: text from strangers, made harmless, and sequences for links, titles and notifications.
#
# Those are for terminals that `obeys` accepts. No function here lets foreign text do more than appear as
# text.

PLAIN = frozenset({"dumb", "linux", "vt100", "vt220"})
"""Values of $TERM for terminals without such sequences, which do not draw braille either."""
BELL = "\a"
_END = "\x1b\\"
_KEEP = frozenset("\u200c\u200d")
"""Joiners: Persian and Indic titles are misspelt without them, and they are harmless."""
KEEP_TITLE, GIVE_BACK_TITLE = "\x1b[22;2t", "\x1b]2;" + _END + "\x1b[23;2t"
"""Clears the title of a terminal that cannot restore it: shells set their own."""


def obeys(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that supports such sequences, or ignores them."""
    term = os.environ.get("TERM", "dumb")
    return stream is not None and not stream.closed and stream.isatty() and term not in PLAIN


def links(stream: TextIO | None) -> bool:
    """Whether text on the stream may be a link; asking for no colour means asking for plain text."""
    return obeys(stream) and not os.environ.get("NO_COLOR")


def link(text: str, address: str) -> str:
    """OSC 8. ``address``: one from `addresses`."""
    return f"\x1b]8;;{address}{_END}{visible(text)}\x1b]8;;{_END}"


def title(text: str) -> str:
    """OSC 2: the title of the window or tab."""
    return f"\x1b]2;{visible(text)}{_END}"


def notice(how: str, text: str) -> str:
    """The sequence for "bell", or for "osc9", a desktop notification."""
    return BELL if how == "bell" else f"\x1b]9;{visible(text)}{_END}"


def visible(text: str) -> str:
    """``text`` with everything that a terminal could obey escaped, e.g. ``\\x1b`` or ``\\u202e``.

    Control characters, bidirectional overrides, line separators and lone surrogates are printed as escapes
    and have no effect.
    """
    if text.isprintable():  # it contains nothing to escape, and this test is quick
        return text
    return "".join(map(_shown, text))


def _shown(ch: str) -> str:
    if ch in _KEEP or unicodedata.category(ch) not in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}:
        return ch
    code = ord(ch)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for somebody who wrote ``word`` where only ``known`` words are accepted."""
    names = list(known)
    close = difflib.get_close_matches(word.lower(), names, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"Available: {', '.join(names)}"


NO_TOPICS = "no topics yet: they appear after the first minibatch"


class SessionError(Exception):
    """Base of this room's errors."""

    exit_code = 1


class BadUsage(SessionError):
    """An option that is not valid, or contradicts the settings with which the session was created."""

    exit_code = 2


class SessionInUse(SessionError):
    """Another trainer holds the session."""

    exit_code = 4


class NotASession(SessionError):
    """The file is not a session, or was written by a newer version."""

    exit_code = 5


class Damaged(NotASession):
    """Something in the file cannot come from a session; takes a few words on what it is."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the session is damaged ({what}): restore a backup, or start another session")


class MissingKind(SessionError):
    """A session's kind of model or source came with a package that is no longer installed; takes its name."""

    def __init__(self, noun: str, name: str) -> None:
        super().__init__(
            f"no installed package provides the {noun} {name!r}: install the one that did when this session "
            "began"
        )


class NotRunning(SessionError):
    """A request needs a running trainer, and there is none."""


class NoSession(SessionError):
    """The named session does not exist; takes what there is instead, and ``how`` the command line gets there,
    which is not told in Python."""

    def __init__(self, what: str, how: str = "") -> None:
        super().__init__(what + how)
        self.what = what


class NotNow(SessionError):
    """Nothing can be saved until the cause is gone; a trainer waits for that."""


class DiskFull(NotNow):
    """Space has to be freed on the disk."""

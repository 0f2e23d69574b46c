"""Text for terminals: text from strangers, made harmless, and sequences for links, titles and
notifications.

The sequences are for terminals that `obeys` accepts. No function here lets foreign text do more
than appear.
"""

import os
from typing import TextIO

from wikitopics.visible import visible as visible

PLAIN = frozenset({"dumb", "linux", "vt100", "vt220"})
"""Values of $TERM for terminals without such sequences, which do not draw braille either."""
BELL = "\a"
_END = "\x1b\\"
KEEP_TITLE = "\x1b[22;2t"
"""Save the title of the window or tab."""
GIVE_BACK_TITLE = "\x1b]2;" + _END + "\x1b[23;2t"
"""Clear the title and restore the saved one. Terminals that cannot restore one are left without,
until the shell sets the next."""


def obeys(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that supports such sequences, or ignores them."""
    term = os.environ.get("TERM", "dumb")
    return stream is not None and not stream.closed and stream.isatty() and term not in PLAIN


def is_dumb() -> bool:
    """Whether the terminal says that it obeys no sequence at all, as those inside editors do."""
    return os.environ.get("TERM") == "dumb"


def links(stream: TextIO | None) -> bool:
    """Whether text on the stream may be a link; asking for no colour means asking for plain
    text."""
    return obeys(stream) and not os.environ.get("NO_COLOR")


def bold(text: str) -> str:
    """SGR 1: text that stands out."""
    return f"\x1b[1m{visible(text)}\x1b[22m"


def link(text: str, address: str) -> str:
    """OSC 8: a link to an ``address``, which is one from `addresses`."""
    return f"\x1b]8;;{address}{_END}{visible(text)}\x1b]8;;{_END}"


def title(text: str) -> str:
    """OSC 2: the title of the window or tab."""
    return f"\x1b]2;{visible(text)}{_END}"


def notice(how: str, text: str) -> str:
    """The sequence for "bell", or for "osc9", a desktop notification."""
    return BELL if how == "bell" else f"\x1b]9;{visible(text)}{_END}"

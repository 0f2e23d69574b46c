"""What a terminal is told beside text: links, its title, notes. Only where :func:`obeys` says that it can.

No function here lets foreign text say more than itself.
"""

import os
from typing import TextIO

from session.foreign import visible

PLAIN = frozenset({"dumb", "linux", "vt100", "vt220"})
"""Values of $TERM without anything of the kind; nor do they draw braille."""
BELL = "\a"
_END = "\x1b\\"
KEEP_TITLE, GIVE_BACK_TITLE = "\x1b[22;2t", "\x1b]2;" + _END + "\x1b[23;2t"
"""Where a terminal cannot give its title back, it has none: shells set their own."""


def obeys(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that takes such sequences, or ignores them."""
    term = os.environ.get("TERM", "dumb")
    return stream is not None and not stream.closed and stream.isatty() and term not in PLAIN


def links(stream: TextIO | None) -> bool:
    """Whether text on the stream may be a link; whoever asks for no colour is asking for plain text."""
    return obeys(stream) and not os.environ.get("NO_COLOR")


def link(text: str, address: str) -> str:
    """OSC 8. ``address``: as :func:`session.answers.addresses.addresses` gives it."""
    return f"\x1b]8;;{address}{_END}{visible(text)}\x1b]8;;{_END}"


def title(text: str) -> str:
    """OSC 2: the title of the window or tab."""
    return f"\x1b]2;{visible(text)}{_END}"


def notice(how: str, text: str) -> str:
    """ "bell", or "osc9": a note that the desktop shows."""
    return BELL if how == "bell" else f"\x1b]9;{visible(text)}{_END}"

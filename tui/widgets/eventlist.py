"""The session's log, newest at the bottom, following new events."""

import time
from collections.abc import Sequence

from wikitopics.session.records import Event
from wikitopics.tui.inks import Part
from wikitopics.tui.rowlist import Folded
from wikitopics.tui.words import folded, visible

INK = {"info": "", "warning": "warn", "error": "bad"}
LEAST = 20
"""The least cells of a message's line, however narrow the list is."""


class EventList(Folded):
    """One event after another; a long message takes several lines."""

    follows = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = " nothing has happened yet"
        self.events: Sequence[Event] = ()

    def show_events(self, events: Sequence[Event]) -> None:
        """Draw these, oldest first; a list scrolled to its end stays there."""
        if self.events != events:
            self.events = events
            self.refold()

    def fold(self, width: int) -> list[list[Part]]:
        return [line for event in self.events for line in _lines(event, width)]


def _lines(event: Event, width: int) -> list[list[Part]]:
    """The time, the level if it matters, and the message, which keeps to its column."""
    stamp = time.strftime(" %H:%M:%S " if width < 90 else " %Y-%m-%d %H:%M:%S ", time.localtime(event.at))
    level = f"{event.level:<8}" if event.level != "info" else ""
    ink = INK[event.level]
    column = len(stamp) + len(level)
    first, *others = folded(visible(event.message), max(width - column, LEAST)) or [""]
    return [
        [(stamp, "muted"), (level, ink), (first, ink)],
        *([(" " * column, ""), (text, ink)] for text in others),
    ]

"""The session's log, newest at the bottom, following what comes."""

import time
from collections.abc import Sequence

from session.reading import Event
from tui.inks import Part
from tui.rows import Rows
from tui.words import visible

INK = {"info": "", "warning": "warn", "error": "bad"}


class EventList(Rows[Event]):
    """One line an event."""

    selectable = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = " nothing has happened yet"

    def show_events(self, events: Sequence[Event]) -> None:
        """Draw these, oldest first; stays at the end if it stood there."""
        at_end = self.scroll_offset.y >= self.max_scroll_y - 1
        if self.rows != events:
            self.show(events)
            if at_end:
                self.call_after_refresh(self.action_to, -1)

    def parts(self, row: Event, width: int) -> list[Part]:
        stamp = time.strftime("%H:%M:%S" if width < 90 else "%Y-%m-%d %H:%M:%S", time.localtime(row.at))
        return [
            (f" {stamp} ", "muted"),
            (f"{row.level:<8}" if row.level != "info" else "", INK[row.level]),
            (visible(row.message), INK[row.level]),
        ]

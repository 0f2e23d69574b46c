"""A list that draws only the rows in sight: any length costs the same, no markup is ever parsed."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from tui.inks import Drawn, Part

T = TypeVar("T")


class Rows(Drawn, ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """Base of all lists. A subclass says what a row looks like (:meth:`parts`) and, if it has one,
    what the header looks like (:meth:`header`)."""

    BINDINGS = [  # noqa: RUF012
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "to(0)", "First", show=False),
        Binding("end,G", "to(-1)", "Last", show=False),
        Binding("enter", "choose", "Detail", show=False),
    ]

    cursor: reactive[int] = reactive(0, repaint=True)
    selectable = True
    """Whether a row can be chosen; else the list only scrolls."""

    class Chosen(Message):
        """Enter or a click on the row under the cursor."""

        def __init__(self, rows: "Rows[Any]", row: Any) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Widget:
            return self.rows

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, rows: "Rows[Any]", row: Any) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Widget:
            return self.rows

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.rows: Sequence[T] = ()
        self.empty = ""

    # What a subclass gives ------------------------------------------------------------------

    def header(self, width: int) -> list[Part]:
        """The line above the rows; [] for none."""
        return []

    def parts(self, row: T, width: int) -> list[Part]:
        """One row."""
        raise NotImplementedError

    def key(self, row: T) -> object:
        """What makes a row the same row after an update, so that the cursor stays on it."""
        return None

    # ------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Cells of a line beside the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def current(self) -> T | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    def show(self, rows: Sequence[T], *, anew: bool = False) -> None:
        """Draw these rows from now on; the cursor stays on its row by :meth:`key`, else in place.

        ``anew``: draw even if they are the same rows as before.
        """
        if not anew and self.rows == rows:
            return
        before = self.current
        self.rows = rows
        if before is not None and self.key(before) is not None and self.scroll_y:
            sought = self.key(before)
            found = next((i for i, row in enumerate(rows) if self.key(row) == sought), None)
            if found is not None:
                self.set_reactive(Rows.cursor, found)
        if self.cursor >= len(rows):
            self.set_reactive(Rows.cursor, max(0, len(rows) - 1))
        self._fit()
        self.refresh()

    def _fit(self) -> None:
        top = 1 if self.header(self.width) else 0
        self.virtual_size = Size(self.size.width, len(self.rows) + top)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def render_line(self, y: int) -> Strip:
        width = self.width
        head = self.header(width)
        if head and y == 0:
            return self.strip(head, width, "header")
        index = y + round(self.scroll_offset.y) - (1 if head else 0)
        if not self.rows and index == 0 and self.empty:
            return self.strip([(self.empty, "muted")], width)
        if not 0 <= index < len(self.rows):
            return self.strip([], width)
        chosen = self.selectable and index == self.cursor and self.has_focus
        return self.strip(self.parts(self.rows[index], width), width, "cursor" if chosen else "")

    def reveal(self) -> None:
        """Scroll so that the cursor is in sight."""
        top = 1 if self.header(self.width) else 0
        self.scroll_to_region(
            Region(0, self.cursor, self.size.width, 1 + top), animate=False, force=True, x_axis=False
        )

    def watch_cursor(self) -> None:
        current = self.current
        if current is not None:
            self.post_message(self.Moved(self, current))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_move(self, by: int) -> None:
        if not self.selectable:
            self.scroll_relative(y=by, animate=False)
        elif self.rows:
            self.cursor = min(max(self.cursor + by, 0), len(self.rows) - 1)
            self.reveal()

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 2))

    def action_to(self, row: int) -> None:
        if not self.selectable:
            self.scroll_to(y=self.max_scroll_y if row < 0 else 0, animate=False)
        elif self.rows:
            self.cursor = row % len(self.rows)
            self.reveal()

    def action_choose(self) -> None:
        current = self.current
        if current is not None and self.selectable:
            self.post_message(self.Chosen(self, current))

    def on_click(self, event: events.Click) -> None:
        if not self.selectable:
            return
        place = event.get_content_offset(self)
        if place is None:
            return
        top = 1 if self.header(self.width) else 0
        index = place.y + round(self.scroll_offset.y) - top
        if place.y >= top and 0 <= index < len(self.rows):
            same = index == self.cursor
            self.cursor = index
            if same or event.chain > 1:
                self.action_choose()

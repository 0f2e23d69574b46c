"""Lists that draw only the rows in sight, at any length, and never parse markup."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from wikitopics.tui.inks import Drawn, Line
from wikitopics.tui.text import folded

T = TypeVar("T")


class _OfRow(Message):
    """Something happened to a row of a list."""

    def __init__(self, row: object) -> None:
        super().__init__()
        self.row = row


class RowList(Drawn, ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """Base of all lists. A subclass draws a row (`parts`) and, if it has one, the header
    (`header`)."""

    BINDINGS = [  # noqa: RUF012
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "to(0)", "First", show=False),
        Binding("end,G", "to(-1)", "Last", show=False),
        Binding("enter", "choose", "Detail", show=False),
    ]

    DEFAULT_CLASSES = "panel"

    cursor: reactive[int] = reactive(0)
    selectable = True
    """Whether rows can be selected; otherwise the list only scrolls."""
    headed = True
    """Whether there is a line above the rows, which a subclass draws in `header`."""
    empty = ""
    """The words shown while there are no rows."""
    opens_at_once = False
    """Whether a click on any row opens it; otherwise only a click on the row under the cursor
    does."""
    stays_on_top = False
    """Whether a cursor on the first row stays there, for lists that show the newest or best
    first."""

    class Selection(_OfRow):
        """Enter or a click on the row under the cursor."""

    class Moved(_OfRow):
        """The cursor moved to another row."""

    rows: Sequence[T] = ()
    held = False
    """Whether the user selected the row under the cursor; the cursor then follows that row."""

    # What a subclass provides ------------------------------------------------------------------

    def header(self, width: int) -> Line:
        """The line above the rows, if there is one."""
        raise NotImplementedError

    def parts(self, row: T, width: int) -> Line:
        """One row."""
        raise NotImplementedError

    def key(self, row: T) -> object:
        """What identifies a row across updates, so that the cursor can stay on it."""
        return None

    # ------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Cells of a line, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def current(self) -> T | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    def show(self, rows: Sequence[T], *, anew: bool = False) -> None:
        """Draw these rows from now on. A row that is `held` keeps the cursor, by `key`; otherwise
        the cursor stays at its place.

        ``anew``: draw even if the rows are the same as before.
        """
        if not anew and self.rows == rows:
            return
        selected = self.current
        self.rows = rows
        self._fit()
        if self.held and selected is not None:
            is_listed = self._follow(self.key(selected))
            if self.stays_on_top and not is_listed:
                self.release()
        if self.cursor >= len(rows):
            self.set_reactive(RowList.cursor, max(0, len(rows) - 1))
        self.refresh()

    def hold(self) -> None:
        """From now on the cursor follows the row under it."""
        is_kept_on_top = self.stays_on_top and self.cursor == 0
        self.held = self.current is not None and not is_kept_on_top

    def release(self) -> None:
        """Go back to the first row, whichever that is."""
        self.held = False
        self.set_reactive(RowList.cursor, 0)
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _follow(self, key: object) -> bool:
        """Put the cursor on the row with this key, and return whether there is one; a row that was
        in sight stays in sight."""
        keys = [self.key(row) for row in self.rows]
        if key not in keys:
            return False
        index = keys.index(key)
        by = index - self.cursor
        was_in_sight = self._in_sight(self.cursor)
        self.set_reactive(RowList.cursor, index)
        if was_in_sight and not self._in_sight(index):
            # Scroll by as much as the row has moved, so that it keeps its place on the screen.
            self.scroll_to(y=self.scroll_offset.y + by, animate=False, force=True, immediate=True)
        return True

    @property
    def _head_lines(self) -> int:
        """The number of lines above the rows."""
        return 1 if self.headed else 0

    def _in_sight(self, row: int) -> bool:
        height = self.scrollable_content_region.height - self._head_lines
        return 0 <= row - self.scroll_offset.y < height

    def _fit(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows) + self._head_lines)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        if self.held:
            self._reveal()  # it may have moved while the list was hidden

    def render_line(self, y: int) -> Strip:
        width = self.width
        if self.headed and y == 0:
            return self.strip(self.header(width), width, "header")
        index = self._row_at(y)
        if not self.rows:
            lines = folded(self.empty, width - 1)
            if index < len(lines):
                return self.strip([(f" {lines[index]}", "muted")], width)
            return self.strip([], width)
        if not 0 <= index < len(self.rows):
            return self.strip([], width)
        is_chosen = self.selectable and index == self.cursor and self.has_focus
        under = "cursor" if is_chosen else ""
        return self.strip(self.parts(self.rows[index], width), width, under)

    def _row_at(self, y: int) -> int:
        """The row in this line of the widget, whether or not there is such a row."""
        return y + round(self.scroll_offset.y) - self._head_lines

    def go_to(self, row: int) -> None:
        """Select a row and scroll it into sight."""
        self.cursor = row
        self.hold()
        self._reveal()

    def _reveal(self) -> None:
        row = Region(0, self.cursor, self.size.width, 1 + self._head_lines)
        self.scroll_to_region(row, animate=False, force=True, x_axis=False)

    def watch_cursor(self) -> None:
        if self.current is not None:
            self.post_message(self.Moved(self.current))

    def action_move(self, by: int) -> None:
        if not self.selectable:
            self.scroll_relative(y=by, animate=False)
        elif self.rows:
            self.go_to(min(max(self.cursor + by, 0), len(self.rows) - 1))

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 2))

    def action_to(self, row: int) -> None:
        if not self.selectable:
            end = self.max_scroll_y if row < 0 else 0
            self.scroll_to(y=end, animate=False)
        elif self.rows:
            self.go_to(row % len(self.rows))

    def action_choose(self) -> None:
        if self.current is not None and self.selectable:
            self.hold()
            self.post_message(self.Selection(self.current))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if not self.selectable or offset is None or "@click" in event.style.meta:
            return
        index = self._row_at(offset.y)
        if offset.y >= self._head_lines and 0 <= index < len(self.rows):
            is_choice = self.opens_at_once or index == self.cursor or event.chain > 1
            self.go_to(index)
            if is_choice:
                self.action_choose()


class Folded(RowList[tuple[T, Line]], Generic[T]):
    """Items, each in lines that are folded to the width, so that none is cut; the list only
    scrolls."""

    selectable = headed = False
    follows = False
    """Whether new lines appear at the end, so that a list scrolled to its end stays there."""
    items: Sequence[T] = ()
    _end = 0
    """The offset of the end as it was last drawn."""

    def fold(self, item: T, width: int) -> list[Line]:
        """The lines of an item, each of at most ``width`` cells."""
        raise NotImplementedError

    def show_items(self, items: Sequence[T]) -> None:
        """Draw these; a list scrolled to its end stays there."""
        if self.items != items:
            self.items = items
            self.refold()

    def refold(self) -> None:
        """Fold all items again."""
        at_end = self.follows and self.scroll_offset.y >= self._end - 1
        width = max(self.size.width - 1, 1)  # one cell is for the scrollbar
        rows: list[tuple[T, Line]] = []
        for item in self.items:
            rows += [(item, line) for line in self.fold(item, width)]
        self.show(rows)
        self._end = self.max_scroll_y
        if at_end:
            self.call_after_refresh(self.action_to, -1)

    def parts(self, row: tuple[T, Line], width: int) -> Line:
        _, line = row
        return line

    def key(self, row: tuple[T, Line]) -> object:
        item, _ = row
        return item

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.refold()

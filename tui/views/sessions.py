"""Sessions: all of this user's, which run, how far they are; open another, begin a new one."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from session.doors.listing import list_sessions
from session.records import Status
from tui.inks import Part
from tui.look import Choice, Look
from tui.messages import NewSession, OpenSession
from tui.rowlist import RowList
from tui.views.view import View, name
from tui.widgets.statusline import condition, source_words
from tui.words import age, count, cut, measured, plural, visible

EVERY = 3.0
"""Seconds between two looks at the folder while the view is in sight."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session file and what it says of itself, or why it cannot be read."""

    name: str
    path: Path
    status: Status | str
    here: bool


class SessionList(RowList[SessionRow]):
    """One line a session; the one on screen is marked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = " looking for sessions …"
        self._longest = 0, 0
        """Cells of the longest name and of the longest text behind the columns."""

    def show(self, rows: Sequence[SessionRow], *, anew: bool = False) -> None:
        names = (cell_len(visible(row.name)) for row in rows)
        tails = (sum(cell_len(text) for text, _ in _tail(row.status)) for row in rows)
        self._longest = max(names, default=0), max(tails, default=0)
        super().show(rows, anew=anew)

    def key(self, row: SessionRow) -> object:
        return row.path

    def header(self, width: int) -> list[Part]:
        name, state, source = self._widths(width)
        head = f"   {'name':<{name}} {'state':<{state}} {'articles':>10}  {'source':<{source}} "
        return [(head + "models, perplexity", "header")]

    def _widths(self, width: int) -> tuple[int, int, int]:
        """Cells of name, state and source. The name has what the others leave, if it needs it."""
        name, state, source = (18, 16, 24) if width >= 110 else (10, 12, 15)
        others = len("   ") + 1 + state + 1 + 10 + 2 + source + 1
        longest, tail = self._longest
        return max(name, min(longest, width - others - tail)), state, source

    def parts(self, row: SessionRow, width: int) -> list[Part]:
        name, state, source = self._widths(width)
        mark: Part = (" > " if row.here else "   ", "accent")
        title: Part = (set_cell_size(cut(visible(row.name), name), name) + " ", "strong")
        s = row.status
        if isinstance(s, str):
            return [mark, title, (visible(s), "bad")]
        _, words, ink = condition(s)
        return [
            mark,
            title,
            (f"{cut(words.lower(), state):<{state}} ", ink),
            (f"{count(s.articles):>10}  ", ""),
            (set_cell_size(cut(source_words(s), source), source) + " ", "muted"),
            *_tail(s),
        ]


def _tail(status: Status | str) -> list[Part]:
    """What stands behind the columns: the models with their perplexity, and when all was saved."""
    if isinstance(status, str):
        return []
    models = "  ".join(
        f"{m.name} {measured(m.perplexity)}" if m.perplexity is not None else m.name for m in status.models
    )
    since = status.checkpoint_age_seconds
    return [(visible(models), ""), (f"  saved {age(since)} ago" if since is not None else "", "faint")]


class Sessions(View):
    """The sessions in the session folder."""

    TITLE = "Sessions"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("n", "new", "New session", id="sessions.new", tooltip="begin a new session"),
    ]

    def __init__(self) -> None:
        super().__init__(id="sessions-view")
        self._looked_at = float("-inf")

    def compose(self) -> ComposeResult:
        yield SessionList(id="sessions")

    def home(self) -> Widget | None:
        return self.query_one(SessionList)

    def show(self, look: Look, choice: Choice) -> None:
        if time.monotonic() - self._looked_at >= EVERY:
            self._looked_at = time.monotonic()
            self.run_worker(self._fill(Path(look.status.session)), group="sessions", exclusive=True)

    async def _fill(self, here: Path) -> None:
        found = await asyncio.to_thread(list_sessions)
        rows = [SessionRow(title, path, status, path == here) for title, path, status in found]
        listed = self.query_one(SessionList)
        listed.empty = " no sessions in the session folder; this one lies elsewhere"
        listed.show(rows)
        name(listed, plural(len(rows), "session"), "Enter opens, n begins a new one")

    @on(SessionList.Chosen, "#sessions")
    def _chosen(self, event: SessionList.Chosen) -> None:
        row: SessionRow = event.row
        if isinstance(row.status, str):
            self.app.notify(row.status, severity="error", markup=False)
        else:
            self.post_message(OpenSession(row.path))

    def action_new(self) -> None:
        self.post_message(NewSession())

    def copied(self) -> str:
        row = self.query_one(SessionList).current
        return "" if row is None else str(row.path)

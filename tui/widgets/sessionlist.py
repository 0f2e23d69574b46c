"""Sessions, one per line: name, state and progress."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len

from wikitopics.session.records import Status
from wikitopics.tui.inks import Clickable, Line, Part
from wikitopics.tui.widgets.rowlist import RowList
from wikitopics.tui.widgets.statusline import condition, source_words
from wikitopics.tui.words import age, count, cut, measured, padded, squeezed, visible

STATE, ARTICLES, SOURCE = 12, 10, 15
"""Cells of these columns if the terminal is narrow."""
ROOMY = 110
"""Cells of a line from which the state is shown in more detail."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session file and its contents, or why it cannot be read."""

    name: str
    path: Path
    status: Status | str
    here: bool
    marked: bool = False
    """Whether its curves are drawn over those of the session on screen."""

    @property
    def running(self) -> bool:
        """Whether a trainer holds it."""
        return isinstance(self.status, Status) and self.status.running


ORDERS: Mapping[str, Callable[[Status], float]] = {
    "name": lambda status: 0.0,
    "articles": lambda status: -status.documents,
    "saved": lambda status: -status.committed_at,
}
"""The orders of sessions; equal ones are ordered by name."""


def listed(rows: Sequence[SessionRow], order: str, sought: str = "") -> list[SessionRow]:
    """The sessions with ``sought`` in their name or source: running ones first, unreadable ones last."""
    here = sought.casefold()
    key = ORDERS[order]

    def place(row: SessionRow) -> tuple[bool, bool, float, str]:
        status = row.status
        if isinstance(status, str):
            return True, True, 0.0, row.name
        return not row.running, False, key(status), row.name

    return sorted((row for row in rows if here in _told(row).casefold()), key=place)


def _told(row: SessionRow) -> str:
    source = "" if isinstance(row.status, str) else source_words(row.status)
    return f"{row.name} {source}"


class SessionList(RowList[SessionRow]):
    """One line per session: ● is the one on screen, + is compared with it, > is under the cursor.

    The cursor begins on the session on screen and stays on its session when the list is sorted.
    """

    empty = " looking for sessions …"
    _longest = 0, 0, 0
    """Cells of the longest name, the longest source, and the longest text after the columns."""

    def show(self, rows: Sequence[SessionRow], *, anew: bool = False) -> None:
        cells = [
            (
                cell_len(visible(row.name)),
                cell_len("" if isinstance(row.status, str) else source_words(row.status)),
                sum(cell_len(text) for text, _ in _tail(row.status)),
            )
            for row in rows
        ]
        names, sources, tails = zip(*cells, strict=True) if cells else ((0,), (0,), (0,))
        self._longest = max(names), max(sources), max(tails)
        first = not self.rows
        super().show(rows, anew=anew)
        if first and rows:
            self.go_to(next((i for i, row in enumerate(rows) if row.here), 0))

    def key(self, row: SessionRow) -> object:
        return row.path

    def header(self, width: int) -> Line:
        name, state, source = self._widths(width)
        return [
            (Clickable(f"   {'name':<{name}} ", order="name"), "header"),
            (f"{'state':<{state}} ", "header"),
            (Clickable(f"{'articles':>{ARTICLES}}  ", order="articles"), "header"),
            (f"{'source':<{source}} models, perplexity", "header"),
        ]

    def _widths(self, width: int) -> tuple[int, int, int]:
        """Cells of name, state and source. A name is shown whole as long as there is room for its state;
        the columns after it shrink first, beginning with the source."""
        longest, source, tail = self._longest
        state = 16 if width >= ROOMY else STATE
        name = max(min(longest, width - len("   ") - 1 - state), len("name"))
        left = width - len("   ") - name - 1 - state - 1 - ARTICLES - 2 - 1
        return name, state, max(min(source, left - tail), SOURCE)

    def parts(self, row: SessionRow, width: int) -> Line:
        name, state, source = self._widths(width)
        cursor = ">" if row is self.current and self.has_focus else " "
        mark: Part = (f"{cursor}{'●' if row.here else '+' if row.marked else ' '} ", "accent")
        title: Part = (padded(squeezed(visible(row.name), name), name) + " ", "strong")
        s = row.status
        if isinstance(s, str):
            return [mark, title, (visible(s), "bad")]
        _, words, ink = condition(s)
        return [
            mark,
            title,
            (f"{cut(words.lower(), state):<{state}} ", ink),
            (f"{count(s.documents):>{ARTICLES}}  ", ""),
            (padded(source_words(s), source) + " ", "muted"),
            *_tail(s),
        ]


def _tail(status: Status | str) -> Line:
    """The text after the columns: the models with their perplexity, and the time of the last save."""
    if isinstance(status, str):
        return []
    models = "  ".join(
        f"{m.name} {measured(m.perplexity)}" if m.perplexity is not None else m.name for m in status.models
    )
    since = status.checkpoint_age_seconds
    return [(visible(models), ""), (f"  saved {age(since)} ago" if since is not None else "", "faint")]

"""Sessions: all of this user's, with their state and progress; open another, create one, delete
one."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Container

from wikitopics.session.control import list_sessions, remove
from wikitopics.session.errors import SessionError
from wikitopics.session.metrics import METRICS
from wikitopics.session.paths import command
from wikitopics.session.records import Status
from wikitopics.tui.background import run_in_background
from wikitopics.tui.bars import condition, source_words
from wikitopics.tui.chart import PlainChart
from wikitopics.tui.curves import X_KINDS, drawing, measurement_caption, title
from wikitopics.tui.follow import MOST_COMPARED, Follower
from wikitopics.tui.inks import Line, Part, line_cells, name, sorting
from wikitopics.tui.lists import RowList
from wikitopics.tui.questions import Question
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings, is_refused, write_action
from wikitopics.tui.text import age, count, cut, measured, padded, plural, squeezed, visible
from wikitopics.tui.topic_list import TopicList, topics_title
from wikitopics.tui.views.view import View, next_choice

# Sessions, one per line: name, state and progress.

# Cells of the columns; where there is room, the source has more.
CURSOR = 3
STATE = 12
DETAILED_STATE = 16
ARTICLES = 10
SOURCE = 15
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

    @property
    def source(self) -> str:
        """Where its articles come from; "" if that cannot be read."""
        return source_words(self.status) if isinstance(self.status, Status) else ""


ORDERS: Mapping[str, Callable[[Status], float]] = {
    "name": lambda status: 0.0,
    "articles": lambda status: -status.documents,
    "saved": lambda status: -status.committed_at,
}
"""The orders of sessions; equal ones are ordered by name."""


def listed(rows: Sequence[SessionRow], order: str, sought: str = "") -> list[SessionRow]:
    """The sessions with ``sought`` in their name or source: running ones first, unreadable ones
    last."""

    def key(row: SessionRow) -> tuple[bool, bool, float, str]:
        value = 0.0 if isinstance(row.status, str) else ORDERS[order](row.status)
        return not row.running, isinstance(row.status, str), value, row.name

    words = sought.casefold()
    return sorted((row for row in rows if words in f"{row.name} {row.source}".casefold()), key=key)


class SessionList(RowList[SessionRow]):
    """One line per session: ● is the one on screen, + is compared with it, > is under the cursor.

    The cursor begins on the session on screen and stays on its session when the list is sorted.
    """

    empty = " looking for sessions …"
    # Cells of the longest name, the longest source, and the longest text after the columns.
    _longest_name = 0
    _longest_source = 0
    _longest_tail = 0

    def show(self, rows: Sequence[SessionRow], *, anew: bool = False) -> None:
        tails = [_tail(row.status) for row in rows]
        self._longest_name = max((cell_len(visible(row.name)) for row in rows), default=0)
        self._longest_source = max((cell_len(row.source) for row in rows), default=0)
        self._longest_tail = max((line_cells(tail) for tail in tails), default=0)
        is_first = not self.rows
        super().show(rows, anew=anew)
        if is_first and rows:
            on_screen = [index for index, row in enumerate(rows) if row.here] or [0]
            self.go_to(on_screen[0])

    def key(self, row: SessionRow) -> object:
        return row.path

    def header(self, width: int) -> Line:
        name, state, source = self._widths(width)
        return [
            (sorting(" " * CURSOR + "name".ljust(name) + " ", "name"), "header"),
            ("state".ljust(state) + " ", "header"),
            (sorting("articles".rjust(ARTICLES) + "  ", "articles"), "header"),
            ("source".ljust(source) + " models, perplexity", "header"),
        ]

    def _widths(self, width: int) -> tuple[int, int, int]:
        """Cells of name, state and source. A name is shown whole as long as there is room for its
        state; the columns after it shrink first, beginning with the source."""
        state = DETAILED_STATE if width >= ROOMY else STATE
        room_for_name = width - CURSOR - 1 - state
        name = max(min(self._longest_name, room_for_name), len("name"))
        # The gaps after the columns: of one cell each, and of two after the articles.
        gaps = 1 + 1 + 2 + 1
        room_for_source = width - CURSOR - name - state - ARTICLES - gaps - self._longest_tail
        source = max(min(self._longest_source, room_for_source), SOURCE)
        return name, state, source

    def parts(self, row: SessionRow, width: int) -> Line:
        name, state, source = self._widths(width)
        cursor = ">" if row is self.current and self.has_focus else " "
        sign = " "
        if row.here:
            sign = "●"
        elif row.marked:
            sign = "+"
        mark: Part = (f"{cursor}{sign} ", "accent")
        title: Part = (padded(squeezed(visible(row.name), name), name) + " ", "strong")
        status = row.status
        if isinstance(status, str):
            return [mark, title, (visible(status), "bad")]
        _, words, ink = condition(status)
        return [
            mark,
            title,
            (cut(words.lower(), state).ljust(state) + " ", ink),
            (count(status.documents).rjust(ARTICLES) + "  ", ""),
            (padded(row.source, source) + " ", "muted"),
            *_tail(status),
        ]


def _tail(status: Status | str) -> Line:
    """The text after the columns: the models with their perplexity, and the time of the last
    save."""
    if isinstance(status, str):
        return []
    models = []
    for model in status.models:
        words = model.name
        if model.perplexity is not None:
            words += f" {measured(model.perplexity)}"
        models.append(words)
    tail: Line = [(visible("  ".join(models)), "")]
    since = status.checkpoint_age_seconds
    if since is not None:
        tail.append((f"  saved {age(since)} ago", "faint"))
    return tail


EVERY = 3.0
"""Seconds between two readings of the folder while the view is in sight."""


class Sessions(View):
    """The sessions in the session folder."""

    TITLE = "Sessions"
    HOME = SessionList
    OF_MODEL = False
    FINDS = "a session's name or source"
    BINDINGS = bindings("sessions")

    _listed_at = float("-inf")
    """When the folder was last read, by the monotonic clock."""
    _here = Path()
    """The session on screen."""
    _rows: Sequence[SessionRow] = ()
    _order = next(iter(ORDERS))

    def compose(self) -> ComposeResult:
        yield SessionList(id="sessions")
        with Container(id="session"):
            yield PlainChart(id="session-curve")
            yield TopicList(id="session-topics", disabled=True)  # only to be seen

    def on_mount(self) -> None:
        self.query_one(PlainChart).fit_y = True

    def draw(self, session: SessionView) -> None:
        here = Path(session.status.session)
        now = time.monotonic()
        if here != self._here or now - self._listed_at >= EVERY:
            self._here = here
            self._listed_at = now
            run_in_background(self, self._fill, "sessions")

    async def _fill(self) -> None:
        files = await asyncio.to_thread(list_sessions)
        self._rows = [
            SessionRow(title, path, status, path == self._here) for title, path, status in files
        ]
        if self.query(SessionList):  # otherwise the screen is closing
            self.again()

    def again(self) -> None:
        marked = self.choice.compared
        sessions = self.query_one(SessionList)
        sessions.empty = " no sessions in the session folder; this one is elsewhere"
        if self.sought:
            sessions.empty = f" no session has “{visible(self.sought)}” in its name or source"
        rows = [replace(row, marked=row.path in marked and not row.here) for row in self._rows]
        sessions.show(listed(rows, self._order, self.sought))
        running = sum(row.running for row in rows)
        title = f"{plural(len(sessions.rows), 'session')} by {self._order}"
        if running:
            title += f", {running} running"
        new = "" if is_refused(self, "new") else ", n creates a new one"
        name(sessions, title, f"Enter opens, x compares{new}")
        self._show_chosen()

    @on(SessionList.Moved)
    def _show_chosen(self) -> None:
        """Show more of the session under the cursor, if there is room. It is read again with each
        listing: topics can be renamed and hidden without a commit."""
        row = self.query_one(SessionList).current
        if row is not None and self.has_class("-tall"):
            self.fill("chosen", (row.path, self._listed_at), partial(self._fill_chosen, row))

    async def _fill_chosen(self, row: SessionRow) -> None:
        choice = replace(self.choice, metric=METRICS[0].name, model=None)
        follower = Follower(row.path)
        try:
            session = await follower.read_session([choice.metric])
        except SessionError:  # the list says why
            self.remove_class("-known")
            return
        finally:
            follower.close()
        self.add_class("-known")
        curve = self.query_one(PlainChart)
        curve.drawing = drawing(session, choice, X_KINDS[0])
        curve.redraw()
        curve_title = f"{row.name} · {title(session, choice, X_KINDS[0])}"
        name(curve, curve_title, measurement_caption(session, choice))
        topics = self.query_one(TopicList)
        topics.show_topics(session, choice)
        name(topics, *topics_title(session, choice))

    def open_row(self, row: object) -> None:
        assert isinstance(row, SessionRow)
        if isinstance(row.status, str):
            self.app.notify(row.status, severity="error")
        else:
            self.host.call_later(self.host.follow, row.path)

    def action_compare(self) -> None:
        """Mark or unmark the selected session."""
        row = self.query_one(SessionList).current
        marked = self.choice.compared
        if row is None:
            return
        if row.here:  # its mark, if it has one, is not shown
            words = "this session is on screen: mark another one to compare it with"
            self.app.notify(words, severity="warning")
        elif row.path in marked:
            marked.remove(row.path)
        elif isinstance(row.status, str):
            self.app.notify(row.status, severity="warning")
        elif len(marked) >= MOST_COMPARED:
            self.app.notify(
                f"{MOST_COMPARED} sessions are already marked: x removes a mark", severity="warning"
            )
        else:
            marked.append(row.path)
        self.again()
        self.host.watched.read_again()

    def action_order(self) -> None:
        self.action_sort(next_choice(self._order, [*ORDERS]))

    def action_sort(self, order: str) -> None:
        self._order = order
        self.again()

    @write_action
    def action_delete(self) -> None:
        row = self.query_one(SessionList).current
        if row is None:
            return
        why_not = ""
        if row.running:
            why_not = f"a trainer is running on it; `{visible(command('stop', row.path))}` ends it"
        elif row.here:
            why_not = "it is on screen; open another session first"
        if why_not:
            self.app.notify(f"{row.name} was not deleted: {why_not}", severity="warning")
            return
        words = (
            f"This deletes {visible(row.name)} and everything it has learnt, and cannot be undone."
        )
        answers = [("keep", "k", "Keep it"), ("delete", "d", "Delete it for good")]

        async def delete() -> None:
            with self.host.warning():
                await asyncio.to_thread(remove, row.path)
                self.app.notify(f"{row.name} was deleted")
            await self._fill()

        def answered(answer: str | None) -> None:
            if answer == "delete":
                run_in_background(self, delete, "delete", exclusive=False)

        self.app.push_screen(Question("Delete a session", words, answers), answered)

    def copied(self) -> str:
        row = self.query_one(SessionList).current
        return "" if row is None else str(row.path)

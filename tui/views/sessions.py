"""Sessions: all of this user's, with their state and progress; open another, create one, delete one."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from wikitopics.session.control.sessions import list_sessions, remove
from wikitopics.session.errors import SessionError
from wikitopics.session.metrics import METRICS
from wikitopics.session.paths import command
from wikitopics.tui.background import begin
from wikitopics.tui.chart.picture import Picture
from wikitopics.tui.curves import X_KINDS, drawing, taken, title
from wikitopics.tui.dialogs.ask import Ask
from wikitopics.tui.follow import MOST, Follower
from wikitopics.tui.inks import name
from wikitopics.tui.keys import key
from wikitopics.tui.look import Look
from wikitopics.tui.views.view import OpenSession, View, after
from wikitopics.tui.widgets.sessionlist import ORDERS, SessionList, SessionRow, listed
from wikitopics.tui.widgets.topiclist import TopicList, topics_title
from wikitopics.tui.words import plural, visible

COMPARE = "mark the session: its curves are drawn over this one's"
WIDE, TALL = 110, 34
"""The columns and lines from which more of one session is shown."""
EVERY = 3.0
"""Seconds between two looks at the folder while the view is in sight."""


class Sessions(View):
    """The sessions in the session folder."""

    TITLE = "Sessions"
    OF_MODEL = False
    FINDS = "a session's name or source"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        key("sessions.new", "n", "new", "New session", "begin a new session"),
        key("sessions.order", "o", "order", "Order", "sort by name, articles or last save"),
        key("sessions.compare", "x", "compare", "Compare", COMPARE),
        key("sessions.delete", "D", "delete", "Delete", "delete the session", "D"),
        key("sessions.all", "escape", "all", "All", "show all sessions again"),
    ]

    _looked_at = float("-inf")
    _here = Path()
    """The session on screen."""
    _found: Sequence[SessionRow] = ()
    _order = next(iter(ORDERS))

    _shown: tuple[object, ...] = ()
    """The session whose curve and topics are shown, and when it was last saved."""

    def compose(self) -> ComposeResult:
        yield SessionList(id="sessions")
        with Container(id="session"):
            yield Picture(id="session-curve", classes="panel")
            yield TopicList(id="session-topics", disabled=True)  # to look at

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(Picture).fit_y = True

    def fit(self, width: int, height: int) -> None:
        self.set_class(width >= WIDE, "-wide")
        self.set_class(height >= TALL, "-tall")
        if self.is_mounted:
            self._show_chosen()

    def home(self) -> Widget | None:
        return self.query_one(SessionList)

    def draw(self, look: Look) -> None:
        here, now = Path(look.status.session), time.monotonic()
        if here != self._here or now - self._looked_at >= EVERY:
            self._here, self._looked_at = here, now
            begin(self, self._fill, "sessions")

    async def _fill(self) -> None:
        found = await asyncio.to_thread(list_sessions)
        self._found = [SessionRow(title, path, status, path == self._here) for title, path, status in found]
        self.again()

    def again(self) -> None:
        rows = self.query_one(SessionList)
        rows.empty = (
            f" no session has “{visible(self.sought)}” in its name or source"
            if self.sought
            else " no sessions in the session folder; this one is elsewhere"
        )
        marked = self.choice.compared
        found = [replace(row, marked=row.path in marked and not row.here) for row in self._found]
        rows.show(listed(found, self._order, self.sought))
        running = sum(row.running for row in self._found)
        head = f"{plural(len(rows.rows), 'session')} by {self._order}"
        name(
            rows,
            f"{head}, {running} running" if running else head,
            "Enter opens, x compares, n creates a new one",
        )
        self._show_chosen()

    @on(SessionList.Moved, "#sessions")
    def _show_chosen(self) -> None:
        """Show more of the session under the cursor, if there is room."""
        row = self.query_one(SessionList).current
        if row is None or not self.has_class("-tall"):
            return
        now = row.path, row.status if isinstance(row.status, str) else row.status.committed_at
        if now != self._shown:
            self._shown = now
            begin(self, partial(self._fill_chosen, row), "chosen")

    async def _fill_chosen(self, row: SessionRow) -> None:
        choice = replace(self.choice, metric=METRICS[0].name, model=None)
        follower = Follower(row.path)
        try:
            look = await follower.look([choice.metric])
        except SessionError:  # the list says why
            self.remove_class("-known")
            return
        finally:
            follower.close()
        self.add_class("-known")
        curve, topics = self.query_one(Picture), self.query_one(TopicList)
        curve.drawing = drawing(look, choice, X_KINDS[0])
        curve.redraw()
        name(curve, f"{row.name} · {title(look, choice, X_KINDS[0])}", taken(look, choice))
        topics.show_topics(look, choice, "")
        name(topics, *topics_title(look, choice, ""))

    @on(SessionList.Chosen, "#sessions")
    def _chosen(self, event: SessionList.Chosen) -> None:
        row: SessionRow = event.row
        if isinstance(row.status, str):
            self.app.notify(row.status, severity="error", markup=False)
        else:
            self.post_message(OpenSession(row.path))

    def action_new(self) -> None:
        self.host.training.new_session()

    def action_compare(self) -> None:
        """Mark or unmark the selected session."""
        row, marked = self.query_one(SessionList).current, self.choice.compared
        if row is None:
            return
        if row.path in marked:
            marked.remove(row.path)
        elif why := self._not_compared(row):
            self.app.notify(why, severity="warning", markup=False)
        else:
            marked.append(row.path)
        self.again()
        self.host.look_again()

    def _not_compared(self, row: SessionRow) -> str:
        """Why the session cannot be marked; "" if it can."""
        if row.here:
            return "this session is on screen: mark another one to compare it with"
        if isinstance(row.status, str):
            return row.status
        many = len(self.choice.compared) >= MOST
        return f"{MOST} sessions are marked already: x removes a mark" if many else ""

    def action_order(self) -> None:
        self.sort(after(self._order, [*ORDERS]))

    def sort(self, order: str) -> None:
        self._order = order
        self.again()

    def action_delete(self) -> None:
        row = self.query_one(SessionList).current
        if row is None:
            return
        why = ""
        if row.running:
            why = f"a trainer is running on it; `{visible(command('stop', row.path))}` ends it"
        elif row.here:
            why = "it is on screen; open another session first"
        if why:
            self.app.notify(f"{row.name} was not deleted: {why}", severity="warning", markup=False)
            return
        self.app.push_screen(
            Ask(
                "Delete a session",
                f"{visible(row.name)} and everything it has learnt. This cannot be undone.",
                [("keep", "k", "Keep it"), ("delete", "d", "Delete it for good")],
            ),
            lambda answer: self._answered(answer, row),
        )

    def _answered(self, answer: str | None, row: SessionRow) -> None:
        if answer == "delete":
            begin(self, partial(self._delete, row), "delete", exclusive=False)

    async def _delete(self, row: SessionRow) -> None:
        try:
            await asyncio.to_thread(remove, row.path)
        except SessionError as error:
            self.app.notify(str(error), severity="warning", markup=False)
        else:
            self.app.notify(f"{row.name} was deleted", markup=False)
        await self._fill()

    def copied(self) -> str:
        row = self.query_one(SessionList).current
        return "" if row is None else str(row.path)

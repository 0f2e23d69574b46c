"""Log: the events of this session."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from wikitopics.tui.look import Choice, Look
from wikitopics.tui.views.view import View, name
from wikitopics.tui.widgets.eventlist import EventList
from wikitopics.tui.words import plural, visible


class Log(View):
    """The events, oldest first, following the newest."""

    TITLE = "Log"
    OF_MODEL = False
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("escape", "all", "All lines", show=False, id="log.all", tooltip="show every line again"),
    ]

    def __init__(self) -> None:
        super().__init__(id="log-view")
        self._look: Look | None = None
        self._choice = Choice()
        self._sought = ""

    def compose(self) -> ComposeResult:
        yield EventList(id="events")

    def home(self) -> Widget | None:
        return self.query_one(EventList)

    def show(self, look: Look, choice: Choice) -> None:
        self._look, self._choice = look, choice
        sought = self._sought.lower()
        found = look.events
        if sought:
            found = tuple(e for e in found if sought in e.message.lower() or sought in e.level)
        listed = self.query_one(EventList)
        listed.show_events(found)
        finding = f" with “{visible(self._sought)}”" if sought else ""
        name(listed, f"Log · {plural(len(found), 'line')}{finding}")

    def action_all(self) -> None:
        self.find("")

    def finds(self) -> str:
        return "a word of the log"

    def find(self, text: str) -> None:
        self._sought = text
        if self.is_mounted and self._look is not None:
            self.show(self._look, self._choice)

    def copied(self) -> str:
        return "\n".join(
            f"{event.level}: {visible(event.message)}" for event in self.query_one(EventList).events
        )

"""Log: the events of this session."""

from textual.app import ComposeResult
from textual.widget import Widget

from wikitopics.tui.follow import LOG_LINES
from wikitopics.tui.inks import name
from wikitopics.tui.keys import key
from wikitopics.tui.look import Look
from wikitopics.tui.views.view import View
from wikitopics.tui.widgets.events import EventList
from wikitopics.tui.words import plural, visible


class Log(View):
    """The events, oldest first, following the newest."""

    TITLE = "Log"
    FINDS = "a word of the log"
    OF_MODEL = False
    BINDINGS = [key("log.all", "escape", "all", "All lines", "show every line again")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield EventList(id="events")

    def home(self) -> Widget | None:
        return self.query_one(EventList)

    def draw(self, look: Look) -> None:
        sought, found = self.sought.lower(), look.events
        if sought:
            found = tuple(e for e in found if sought in e.message.lower() or sought in e.level)
        listed = self.query_one(EventList)
        finding = f" with “{visible(self.sought)}”" if sought else ""
        listed.empty = " no line with these words" if sought else EventList.empty
        listed.show_items(found)
        newest = f", of the newest {LOG_LINES}" if len(look.events) == LOG_LINES else ""
        name(listed, f"Log · {plural(len(found), 'line')}{finding}{newest}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action == "all" or super().check_action(action, parameters)

    def copied(self) -> str:
        events = self.query_one(EventList).items
        return "\n".join(f"{event.level}: {visible(event.message)}" for event in events)

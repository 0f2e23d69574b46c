"""Log: the events of this session."""

import time
from collections.abc import Mapping, Sequence

from textual.app import ComposeResult

from wikitopics.session.records import Event, TopicChange, TopicEvent
from wikitopics.tui.follow import LOG_LINES, SessionView
from wikitopics.tui.inks import Line, name
from wikitopics.tui.lists import Folded
from wikitopics.tui.marks import Marks
from wikitopics.tui.terminal import binding
from wikitopics.tui.text import count, folded, plural, visible
from wikitopics.tui.views.view import View

# What has happened: the session's log, and what became of topics; and facts about it, one per line.

INK = {"info": "", "warning": "warn", "error": "bad"}
CHANGES: dict[TopicChange, tuple[str, str]] = {
    "born": ("▴", "good"),
    "split": ("◆", "accent"),
    "died": ("▾", "bad"),
    "merged": ("→", "warn"),
    "renamed": ("·", "muted"),
    "area_born": ("◇", "good"),
    "area_merged": ("⇢", "warn"),
}
"""The sign and the ink of each kind of change."""
LEAST = 20
"""The least cells of a message's line, however narrow the list is."""
NOTHING_CHANGED = " nothing has happened to topics yet"

Fact = tuple[str, str, str]
"""Name, value, ink of the value."""


class EventList(Folded[Event]):
    """The log, newest at the bottom, following new events; a long message takes several lines."""

    follows = True
    empty = " nothing has happened yet"

    def fold(self, width: int) -> list[Line]:
        stamp, lines = " %H:%M:%S " if width < 90 else " %Y-%m-%d %H:%M:%S ", list[Line]()
        for event in self.items:  # the time, the level if it matters, and the message
            ink = INK[event.level]
            level = f"{event.level:<8}" if event.level != "info" else ""
            head = [(time.strftime(stamp, time.localtime(event.at)), "muted"), (level, ink)]
            lines += _hanging(head, visible(event.message), ink, width, LEAST)
        return lines


class Facts(Folded[Fact]):
    """Names and values, one pair per line; an empty name continues the line above."""

    def fold(self, width: int) -> list[Line]:
        lines, column = list[Line](), max((len(title) for title, _, _ in self.items), default=0)
        for title, value, ink in self.items:
            for i, text in enumerate(folded(value, width - column - 3)):
                lines.append([(f" {title if i == 0 else '':<{column}}  ", "muted"), (text, ink)])
        return lines


def what_changed(
    events: Sequence[TopicEvent], marks: Mapping[str, Marks], width: int, height: int
) -> list[Line]:
    """One event after another, as many as fit whole. ``marks``: those of each model."""
    out: list[Line] = []
    for event in events[:height]:
        sign, ink = CHANGES[event.event]
        head = [(f"{count(event.articles):>9} ", "faint"), (f"{sign} ", ink)]
        head += marks[event.model].dot(event.topic if event.other is None else event.other)
        lines = _hanging(head, change_words(event, len(marks) > 1), ink, width, 16)
        if out and len(out) + len(lines) > height:
            break
        out += lines
    return out[:height] or [[(NOTHING_CHANGED, "muted")]]


def change_words(event: TopicEvent, several: bool) -> str:
    """The event in words; with ``several`` models, it names its model."""
    return visible(f"{event.model} {event.told()}" if several else event.told())


def _hanging(head: Line, text: str, ink: str, width: int, least: int) -> list[Line]:
    """The text beside ``head``, folded within its column, which has ``least`` cells at least."""
    column = sum(len(part) for part, _ in head)
    first, *others = folded(text, max(width - column, least)) or [""]
    return [[*head, (first, ink)], *([(" " * column, ""), (line, ink)] for line in others)]


class Log(View):
    """The events, oldest first, following the newest."""

    TITLE = "Log"
    HOME = EventList
    FINDS = "a word of the log"
    OF_MODEL = False
    BINDINGS = [binding("log.all", "escape", "all", "All lines", "show every line again")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield EventList(id="events")

    def draw(self, look: SessionView) -> None:
        sought, events = self.sought.lower(), look.events
        if sought:
            events = tuple(e for e in events if sought in e.message.lower() or sought in e.level)
        listed = self.query_one(EventList)
        finding = f" with “{visible(self.sought)}”" if sought else ""
        listed.empty = " no line with these words" if sought else EventList.empty
        listed.show_items(events)
        newest = f", of the newest {LOG_LINES}" if len(look.events) == LOG_LINES else ""
        name(listed, f"Log · {plural(len(events), 'line')}{finding}{newest}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action == "all" or super().check_action(action, parameters)

    def copied(self) -> str:
        events = self.query_one(EventList).items
        return "\n".join(f"{event.level}: {visible(event.message)}" for event in events)

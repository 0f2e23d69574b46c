"""Log: the events of this session; and the story that the dashboard tells of it, with the article
in the spotlight."""

import time
from collections.abc import Mapping, Sequence
from math import inf

from textual.app import ComposeResult

from wikitopics.session.analysis.spotlight import Spot
from wikitopics.session.analysis.story import Kind, Moment
from wikitopics.session.records import Event
from wikitopics.tui.follow import LOG_LINES
from wikitopics.tui.inks import Line, Marks, name
from wikitopics.tui.lists import Folded
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings, table
from wikitopics.tui.text import age, count, folded, plural, visible
from wikitopics.tui.views.view import View

# What has happened: the session's log, and what became of topics; and facts about it, one per line.

INK = {"info": "", "warning": "warn", "error": "bad"}
MOMENTS: Mapping[Kind, Sequence[str]] = table("signs.toml")["moments"]
"""The sign, the ink and the meaning of each kind of moment."""
LEAST = 20
"""The minimum width of a message's line, in cells, however narrow the list is."""
LEAST_OF_STORY = 16
"""The same for a moment of the story."""
NEWEST = 5
"""How many moments a ticker shows in turn."""
FRESH = 60.0
"""For how many seconds a moment is told with its age rather than with its time; for how many the
ticker tells nothing else once all topics have started over."""
DAY = 86_400

Fact = tuple[str, str, str]
"""Name, value, ink of the value."""


class EventList(Folded[Event]):
    """The log, newest at the bottom, following new events; a long message takes several lines."""

    BORDER_TITLE = "Log"
    follows = True
    empty = " nothing has happened yet"

    def fold(self, item: Event, width: int) -> list[Line]:
        """The time, the level if it matters, and the message."""
        ink = INK[item.level]
        form = " %H:%M:%S " if width < 90 else " %Y-%m-%d %H:%M:%S "
        head: Line = [(time.strftime(form, time.localtime(item.at)), "muted")]
        if item.level != "info":
            head.append((f"{item.level:<8}", ink))
        return _hanging(head, visible(item.message), ink, width, LEAST)


class Facts(Folded[Fact]):
    """Names and values, one pair per line; an empty name continues the line above."""

    def fold(self, item: Fact, width: int) -> list[Line]:
        title, value, ink = item
        column = max(len(title) for title, _, _ in self.items)
        return _hanging([(f" {title:<{column}}  ", "muted")], value, ink, width, 1)


def when(moment: Moment, now: float | None) -> str:
    """When the moment was: "12 s ago", then "12:04", from a day on "28 Nov"; if ``now`` is None,
    after how many articles: "at 12,000"."""
    if now is None or moment.at is None:
        return f"at {count(moment.articles)}"
    seconds = now - moment.at
    if seconds < FRESH:
        return f"{age(seconds)} ago"
    form = "%H:%M" if seconds < DAY else "%d %b"
    return time.strftime(form, time.localtime(moment.at))


def in_words(moment: Moment, several: bool) -> str:
    """The moment in words; with ``several`` models, it names its model."""
    if several and moment.model:
        return visible(f"{moment.model} {moment.words}")
    return visible(moment.words)


def ticker(
    moments: Sequence[Moment],
    several: bool,
    now: float | None,
    turn: int,
    spot: Spot | None = None,
) -> str:
    """One of the newest moments, in one line: each in turn, or the newest if ``now`` is None.

    That all topics have started over is told at once. A best value that is no longer the best is
    left out, as it would contradict the chart. With an article in the spotlight, it has every other
    turn.
    """
    moment = moments[0]
    started_over = []
    if now is not None:
        started_over = [
            moment
            for moment in moments
            if moment.kind == "started_over" and _seconds_since(moment, now) < FRESH
        ]
        in_turn = started_over or _in_force(moments)[:NEWEST]
        moment = in_turn[turn // 2 % len(in_turn)]
    if spot is not None and turn % 2 and not started_over:
        return f"{spot.heading} · {_spot_in_words(spot)}"
    sign, _, _ = MOMENTS[moment.kind]
    return f"{when(moment, now)} {sign} {in_words(moment, several)}"


def _spot_in_words(spot: Spot) -> str:
    return visible(f"{spot.article.called}: {spot.words}")


def _seconds_since(moment: Moment, now: float) -> float:
    return inf if moment.at is None else now - moment.at


def _in_force(moments: Sequence[Moment]) -> list[Moment]:
    """These moments, newest first, without best values that a later one of the model surpasses."""
    told: set[str | None] = set()
    in_force = []
    for moment in moments:
        if moment.kind == "best":
            if moment.model in told:
                continue
            told.add(moment.model)
        in_force.append(moment)
    return in_force


class Story(Folded[Moment]):
    """Moments, newest first, each in one line or more; a click or Enter opens what it is about."""

    BORDER_TITLE = "Story"
    selectable = stays_on_top = True
    empty = " births and records will appear here"
    _marks: Mapping[str, Marks] = {}
    _now: float | None = None
    _column = 0
    """Cells of the times."""

    def show_moments(
        self,
        moments: tuple[Moment, ...],
        marks: Mapping[str, Marks],
        now: float | None,
    ) -> None:
        """Show these moments. ``marks``: those of each model. ``now``: seconds since the epoch, or
        None."""
        if now is not None:
            # Times stay as they are, but the ages of fresh moments change every second.
            is_fresh = any(_seconds_since(moment, now) < FRESH + 1 for moment in moments)
            now = float(int(now)) if is_fresh else now // 60 * 60
        if (moments, marks, now) != (self.items, self._marks, self._now):
            self.items = moments
            self._marks = marks
            self._now = now
            self._column = max((len(when(moment, now)) for moment in moments), default=0)
            self.refold()

    def fold(self, item: Moment, width: int) -> list[Line]:
        sign, ink, _ = MOMENTS[item.kind]
        head: Line = [(f" {when(item, self._now):>{self._column}} ", "faint"), (f"{sign} ", ink)]
        marks = self._marks.get(item.model or "")
        if marks is not None and item.topic is not None:
            head += marks.dot(item.topic)
        words = in_words(item, len(self._marks) > 1)
        return _hanging(head, words, "", width, LEAST_OF_STORY)


class Spotlight(Folded[Spot]):
    """The article in the spotlight; a click or Enter opens its card."""

    BORDER_TITLE = "Spotlight"
    selectable = stays_on_top = opens_at_once = True
    empty = " what stands out among the articles will appear here"

    def show_spot(self, spot: Spot | None) -> None:
        if spot is None:
            self.show_items(())
            name(self, "Spotlight")
        else:
            self.show_items((spot,))
            name(self, f"Spotlight · {spot.heading}")

    def fold(self, item: Spot, width: int) -> list[Line]:
        lines: list[Line] = []
        title_left = len(visible(item.article.called).replace(" ", ""))
        for text in folded(_spot_in_words(item), width - 1):
            # The title may end within the line; folding takes blanks only.
            end = 0
            while end < len(text) and title_left > 0:
                title_left -= text[end] != " "
                end += 1
            lines.append([(" ", ""), (text[:end], "strong"), (text[end:], "")])
        return lines


def _hanging(head: Line, text: str, ink: str, width: int, least: int) -> list[Line]:
    """The text beside ``head``, folded within its column, which has at least ``least`` cells."""
    column = sum(len(part) for part, _ in head)
    first, *others = folded(text, max(width - column, least)) or [""]
    lines: list[Line] = [[*head, (first, ink)]]
    for line in others:
        lines.append([(" " * column, ""), (line, ink)])
    return lines


class Log(View):
    """The events, oldest first, following the newest."""

    TITLE = "Log"
    HOME = EventList
    FINDS = "a word of the log"
    OF_MODEL = False
    BINDINGS = bindings("log")

    def compose(self) -> ComposeResult:
        yield EventList(id="events")

    def draw(self, session: SessionView) -> None:
        sought = self.sought.lower()
        events = session.events
        if sought:
            events = tuple(
                event
                for event in events
                if sought in event.message.lower() or sought in event.level
            )
        listed = self.query_one(EventList)
        finding = f" with “{visible(self.sought)}”" if sought else ""
        listed.empty = " no line contains these words" if sought else EventList.empty
        listed.show_items(events)
        newest = f", of the newest {LOG_LINES}" if len(session.events) == LOG_LINES else ""
        name(listed, f"Log · {plural(len(events), 'line')}{finding}{newest}")

    def copied(self) -> str:
        events = self.query_one(EventList).items
        return "\n".join(f"{event.level}: {visible(event.message)}" for event in events)

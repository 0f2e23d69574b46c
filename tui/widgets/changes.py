"""What changed: births, deaths, splits, mergers and renamings of topics, newest first."""

from collections.abc import Sequence

from wikitopics.session.records import TopicChange, TopicEvent
from wikitopics.tui.inks import Lines, Part
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.words import count, folded, visible

NOTHING = " nothing has happened to topics yet"
INKS: dict[TopicChange, str] = {"born": "good", "split": "good", "died": "muted", "merged": "muted"}


class WhatChanged(Lines, can_focus=True):
    """One event after another, as many as fit whole."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._events: Sequence[TopicEvent] = ()
        self._several = False

    def show(self, look: Look, choice: Choice) -> None:
        """Show the events of the models that are shown."""
        models = choice.models_of(look)
        self._events, self._several = look.changes_of(models), len(models) > 1
        self.redraw()

    def lines(self, width: int, height: int) -> list[list[Part]]:
        out: list[list[Part]] = []
        for event in self._events[:height]:
            lines = _lines(event, width, self._several)
            if out and len(out) + len(lines) > height:
                break
            out += lines
        return out[:height] or [[(NOTHING, "muted")]]


def told(event: TopicEvent, several: bool) -> str:
    """The event in words; with ``several`` models, it names its model."""
    return visible(f"{event.model} {event.told()}" if several else event.told())


def _lines(event: TopicEvent, width: int, several: bool) -> list[list[Part]]:
    """The number of articles and the event, folded within its column."""
    stamp = f"{count(event.articles):>9} "
    first, *others = folded(told(event, several), max(width - len(stamp), 16))
    ink = INKS.get(event.event, "")
    return [
        [(stamp, "faint"), (first, ink)],
        *([(" " * len(stamp), ""), (text, ink)] for text in others),
    ]

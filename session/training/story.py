"""The topic events from one snapshot to the next, as a line for the log."""

from collections.abc import Sequence
from typing import get_args

from wikitopics.session.records import TopicChange, TopicEvent

NAMED = 3
"""The most topics of one kind of change named in a line; beyond that it counts them."""
_TOGETHER: dict[TopicChange, str] = {
    "born": "are born",
    "died": "died",
    "split": "split",
    "merged": "merged into others",
    "renamed": "have new names",
}


def line(events: Sequence[TopicEvent]) -> str:
    """Events of one model and one snapshot: "lda at 4,096 articles, born: #84 slavic, languages"."""
    parts = [_together(kind, [one for one in events if one.event == kind]) for kind in get_args(TopicChange)]
    first = events[0]
    return f"{first.model} at {first.articles:,} articles, {'; '.join(part for part in parts if part)}"


def _together(kind: TopicChange, events: Sequence[TopicEvent]) -> str:
    if not events:
        return ""
    told = " · ".join(_short(one) for one in events[:NAMED])
    if len(events) <= NAMED:
        return f"{kind}: {told}"
    return f"{len(events)} topics {_TOGETHER[kind]}: {told} …"


def _short(event: TopicEvent) -> str:
    match event.event:
        case "split":
            return f"#{event.topic} → #{event.other} {event.name}"
        case "merged":
            return f"#{event.topic} {event.name} → #{event.other}"
        case _:
            return f"#{event.topic} {event.name}"

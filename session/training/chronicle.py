"""The history of one model's topics: their names, their changes from look to look, and a line about these."""

from collections.abc import Sequence
from typing import get_args

from wikitopics.model.topics.changes import LOOKS, Change, Look, changes, living
from wikitopics.model.topics.names import fits, holds, suits
from wikitopics.session.records import TopicChange, TopicEvent, TopWords
from wikitopics.session.storage.tables.topics import TopicNames, names, parts
from wikitopics.session.training.schedule import look_due

NAMED = 3
"""The most topics of one kind of change named in a line; beyond that it counts them."""
_TOGETHER: dict[TopicChange, str] = {
    "born": "were born",
    "died": "died",
    "split": "split",
    "merged": "merged into others",
    "renamed": "have new names",
}


class Chronicle:
    """Follows one model. The result depends only on the snapshots, not on where a trainer stopped.

    Names are updated at every snapshot. One lasts once its topic is born, but another is shown while it does
    not suit the topic's words. Changes are determined only at looks, at each half doubling of the
    articles and each half-life, and reported once they hold at several looks in a row.
    """

    def __init__(
        self,
        model: str,
        words: Sequence[str],
        known: TopicNames | None,
        kept: Sequence[TopWords],
        half_life: float | None = None,
    ) -> None:
        """``known``: as of the last commit; ``kept``: the snapshots of the last looks, and the newest one."""
        self._model = model
        self._words = words
        self._half_life = half_life
        self._names: list[str] = []
        """The names that last."""
        self._shown: list[str] = []
        self._alive: set[int] = set()
        self._at = 0
        self._looks: list[Look] = []
        for snapshot in kept:
            self.note(snapshot)
        if known is not None:
            self._names, self._shown = list(known.lasting), list(known.names)
            self._alive = set(known.alive)

    @property
    def known(self) -> TopicNames:
        """The names to store with the snapshot."""
        return TopicNames(tuple(self._shown), frozenset(self._alive), tuple(self._names))

    def note(self, snapshot: TopWords) -> list[TopicEvent]:
        """Take the next snapshot; returns the events that can now be reported."""
        look = Look(snapshot.leading, snapshot.shares)
        at_look = look_due(self._at, snapshot.articles, self._half_life)
        self._at = snapshot.articles
        found: list[Change] = []
        if at_look:
            self._looks = [*self._looks, look][-LOOKS:]
            found = changes(self._looks, self._alive)
        settled = self._alive
        self._alive = living(settled, found)
        newest = names(look.relevant, self._words)
        old, self._names = self._names, list(newest)
        for topic, name in enumerate(old):
            if topic in settled & self._alive:
                if not (at_look and self._has_another_name(topic, name)):
                    self._names[topic] = name
                elif not any(fits(parts(name), words) for words in self._relevant(topic, self._looks)):
                    found.append(Change("renamed", topic))
            elif topic not in self._alive and all(
                holds(parts(name), words) for words in self._relevant(topic, [look])
            ):
                self._names[topic] = name
        before = self._shown or newest
        self._shown = [
            # A single title may look like several words, and then no name suits.
            next(
                (name for name in candidates if suits(parts(name), [self._words[i] for i in ids])),
                candidates[-1],
            )
            for *candidates, ids in zip(self._names, before, newest, snapshot.word_ids.tolist(), strict=True)
        ]
        return [self._event(snapshot.articles, change, old) for change in found]

    def _has_another_name(self, topic: int, old: str) -> bool:
        """Whether the topic's new name has fitted at enough looks, while a word of the old one has not."""
        relevant = self._relevant(topic, self._looks)
        new = parts(self._names[topic])
        return all(fits(new, words) and not holds(parts(old), words) for words in relevant)

    def _relevant(self, topic: int, looks: Sequence[Look]) -> list[list[str]]:
        """A topic's words at each of these looks, the most relevant first."""
        return [[self._words[i] for i in look.relevant[topic].tolist()] for look in looks]

    def _event(self, articles: int, change: Change, old: Sequence[str]) -> TopicEvent:
        ended = change.kind in ("died", "merged")
        named = change.other if change.kind == "split" and change.other is not None else change.topic
        name = (old if ended and old else self._names)[named]
        return TopicEvent(self._model, articles, change.kind, change.topic, change.other, name)


def line(events: Sequence[TopicEvent], noun: str) -> str:
    """Events of one model and one snapshot: "lda at 4,096 articles, born: #84 slavic, languages"."""
    parts = [_together(kind, [one for one in events if one.event == kind]) for kind in get_args(TopicChange)]
    first = events[0]
    return f"{first.model} at {first.articles:,} {noun}, {'; '.join(part for part in parts if part)}"


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

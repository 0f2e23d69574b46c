"""The history of one model's topics: their names, their changes between looks, and a line about
each."""

from collections.abc import Sequence

from wikitopics.model.areas import NONE, Areas
from wikitopics.model.changes import OBSERVATIONS, Change, TopicState, changes, living
from wikitopics.model.naming import all_words_relevant, has_leading_words, most_words_relevant
from wikitopics.session.naming import TopicNames, joined, names_of, parts
from wikitopics.session.records import TopicEvent, TopWords
from wikitopics.session.training.schedule import look_due

NAMED = 5
"""The most changes of topics named in a line; more are only counted."""


class Chronicle:
    """Follows one model. The result depends only on the snapshots, not on where a trainer stopped.

    Names are updated at every snapshot. A name lasts once its topic is born, but another is shown
    while it does not suit the topic's words. Changes are determined only at looks, which come at
    each half doubling of the articles and each half-life, and are reported once they hold at
    several looks in a row.
    """

    def __init__(
        self,
        model: str,
        words: Sequence[str],
        known: TopicNames | None,
        snapshots: Sequence[TopWords],
        half_life: float | None = None,
    ) -> None:
        """``known``: as of the last commit; ``snapshots``: those of the last looks, and the newest
        one."""
        self._model = model
        self._words = words
        self._half_life = half_life
        self._names: list[str] = []
        """The lasting names."""
        self._shown: list[str] = []
        self._alive: set[int] = set()
        self._at = 0
        self._looks: list[TopicState] = []
        for snapshot in snapshots:
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
        look = TopicState(snapshot.leading, snapshot.shares)
        at_look = look_due(self._at, snapshot.articles, self._half_life)
        self._at = snapshot.articles
        latest: list[Change] = []
        if at_look:
            self._looks = [*self._looks, look][-OBSERVATIONS:]
            latest = changes(self._looks, self._alive)
        settled = self._alive
        self._alive = living(settled, latest)
        newest = names_of(look.relevant, self._words)
        old, self._names = self._names, list(newest)
        for topic, name in enumerate(old):
            if topic in settled & self._alive:
                if not (at_look and self._has_another_name(topic, name)):
                    self._names[topic] = name
                elif not any(
                    most_words_relevant(parts(name), words)
                    for words in self._relevant(topic, self._looks)
                ):
                    latest.append(Change("renamed", topic))
            elif topic not in self._alive and all(
                all_words_relevant(parts(name), words) for words in self._relevant(topic, [look])
            ):
                self._names[topic] = name
        before = self._shown or newest
        self._shown = [
            # A single title may look like several words, and then no name suits.
            next(
                (
                    name
                    for name in candidates
                    if has_leading_words(parts(name), [self._words[i] for i in ids])
                ),
                candidates[-1],
            )
            for *candidates, ids in zip(
                self._names,
                before,
                newest,
                snapshot.word_ids.tolist(),
                strict=True,
            )
        ]
        events = []
        for change in latest:
            subject = (
                change.other
                if change.kind == "split" and change.other is not None
                else change.topic
            )
            name = (old if change.kind in ("died", "merged") and old else self._names)[subject]
            events.append(
                TopicEvent(
                    self._model,
                    snapshot.articles,
                    change.kind,
                    change.topic,
                    change.other,
                    name,
                )
            )
        return events

    def _has_another_name(self, topic: int, old: str) -> bool:
        """Whether the new name has fitted the topic at enough looks, while a word of the old one
        has not."""
        relevant = self._relevant(topic, self._looks)
        new = parts(self._names[topic])
        return all(
            most_words_relevant(new, words) and not all_words_relevant(parts(old), words)
            for words in relevant
        )

    def _relevant(self, topic: int, looks: Sequence[TopicState]) -> list[list[str]]:
        """A topic's words at each of these looks, the most relevant first."""
        return [[self._words[i] for i in look.relevant[topic].tolist()] for look in looks]


def area_events(model: str, snapshot: TopWords, before: Areas, now: Areas) -> list[TopicEvent]:
    """What happened to the areas since the last snapshot; an area is led by its largest topic."""
    at, shares = snapshot.articles, snapshot.shares
    events = [
        TopicEvent(model, at, "area_born", now.leader(area, shares), None, joined(now.names[area]))
        for area in sorted(now.names.keys() - before.names.keys())
    ]
    for area in sorted(before.names.keys() - now.names.keys()):
        leader = before.leader(area, shares)
        if (into := int(now.of_topic[leader])) != NONE:
            heir = now.leader(into, shares)
            if heir != leader:  # otherwise it is the same area with another number
                events.append(
                    TopicEvent(model, at, "area_merged", leader, heir, joined(before.names[area]))
                )
    return events


def event_message(events: Sequence[TopicEvent], noun: str) -> str:
    """Events of one model and one snapshot: "lda at 4,096 articles: #84 slavic, languages is
    born"."""
    named = " · ".join(event.told() for event in events[:NAMED])
    more = f" · and {len(events) - NAMED:,} more" if len(events) > NAMED else ""
    return f"{events[0].model} at {events[0].articles:,} {noun}: {named}{more}"

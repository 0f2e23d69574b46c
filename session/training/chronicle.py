"""The history of one model's topics: their changes between observations, and a line about each."""

from collections.abc import Sequence

import numpy as np

from wikitopics.model.areas import NONE, OTHER, Areas
from wikitopics.model.changes import OBSERVATIONS, Change, TopicState, changes, living
from wikitopics.model.naming import most_words_fit
from wikitopics.session.naming import ToldTopics, joined, names_of, parts
from wikitopics.session.records import TopicEvent, TopWords
from wikitopics.session.training.schedule import observation_due

NAMED = 5
"""The most changes of topics named in a line; more are only counted."""


class Chronicle:
    """Follows one model. The result depends only on the snapshots, not on where a trainer stopped.

    A topic's name is made of the words shown of it, and changes with them at any snapshot. Changes
    are determined only at observations, which come at each half doubling of the articles and each
    half-life. A change is reported once it holds at several observations in a row; so is a new
    name, if the topic has been told of under another one.

    When topics start over, only that is reported: topics that are large at the observations that
    follow count as born without a word.
    """

    def __init__(
        self,
        model: str,
        words: Sequence[str],
        told: ToldTopics | None,
        snapshots: Sequence[TopWords],
        half_life: float | None = None,
        start: int = 0,
    ) -> None:
        """``told``: as of the last commit; ``snapshots``: those of the last observations, and the
        newest one; ``start``: after how many articles topics started over, 0 if they did not."""
        self._model = model
        self._words = words
        self._half_life = half_life
        self._names: list[str] = []
        """As `ToldTopics.names`."""
        self._alive: set[int] = set()
        """As `ToldTopics.alive`."""
        self._start = start
        self._articles = start
        """Articles at the last snapshot."""
        self._observations: list[TopicState] = []
        """The last ones."""
        for snapshot in snapshots:
            if snapshot.articles > start:
                self.note(snapshot)
        if told is not None:
            self._names = list(told.names)
            self._alive = set(told.alive)

    @property
    def told(self) -> ToldTopics:
        """What to store with the snapshot."""
        return ToldTopics(tuple(self._names), frozenset(self._alive))

    def start_over(self, snapshot: TopWords) -> list[TopicEvent]:
        """Take the snapshot after the topics have started over; returns the event that tells it."""
        self._start = snapshot.articles
        self._articles = snapshot.articles
        self._observations = []
        self._alive = set()
        shown_ids, _ = snapshot.shown
        self._names = names_of(shown_ids, self._words)
        largest = int(np.argmax(snapshot.shares))
        name = self._names[largest]
        return [TopicEvent(self._model, self._start, "started_over", largest, None, name)]

    def note(self, snapshot: TopWords) -> list[TopicEvent]:
        """Take the next snapshot; returns the events that can now be reported."""
        shown_ids, _ = snapshot.shown
        state = TopicState(snapshot.leading, shown_ids, snapshot.shares)
        is_observation = observation_due(self._articles, snapshot.articles, self._half_life)
        self._articles = snapshot.articles
        latest: list[Change] = []
        had_enough = len(self._observations) == OBSERVATIONS
        if is_observation:
            self._observations = [*self._observations, state][-OBSERVATIONS:]
            latest = changes(self._observations, self._alive)
        stay_alive = self._alive & living(self._alive, latest)
        self._alive = living(self._alive, latest)
        if self._start and not had_enough:
            latest = []  # what is large at the first observations that suffice comes from the start
        names_before = self._names
        newest = names_of(shown_ids, self._words)
        self._names = list(newest)
        for topic in sorted(stay_alive):
            name = names_before[topic]
            is_told = (
                is_observation
                and all(self._fits(topic, newest[topic]))
                and not any(self._fits(topic, name))
            )
            if is_told:
                latest.append(Change("renamed", topic))
            else:
                self._names[topic] = name
        return [self._event(change, names_before) for change in latest]

    def _fits(self, topic: int, name: str) -> list[bool]:
        """Whether the name fitted the topic at each of the last observations."""
        return [
            most_words_fit(parts(name), self._words_shown(topic, state))
            for state in self._observations
        ]

    def _words_shown(self, topic: int, state: TopicState) -> list[str]:
        """A topic's words in the order in which they are shown."""
        return [self._words[i] for i in state.shown[topic].tolist()]

    def _event(self, change: Change, names_before: Sequence[str]) -> TopicEvent:
        """A change as of the last snapshot; ``names_before``: the names told before it."""
        subject = change.topic
        if change.kind == "split" and change.other is not None:
            subject = change.other
        is_gone = change.kind in ("died", "merged")
        names = names_before if is_gone else self._names
        return TopicEvent(
            self._model,
            self._articles,
            change.kind,
            change.topic,
            change.other,
            names[subject],
        )


def with_new_subjects(events: Sequence[TopicEvent]) -> list[int]:
    """The topics that have been born or changed their subjects."""
    topics = []
    for event in events:
        if event.event in ("born", "renamed"):
            topics.append(event.topic)
        elif event.event == "split" and event.other is not None:
            topics.append(event.other)
    return topics


def area_events(model: str, snapshot: TopWords, before: Areas, now: Areas) -> list[TopicEvent]:
    """What happened to the areas since the last snapshot.

    An area is led by its largest topic: with the same leader, it is the same area under another
    number.
    """
    articles = snapshot.articles
    shares = snapshot.shares
    born = {now.leader(area, shares): area for area in now.names.keys() - before.names.keys()}
    gone = {before.leader(area, shares): area for area in before.names.keys() - now.names.keys()}
    events = []
    for leader, area in sorted(born.items(), key=lambda item: item[1]):
        if leader not in gone:
            name = joined(now.names[area])
            events.append(TopicEvent(model, articles, "area_born", leader, None, name))
    for leader, area in sorted(gone.items(), key=lambda item: item[1]):
        name = joined(before.names[area])
        area_now = int(now.of_topic[leader])
        if area_now in (NONE, OTHER):
            events.append(TopicEvent(model, articles, "area_died", leader, None, name))
            continue
        if leader in born:
            continue
        other = now.leader(area_now, shares)
        if other == leader:  # the area that it joins was led by another topic until now
            other = before.leader(area_now, shares)
        events.append(TopicEvent(model, articles, "area_merged", leader, other, name))
    return events


def event_message(events: Sequence[TopicEvent], noun: str) -> str:
    """Events of one model and one snapshot: "lda at 4,096 articles: #84 slavic, languages is
    born"."""
    named = " · ".join(event.told() for event in events[:NAMED])
    more = f" · and {len(events) - NAMED:,} more" if len(events) > NAMED else ""
    return f"{events[0].model} at {events[0].articles:,} {noun}: {named}{more}"

"""The history of one model's topics: their names, their changes between observations, and a line
about each."""

from collections.abc import Sequence

from wikitopics.model.areas import NONE, Areas
from wikitopics.model.changes import OBSERVATIONS, Change, TopicState, changes, living
from wikitopics.model.naming import all_words_relevant, has_leading_words, most_words_relevant
from wikitopics.session.naming import TopicNames, joined, names_of, parts
from wikitopics.session.records import TopicEvent, TopWords
from wikitopics.session.training.schedule import observation_due

NAMED = 5
"""The most changes of topics named in a line; more are only counted."""


class Chronicle:
    """Follows one model. The result depends only on the snapshots, not on where a trainer stopped.

    Names are updated at every snapshot. A name lasts once its topic is born, but another one is
    shown while the lasting name does not suit the topic's words. Changes are determined only at
    observations, which come at each half doubling of the articles and each half-life. A change is
    reported once it holds at several observations in a row.
    """

    def __init__(
        self,
        model: str,
        words: Sequence[str],
        known: TopicNames | None,
        snapshots: Sequence[TopWords],
        half_life: float | None = None,
    ) -> None:
        """``known``: the names as of the last commit; ``snapshots``: those of the last
        observations, and the newest one."""
        self._model = model
        self._words = words
        self._half_life = half_life
        self._lasting: list[str] = []
        """As `TopicNames.lasting`."""
        self._shown: list[str] = []
        """As `TopicNames.names`."""
        self._alive: set[int] = set()
        """As `TopicNames.alive`."""
        self._articles = 0
        """Articles at the last snapshot."""
        self._observations: list[TopicState] = []
        """The last ones."""
        for snapshot in snapshots:
            self.note(snapshot)
        if known is not None:
            self._lasting = list(known.lasting)
            self._shown = list(known.names)
            self._alive = set(known.alive)

    @property
    def known(self) -> TopicNames:
        """The names to store with the snapshot."""
        return TopicNames(tuple(self._shown), frozenset(self._alive), tuple(self._lasting))

    def note(self, snapshot: TopWords) -> list[TopicEvent]:
        """Take the next snapshot; returns the events that can now be reported."""
        state = TopicState(snapshot.leading, snapshot.shares)
        is_observation = observation_due(self._articles, snapshot.articles, self._half_life)
        self._articles = snapshot.articles
        latest: list[Change] = []
        if is_observation:
            self._observations = [*self._observations, state][-OBSERVATIONS:]
            latest = changes(self._observations, self._alive)
        alive_before = self._alive
        self._alive = living(alive_before, latest)
        newest = names_of(state.relevant, self._words)
        old = self._lasting
        # A topic gets the newest name, unless its old one is kept.
        self._lasting = list(newest)
        for topic, name in enumerate(old):
            is_alive = topic in self._alive
            stays_alive = is_alive and topic in alive_before
            if stays_alive and is_observation:
                keeps_name = not self._has_another_name(topic, name, newest[topic])
                # A name that still fitted at one of the observations is replaced without an event.
                if not keeps_name and not self._fits_at_any_observation(topic, name):
                    latest.append(Change("renamed", topic))
            elif stays_alive:
                keeps_name = True
            elif is_alive:  # it has just been born, under its newest name
                keeps_name = False
            else:
                keeps_name = all_words_relevant(parts(name), self._relevant_words(topic, state))
            if keeps_name:
                self._lasting[topic] = name
        shown_before = self._shown or newest
        self._shown = []
        for lasting, shown, new, word_ids in zip(
            self._lasting,
            shown_before,
            newest,
            snapshot.word_ids.tolist(),
            strict=True,
        ):
            self._shown.append(self._suiting([lasting, shown, new], word_ids))
        return [self._event(change, old) for change in latest]

    def _has_another_name(self, topic: int, old: str, new: str) -> bool:
        """Whether at each of the last observations the new name has fitted the topic, and some word
        of the old name has not."""
        for state in self._observations:
            words = self._relevant_words(topic, state)
            old_fits_wholly = all_words_relevant(parts(old), words)
            new_fits = most_words_relevant(parts(new), words)
            if old_fits_wholly or not new_fits:
                return False
        return True

    def _fits_at_any_observation(self, topic: int, name: str) -> bool:
        return any(
            most_words_relevant(parts(name), self._relevant_words(topic, state))
            for state in self._observations
        )

    def _relevant_words(self, topic: int, state: TopicState) -> list[str]:
        """A topic's words, the most relevant first."""
        return [self._words[i] for i in state.relevant[topic].tolist()]

    def _suiting(self, names: Sequence[str], word_ids: Sequence[int]) -> str:
        """The first of these names that suits a topic with these words, the most probable first.

        If none does, the last one: a single title may look like several words, and then no name
        suits.
        """
        words = [self._words[i] for i in word_ids]
        for name in names:
            if has_leading_words(parts(name), words):
                return name
        return names[-1]

    def _event(self, change: Change, old: Sequence[str]) -> TopicEvent:
        """A change as of the last snapshot; ``old``: the lasting names before it."""
        subject = change.topic
        if change.kind == "split" and change.other is not None:
            subject = change.other
        is_gone = change.kind in ("died", "merged")
        names = old if is_gone and old else self._lasting
        return TopicEvent(
            self._model,
            self._articles,
            change.kind,
            change.topic,
            change.other,
            names[subject],
        )


def area_events(model: str, snapshot: TopWords, before: Areas, now: Areas) -> list[TopicEvent]:
    """What happened to the areas since the last snapshot; an area is led by its largest topic."""
    articles = snapshot.articles
    shares = snapshot.shares
    events = []
    for area in sorted(now.names.keys() - before.names.keys()):
        leader = now.leader(area, shares)
        name = joined(now.names[area])
        events.append(TopicEvent(model, articles, "area_born", leader, None, name))
    for area in sorted(before.names.keys() - now.names.keys()):
        leader = before.leader(area, shares)
        area_now = int(now.of_topic[leader])
        if area_now == NONE:
            continue
        leader_now = now.leader(area_now, shares)
        if leader_now != leader:  # otherwise it is the same area with another number
            name = joined(before.names[area])
            events.append(TopicEvent(model, articles, "area_merged", leader, leader_now, name))
    return events


def event_message(events: Sequence[TopicEvent], noun: str) -> str:
    """Events of one model and one snapshot: "lda at 4,096 articles: #84 slavic, languages is
    born"."""
    named = " · ".join(event.told() for event in events[:NAMED])
    more = f" · and {len(events) - NAMED:,} more" if len(events) > NAMED else ""
    return f"{events[0].model} at {events[0].articles:,} {noun}: {named}{more}"

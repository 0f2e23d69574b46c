"""When and on what models are measured, and what is reported."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from wikitopics.model import CompletionSet, Minibatch, OnlineModel, kinds
from wikitopics.model.areas import NONE, ROUNDS, Areas
from wikitopics.model.areas import names as area_names
from wikitopics.model.changes import OBSERVATIONS, Change, TopicState, changes, living
from wikitopics.model.checking import check_rows
from wikitopics.model.naming import all_words_relevant, has_leading_words, most_words_relevant
from wikitopics.session import sources
from wikitopics.session.errors import errors_of
from wikitopics.session.metrics import METRICS, Evaluation
from wikitopics.session.naming import TopicNames, joined, names, parts
from wikitopics.session.options import PASSES
from wikitopics.session.records import (
    SNAPSHOT_WORDS,
    Progress,
    Scored,
    TopicEvent,
    TopWords,
    perplexity,
)
from wikitopics.session.storage.articles import DROPPED_EVERY
from wikitopics.session.storage.writer import Changes, SessionWriter

# Measuring a model: on the held-out articles, by its topics, and on the newest articles before they
# are trained on.
#
# Held-out articles are the oldest ones. In a changing stream they become less and less
# representative, while a model should predict the next articles well.

NEWEST_ARTICLES = 1000
"""The number of newest articles in the mean score, rounded up to whole minibatches."""
SAMPLE = 256
"""The most articles of a minibatch that are scored, from its start: scoring all would outlast
training."""


def scored(models: Sequence[OnlineModel], batch: Minibatch, seed: int) -> Scored:
    """The models' scores on a minibatch that they have not learnt yet, by document completion.

    Neither the models nor their random numbers change.
    """
    completion = CompletionSet(batch[:SAMPLE], seed)
    words = int(completion.hidden.n_tokens)
    nats = tuple(float(completion.score(model)) * words if words else 0.0 for model in models)
    return Scored(batch.D, words, nats)


def latest_of_each(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """The scores of as many of the last minibatches as have enough articles together."""
    window = (*before, latest)
    while sum(one.articles for one in window[1:]) >= NEWEST_ARTICLES:
        window = window[1:]
    return window


@dataclass(frozen=True, slots=True)
class Measured:
    """The last measurement: its number of articles, and the perplexity of each model that has
    one."""

    articles: int
    perplexities: Mapping[str, float]


def given(model: OnlineModel, method: str, *batch: Minibatch) -> Any:
    """What this method of a model gives. Raises `SessionError` if a model of another package gives
    something else than `check_model` expects."""
    rows = getattr(model, method)(*batch)
    if model.kind not in kinds.built_in:
        shapes = {"topics": (model.n_topics, model.n_words), "topic_shares": (model.n_topics,)}
        with errors_of(f"the model of kind {model.kind}"):
            check_rows(method, rows, shapes.get(method) or (batch[0].D, model.n_topics))
    return rows


class HeldOut:
    """The held-out articles, split once for document completion."""

    def __init__(self, batch: Minibatch, seed: int) -> None:
        self._batch = batch
        self._completion = CompletionSet(batch, seed)

    def measure(self, model: OnlineModel, *more: Any) -> dict[str, float]:
        """Every metric of the model, by name; the model does not change. ``more``: what else an
        `Evaluation` has, in order."""
        own = model.own_metrics(self._batch)  # first: this shortens compiling, as explained there
        evaluation = Evaluation(model, self._batch, self._completion.score(model), *more)
        values = {**own, **{one.name: one.measure(evaluation) for one in METRICS}}
        return {
            name: float(value)
            for name, value in values.items()
            if value is not None and isfinite(value)
        }


# The fixed rules of the stream: the size of minibatches, and when models are measured and topics
# stored.
#
# They depend only on numbers of articles, never on the clock, so that an interrupted run does
# exactly what an uninterrupted one does.

SHORTEST_INTERVAL = 2048
"""The fewest articles between two measurements once doublings are far apart."""
WATCHED_UNTIL = 1_000_000
"""The number of articles up to which a session may ask for more measurements."""
GROWTH = 0.05
"""The fraction of the stream between two snapshots of the topics."""
FURTHEST = 10_000
"""The most articles between two snapshots (plus a minibatch)."""
HALVES = 2
"""The number of looks at the changes of topics per doubling of the articles."""
NEWEST_POINTS = 60
"""The number of newest snapshots that are never thinned."""
FIRST = 64
"""Articles in the first minibatch: few, so that the first point of the curve appears within
seconds."""


def minibatch_size(articles: int, batch_size: int) -> int:
    """Articles in the minibatch that follows ``articles`` trained ones.

    A quarter of what has been seen, in whole multiples of 64, at least 64 and at most
    ``batch_size``: minibatches grow by a quarter each until they reach ``batch_size``.
    """
    return min(batch_size, max(FIRST, articles // 4 // FIRST * FIRST))


@dataclass(frozen=True, slots=True)
class Evaluations:
    """When the models of a session are measured.

    Measurements follow minibatches 1, 2, 4, 8 …, every doubling of the articles, and every further
    50 times the ``held_out`` number of articles. The last rule adds a few per cent to the training
    time, most for an HDP. Models with a ``half_life`` are also measured once per half-life, since
    they may have changed entirely. Up to a million articles, all are measured every
    ``at_least_every`` articles, if that is given.
    """

    held_out: int
    half_life: float | None = None
    at_least_every: int | None = None

    def due(self, minibatches: int, before: int, after: int) -> bool:
        """Whether to measure after minibatch number ``minibatches``, which took ``before`` to
        ``after`` articles."""
        often = self.at_least_every if after <= WATCHED_UNTIL else None
        most = min(50 * self.held_out, self.half_life or math.inf, often or math.inf)
        interval = int(max(SHORTEST_INTERVAL, most))
        powers = minibatches & (minibatches - 1) == 0 or doubled(before, after)
        return powers or before // interval != after // interval

    def next(self, minibatches: int, articles: int, batch_size: int) -> int:
        """Articles at the first measurement after ``articles``, which took this many
        ``minibatches``."""
        while True:
            before, articles = articles, articles + minibatch_size(articles, batch_size)
            minibatches += 1
            if self.due(minibatches, before, articles):
                return articles


def pass_evaluation_due(measured: int, after: int) -> bool:
    """Whether to measure at the end of a pass of several; ``measured``: articles at the last
    measurement.

    Each of the first 20 passes is measured, then one whenever the articles have grown by a
    twentieth, so that the curve shows where further passes no longer help.
    """
    return after - measured >= GROWTH * measured


def snapshot_due(last: int, before: int, after: int) -> bool:
    """Whether the topics are stored after a minibatch that took ``before`` to ``after`` articles.

    ``last``: articles at the last snapshot, 0 before the first. Topics are stored at every
    doubling, and when the stream has grown by a twentieth or by 10,000 articles.
    """
    grown = last > 0 and after - last >= min(FURTHEST, GROWTH * last)
    return grown or doubled(before, after)


def doubled(before: int, after: int) -> bool:
    """Whether the articles have reached or passed a power of two, from 64 on."""
    return after >= FIRST and _steps(before, 1) != _steps(after, 1)


def look_due(before: int, after: int, half_life: float | None = None) -> bool:
    """Whether the changes of topics are examined at a snapshot, given its articles and those at the
    previous one.

    They are examined at the first snapshot at or after each half doubling: 64, 91, 128, 182, 256 …
    Models with a ``half_life`` never settle, so their topics are also examined once per half-life.
    """
    again = half_life is not None and before // half_life != after // half_life
    return again or _steps(before, HALVES) != _steps(after, HALVES)


def renewal_due(before: int, after: int) -> bool:
    """Whether the newest articles are inferred again: each time the stream has doubled, from 1,024
    on.

    This costs about as much as training on them again, so it must become rarer as the stream
    continues.
    """
    return after >= 1024 and doubled(before, after)


def drop_due(before: int, after: int) -> bool:
    """Whether articles that are not among the best of any topic are dropped, with `--keep-articles
    top`.

    Half-way between multiples of `DROPPED_EVERY`. Renewals drop articles too when they end, some
    minibatches after a power of two. Which articles stay does not depend on when a run commits,
    since the stream asks for a commit before its next step.
    """
    half = DROPPED_EVERY // 2
    return (before + half) // DROPPED_EVERY != (after + half) // DROPPED_EVERY


def thinned_snapshots(articles: list[int], half_life: float | None = None) -> set[int]:
    """The snapshots to drop: of those older than the newest 60, one per twentieth of growth is
    kept.

    The first ones at or after each half doubling are kept too, so that the history has 64, 128, 256
    … and the changes of topics can be determined after a resume. A snapshot that is kept once is
    always kept, except for the looks of a ``half_life``, of which only the last are needed.
    """
    stay = {*looks(articles), *looks(articles, half_life)[-OBSERVATIONS:]}
    gone: set[int] = set()
    last = 0
    for a in articles[:-NEWEST_POINTS]:
        if a in stay or a - last >= GROWTH * last:
            last = a
        else:
            gone.add(a)
    return gone


def looks(articles: list[int], half_life: float | None = None) -> list[int]:
    """The snapshots among these at which the changes of topics were examined."""
    return [a for before, a in pairwise([0, *articles]) if look_due(before, a, half_life)]


def _steps(articles: int, parts: int) -> int:
    """How many times this many articles have doubled, in ``parts`` of a doubling; exact, since no
    logarithm is used."""
    return int(articles**parts).bit_length()


# The history of one model's topics: their names, their changes between looks, and a line about
# each.

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
        newest = names(look.relevant, self._words)
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


# The points of a session's curves until they are saved: measurements of its models, and their
# topics.


class Curves:
    """Measures the models of a session and stores their topics: two kinds of points, each by its
    own rule."""

    def __init__(self, store: SessionWriter, models: Sequence[OnlineModel]) -> None:
        self._models = models
        half_lives = [model.half_life for model in models if model.half_life is not None]
        self.half_life = half_life = min(half_lives, default=None)
        """The shortest half-life of the models; None if none forgets."""
        settings = store.settings()
        self._unit_noun = sources.unit_noun(settings.source, settings[PASSES])
        self._names = [spec.name for spec in settings.models]
        self.measured_at = max(store.points("metrics"), default=0)
        """Articles at the last measurement, 0 before the first."""
        self._kept_at = store.points("snapshots")
        self._topics = store.snapshots_at(self.kept_at)
        last = sorted({*looks(self._kept_at, half_life)[-OBSERVATIONS:], *self._kept_at[-1:]})
        looked_at, words = [store.snapshots_at(point) for point in last], store.vocabulary()
        self._chronicles = []
        for number, name in enumerate(self._names):
            snapshots = [point[number] for point in looked_at if number in point]
            self._chronicles.append(
                Chronicle(name, words, store.known_names(number), snapshots, half_life)
            )
        self._words = words
        self.meetings = [store.meetings(name) for name in self._names]
        """How often each model's topics meet."""
        self._areas = [store.areas(name) for name in self._names]
        self._topics_measured = store.snapshots_at(self.measured_at)
        scores = {
            one.name: one.perplexity for one in store.model_statuses() if one.perplexity is not None
        }
        self.measured = Measured(self.measured_at, scores)
        """Always replaced as a whole, since another thread reports it."""

    @property
    def kept_at(self) -> int:
        """Articles at the last snapshot of the topics, 0 before the first."""
        return self._kept_at[-1] if self._kept_at else 0

    def keep_topics(self, articles: int, changes: Changes) -> None:
        """Store the present topics."""
        self._topics = {}
        for number, (model, chronicle) in enumerate(
            zip(self._models, self._chronicles, strict=True)
        ):
            if model.kind not in kinds.built_in:  # ours need not compute them all
                given(model, "topics")
            shares = np.asarray(given(model, "topic_shares"), np.float32)
            snapshot = TopWords(number, articles, *model.top_words(SNAPSHOT_WORDS), shares)
            self._topics[number] = snapshot
            changes.snapshots.append(snapshot)
            events = chronicle.note(snapshot)
            before, areas = self._areas[number], self._areas_of(number, snapshot)
            meetings = self.meetings[number]
            if before is not None and meetings is not None and meetings.settled:
                events += area_events(self._names[number], snapshot, before, areas)
            changes.topic_events += [(number, event) for event in events]
            if events:
                changes.log.append(event_message(events, self._unit_noun))
            changes.topic_names[number] = chronicle.known
            self._areas[number] = changes.areas[number] = areas
        self._kept_at.append(articles)
        # The next measurement's drift is relative to the topics at the last one.
        gone = thinned_snapshots(self._kept_at, self.half_life) - {self.measured_at}
        self._kept_at = [point for point in self._kept_at if point not in gone]
        changes.thinned_snapshots |= gone

    def _areas_of(self, number: int, snapshot: TopWords) -> Areas:
        """The areas of a model's topics as of this snapshot; the map changes only at looks."""
        before = self._areas[number]
        rounds = ROUNDS if look_due(self.kept_at, snapshot.articles, self.half_life) else 0
        areas = Areas.of(self._models[number], self.meetings[number], before, rounds)
        relevant = areas.relevant(snapshot.leading, snapshot.shares, self._words)
        return replace(areas, names=area_names(relevant, {} if before is None else before.names))

    def measure(
        self,
        held_out: HeldOut,
        progress: Progress,
        seconds: float,
        changes: Changes,
    ) -> None:
        """Measure the models, whose topics are already stored; ``seconds``: the running time so
        far."""
        articles, tokens, scores = (
            progress.articles,
            progress.tokens,
            dict(self.measured.perplexities),
        )
        for number, model in enumerate(self._models):
            before, now = self._topics_measured.get(number), self._topics[number]
            values = held_out.measure(model, before, now, progress.predicted(number))
            if (score := values.get("log_likelihood")) is not None:
                scores[self._names[number]] = float(perplexity(score))
            changes.metrics += [
                (number, articles, tokens, seconds, *value) for value in values.items()
            ]
        self._topics_measured = self._topics
        self.measured_at = articles
        self.measured = Measured(articles, scores)

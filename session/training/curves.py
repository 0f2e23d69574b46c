"""The points of a session's curves until they are saved: measurements of its models, and their
topics."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import OnlineModel, kinds
from wikitopics.model.area_names import names as area_names
from wikitopics.model.areas import Areas
from wikitopics.model.changes import OBSERVATIONS
from wikitopics.model.lands import with_scale
from wikitopics.model.meetings import Meetings
from wikitopics.model.replicas import MATCHED_WORDS, found_in_replicas
from wikitopics.session import sources
from wikitopics.session.naming import shown_words
from wikitopics.session.options import PASSES
from wikitopics.session.records import (
    SNAPSHOT_WORDS,
    Progress,
    TopicEvent,
    TopWords,
    perplexity,
)
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.chronicle import (
    Chronicle,
    area_events,
    event_message,
    with_new_subjects,
)
from wikitopics.session.training.held_out import HeldOut, Measured, checked_rows
from wikitopics.session.training.reference import Reference
from wikitopics.session.training.schedule import observations, thinned_snapshots


class Curves:
    """Measures the models of a session and stores their topics: two kinds of points, each by its
    own rule."""

    def __init__(
        self,
        store: SessionWriter,
        models: Sequence[OnlineModel],
        replicas: Sequence[Sequence[OnlineModel]],
    ) -> None:
        """``replicas``: those of each model."""
        self._models = models
        self._replicas = replicas
        half_lives = [model.half_life for model in models if model.half_life is not None]
        self.half_life = min(half_lives, default=None)
        """The shortest half-life of the models; None if none forgets."""
        settings = store.settings()
        self._unit_noun = sources.unit_noun(settings.source, settings[PASSES])
        self._names = [spec.name for spec in settings.models]
        self._words = store.vocabulary()
        self.reference = Reference(store)
        self.measured_at = max(store.points("metrics"), default=0)
        """Articles at the last measurement, 0 before the first."""
        self._snapshots = store.points("snapshots")
        """Articles at each stored snapshot of the topics."""
        self._topics = store.snapshots_at(self.kept_at)
        self._chronicles = self._stored_chronicles(store)
        self.meetings = [store.meetings(name) for name in self._names]
        """How often each model's topics meet."""
        self._areas = [store.areas(name) for name in self._names]
        self._topics_measured = store.snapshots_at(self.measured_at)
        perplexities = {}
        for status in store.model_statuses():
            if status.perplexity is not None:
                perplexities[status.name] = status.perplexity
        self.measured = Measured(self.measured_at, perplexities)
        """Always replaced as a whole, since another thread reports it."""

    def _stored_chronicles(self, store: SessionWriter) -> list[Chronicle]:
        """The chronicle of each model as of the last commit."""
        observed = observations(self._snapshots, self.half_life)[-OBSERVATIONS:]
        newest = self._snapshots[-1:]
        points = [store.snapshots_at(articles) for articles in sorted({*observed, *newest})]
        chronicles = []
        for number, name in enumerate(self._names):
            snapshots = [point[number] for point in points if number in point]
            told = store.told_topics(number)
            start = store.started_over_at(name)
            chronicle = Chronicle(name, self._words, told, snapshots, self.half_life, start)
            chronicles.append(chronicle)
        return chronicles

    @property
    def kept_at(self) -> int:
        """Articles at the last snapshot of the topics, 0 before the first."""
        return self._snapshots[-1] if self._snapshots else 0

    def topic_places(self, number: int) -> NDArray[np.float32] | None:
        """(K, 2) the places of a model's topics on their map, NaN for those not in use; None before
        the first snapshot."""
        areas = self._areas[number]
        if areas is None:
            return None
        places = np.full((len(areas.of_topic), 2), np.nan, np.float32)
        places[areas.topics] = with_scale(areas.places.astype(np.float64))
        return places

    def forget_meetings(self, number: int) -> None:
        """Count from now on how often a model's topics meet, since they have started over."""
        if self.meetings[number] is not None:
            self.meetings[number] = Meetings.none(self._models[number].n_topics)

    def keep_topics(
        self,
        articles: int,
        changes: Changes,
        started_over: Collection[int] = (),
    ) -> None:
        """Store the present topics. ``started_over``: the numbers of the models whose topics have
        started over since the last snapshot."""
        self._topics = {}
        reference = self.reference.cooccurrences
        for number, (model, chronicle) in enumerate(
            zip(self._models, self._chronicles, strict=True)
        ):
            if model.kind not in kinds.built_in:
                # Computed only to check them, for a kind from another package. Of our own kinds,
                # only the leading words of the topics are computed here.
                checked_rows(model, "topics")
            shares = np.asarray(checked_rows(model, "topic_shares"), np.float32)
            leading = model.top_words(SNAPSHOT_WORDS)
            of_replicas = [replica.top_words(MATCHED_WORDS) for replica in self._replicas[number]]
            snapshot = TopWords(
                number,
                articles,
                leading=leading,
                shown=shown_words(model, reference, self._words, SNAPSHOT_WORDS),
                shares=shares,
                found=found_in_replicas(leading, of_replicas) if of_replicas else None,
            )
            self._topics[number] = snapshot
            changes.snapshots.append(snapshot)
            if number in started_over:
                events = chronicle.start_over(snapshot)
            else:
                events = chronicle.note(snapshot)
            areas_before = self._areas[number]
            areas = self._areas_of(number, snapshot, events)
            meetings = self.meetings[number]
            if areas_before is not None and meetings is not None and meetings.settled:
                events += area_events(self._names[number], snapshot, areas_before, areas)
            changes.topic_events += [(number, event) for event in events]
            if events:
                changes.log.append(event_message(events, self._unit_noun))
            changes.told_topics[number] = chronicle.told
            changes.areas[number] = areas
            self._areas[number] = areas
        self._snapshots.append(articles)
        # The snapshot at the last measurement stays: the drift at the next measurement is relative
        # to it.
        gone = thinned_snapshots(self._snapshots, self.half_life) - {self.measured_at}
        self._snapshots = [point for point in self._snapshots if point not in gone]
        changes.thinned_snapshots |= gone

    @property
    def lacks_areas(self) -> bool:
        """Whether the topics that are stored have no areas: those of a session that a version
        without areas has finished."""
        return any(self._areas[number] is None for number in self._topics)

    def group_topics(self, changes: Changes) -> None:
        """Store the areas of the topics that are stored."""
        for number, snapshot in self._topics.items():
            areas = self._areas_of(number, snapshot, [])
            changes.areas[number] = areas
            self._areas[number] = areas

    def _areas_of(self, number: int, snapshot: TopWords, events: Sequence[TopicEvent]) -> Areas:
        """The areas of a model's topics as of this snapshot, with their places; events: of topics
        since the last one."""
        before = self._areas[number]
        areas = Areas.of(self._models[number], self.meetings[number], before)
        if any(event.event == "started_over" for event in events):
            areas = areas.placed()
        else:
            areas = areas.placed(before, with_new_subjects(events))
        shown_ids, _ = snapshot.shown
        words = areas.words(shown_ids, snapshot.shares, self._words)
        names_before = {} if before is None else before.names
        return replace(areas, names=area_names(words, names_before))

    def measure(
        self,
        held_out: HeldOut,
        progress: Progress,
        seconds: float,
        changes: Changes,
    ) -> None:
        """Measure the models, whose topics are already stored; ``seconds``: the running time so
        far."""
        articles = progress.articles
        reference = self.reference.cooccurrences
        perplexities = dict(self.measured.perplexities)
        for number, model in enumerate(self._models):
            values = held_out.measure(
                model,
                reference,
                before=self._topics_measured.get(number),
                now=self._topics[number],
                prequential=progress.predicted(number),
            )
            log_likelihood = values.get("log_likelihood")
            if log_likelihood is not None:
                perplexities[self._names[number]] = float(perplexity(log_likelihood))
            for metric, value in values.items():
                changes.metrics.append((number, articles, progress.tokens, seconds, metric, value))
        self._topics_measured = self._topics
        self.measured_at = articles
        self.measured = Measured(articles, perplexities)

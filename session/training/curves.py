"""The points of a session's curves until they are saved: measurements of its models, and their
topics."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wikitopics.model import OnlineModel, kinds
from wikitopics.model.areas import ROUNDS, Areas
from wikitopics.model.areas import names as area_names
from wikitopics.model.changes import OBSERVATIONS
from wikitopics.session import sources
from wikitopics.session.options import PASSES
from wikitopics.session.records import SNAPSHOT_WORDS, Progress, TopWords, perplexity
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.chronicle import Chronicle, area_events, event_message
from wikitopics.session.training.held_out import HeldOut, Measured, given
from wikitopics.session.training.schedule import look_due, looks, thinned_snapshots


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

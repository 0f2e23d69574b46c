"""The points of a session's curves, until they are saved: measurements of its models, and their topics."""

import math
from collections.abc import Sequence

import numpy as np

from wikitopics.model import OnlineModel
from wikitopics.model.topics.changes import LOOKS
from wikitopics.session import sources
from wikitopics.session.options import PASSES
from wikitopics.session.records import SNAPSHOT_WORDS, TopWords
from wikitopics.session.storage.tables.progress import Progress
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.chronicle import Chronicle, line
from wikitopics.session.training.evaluation import HeldOut, Measured
from wikitopics.session.training.schedule import looks, thinned, thinned_snapshots

MOST_POINTS = 1000
"""The most points of a curve; beyond that, its older half is thinned."""
OVERFITTED = 0.01
"""Nats per held-out word that a model must have lost to have overfitted: a hundredth of its perplexity."""
CHANCE = 0.5
"""Over the root of the number of held-out documents, what a model may lose by chance: two standard errors."""


class Curves:
    """Measures the models of a session and stores their topics: two kinds of points, each with its rule."""

    def __init__(self, store: SessionWriter, half_life: float | None) -> None:
        """``half_life``: the shortest of the models', None if none forgets."""
        self.scores = [model.log_likelihood for model in store.model_statuses()]
        """Each model's last log-likelihood."""
        self._half_life = half_life
        settings = store.settings()
        self._noun = sources.noun(settings.source)
        self._counted = sources.counted(settings.source, settings[PASSES])
        self._names = [spec.name for spec in settings.models]
        curves = [store.curve(name, "log_likelihood") for name in self._names]
        self._course = [list(zip(one.values.tolist(), one.articles.tolist(), strict=True)) for one in curves]
        """Each model's log-likelihoods, with the articles then."""
        self._measured_at = store.points("metrics")
        self._kept_at = store.points("snapshots")
        self._topics = store.snapshots_at(self.kept_at)
        last = sorted({*looks(self._kept_at, half_life)[-LOOKS:], *self._kept_at[-1:]})
        kept = [store.snapshots_at(point) for point in last]
        self._chronicles = [
            Chronicle(
                name,
                store.vocabulary(),
                store.known_names(number),
                [snapshots[number] for snapshots in kept if number in snapshots],
                half_life,
            )
            for number, name in enumerate(self._names)
        ]
        self._topics_measured = store.snapshots_at(self.measured_at)
        self.measured = self._as_measured()
        """Replaced as a whole, since another thread reports it."""

    @property
    def measured_at(self) -> int:
        """Articles at the last measurement, 0 before the first."""
        return self._measured_at[-1] if self._measured_at else 0

    @property
    def kept_at(self) -> int:
        """Articles at the last snapshot of the topics, 0 before the first."""
        return self._kept_at[-1] if self._kept_at else 0

    def keep_topics(self, models: Sequence[OnlineModel], articles: int, changes: Changes) -> None:
        """Store the present topics."""
        snapshots = [_snapshot(number, articles, model) for number, model in enumerate(models)]
        self._topics = dict(enumerate(snapshots))
        changes.snapshots += snapshots
        for number, chronicle in enumerate(self._chronicles):
            happened = chronicle.note(snapshots[number])
            changes.topic_events += [(number, event) for event in happened]
            if happened:
                changes.log.append(line(happened, self._counted))
            changes.topic_names[number] = chronicle.known
        self._kept_at.append(articles)
        # The drift at the next measurement is from the topics at the last one.
        gone = thinned_snapshots(self._kept_at, self._half_life) - {self.measured_at}
        self._kept_at = [point for point in self._kept_at if point not in gone]
        changes.thinned_snapshots |= gone

    def measure(
        self,
        models: Sequence[OnlineModel],
        held_out: HeldOut,
        progress: Progress,
        seconds: float,
        changes: Changes,
    ) -> None:
        """Measure the models, whose topics are already stored; ``seconds``: the running time so far."""
        articles, tokens = progress.articles, progress.tokens
        for number, model in enumerate(models):
            values = held_out.measure(
                model,
                self._topics_measured.get(number),
                self._topics[number],
                progress.predicted(number),
            )
            if (score := values.get("log_likelihood")) is not None:
                self.scores[number] = score
                self._course[number].append((score, articles))
            changes.metrics += [
                (number, articles, tokens, seconds, metric, value) for metric, value in values.items()
            ]
        self._topics_measured = self._topics
        self._measured_at.append(articles)
        gone = thinned(self._measured_at, MOST_POINTS)
        self._measured_at = [point for point in self._measured_at if point not in gone]
        changes.thinned_metrics |= gone
        self.measured = self._as_measured()

    def overfitting(self, documents: int, held_out: int) -> str:
        """A line on the models that predicted best some passes ago; "" if there are none.

        ``documents``: how many each pass reads; ``held_out``: how many models are measured on.
        """
        found, told = [], max(OVERFITTED, CHANCE / math.sqrt(max(1, held_out)))
        for name, course in zip(self._names, self._course, strict=True):
            best, articles = max(course, default=(0.0, 0))
            if not course or best - course[-1][0] < told:
                continue
            passes = max(1, round(articles / documents))
            found.append(
                f"{name} was best after {passes:,} pass{'' if passes == 1 else 'es'} "
                f"(perplexity {np.exp(-best):,.1f}, now {np.exp(-course[-1][0]):,.1f})"
            )
        if not found:
            return ""
        return f"on held-out {self._noun} {', '.join(found)}: start a new --session with fewer --passes"

    def _as_measured(self) -> Measured:
        scores = zip(self._names, self.scores, strict=True)
        return Measured(
            self.measured_at, {name: float(np.exp(-score)) for name, score in scores if score is not None}
        )


def _snapshot(number: int, articles: int, model: OnlineModel) -> TopWords:
    shares = np.asarray(model.topic_shares(), np.float32)
    return TopWords(number, articles, *model.top_words(SNAPSHOT_WORDS), shares)

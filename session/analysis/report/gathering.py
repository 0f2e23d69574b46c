"""Reads the contents of a report from a session, as of one moment."""

import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import PurePath

import numpy as np

from wikitopics.model import KindError, kinds
from wikitopics.model.online import IN_USE
from wikitopics.model.topics.leading import classical_scaling, distances
from wikitopics.model.topics.names import ownership
from wikitopics.session.analysis.metrics import metrics_of
from wikitopics.session.analysis.origin import Address, addresses, licence_of
from wikitopics.session.analysis.report.records import (
    Bracket,
    Group,
    Then,
    Told,
    ToldArticle,
    ToldMetric,
    ToldModel,
    ToldTopic,
    Word,
)
from wikitopics.session.analysis.topics import coherences, repeats_in_words
from wikitopics.session.analysis.tree import Branch, overview, pruned, topic_tree
from wikitopics.session.errors import NO_TOPICS, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.models import ModelSpec
from wikitopics.session.options import KEPT
from wikitopics.session.records import (
    SNAPSHOT_WORDS,
    Curve,
    ShareHistory,
    Status,
    TopicEvent,
    TopicRow,
    TopWords,
)
from wikitopics.session.settings import Settings
from wikitopics.session.sources import described
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.schema import VERSION
from wikitopics.session.version import __version__

ARTICLES = 10
"""The most articles of each topic."""
LOOKS = 9
"""The most moments at which a topic's words are shown."""
LOOK_WORDS = 8
POINTS = 48
"""The most points of a topic's shares."""

Progress = Callable[[int], None]


def told(reader: SessionReader, progress: Progress = lambda topics: None) -> Told:
    """The topics of the session, and how they were found. ``progress`` is given the number of topics read.

    Raises `SessionError` if there are no topics yet.
    """
    with reader.one_moment():
        settings, status = reader.settings(), reader.status()
        events, address = reader.topic_events(), addresses(settings)
        models: list[ToldModel] = []
        for place, spec in enumerate(settings.models):
            model = _Model(reader, spec, place, status, [one for one in events if one.model == spec.name])
            if model.rows:
                read = sum(len(before.topics) for before in models)
                models.append(model.told(address, partial(_told_on, progress, read)))
        if not models:
            raise SessionError(NO_TOPICS)
        kind = described(settings.source)
        return Told(
            session=reader.path.stem,
            made_at=time.time(),
            status=status,
            source_name=visible(kind.shown(settings.source_name)),
            source_label=visible(kind.label),
            licence=licence_of(settings),
            n_words=len(reader.vocabulary()),
            models=tuple(models),
            metrics=_metrics(reader, status),
            runs=tuple(reader.runs()),
            settings=_settings(settings),
            versions=_versions(),
        )


def _told_on(progress: Progress, before: int, read: int) -> None:
    progress(before + read)


class _Model:
    """One model, while its topics are read."""

    def __init__(
        self, reader: SessionReader, spec: ModelSpec, place: int, status: Status, events: list[TopicEvent]
    ) -> None:
        self.reader, self.spec, self.place, self.events = reader, spec, place, events
        self.updates = status.models[place].updates
        self.rows = reader.topics(spec.name, SNAPSHOT_WORDS)

    def told(self, address: Address, progress: Progress) -> ToldModel:
        reader, name = self.reader, self.spec.name
        newest = reader.newest_words(name)
        assert newest is not None
        in_use = sorted((row for row in self.rows if row.share > IN_USE), key=lambda row: -row.share)
        numbers = [row.topic for row in in_use]
        own = ownership(newest.leading, newest.shares)
        far = (
            distances((newest.word_ids[numbers], newest.probabilities[numbers]))
            if numbers
            else np.zeros((0, 0))
        )
        places = dict(zip(numbers, classical_scaling(far).tolist(), strict=True))
        npmi = coherences(reader, in_use)
        history, looks = reader.share_history(name), self._looks()
        happened: dict[int | None, list[TopicEvent]] = {}
        for event in self.events:
            for topic in {event.topic, event.other}:
                happened.setdefault(topic, []).append(event)
        topics = {}
        for read, (row, coherence) in enumerate(zip(in_use, npmi, strict=True), start=1):
            topics[row.topic] = ToldTopic(
                anchor=f"{self._anchor}-{row.topic}",
                number=row.topic,
                name=visible(row.name),
                share=row.share,
                moved=row.change,
                coherence=coherence,
                words=_words(row, own[row.topic].tolist()),
                place=places[row.topic],
                shares=_shares(history, row.topic),
                looks=self._looks_at(looks, row.topic),
                articles=self._articles(row.topic, address),
                events=tuple(happened.get(row.topic, ())),
            )
            progress(read)
        tree = pruned(topic_tree(reader, name), topics)
        return ToldModel(
            anchor=self._anchor,
            name=name,
            spec=str(self.spec),
            label=_label(self.spec.kind),
            place=self.place,
            updates=self.updates,
            n_topics=self.spec.topics,
            as_of=newest.articles,
            topics=tuple(topics.values()),
            repeats=repeats_in_words(reader, name),
            groups=tuple(
                Group(visible(group.name), group.share, tuple(topics[topic] for topic in group.topics))
                for group in overview(tree)
            ),
            tree=_brackets(tree),
            events=tuple(self.events),
        )

    @property
    def _anchor(self) -> str:
        # By number, since a model's name may contain text that looks like another anchor.
        return f"m{self.place}"

    def _looks(self) -> list[TopWords]:
        points = spread(self.reader.snapshots(self.spec.name), LOOKS)
        return list(self.reader.words_at(self.spec.name, points))

    def _looks_at(self, looks: Sequence[TopWords], topic: int) -> tuple[Then, ...]:
        words, found = self.reader.vocabulary(), []
        before: frozenset[int] | None = None
        for look in looks:
            ids = look.word_ids[topic, :LOOK_WORDS].tolist()
            told = tuple((visible(words[i]), before is not None and i not in before) for i in ids)
            found.append(Then(look.articles, float(look.shares[topic]), told))
            before = frozenset(ids)
        return tuple(found)

    def _articles(self, topic: int, address: Address) -> tuple[ToldArticle, ...]:
        name = self.spec.name
        return tuple(
            ToldArticle(
                visible(article.title),
                address(article),
                next(share for model, _, share in article.topics if model == name),
            )
            for article in self.reader.articles_about(name, topic, ARTICLES)
        )


def spread(points: Sequence[int], most: int) -> list[int]:
    """At most ``most`` of ascending numbers, including the first and the last, spaced by even factors."""
    if len(points) <= most:
        return list(points)
    wanted = np.geomspace(max(points[0], 1), points[-1], most)
    near = np.abs(np.log(np.maximum(points, 1))[:, None] - np.log(wanted)).argmin(axis=0)
    return [points[i] for i in sorted(set(near.tolist()))]


def _words(row: TopicRow, own: Iterable[float]) -> tuple[Word, ...]:
    return tuple(
        Word(visible(word), probability, part)
        for (word, probability), part in zip(row.words, own, strict=False)
    )


def _shares(history: ShareHistory, topic: int) -> tuple[tuple[int, float, float], ...]:
    articles = history.articles.tolist()
    chosen = np.searchsorted(history.articles, spread(articles, POINTS)).tolist()
    return tuple((articles[i], float(history.shares[i, topic]), float(history.own[i, topic])) for i in chosen)


def _brackets(tree: Sequence[Branch]) -> tuple[Bracket, ...]:
    """How the branches are joined; topics have rows in the order of the whole tree."""
    order = next((branch.topics for branch in tree if branch.parent is None), ())
    rows: dict[int, float] = {topic: float(row) for row, topic in enumerate(order)}
    heights = dict.fromkeys(order, 0.0)
    parts: dict[int | None, list[int]] = {}
    found = []
    for branch in tree:  # children come before their parents
        if below := parts.get(branch.number):
            one, other = below
            found.append(Bracket((heights[one], branch.height, heights[other]), (rows[one], rows[other])))
            rows[branch.number], heights[branch.number] = (rows[one] + rows[other]) / 2, branch.height
        parts.setdefault(branch.parent, []).append(branch.number)
    return tuple(found)


def _metrics(reader: SessionReader, status: Status) -> tuple[ToldMetric, ...]:
    articles = f"{status.held_out:,} held-out article" + ("" if status.held_out == 1 else "s")
    found = []
    for metric in metrics_of(reader):
        curves = [
            (place, _sound(reader.curve(name, metric.name))) for place, name in enumerate(reader.models())
        ]
        curves = [(place, curve) for place, curve in curves if len(curve.values)]
        if curves:
            title = visible(metric.title.replace("{held_out}", articles))
            found.append(ToldMetric(metric, title, tuple(curves)))
    return tuple(found)


def _sound(curve: Curve) -> Curve:
    """The part of the curve that can be drawn over articles."""
    kept = np.isfinite(curve.values) & (curve.articles > 0)
    return Curve(curve.articles[kept], curve.tokens[kept], curve.seconds[kept], curve.values[kept])


def _label(kind: str) -> str:
    try:
        return visible(kinds.load(kind).label)
    except KindError:  # installed when the session was trained, but no longer
        return kind


def _settings(settings: Settings) -> tuple[tuple[str, str], ...]:
    """The settings needed to repeat the training; files appear only by name."""
    vocabulary = visible(PurePath(settings.vocabulary).name)
    models = zip(settings.models, settings.batch_sizes, strict=True)
    kept = ((option.flag, settings.values[option.name]) for option in KEPT if option.name in settings.values)
    return (
        ("--source", settings.source),
        ("--vocab", f"{vocabulary}, fingerprint {settings.fingerprint[:12]}"),
        *(("--model", str(replace(spec, batch_size=size))) for spec, size in models),
        *((flag, _said(value)) for flag, value in kept if value is not None),
    )


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _versions() -> tuple[tuple[str, str], ...]:
    packages = ("numpy", "scipy", "numba")
    return (
        ("wikitopics", __version__),
        ("session format", str(VERSION)),
        ("Python", platform.python_version()),
        *((package, metadata.version(package)) for package in packages),
    )

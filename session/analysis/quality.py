"""How good the topics of a stored session are: its metrics, how coherent topics are, which repeat
others, and which come back."""

from collections.abc import Iterable
from itertools import compress
from statistics import fmean

import numpy as np

from wikitopics.model.coherence import Cooccurrences, npmi_of_words
from wikitopics.model.distances import repeats
from wikitopics.model.online import IN_USE
from wikitopics.session.metrics import EARLIER, OF_STREAM, OF_TOPICS, SCORES, Metric
from wikitopics.session.records import COHERENT_WORDS, TopicRow, TopWords
from wikitopics.session.settings import own_metrics
from wikitopics.session.sources import noun
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.reader import SessionReader

NAMED = 5
"""The most pairs of repeating topics that are named; the others are only counted."""


def metrics_of(reader: SessionReader) -> tuple[Metric, ...]:
    """The metrics of a session's models that its curves can show; those measured by kinds that are
    no longer installed come last."""
    recorded = reader.metric_names()
    metrics: list[Metric] = list(SCORES)
    metrics += [metric for metric in OF_STREAM if metric.name in recorded]
    for spec in reader.settings().models:
        metrics += own_metrics(spec.kind)
    metrics += OF_TOPICS
    metrics += [metric for metric in EARLIER if metric.name in recorded]
    declared = {metric.name: metric for metric in metrics}
    others = [Metric.undeclared(name) for name in recorded if name not in declared]
    return (*declared.values(), *others)


def coherences(reader: SessionReader, model: str) -> list[float | None]:
    """NPMI of each topic's leading words over the articles that `_counted_together` gives, or None
    if there are none; the metric that the trainer measures is the mean over the topics in use.

    As of the newest snapshot; empty before the first.
    """
    newest = reader.newest_words(model)
    return [] if newest is None else _coherences(newest, slice(None), _counted_together(reader))


def coherence(reader: SessionReader, model: str, topic: int) -> float | None:
    """The one of `coherences` that is this topic's; None before the first snapshot, and while
    coherence is still that of an earlier version."""
    newest = reader.newest_words(model)
    reference = reader.reference()
    if newest is None or not len(reference):
        return None
    [of_topic] = _coherences(newest, slice(topic, topic + 1), reference)
    return of_topic


def _coherences(newest: TopWords, topics: slice, articles: Block) -> list[float | None]:
    ids, _ = newest.leading
    together = Cooccurrences(articles.minibatch())
    values = npmi_of_words(ids[topics, :COHERENT_WORDS], together).tolist()
    return [value if np.isfinite(value) else None for value in values]


def mean_coherence(reader: SessionReader, model: str) -> float | None:
    """The mean of `coherences` over the topics in use, as the metric `npmi`; None if there are
    none."""
    newest = reader.newest_words(model)
    if newest is None:
        return None
    return _mean(compress(coherences(reader, model), newest.shares > IN_USE))


def distinct_words(newest: TopWords | None) -> float | None:
    """The share of distinct words among the ten most probable ones of all topics in use: 1 if no
    two topics have one in common. None without topics.

    ``newest``: the newest snapshot, if there is one.
    """
    if newest is None:
        return None
    ids, _ = newest.leading
    ten_words = ids[newest.shares > IN_USE, :COHERENT_WORDS]
    return len(np.unique(ten_words)) / ten_words.size if ten_words.size else None


def mean_found(topics: Iterable[TopicRow]) -> float | None:
    """The part of the replicas that have a topic in use, on average over those; None without
    replicas."""
    return _mean(row.found for row in topics if row.share > IN_USE)


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _counted_together(reader: SessionReader) -> Block:
    """The articles in which coherence is counted: the reference articles, or the held-out ones in a
    session of an earlier version that has not gone on yet."""
    reference = reader.reference()
    return reference if len(reference) else reader.held_out()


def coherence_remark(reader: SessionReader) -> str:
    """What people should know of the coherence of this session's topics; "" for nothing."""
    if len(reader.reference()) or not reader.progress().articles:
        return ""
    articles = noun(reader.settings().source)
    return (
        f"Coherence (npmi) is still that of an earlier version, counted in held-out {articles}, "
        "until training goes on"
    )


def repeats_in_words(reader: SessionReader, model: str) -> str:
    """The topics that nearly repeat another as of the newest snapshot, in one line for people.

    For example "3 topics nearly repeat another: 40 and 12, …"; "" for none.
    """
    newest = reader.newest_words(model)
    if newest is None:
        return ""
    pairs = repeats(newest.leading, newest.shares)
    if not pairs:
        return ""
    topics = "1 topic nearly repeats" if len(pairs) == 1 else f"{len(pairs)} topics nearly repeat"
    named = [f"{topic} and {repeated}" for topic, repeated in pairs[:NAMED]]
    if len(pairs) > NAMED:
        named.append("…")
    return f"{topics} another: {', '.join(named)}"

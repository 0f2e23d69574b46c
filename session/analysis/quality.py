"""How good the topics of a stored session are: its metrics, how coherent topics are, and which
repeat others."""

import numpy as np

from wikitopics.model import Minibatch
from wikitopics.model.coherence import npmi_of_words
from wikitopics.model.distances import repeats
from wikitopics.session.metrics import OF_STREAM, OF_TOPICS, SCORES, Metric
from wikitopics.session.records import COHERENT_WORDS
from wikitopics.session.settings import own_metrics
from wikitopics.session.storage.reader import SessionReader

NAMED = 5
"""The most pairs of repeating topics that are named; of more, the number is enough."""


def metrics_of(reader: SessionReader) -> tuple[Metric, ...]:
    """The metrics of a session's models; those measured by kinds that are no longer installed come
    last."""
    own = [metric for spec in reader.settings().models for metric in own_metrics(spec.kind)]
    recorded = reader.metric_names()
    of_stream = (metric for metric in OF_STREAM if metric.name in recorded)
    declared = {metric.name: metric for metric in (*SCORES, *of_stream, *own, *OF_TOPICS)}
    others = [Metric.undeclared(name) for name in recorded if name not in declared]
    return (*declared.values(), *others)


def coherences(reader: SessionReader, model: str) -> list[float | None]:
    """NPMI of each topic's leading words over the held-out articles; the trainer measures the mean
    of these.

    As of the newest snapshot; empty before the first. A topic has None if no articles are held out.
    """
    newest = reader.newest_words(model)
    if newest is None:
        return []
    held_out = reader.held_out()
    reference = Minibatch(held_out.indptr, held_out.word_ids, held_out.counts)
    values = npmi_of_words(newest.word_ids[:, :COHERENT_WORDS], reference).tolist()
    return [value if np.isfinite(value) else None for value in values]


def repeats_in_words(reader: SessionReader, model: str) -> str:
    """The topics that nearly repeat another as of the newest snapshot, in one line for people.

    For example "3 topics nearly repeat another: 40 and 12, …"; "" for none.
    """
    newest = reader.newest_words(model)
    pairs = [] if newest is None else repeats(newest.leading, newest.shares)
    if not pairs:
        return ""
    listed = ", ".join(f"{topic} and {of}" for topic, of in pairs[:NAMED])
    topics = "1 topic nearly repeats" if len(pairs) == 1 else f"{len(pairs)} topics nearly repeat"
    return f"{topics} another: {listed}{', …' if len(pairs) > NAMED else ''}"

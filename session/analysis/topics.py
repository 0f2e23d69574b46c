"""How good the topics of a stored session are: their coherence, and those that nearly repeat another."""

import numpy as np

from wikitopics.model import Minibatch
from wikitopics.model.topics.coherence import npmi_of_words
from wikitopics.model.topics.repeats import repeats
from wikitopics.session.records import COHERENT_WORDS
from wikitopics.session.storage.reader import SessionReader

NAMED = 5
"""The most pairs of repeats named; beyond that, their number is enough."""


def coherences(reader: SessionReader, model: str) -> list[float | None]:
    """NPMI of each topic's leading words over the held-out articles, as the trainer measures its mean.

    As of the newest snapshot; empty before the first. None if the session holds out no articles.
    """
    kept = reader.newest_words(model)
    if kept is None:
        return []
    held_out = reader.held_out()
    reference = Minibatch(held_out.indptr, held_out.word_ids, held_out.counts)
    values = npmi_of_words(kept.word_ids[:, :COHERENT_WORDS], reference).tolist()
    return [value if np.isfinite(value) else None for value in values]


def repeats_in_words(reader: SessionReader, model: str) -> str:
    """The topics that nearly repeat another as of the newest snapshot, in one line for people.

    For example "3 topics nearly repeat another: 40 and 12, …"; "" for none.
    """
    kept = reader.newest_words(model)
    found = [] if kept is None else repeats(kept.leading, kept.shares)
    if not found:
        return ""
    pairs = ", ".join(f"{topic} and {of}" for topic, of in found[:NAMED])
    topics = "1 topic nearly repeats" if len(found) == 1 else f"{len(found)} topics nearly repeat"
    return f"{topics} another: {pairs}{', …' if len(found) > NAMED else ''}"

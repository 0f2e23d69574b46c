"""The topics of a stored session that nearly repeat another."""

from collections.abc import Sequence

from wikitopics.model.topics.repeats import Repeat, repeats
from wikitopics.session.storage.reader import SessionReader

NAMED = 5
"""The most pairs named; beyond that, their number is enough."""


def topic_repeats(reader: SessionReader, model: str) -> list[Repeat]:
    """The repeats as of the newest snapshot; none before the first."""
    kept = reader.newest_words(model)
    return [] if kept is None else repeats(kept.leading, kept.shares)


def repeats_told(found: Sequence[Repeat]) -> str:
    """One line for people: "3 topics nearly repeat another: 40 and 12, …"; "" for none."""
    if not found:
        return ""
    pairs = ", ".join(f"{topic} and {of}" for topic, of in found[:NAMED])
    topics = "1 topic nearly repeats" if len(found) == 1 else f"{len(found)} topics nearly repeat"
    return f"{topics} another: {pairs}{', …' if len(found) > NAMED else ''}"

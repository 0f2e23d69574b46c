"""Names and events of topics: `topic_names`, `given_names`, `topic_events`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from wikitopics.session.errors import Damaged
from wikitopics.session.models import ModelSpec
from wikitopics.session.records import TopicChange, TopicEvent
from wikitopics.session.storage.decoding import one_of, optional, text, whole

LONGEST_NAME = 60
"""The most characters of a given name."""
LONGEST_WORDS = 1000
"""The most characters of a name made of words."""


@dataclass(frozen=True, slots=True)
class TopicNames:
    """What is known about one model's topics between snapshots."""

    names: tuple[str, ...]
    """The names made of words, by topic."""
    alive: frozenset[int]
    """The topics born and not dead."""


def decode_topic_names(rows: Sequence[tuple[Any, ...]], topics: int) -> TopicNames | None:
    """The (topic, name, alive) rows of `topic_names` of one model, by topic; None if there are none yet."""
    if not rows:
        return None
    if [row[0] for row in rows] != list(range(topics)):
        raise Damaged("topic_names are not those of all topics")
    names = tuple(text(name, "topic_names.name", LONGEST_WORDS) for _, name, _ in rows)
    alive = [whole(living, "topic_names.alive", 0, 1) for *_, living in rows]
    return TopicNames(names, frozenset(topic for topic, living in enumerate(alive) if living))


def decode_given_names(rows: Sequence[tuple[Any, ...]], topics: int) -> dict[int, str]:
    """(topic, name) rows of `given_names` of one model."""
    return {
        whole(topic, "given_names.topic", 0, topics - 1): text(name, "given_names.name", LONGEST_NAME)
        for topic, name in rows
    }


def given_name(name: str) -> str:
    """A name given by the user. Raises ValueError for one that cannot be shown in a line."""
    given = " ".join(name.split())
    if not given or len(given) > LONGEST_NAME or not given.isprintable():
        raise ValueError(f"a name has 1 to {LONGEST_NAME} printable characters")
    return given


def decode_topic_event(row: tuple[Any, ...], models: Sequence[ModelSpec]) -> TopicEvent:
    """(model, articles, event, topic, other, name) rows of `topic_events`."""
    model, articles, event, topic, other, name = row
    number = whole(model, "topic_events.model", 0, len(models) - 1)
    last = models[number].topics - 1
    changes: tuple[TopicChange, ...] = get_args(TopicChange)
    if (event in ("split", "merged")) != (other is not None):
        raise Damaged("topic_events.event and topic_events.other do not match")
    return TopicEvent(
        model=models[number].name,
        articles=whole(articles, "topic_events.articles"),
        event=one_of(event, "topic_events.event", changes),
        topic=whole(topic, "topic_events.topic", 0, last),
        other=optional(other, "topic_events.other", lambda value, place: whole(value, place, 0, last)),
        name=text(name, "topic_events.name", LONGEST_WORDS),
    )

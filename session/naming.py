"""Names of topics, made of their words or given by a user."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from wikitopics.model.naming import name_words
from wikitopics.model.relevance import by_relevance
from wikitopics.session.errors import BadUsage
from wikitopics.session.records import APART, TopWords, word_separator

WORD_SEPARATOR = ", "
"""Stands between the words of a topic's name, unless some of them are titles or phrases: then
`APART` does."""
LONGEST_NAME = 60
"""The most characters of a given name."""


@dataclass(frozen=True, slots=True)
class TopicNames:
    """What is known about one model's topics between snapshots."""

    names: tuple[str, ...]
    """The names made of words, by topic."""
    alive: frozenset[int]
    """The topics born and not dead."""
    lasting: tuple[str, ...]
    """The names used in events, by topic: the name under which the topic was born, or to which it
    was renamed since. While a topic's lasting name does not suit its words, its entry in ``names``
    differs from it."""


def names_of(relevant: Iterable[NDArray[Any]], words: Sequence[str]) -> list[str]:
    """A name for each topic or group of topics, in one line: "river, lake, dam" or "World War II ·
    Berlin".

    ``relevant``: the words of each by id, the most relevant first. ``words``: the vocabulary, by
    id.
    """
    topics = ([words[i] for i in ids.tolist()] for ids in relevant)
    return [joined(name_words(topic)) for topic in topics]


def joined(name: Sequence[str]) -> str:
    """The words of a name in one line."""
    return word_separator(name, WORD_SEPARATOR).join(name)


def parts(name: str) -> tuple[str, ...]:
    """The words of a topic's name."""
    separator = APART if APART in name else WORD_SEPARATOR
    return tuple(name.split(separator))


def relevant_first(snapshot: TopWords) -> TopWords:
    """The same words, each topic's most relevant ones first."""
    word_ids, probabilities = by_relevance(snapshot.leading, snapshot.shares)
    return replace(snapshot, word_ids=word_ids, probabilities=probabilities)


def topic_name(name: str) -> str:
    """A name given to a topic, in one line; "" for text of blanks, which takes a name away.

    Raises `BadUsage` for text that cannot be a name.
    """
    line = " ".join(name.split())
    if len(line) > LONGEST_NAME or not line.isprintable():
        raise BadUsage(f"a topic's name must have 1 to {LONGEST_NAME} printable characters")
    return line

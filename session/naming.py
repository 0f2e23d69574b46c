"""Names of topics, made of their words or given by a user."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.coherence import Cooccurrences
from wikitopics.model.naming import first_forms, name_words
from wikitopics.model.online import IN_USE, Leading, OnlineModel, RelevantWords
from wikitopics.model.relevance import RELEVANCE
from wikitopics.model.shown import CANDIDATES, in_shown_order
from wikitopics.session.errors import BadUsage
from wikitopics.session.wording import APART, word_separator

WORD_SEPARATOR = ", "
"""Stands between the words of a topic's name, unless some of them are titles or phrases: then
`APART` does."""
LONGEST_NAME = 60
"""The most characters of a given name."""


@dataclass(frozen=True, slots=True)
class ToldTopics:
    """What events have told of one model's topics."""

    names: tuple[str, ...]
    """The name of each topic by which its next event is judged. A living topic keeps it, whatever
    words are shown meanwhile, until another name has held for some time."""
    alive: frozenset[int]
    """The topics born and not dead."""


def shown_words(
    model: OnlineModel, reference: Cooccurrences, words: Sequence[str], n: int
) -> Leading:
    """The ``n`` words of each topic of a model that are shown first, in that order; of several
    forms of a word only one, unless there are too few others.

    ``reference``: documents in which it is counted which words go together, for topics in use;
    ``words``: the vocabulary, by id.
    """
    ids, probabilities, relevances = model.relevant_words(max(n, CANDIDATES), RELEVANCE)
    in_use = np.flatnonzero(model.topic_shares() > IN_USE)
    candidates = RelevantWords(ids[in_use], probabilities[in_use], relevances[in_use])
    if len(in_use):
        ids[in_use], probabilities[in_use] = in_shown_order(candidates, reference)
    ids, probabilities = forms_last((ids, probabilities), words)
    return np.ascontiguousarray(ids[:, :n]), np.ascontiguousarray(probabilities[:, :n])


def forms_last(ordered: Leading, words: Sequence[str]) -> Leading:
    """The words of each topic in the same order, but further forms of a word come last."""
    ids, probabilities = ordered
    orders = []
    for of_topic in ids.tolist():
        first = first_forms([words[i] for i in of_topic])
        others = sorted(set(range(len(of_topic))) - set(first))
        orders.append([*first, *others])
    order = np.array(orders, np.intp).reshape(ids.shape)
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(probabilities, order, axis=1)


def names_of(ordered: Iterable[NDArray[Any]], words: Sequence[str]) -> list[str]:
    """A name for each topic or group of topics, in one line: "river, lake, dam" or "World War II ·
    Berlin".

    ``ordered``: the words of each by id, in the order in which they are shown. ``words``: the
    vocabulary, by id.
    """
    topics = ([words[i] for i in ids.tolist()] for ids in ordered)
    return [joined(name_words(topic)) for topic in topics]


def joined(name: Sequence[str]) -> str:
    """The words of a name in one line."""
    return word_separator(name, WORD_SEPARATOR).join(name)


def separator(name: str) -> str:
    """What stands between the words of a name."""
    return APART if APART in name else WORD_SEPARATOR


def parts(name: str) -> tuple[str, ...]:
    """The words of a name."""
    return tuple(name.split(separator(name)))


def topic_name(name: str) -> str:
    """A name given to a topic, in one line; "" for text of blanks, which takes a name away.

    Raises `BadUsage` for text that cannot be a name.
    """
    line = " ".join(name.split())
    if len(line) > LONGEST_NAME or not line.isprintable():
        raise BadUsage(f"a topic's name must have 1 to {LONGEST_NAME} printable characters")
    return line

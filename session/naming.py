"""The name of each topic and group of topics, as one line of text, from their leading words."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from wikitopics.model.topics.leading import Leading
from wikitopics.model.topics.names import most_relevant_to, name

BETWEEN = ", "


def names(relevant: NDArray[Any], words: Sequence[str]) -> list[str]:
    """A name for each topic, "river, lake, dam".

    ``relevant``: (K, n) the topics' words by id, the most relevant first. ``words``: the vocabulary, by id.
    """
    return [BETWEEN.join(name([words[i] for i in ids])) for ids in relevant.tolist()]


def parts(name: str) -> tuple[str, ...]:
    """The words of a topic's name."""
    return tuple(name.split(BETWEEN))


def group_names(
    groups: Sequence[Sequence[int]], leading: Leading, shares: NDArray[Any], words: Sequence[str]
) -> list[str]:
    """A name for each group of topics, from all their leading words."""
    relevant = most_relevant_to(groups, leading, shares)
    return [BETWEEN.join(name([words[i] for i in ids.tolist()])) for ids in relevant]

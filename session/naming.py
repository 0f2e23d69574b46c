"""The name of each topic and group of topics, as one line of text, from their leading words."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from model.leading import Leading
from model.naming import most_relevant, most_relevant_to, name

BETWEEN = ", "


def names(
    leading: Leading, shares: NDArray[Any], words: Sequence[str], before: Sequence[str] = ()
) -> list[str]:
    """A name for each topic, "river, lake, dam"; ``before``: the names up to now, which stay where they fit.

    ``words``: the vocabulary, by id.
    """
    old = [tuple(one.split(BETWEEN)) for one in before] or [()] * len(leading[0])
    relevant = most_relevant(leading, shares).tolist()
    return [
        BETWEEN.join(name([words[i] for i in ids], last)) for ids, last in zip(relevant, old, strict=True)
    ]


def group_names(
    groups: Sequence[Sequence[int]], leading: Leading, shares: NDArray[Any], words: Sequence[str]
) -> list[str]:
    """A name for each group of topics, from all their leading words."""
    relevant = most_relevant_to(groups, leading, shares)
    return [BETWEEN.join(name([words[i] for i in ids.tolist()])) for ids in relevant]

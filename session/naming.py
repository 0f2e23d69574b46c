"""The name of each topic, as one line of text, from its leading words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.leading import Leading
from model.naming import RELEVANCE, most_relevant, name

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
    ids, probabilities = leading
    uses = probabilities.astype(np.float64) * np.asarray(shares, np.float64)[:, None]
    total = np.bincount(ids.ravel(), uses.ravel())
    found = []
    for topics in groups:
        these = list(topics)
        used = np.bincount(ids[these].ravel(), uses[these].ravel(), len(total))
        there = np.flatnonzero(used)
        fit = RELEVANCE * np.log(used[there]) + (1 - RELEVANCE) * np.log(used[there] / total[there])
        order = there[np.argsort(-fit, kind="stable")].tolist()
        found.append(BETWEEN.join(name([words[i] for i in order])))
    return found

"""Which of its leading words tell a topic apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.online import Leading

RELEVANCE = 0.6
"""The weight of a word's probability against its lift: lambda in [Sievert and Shirley 2014].
docs/topics.md says how it was chosen."""


def ownership(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) each topic's share of the uses of its leading words in all topics that lead with them.

    1 for a word that leads no other topic. shares: (K,) of the corpus
    """
    ids, _ = leading
    uses = _uses(leading, shares)
    of_words = np.bincount(ids.ravel(), uses.ravel(), minlength=1)
    return _shares(uses, of_words[ids])


def _uses(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) how often a topic's leading words are used in it, as a share of the corpus."""
    _, probabilities = leading
    of_topics = np.asarray(shares, np.float64)
    uses: NDArray[np.float64] = probabilities.astype(np.float64) * of_topics[:, None]
    return uses


def distinctness(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K,) how distinct each topic's words are: `ownership` of its leading words, weighted by their
    uses.

    Near 1 / K while all topics are alike, near 1 for a topic whose words lead no other.
    """
    _, probabilities = leading
    uses = probabilities.astype(np.float64)
    own = ownership(leading, shares) * uses
    return _shares(own.sum(axis=1), uses.sum(axis=1))


def relevance(
    leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE
) -> NDArray[np.float64]:
    """(K, n) how well each leading word represents its topic.

    weight log p(w|k) + (1 - weight) log (p(w|k) / p(w)); p(w) is taken from the topics that lead
    with the word. -inf for a word without probability.
    """
    _, probabilities = leading
    of_topic = probabilities.astype(np.float64) ** weight
    # p(w|k) / p(w) = p(k|w) / share_k, and a topic's share does not change the order of its words.
    lift = ownership(leading, shares) ** (1 - weight)
    with np.errstate(divide="ignore"):
        fit: NDArray[np.float64] = np.log(of_topic * lift)
    return fit


def by_relevance(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> Leading:
    """The same words, the most relevant first; ties stay in their order."""
    ids, probabilities = leading
    order = np.argsort(-relevance(leading, shares, weight), axis=1, kind="stable")
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(probabilities, order, axis=1)


def most_relevant(
    leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE
) -> NDArray[np.int32]:
    """(K, n) the leading words by id, the most relevant first."""
    ids, _ = by_relevance(leading, shares, weight)
    return ids


def most_relevant_to(
    groups: Sequence[Sequence[int]], leading: Leading, shares: NDArray[Any]
) -> list[NDArray[np.int64]]:
    """The leading words of each group's topics, by id, those most relevant to the group first."""
    ids, _ = leading
    uses = _uses(leading, shares)
    total = np.bincount(ids.ravel(), uses.ravel())
    words_of_groups = []
    for group in groups:
        topics = list(group)
        used = np.bincount(ids[topics].ravel(), uses[topics].ravel(), len(total))
        words = np.flatnonzero(used)
        # As in `relevance`; the group's share does not change the order either.
        lift = used[words] / total[words]
        fit = RELEVANCE * np.log(used[words]) + (1 - RELEVANCE) * np.log(lift)
        words_of_groups.append(words[np.argsort(-fit, kind="stable")])
    return words_of_groups


def scaled(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    numbers = probabilities.astype(np.float64)
    return _shares(numbers, numbers.sum(axis=-1, keepdims=True))


def _shares(numbers: NDArray[np.float64], total: NDArray[Any]) -> NDArray[np.float64]:
    """numbers / total, and 0 where the total is 0."""
    shares: NDArray[np.float64] = np.divide(
        numbers,
        total,
        out=np.zeros_like(numbers),
        where=total > 0,
    )
    return shares

"""Which of its leading words tell a topic apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.online import Leading

RELEVANCE = 0.6
"""The weight of a word's probability against its lift: lambda in [Sievert and Shirley 2014].
docs/decisions/0048-words-shown.md says how it was chosen."""


def ownership(
    leading: Leading,
    shares: NDArray[Any],
    words: Leading | None = None,
) -> NDArray[np.float64]:
    """(K, n) how far each leading word is its topic's own: the part that the topic has of the uses
    of the word in all topics that it leads.

    1 for a word that leads no other topic.

    leading: each topic's leading words and their probabilities
    shares: (K,) each topic's share of the corpus
    words: (K, n) the words that are asked about, if they are others; each counts in its own topic
    even if it does not lead it
    """
    ids, _ = leading
    uses = _uses(leading, shares)
    if words is None:
        uses_of_words = np.bincount(ids.ravel(), uses.ravel(), minlength=1)  # by word id
        return _quotients(uses, uses_of_words[ids])
    other_ids, _ = words
    other_uses = _uses(words, shares)
    leads = (other_ids[:, :, None] == ids[:, None, :]).any(axis=2)
    all_ids = np.concatenate([ids, other_ids], axis=1)
    all_uses = np.concatenate([uses, np.where(leads, 0, other_uses)], axis=1)
    uses_of_words = np.bincount(all_ids.ravel(), all_uses.ravel(), minlength=1)
    parts = _quotients(other_uses, uses_of_words[other_ids])
    return np.minimum(parts, 1)  # the same probability may be rounded differently in both


def _uses(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) how often each topic uses its leading words, as a share of the words of the corpus."""
    _, probabilities = leading
    shares_of_topics = np.asarray(shares, np.float64)
    uses: NDArray[np.float64] = probabilities.astype(np.float64) * shares_of_topics[:, None]
    return uses


def distinctness(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K,) how distinct each topic's words are: the mean `ownership` of its leading words, weighted
    by their probabilities.

    Near 1 / K while all topics are alike, near 1 for a topic whose words lead no other.
    """
    _, probabilities = leading
    weights = probabilities.astype(np.float64)
    owned = ownership(leading, shares) * weights
    return _quotients(owned.sum(axis=1), weights.sum(axis=1))


def relevance(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) how well each leading word represents its topic.

    `RELEVANCE` log p(w|k) + (1 - `RELEVANCE`) log (p(w|k) / p(w)); p(w) is taken from the topics
    that lead with the word. -inf for a word without probability.
    """
    _, probabilities = leading
    probability_factor = probabilities.astype(np.float64) ** RELEVANCE
    # The lift p(w|k) / p(w) is p(k|w) / share_k, and p(k|w) is the ownership. The share is left
    # out: it is the same for all words of a topic and does not change their order.
    lift_factor = ownership(leading, shares) ** (1 - RELEVANCE)
    with np.errstate(divide="ignore"):
        relevances: NDArray[np.float64] = np.log(probability_factor * lift_factor)
    return relevances


def by_relevance(leading: Leading, shares: NDArray[Any]) -> Leading:
    """The same leading words, the most relevant first; ties stay in their order."""
    ids, probabilities = leading
    order = np.argsort(-relevance(leading, shares), axis=1, kind="stable")
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(probabilities, order, axis=1)


def most_relevant_to(
    groups: Sequence[Sequence[int]], shown: Leading, shares: NDArray[Any]
) -> list[NDArray[np.int64]]:
    """The words of each group's topics, by id, those most relevant to the group first.

    A word counts by the square of the sum of the roots of its uses in each topic. So one that
    several topics share counts for more than one that a single topic uses as often.

    shown: the words of each topic, and their probabilities
    shares: (K,) each topic's share of the corpus
    """
    ids, _ = shown
    uses = _uses(shown, shares)
    in_all = np.bincount(ids.ravel(), uses.ravel())  # the uses of each word, by its id
    words_of_groups = []
    for group in groups:
        topics = list(group)
        ids_of_group = ids[topics].ravel()
        uses_of_group = uses[topics].ravel()
        in_group = np.bincount(ids_of_group, uses_of_group, len(in_all))
        roots = np.bincount(ids_of_group, np.sqrt(uses_of_group), len(in_all))
        words = np.flatnonzero(in_group)
        # As in `relevance`; the group's share, which is left out, does not change the order.
        lift = in_group[words] / in_all[words]
        shared = np.square(roots[words])
        relevances = RELEVANCE * np.log(shared) + (1 - RELEVANCE) * np.log(lift)
        most_relevant_first = np.argsort(-relevances, kind="stable")
        words_of_groups.append(words[most_relevant_first])
    return words_of_groups


def scaled(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """The probabilities of each row, scaled to sum to 1; those of a row of zeros stay 0."""
    numbers = probabilities.astype(np.float64)
    return _quotients(numbers, numbers.sum(axis=-1, keepdims=True))


def _quotients(numbers: NDArray[np.float64], totals: NDArray[Any]) -> NDArray[np.float64]:
    """numbers / totals, and 0 where a total is 0."""
    quotients: NDArray[np.float64] = np.divide(
        numbers,
        totals,
        out=np.zeros_like(numbers),
        where=totals > 0,
    )
    return quotients

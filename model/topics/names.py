"""Names of topics: the leading words that tell a topic apart from the others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.topics.leading import Leading

RELEVANCE = 0.6
"""Weight of a word's probability against its lift, [Sievert and Shirley 2014]'s lambda; docs/topics.md says
how it was chosen."""
WORDS = 3
"""Words in a name."""
SUITING = 2
"""This many of a shown name's words are among the topic's most probable ones."""
LOYALTY = 10
"""A name holds while its words are among this many of the topic's most relevant ones."""


def ownership(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) this topic's share of the uses of each leading word in all topics that lead with it.

    1 for a word that leads no other topic. shares: (K,) of the corpus
    """
    ids, probabilities = leading
    uses = probabilities.astype(np.float64) * np.asarray(shares, np.float64)[:, None]
    total = np.bincount(ids.ravel(), uses.ravel(), minlength=1)[ids]
    owned: NDArray[np.float64] = np.divide(uses, total, out=np.zeros_like(uses), where=total > 0)
    return owned


def distinctness(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K,) how distinct each topic's words are: `ownership` of its leading words, weighted by their uses.

    Near 1 / K while all topics are alike, near 1 for a topic whose words lead no other.
    """
    probabilities = leading[1].astype(np.float64)
    uses = probabilities.sum(1)
    own = (ownership(leading, shares) * probabilities).sum(1)
    found: NDArray[np.float64] = np.divide(own, uses, out=np.zeros_like(uses), where=uses > 0)
    return found


def relevance(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> NDArray[np.float64]:
    """(K, n) how well each leading word represents its topic.

    weight log p(w|k) + (1 - weight) log (p(w|k) / p(w)); p(w) is taken from the topics that lead with the
    word. -inf for a word without probability.
    """
    probabilities = leading[1].astype(np.float64)
    with np.errstate(divide="ignore"):
        # p(w|k) / p(w) = p(k|w) / share_k, and a topic's share does not change the order of its words.
        found: NDArray[np.float64] = weight * np.log(probabilities) + (1 - weight) * np.log(
            ownership(leading, shares)
        )
    return found


def by_relevance(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> Leading:
    """The same words, the most relevant first; ties stay in their order."""
    ids, probabilities = leading
    order = np.argsort(-relevance(leading, shares, weight), axis=1, kind="stable")
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(probabilities, order, axis=1)


def most_relevant(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> NDArray[np.int32]:
    """(K, n) the leading words by id, the most relevant first."""
    return by_relevance(leading, shares, weight)[0]


def most_relevant_to(
    groups: Sequence[Sequence[int]], leading: Leading, shares: NDArray[Any]
) -> list[NDArray[np.int64]]:
    """The leading words of each group's topics, by id, those most relevant to the group first."""
    ids, probabilities = leading
    uses = probabilities.astype(np.float64) * np.asarray(shares, np.float64)[:, None]
    total = np.bincount(ids.ravel(), uses.ravel())
    found = []
    for group in groups:
        topics = list(group)
        used = np.bincount(ids[topics].ravel(), uses[topics].ravel(), len(total))
        words = np.flatnonzero(used)
        # As in `relevance`; the group's share does not change the order either.
        fit = RELEVANCE * np.log(used[words]) + (1 - RELEVANCE) * np.log(used[words] / total[words])
        found.append(words[np.argsort(-fit, kind="stable")])
    return found


def name(relevant: Sequence[str]) -> tuple[str, ...]:
    """The words of a topic's name.

    ``relevant``: the topic's words, the most relevant first. Of two forms of a word ("film", "films") only
    the first counts.
    """
    chosen: list[str] = []
    for word in relevant:
        if not any(_same_word(word, other) for other in chosen):
            chosen.append(word)
        if len(chosen) == WORDS:
            break
    return tuple(chosen)


def fits(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all but one of a name's words are among the first of ``relevant``, given as words or ids."""
    return len(set(name) & set(relevant[:LOYALTY])) >= max(1, len(name) - 1)


def holds(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all words of a name are among the first of ``relevant``, given as words or ids."""
    return set(name) <= set(relevant[:LOYALTY])


def suits(name: Sequence[Hashable], leading: Sequence[Hashable]) -> bool:
    """Whether at least two of a name's words are among ``leading``, the topic's most probable ones; a name of
    one word suits."""
    return len(name) < SUITING or len(set(name) & set(leading)) >= SUITING


def _same_word(one: str, other: str) -> bool:
    """Whether two words differ only in their last letters: "film" and "films", "party" and "parties".

    Titles, which have capitals, are different things even then: "Iran" and "Iraq".
    """
    if one != one.lower():
        return False
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= 3 and len(long) - len(short) <= 2 and long.startswith(short[: max(3, len(short) - 1)])
    )

"""Names of areas: the words that tell an area apart from the others. K topics, U of them in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.naming import all_words_fit

WORDS_IN_AREA_NAME = 2
STEM = 4
"""The fewest letters that make a stem; shorter words must be equal."""


def words_of_groups(
    groups: Sequence[Sequence[int]],
    shown: NDArray[np.integer],
    shares: NDArray[np.floating],
) -> list[list[int]]:
    """The words of each group of topics, by id: the first word shown of each of its topics, that of
    the largest topic first, then the second of each, and so on.

    shown: (K, n) the words shown of each topic, by id
    shares: (K,) each topic's share of the corpus
    """
    words_of = []
    for group in groups:
        topics = np.array(group, np.int64)
        largest_first = topics[np.argsort(-shares[topics], kind="stable")]
        by_rank = shown[largest_first].T.ravel().tolist()
        words_of.append(list(dict.fromkeys(by_rank)))
    return words_of


def names(
    words_of: Mapping[int, Sequence[str]], before: Mapping[int, Sequence[str]]
) -> dict[int, tuple[str, ...]]:
    """The words of each area's name; no two words in all the names have the same stem.

    words_of: each area's words, of the largest area first. before: earlier names, which are kept
    while their words are among the first.
    """
    chosen: dict[int, tuple[str, ...]] = {}
    used: list[str] = []
    for area, words in words_of.items():
        if area in before and all_words_fit(before[area], words):
            chosen[area] = tuple(before[area])
            used += chosen[area]
    for area, words in words_of.items():
        if area in chosen:
            continue
        name: list[str] = []
        for word in words:
            if len(name) == WORDS_IN_AREA_NAME:
                break
            if not any(_same_stem(word, other) for other in used):
                name.append(word)
                used.append(word)
        chosen[area] = tuple(name or words[:1])
    return chosen


def _same_stem(one: str, other: str) -> bool:
    """Whether two words differ only in what follows their first letters: "building" and "built"."""
    if one == other:
        return True
    n_shared = 0  # first letters that both have
    for letter, other_letter in zip(one, other, strict=False):
        if letter != other_letter:
            break
        n_shared += 1
    shorter = min(len(one), len(other))
    return n_shared >= max(STEM, shorter - 2)

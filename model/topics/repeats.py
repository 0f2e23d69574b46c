"""Topics that nearly repeat another topic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.online import IN_USE
from wikitopics.model.topics.leading import Leading, distances

NEAR = 0.5
"""The Hellinger distance of leading words up to which two topics have one subject: see docs/topics.md."""


class Repeat(NamedTuple):
    """A topic, and the larger one that it nearly repeats."""

    topic: int
    of: int


def repeats(leading: Leading, shares: NDArray[np.floating]) -> list[Repeat]:
    """The topics in use that nearly repeat a larger one, the closest pairs first.

    Of two equally large topics, the later repeats the earlier. A topic close to several repeats the nearest.
    """
    largest_first = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares > IN_USE)]
    if len(largest_first) < 2:
        return []
    far = distances((leading[0][largest_first], leading[1][largest_first]))
    far[np.triu_indices(len(far))] = np.inf
    found = sorted((row.min(), place, int(row.argmin())) for place, row in enumerate(far))
    return [
        Repeat(int(largest_first[topic]), int(largest_first[of]))
        for distance, topic, of in found
        if distance <= NEAR
    ]

"""The order in which a topic's words are shown: those first that tell it apart from the others and
go with one another."""

from __future__ import annotations

import numpy as np

from wikitopics.model.coherence import Cooccurrences, associations
from wikitopics.model.online import Leading, RelevantWords
from wikitopics.model.relevance import scaled

CANDIDATES = 30
"""The number of a topic's most relevant words among which those to show are chosen."""
ASSOCIATION = 4.0
"""The weight of a word's association with the topic's other words against its relevance.
docs/decisions/0048-words-shown.md says how it was chosen."""
TOPICS_AT_ONCE = 200
"""The number of topics whose words are counted at a time, which bounds memory."""


def in_shown_order(
    candidates: RelevantWords,
    reference: Cooccurrences,
    weight: float = ASSOCIATION,
) -> Leading:
    """The candidates, each topic's by relevance plus ``weight`` times their mean association with
    its other candidates, weighted by the probabilities of these; ties by relevance.

    reference: the documents in which words are counted; without any, the order is by relevance
    """
    orders = []
    for start in range(0, len(candidates.ids), TOPICS_AT_ONCE):
        topics = slice(start, start + TOPICS_AT_ONCE)
        weights = scaled(candidates.probabilities[topics])
        strengths = associations(candidates.ids[topics], reference)
        with_others = np.einsum("kij,kj->ki", strengths, weights)
        scores = candidates.relevances[topics] + weight * with_others
        orders.append(np.argsort(-scores, axis=1, kind="stable"))
    order = np.concatenate(orders)
    return (
        np.take_along_axis(candidates.ids, order, axis=1),
        np.take_along_axis(candidates.probabilities, order, axis=1),
    )

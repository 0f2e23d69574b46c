"""Which words tell a topic apart: ownership, relevance, distinctness."""

import numpy as np
import pytest

from wikitopics.model import relevance as by_weight
from wikitopics.model.relevance import by_relevance, distinctness, ownership, relevance

# Three topics over the words 0 to 5; word 0 leads all of them.
IDS = np.array([[0, 1, 2], [0, 3, 2], [0, 4, 5]], np.int32)
PROBABILITIES = np.array([[0.5, 0.3, 0.1], [0.4, 0.3, 0.2], [0.5, 0.2, 0.2]], np.float32)
SHARES = np.array([0.5, 0.3, 0.2])
LEADING = (IDS, PROBABILITIES)


def first_words(leading):
    ids, _ = by_relevance(leading, SHARES)
    return ids


def test_a_word_is_owned_by_the_topics_that_lead_with_it():
    owned = ownership(LEADING, SHARES)
    # Word 0 is used by all topics, word 2 by the first two: share times probability.
    uses_of_0 = np.array([0.5 * 0.5, 0.3 * 0.4, 0.2 * 0.5])
    np.testing.assert_allclose(owned[:, 0], uses_of_0 / uses_of_0.sum(), rtol=1e-6)
    uses_of_2 = np.array([0.5 * 0.1, 0.3 * 0.2])
    np.testing.assert_allclose(owned[:2, 2], uses_of_2 / uses_of_2.sum(), rtol=1e-6)
    # Words 1 and 5 lead one topic only.
    assert owned[0, 1] == 1.0
    assert owned[2, 2] == 1.0


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (1.0, IDS.tolist()),
        (0.75, [[0, 1, 2], [3, 0, 2], [0, 4, 5]]),
        (0.5, [[1, 0, 2], [3, 2, 0], [4, 5, 0]]),
        (0.0, [[1, 0, 2], [3, 2, 0], [4, 5, 0]]),
    ],
)
def test_relevance_goes_from_lift_to_probability(weight, expected, monkeypatch):
    monkeypatch.setattr(by_weight, "RELEVANCE", weight)
    assert first_words(LEADING).tolist() == expected


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_a_topic_without_words_has_no_number_that_is_none(weight, monkeypatch):
    monkeypatch.setattr(by_weight, "RELEVANCE", weight)
    without_words = (IDS, np.zeros((3, 3), np.float32))
    assert np.all(relevance(without_words, SHARES) == -np.inf)
    np.testing.assert_array_equal(first_words(without_words), IDS)


def test_a_topic_owns_its_words_when_no_other_has_them():
    ids = np.array([[0, 1], [0, 1], [2, 3]])
    probabilities = np.array([[0.5, 0.2], [0.5, 0.2], [0.4, 0.1]])
    found = distinctness((ids, probabilities), np.array([0.3, 0.1, 0.6]))
    assert np.allclose(found, [0.75, 0.25, 1])


def test_of_other_words_the_part_in_topics_that_they_lead_counts_and_their_own():
    leading = (np.array([[0, 1], [1, 2]], np.int32), np.array([[0.6, 0.2], [0.4, 0.4]], np.float32))
    others = (np.array([[1, 2], [2, 3]], np.int32), np.array([[0.2, 0.1], [0.4, 0.2]], np.float32))
    found = ownership(leading, np.array([0.5, 0.5]), others)
    np.testing.assert_allclose(found, [[0.2 / 0.6, 0.1 / 0.5], [0.4 / 0.5, 1]], rtol=1e-6)

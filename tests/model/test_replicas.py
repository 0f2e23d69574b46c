"""Which topics replicas have, by their leading words."""

import numpy as np

from wikitopics.model.replicas import (
    MATCHED_WORDS,
    SHARED,
    WORDS,
    found_in_replicas,
    partners_in_replica,
)

K = 6
PROBABILITIES = np.linspace(0.08, 0.01, MATCHED_WORDS, dtype=np.float32)


def leading(first_words):
    """Topics whose leading words are those from each of these numbers on."""
    ids = np.array([np.arange(first, first + MATCHED_WORDS) for first in first_words], np.int32)
    return ids, np.tile(PROBABILITIES, (len(ids), 1))


MODEL = leading(range(0, 100 * K, 100))


def test_topics_are_matched_one_to_one_whatever_their_order():
    order = np.random.default_rng(3).permutation(K)
    replica = tuple(array[order] for array in MODEL)
    assert np.array_equal(order[partners_in_replica(MODEL, replica)], np.arange(K))
    assert found_in_replicas(MODEL, [replica]).tolist() == [1.0] * K
    twice = leading([0, 0, *range(200, 100 * K, 100)])  # topic 0 two times, topic 1 never
    assert sorted(partners_in_replica(MODEL, twice).tolist()) == list(range(K))
    assert found_in_replicas(MODEL, [twice]).tolist() == [1, 0, 1, 1, 1, 1]


def test_a_replica_has_a_topic_if_enough_of_its_words_are_the_same():
    missing = WORDS - SHARED
    enough = leading([missing, *range(100, 100 * K, 100)])
    too_few = leading([missing + 1, *range(100, 100 * K, 100)])
    assert found_in_replicas(MODEL, [enough])[0] == 1
    assert found_in_replicas(MODEL, [too_few])[0] == 0
    assert found_in_replicas(MODEL, [enough, too_few, too_few, enough])[0] == 0.5
    assert found_in_replicas(MODEL, [too_few]).dtype == np.float32


def test_fewer_words_than_are_compared():
    ids, probabilities = MODEL
    few = (ids[:, :4], probabilities[:, :4])
    assert found_in_replicas(few, [few]).tolist() == [1.0] * K

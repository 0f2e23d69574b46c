"""Topics compared by their leading words: drift, distances, places, repeats."""

import numpy as np
import pytest

from tests.model.conftest import leading_from
from wikitopics.model import drift
from wikitopics.model.distances import affinity, classical_scaling, distances, repeats

# Drift: 0 for a topic that stayed, 1 for one that has become another.


def leading(*topics):
    """Of topics given as pairs of a word's id and its probability."""
    pairs = np.array(topics)
    return pairs[:, :, 0].astype(np.int32), pairs[:, :, 1].astype(np.float32)


def test_the_share_that_has_gone_to_other_words():
    before = leading([(3, 0.4), (1, 0.4)], [(3, 0.2), (1, 0.2)], [(0, 0.5), (1, 0.3)])
    after = leading([(1, 0.1), (3, 0.1)], [(5, 0.2), (6, 0.1)], [(0, 0.3), (7, 0.3)])
    assert drift(before, after) == pytest.approx([0.0, 1.0, 0.5])
    assert drift(after, before) == pytest.approx(drift(before, after))


def test_it_is_the_total_variation_distance_where_all_words_lead():
    topics_before, topics_after = np.random.default_rng(0).dirichlet(np.ones(9), (2, 4))

    def all_leading(topics):
        ids = np.argsort(-topics, axis=1)
        probabilities = np.take_along_axis(topics, ids, axis=1)
        return ids.astype(np.int32), probabilities.astype(np.float32)

    found = drift(all_leading(topics_before), all_leading(topics_after))
    distance = 0.5 * np.abs(topics_before - topics_after).sum(axis=1)
    assert found == pytest.approx(distance, abs=1e-6)


def test_topics_of_another_model_are_refused():
    with pytest.raises(ValueError, match="2 topics before and 1 after"):
        drift(leading([(0, 1.0)], [(1, 1.0)]), leading([(0, 1.0)]))


# Distances, and topics that nearly repeat another.


def test_affinity_is_one_for_the_same_words_and_nought_for_others():
    near = affinity(leading_from(0, 5, 10, 0), leading_from(0), 0)
    np.testing.assert_allclose(near[[0, 2, 3]], [1, 0, 1], atol=1e-6)
    assert 0 < near[1] < 1


def test_distances_are_symmetric_and_bounded():
    far = distances(leading_from(0, 3, 100))
    np.testing.assert_allclose(far, far.T)
    assert np.all((far >= 0) & (far <= 1))
    assert far[0, 2] == 1
    assert far[0, 1] < 1


@pytest.mark.parametrize(
    ("firsts", "shares", "found"),
    [
        ((0, 100, 3, 2, 101), [0.2, 0.3, 0.1, 0.15, 0.25], {(2, 3), (3, 0), (4, 1)}),
        ((0, 0, 0), [0.6, 0.0005, 0.3995], {(2, 0)}),  # not those out of use
        ((0, 0, 0), [1.0, 0, 0], set()),
        ((0, 0), [0.5, 0.5], {(1, 0)}),  # of equal ones the first
    ],
)
def test_a_topic_repeats_the_larger_one_that_is_nearest(firsts, shares, found):
    assert set(repeats(leading_from(*firsts), np.array(shares))) == found


# Places from distances.


def euclidean(places):
    return np.sqrt(((places[:, None] - places) ** 2).sum(axis=-1))


def test_places_in_the_plane_are_found_again_up_to_a_turn():
    places = np.random.default_rng(0).normal(size=(12, 2))
    found = classical_scaling(euclidean(places))
    assert euclidean(found) == pytest.approx(euclidean(places))
    assert np.ptp(found[:, 0]) >= np.ptp(found[:, 1])
    assert np.array_equal(found, classical_scaling(euclidean(places))), "always the same"


def test_distances_that_no_plane_has_give_numbers_all_the_same():
    random = np.random.default_rng(1).random((9, 9))
    far = np.triu(random, 1) + np.triu(random, 1).T  # eigenvalues of both signs
    found = classical_scaling(far)
    assert (found.shape, found.dtype) == ((9, 2), np.float64)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("K", [0, 1, 2])
def test_few_things_have_places_too(K):
    all_one_apart = np.ones((K, K)) - np.eye(K)
    found = classical_scaling(all_one_apart)
    assert found.shape == (K, 2)
    assert euclidean(found) == pytest.approx(all_one_apart)
    assert not found[:, 1].any()

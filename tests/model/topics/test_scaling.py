"""Places from distances."""

import numpy as np
import pytest

from wikitopics.model.coherence import classical_scaling


def distances(places):
    return np.sqrt(((places[:, None] - places) ** 2).sum(axis=-1))


def test_places_in_the_plane_are_found_again_up_to_a_turn():
    places = np.random.default_rng(0).normal(size=(12, 2))
    found = classical_scaling(distances(places))
    assert distances(found) == pytest.approx(distances(places))
    assert np.ptp(found[:, 0]) >= np.ptp(found[:, 1])
    assert np.array_equal(found, classical_scaling(distances(places))), "always the same"


def test_distances_that_no_plane_has_give_numbers_all_the_same():
    far = np.random.default_rng(1).random((9, 9))
    far = np.triu(far, 1) + np.triu(far, 1).T  # eigenvalues of both signs
    found = classical_scaling(far, 3)
    assert found.shape == (9, 3)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()


@pytest.mark.parametrize("K", [0, 1, 2])
def test_few_things_have_places_too(K):
    found = classical_scaling(np.ones((K, K)) - np.eye(K))
    assert found.shape == (K, 2)
    assert distances(found) == pytest.approx(np.ones((K, K)) - np.eye(K))
    assert not found[:, 1].any()

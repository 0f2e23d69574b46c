"""Coherence by NPMI, and places from distances."""

import math

import numpy as np
import pytest

from tests.model.conftest import batch_of, planted
from wikitopics.model import Minibatch, kinds, npmi
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.online import top_words
from wikitopics.model.topics import classical_scaling


def naive(topics, documents, n):
    """Straight from the definition, with sets."""
    sets = [set(d) for d in documents if d]
    result = []
    for topic in topics:
        words = sorted(range(len(topic)), key=lambda w: (-topic[w], w))[:n]
        values = []
        for i, a in enumerate(words):
            for b in words[i + 1 :]:
                p1, p2 = (sum(w in s for s in sets) / len(sets) for w in (a, b))
                both = sum(a in s and b in s for s in sets) / len(sets)
                if both == 0:
                    values.append(-1.0)
                elif both == 1:
                    values.append(1.0)
                else:
                    values.append(math.log(both / (p1 * p2)) / -math.log(both))
        result.append(sum(values) / len(values))
    return result


def test_is_the_definition():
    random = np.random.default_rng(0)
    documents = [sorted(random.choice(12, random.integers(0, 8), replace=False)) for _ in range(60)]
    topics = random.dirichlet(np.ones(12), 5)
    for n in (2, 4, 10, 50):
        np.testing.assert_allclose(
            npmi(topics, batch_of(documents, times=2), n), naive(topics, documents, n), rtol=1e-6
        )


def test_extremes():
    topics = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    always = batch_of([[0, 1], [0, 1], [2], [3]])
    np.testing.assert_allclose(npmi(topics, always, 2), [1.0, -1.0])
    np.testing.assert_allclose(npmi(topics, batch_of([[0, 1], [0, 1]]), 2), [1.0, -1.0])
    independent = batch_of([[0, 1], [0], [1], [2]])
    np.testing.assert_allclose(npmi(topics, independent, 2)[0], 0.0, atol=1e-6)


def test_documents_without_words_do_not_count():
    topics = np.array([[0.5, 0.3, 0.2]])
    documents = [[0, 1], [1, 2], [0], [2]]
    np.testing.assert_array_equal(
        npmi(topics, batch_of(documents)), npmi(topics, batch_of([*documents, [], [], []]))
    )


def test_nothing_to_measure_is_nan():
    assert np.isnan(npmi(np.ones((2, 1)), batch_of([[0], [0]]))).all()
    assert np.isnan(npmi(np.ones((2, 3)) / 3, Minibatch([0, 0], [], []))).all()


def test_refuses_words_that_the_topics_lack():
    with pytest.raises(ValueError, match="out of range"):
        npmi(np.ones((2, 3)) / 3, batch_of([[3]]))


def test_true_topics_are_more_coherent_than_mixed_ones():
    batch, beta = planted(500, n_words=40)
    mixed = np.random.default_rng(0).permutation(beta.T).T
    assert npmi(beta, batch).min() > npmi(mixed, batch).max()


def test_top_words_break_ties_by_word_id():
    np.testing.assert_array_equal(top_words(np.array([[0.2, 0.3, 0.3, 0.2]]), 3), [[1, 2, 0]])


def test_a_model_names_its_top_words_as_its_topics_do(kind):
    model = kinds.load(kind).create(5, 40, 500)
    model.learn(planted(200, n_words=40)[0])
    ids, probabilities = model.top_words(20)
    topics = model.topics()
    np.testing.assert_array_equal(ids, top_words(topics, 20))
    np.testing.assert_allclose(probabilities, np.take_along_axis(topics, ids, axis=1), rtol=1e-6)
    assert model.top_words(1000)[0].shape == (5, 40)


def test_equal_words_go_by_their_number():
    topics = Lambda.of(np.array([[2.0, 1], [1, 1], [2, 3], [2, 1]]), 0.1)
    assert topics.top_words(3, apart=0)[0].tolist() == [[0, 2, 3], [2, 0, 1]]


# Places from distances.


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

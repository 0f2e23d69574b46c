"""Topic coherence by NPMI."""

import itertools
import math

import numpy as np
import pytest

from tests.model.conftest import batch_of
from wikitopics.model import Minibatch, npmi
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.online import top_words


def coherence_of(topics, documents, n):
    """Straight from the definition, with sets."""
    sets = [set(words) for words in documents if words]

    def share(*words):
        """Of the documents that contain all these words."""
        return sum(words_of_document.issuperset(words) for words_of_document in sets) / len(sets)

    def npmi_of_pair(one, other):
        both = share(one, other)
        if both == 0:
            return -1.0
        if both == 1:
            return 1.0
        return math.log(both / (share(one) * share(other))) / -math.log(both)

    coherence = []
    for topic in topics:
        leading = np.argsort(-topic, kind="stable")[:n].tolist()
        of_pairs = [npmi_of_pair(one, other) for one, other in itertools.combinations(leading, 2)]
        coherence.append(sum(of_pairs) / len(of_pairs))
    return coherence


def test_is_the_definition():
    random = np.random.default_rng(0)
    documents = []
    for _ in range(60):
        n_words = random.integers(0, 8)
        documents.append(sorted(random.choice(12, n_words, replace=False)))
    topics = random.dirichlet(np.ones(12), 5)
    batch = batch_of(documents, times=2)
    for n in (2, 4, 10, 50):
        expected = coherence_of(topics, documents, n)
        np.testing.assert_allclose(npmi(topics, batch, n), expected, rtol=1e-6)


def test_extremes():
    topics = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    always = batch_of([[0, 1], [0, 1], [2], [3]])
    np.testing.assert_allclose(npmi(topics, always, 2), [1.0, -1.0])
    np.testing.assert_allclose(npmi(topics, batch_of([[0, 1], [0, 1]]), 2), [1.0, -1.0])


def test_nothing_to_measure_is_nan():
    assert np.isnan(npmi(np.ones((2, 1)), batch_of([[0], [0]]))).all()
    assert np.isnan(npmi(np.ones((2, 3)) / 3, Minibatch([0, 0], [], []))).all()


def test_refuses_words_that_the_topics_lack():
    with pytest.raises(ValueError, match="out of range"):
        npmi(np.ones((2, 3)) / 3, batch_of([[3]]))


def test_equal_words_go_by_their_number():
    np.testing.assert_array_equal(top_words(np.array([[0.2, 0.3, 0.3, 0.2]]), 3), [[1, 2, 0]])
    topics = Lambda.of(np.array([[2.0, 1], [1, 1], [2, 3], [2, 1]]), 0.1)
    ids, _ = topics.top_words(3, apart=0)
    assert ids.tolist() == [[0, 2, 3], [2, 0, 1]]

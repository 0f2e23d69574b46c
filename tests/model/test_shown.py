"""The order in which a topic's words are shown."""

import numpy as np
import pytest

from tests.model.conftest import batch_of
from wikitopics.model import Minibatch
from wikitopics.model.coherence import Cooccurrences, associations
from wikitopics.model.online import RelevantWords
from wikitopics.model.shown import TOPICS_AT_ONCE, in_shown_order

NO_DOCUMENTS = Cooccurrences(Minibatch([0], [], []))
TOGETHER = Cooccurrences(batch_of([[0, 1, 2], [0, 1, 2], [0, 1, 2], [3], [4], [5]]))


def candidates(ids, relevances):
    probabilities = np.full(np.shape(ids), 0.1, np.float32)
    return RelevantWords(np.array(ids, np.int32), probabilities, np.array(relevances, float))


def test_words_that_go_with_the_others_come_first():
    """The fourth word is as relevant as the first, but alone."""
    ids, probabilities = in_shown_order(candidates([[3, 0, 1, 2]], [[0, 0, 0, 0]]), TOGETHER)
    assert ids.tolist() == [[0, 1, 2, 3]]
    assert probabilities.shape == ids.shape
    ids, _ = in_shown_order(candidates([[3, 0, 1, 2]], [[9, 0, 0, 0]]), TOGETHER)
    assert ids[0, 0] == 3, "so much more relevant"


@pytest.mark.parametrize("documents", [NO_DOCUMENTS, Cooccurrences(batch_of([[], []]))])
def test_without_documents_relevance_alone_counts(documents):
    ids, _ = in_shown_order(candidates([[5, 3, 4]], [[3, 2, -np.inf]]), documents)
    assert ids.tolist() == [[5, 3, 4]]


def test_topics_do_not_depend_on_one_another():
    K = 2 * TOPICS_AT_ONCE + 1
    random = np.random.default_rng(0)
    ids = np.array([random.permutation(6)[:4] for _ in range(K)])
    relevances = -np.sort(-random.normal(size=(K, 4)))
    together, _ = in_shown_order(candidates(ids, relevances), TOGETHER)
    for k in (0, TOPICS_AT_ONCE, K - 1):
        alone, _ = in_shown_order(candidates(ids[k : k + 1], relevances[k : k + 1]), TOGETHER)
        assert alone.tolist() == together[k : k + 1].tolist()


def test_associations_are_damped_npmi():
    (found,) = associations(np.array([[0, 1, 3]]), TOGETHER)
    both = np.log((3 + 1) / (3 * 3 / 6 + 1)) / -np.log((3 + 1) / 6)
    never = np.log((0 + 1) / (3 * 1 / 6 + 1)) / -np.log((0 + 1) / 6)
    expected = [[0, both, never], [both, 0, never], [never, never, 0]]
    np.testing.assert_allclose(found, expected)
    assert -1 < never < 0 < both


def test_words_in_all_documents_have_no_infinite_association():
    assert np.isfinite(
        associations(np.array([[0, 1]]), Cooccurrences(batch_of([[0, 1], [0, 1]])))
    ).all()

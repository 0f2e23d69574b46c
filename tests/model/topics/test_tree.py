import itertools

import numpy as np

from tests.model.topics.test_changes import topics
from wikitopics.model.coherence import distances
from wikitopics.model.topics import parents, tree


def test_topics_that_share_words_come_together_first():
    nodes = tree(topics(0, 100, 2, 103))
    assert [node.number for node in nodes] == [4, 5, 6]
    assert {frozenset(node.topics) for node in nodes[:2]} == {frozenset({0, 2}), frozenset({1, 3})}
    assert sorted(nodes[-1].topics) == [0, 1, 2, 3]
    assert all(a.height <= b.height for a, b in itertools.pairwise(nodes))
    above = parents(nodes)
    assert above[0] == above[2] != above[1] == above[3]
    assert 6 not in above


def test_a_topic_alone_is_no_tree():
    assert tree(topics(0)) == ()


def test_distances_are_symmetric_and_bounded():
    far = distances(topics(0, 3, 100))
    np.testing.assert_allclose(far, far.T)
    assert np.all((far >= 0) & (far <= 1))
    assert far[0, 2] == 1
    assert far[0, 1] < 1

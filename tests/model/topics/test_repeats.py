import numpy as np

from tests.model.topics.test_changes import topics
from wikitopics.model.topics import repeats


def test_a_topic_repeats_the_larger_one_that_is_nearest():
    leading = topics(0, 100, 3, 2, 101)
    shares = np.array([0.2, 0.3, 0.1, 0.15, 0.25])
    assert set(repeats(leading, shares)) == {(2, 3), (3, 0), (4, 1)}


def test_topics_out_of_use_repeat_nothing():
    leading = topics(0, 0, 0)
    assert repeats(leading, np.array([0.6, 0.0005, 0.3995])) == [(2, 0)]
    assert repeats(leading, np.array([1.0, 0, 0])) == []


def test_equal_ones_repeat_the_first():
    assert repeats(topics(0, 0), np.array([0.5, 0.5])) == [(1, 0)]

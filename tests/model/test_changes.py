import numpy as np

from model.changes import Change, changes, living
from model.leading import affinity

ORDER = np.linspace(0.2, 0.05, 10, dtype=np.float32)


def topics(*firsts):
    """Topics that lead with ten words from each number on."""
    ids = np.array([np.arange(first, first + 10) for first in firsts], np.int32)
    return ids, np.tile(ORDER, (len(firsts), 1))


EVEN = np.full(4, 0.25)
SAME = topics(0, 0, 0, 0)


def test_nothing_is_born_while_all_topics_say_the_same():
    many = topics(*[0] * 20)
    assert changes(None, many, np.full(20, 0.05), ()) == []


def test_a_topic_is_born_with_words_of_its_own():
    after = topics(0, 0, 100, 0)
    assert changes(topics(0, 0, 0, 0), after, np.array([0.1, 0.1, 0.7, 0.1]), {0, 1, 3}) == [
        Change("born", 2)
    ]


def test_one_that_is_hardly_used_is_not_born():
    assert changes(None, topics(0, 100, 200, 300), np.array([0.5, 0.4993, 0.0002, 0.0005]), ()) == [
        Change("born", 0),
        Change("born", 1),
    ]


def test_a_topic_splits():
    before, after = topics(0, 50, 200, 300), topics(0, 100, 53, 300)
    assert changes(before, after, EVEN, {0, 1, 3}) == [Change("split", 1, 2)]


def test_a_topic_dies_or_merges():
    shares = np.array([0.4, 0.5999, 0.0001, 0.0])
    before, after = topics(0, 50, 200, 300), topics(0, 50, 200, 300)
    assert changes(before, after, shares, {0, 1, 2}) == [Change("died", 2)]
    after = topics(0, 202, 400, 300)
    assert changes(before, after, shares, {0, 1, 2}) == [Change("merged", 2, 1)]


def test_between_birth_and_death_there_is_room():
    shares = np.array([0.4, 0.5993, 0.0007, 0.0])
    leading = topics(0, 50, 200, 300)
    assert changes(leading, leading, shares, {0, 1}) == []
    assert changes(leading, leading, shares, {0, 1, 2}) == []


def test_who_is_alive():
    found = [Change("born", 4), Change("split", 0, 5), Change("died", 1), Change("merged", 2, 0)]
    assert living({0, 1, 2}, found) == {0, 4, 5}


def test_affinity_is_one_for_the_same_words_and_nought_for_others():
    near = affinity(topics(0, 5, 10, 0), topics(0), 0)
    np.testing.assert_allclose(near[[0, 2, 3]], [1, 0, 1], atol=1e-6)
    assert 0 < near[1] < 1

import numpy as np
import pytest

from wikitopics.model.coherence import affinity
from wikitopics.model.topics import LARGEST, LOOKS, Change, TopicState, changes, living

ORDER = np.linspace(0.2, 0.05, 10, dtype=np.float32)


def topics(*firsts):
    """Topics that lead with ten words from each number on."""
    ids = np.array([np.arange(first, first + 10) for first in firsts], np.int32)
    return ids, np.tile(ORDER, (len(firsts), 1))


def look(*firsts, shares=None):
    return TopicState(topics(*firsts), np.array(shares or [1 / len(firsts)] * len(firsts), np.float32))


SAME = look(0, 50, 200, 300)


def test_nothing_is_told_before_there_were_enough_looks():
    assert changes([SAME] * (LOOKS - 1), ()) == []
    assert changes([SAME] * LOOKS, ()) == [Change("born", topic) for topic in range(4)]


def test_nothing_is_born_while_all_topics_say_the_same():
    assert changes([look(*[0] * 20)] * LOOKS, ()) == []


def test_a_topic_is_born_once_it_has_kept_words_of_its_own():
    vague, own, other = look(0, 0, 0, 0), look(0, 0, 100, 0), look(0, 0, 400, 0)
    assert changes([vague, own, own], {0, 1, 3}) == []
    assert changes([other, own, own], {0, 1, 3}) == []
    assert changes([own, own, own], {0, 1, 3}) == [Change("born", 2)]


def test_one_that_is_hardly_used_is_not_born():
    small = look(0, 100, 200, 300, shares=[0.5, 0.4993, 0.0002, 0.0005])
    assert changes([small] * LOOKS, ()) == [Change("born", 0), Change("born", 1)]


def test_only_the_largest_topics_are_born_however_many_there_are():
    K = 10 * LARGEST
    shares = np.arange(K, 0, -1) / K
    many = TopicState(topics(*range(0, 10 * K, 10)), shares / shares.sum())
    assert changes([many] * LOOKS, ()) == [Change("born", topic) for topic in range(LARGEST)]


def test_a_topic_splits():
    # At the first look topic 1 leads with what topic 2 is about to take.
    before, after = look(0, 50, 53, 300), look(0, 100, 53, 300)
    shared = look(0, 53, 53, 300, shares=[0.25, 0.1, 0.4, 0.25])
    assert changes([shared, after, after], {0, 1, 3}) == [Change("split", 1, 2)]
    assert changes([before, before, before], {0, 1, 2, 3}) == []


def test_a_topic_dies_or_merges_when_it_stays_away():
    shares = [0.4, 0.5999, 0.0001, 0.0]
    gone = look(0, 50, 200, 300, shares=shares)
    assert changes([SAME, gone, gone], {0, 1, 2}) == []
    assert changes([gone, gone, gone], {0, 1, 2}) == [Change("died", 2)]
    taken = look(0, 202, 400, 300, shares=shares)
    assert changes([gone, gone, taken], {0, 1, 2}) == [Change("merged", 2, 1)]


@pytest.mark.parametrize("alive", [{0, 1}, {0, 1, 2}])
def test_between_birth_and_death_there_is_room(alive):
    assert changes([look(0, 50, 200, 300, shares=[0.4, 0.5993, 0.0007, 0.0])] * LOOKS, alive) == []


def test_who_is_alive():
    found = [Change("born", 4), Change("split", 0, 5), Change("died", 1), Change("merged", 2, 0)]
    assert living({0, 1, 2}, found) == {0, 4, 5}


def test_affinity_is_one_for_the_same_words_and_nought_for_others():
    near = affinity(topics(0, 5, 10, 0), topics(0), 0)
    np.testing.assert_allclose(near[[0, 2, 3]], [1, 0, 1], atol=1e-6)
    assert 0 < near[1] < 1

"""What happens to topics: births and deaths, splits and mergers."""

import numpy as np
import pytest

from tests.model.conftest import leading_from
from wikitopics.model.changes import (
    LARGEST_TOPICS,
    OBSERVATIONS,
    Change,
    TopicState,
    changes,
    living,
)


def observed(*firsts, shares=None):
    """A state of topics that lead with ten words from each number on, equally large by default."""
    if shares is None:
        shares = np.full(len(firsts), 1 / len(firsts))
    leading = leading_from(*firsts)
    ids, _ = leading
    return TopicState(leading, ids, np.array(shares, np.float32))


FOUR_TOPICS = observed(0, 50, 200, 300)


def test_nothing_is_told_before_there_were_enough_observations_or_while_all_topics_say_the_same():
    assert changes([FOUR_TOPICS] * (OBSERVATIONS - 1), ()) == []
    born = [Change("born", topic) for topic in range(4)]
    assert changes([FOUR_TOPICS] * OBSERVATIONS, ()) == born
    twenty_alike = observed(*[0] * 20)
    assert changes([twenty_alike] * OBSERVATIONS, ()) == []


def test_a_topic_is_born_once_it_has_kept_words_of_its_own():
    vague = observed(0, 0, 0, 0)
    own = observed(0, 0, 100, 0)
    other = observed(0, 0, 400, 0)
    assert changes([vague, own, own], {0, 1, 3}) == []
    assert changes([other, own, own], {0, 1, 3}) == []
    assert changes([own, own, own], {0, 1, 3}) == [Change("born", 2)]


def test_one_that_is_hardly_used_is_not_born():
    small = observed(0, 100, 200, 300, shares=[0.5, 0.4993, 0.0002, 0.0005])
    assert changes([small] * OBSERVATIONS, ()) == [Change("born", 0), Change("born", 1)]


def test_only_the_largest_topics_are_born_however_many_there_are():
    K = 10 * LARGEST_TOPICS
    shares = np.arange(K, 0, -1)
    many = observed(*range(0, 10 * K, 10), shares=shares / shares.sum())
    born = [Change("born", topic) for topic in range(LARGEST_TOPICS)]
    assert changes([many] * OBSERVATIONS, ()) == born


def test_a_topic_splits():
    # At the first observation topic 1 leads with what topic 2 is about to take.
    before = observed(0, 50, 53, 300)
    after = observed(0, 100, 53, 300)
    shared = observed(0, 53, 53, 300, shares=[0.25, 0.1, 0.4, 0.25])
    assert changes([shared, after, after], {0, 1, 3}) == [Change("split", 1, 2)]
    assert changes([before, before, before], {0, 1, 2, 3}) == []


def test_a_topic_dies_or_merges_when_it_stays_away():
    shares = [0.4, 0.5999, 0.0001, 0.0]
    gone = observed(0, 50, 200, 300, shares=shares)
    assert changes([FOUR_TOPICS, gone, gone], {0, 1, 2}) == []
    assert changes([gone, gone, gone], {0, 1, 2}) == [Change("died", 2)]
    taken = observed(0, 202, 400, 300, shares=shares)
    assert changes([gone, gone, taken], {0, 1, 2}) == [Change("merged", 2, 1)]


@pytest.mark.parametrize("alive", [{0, 1}, {0, 1, 2}])
def test_between_birth_and_death_there_is_room(alive):
    between = observed(0, 50, 200, 300, shares=[0.4, 0.5993, 0.0007, 0.0])
    assert changes([between] * OBSERVATIONS, alive) == []


def test_who_is_alive():
    found = [Change("born", 4), Change("split", 0, 5), Change("died", 1), Change("merged", 2, 0)]
    assert living({0, 1, 2}, found) == {0, 4, 5}

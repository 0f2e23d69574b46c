"""Topics as they are shown: coherence, places, names, drift, what happens to them, and repeats."""

import itertools
import math

import numpy as np
import pytest

from tests.model.conftest import batch_of
from wikitopics.model import Minibatch, drift, npmi
from wikitopics.model.changes import (
    LARGEST_TOPICS,
    OBSERVATIONS,
    Change,
    TopicState,
    changes,
    living,
)
from wikitopics.model.distances import affinity, classical_scaling, distances, repeats
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.naming import all_words_relevant, most_words_relevant, name_words
from wikitopics.model.online import top_words
from wikitopics.model.relevance import distinctness, most_relevant, ownership, relevance

# Three topics over the words 0 to 5; word 0 leads all of them.
IDS = np.array([[0, 1, 2], [0, 3, 2], [0, 4, 5]], np.int32)
PROBABILITIES = np.array([[0.5, 0.3, 0.1], [0.4, 0.3, 0.2], [0.5, 0.2, 0.2]], np.float32)
SHARES = np.array([0.5, 0.3, 0.2])
LEADING = (IDS, PROBABILITIES)


def test_a_word_is_owned_by_the_topics_that_lead_with_it():
    owned = ownership(LEADING, SHARES)
    uses = np.array([0.25, 0.12, 0.1])
    np.testing.assert_allclose(owned[:, 0], uses / uses.sum(), rtol=1e-6)
    assert owned[0, 1] == owned[2, 2] == 1.0
    np.testing.assert_allclose([owned[0, 2], owned[1, 2]], [0.05 / 0.11, 0.06 / 0.11], rtol=1e-6)


def test_relevance_goes_from_lift_to_probability():
    np.testing.assert_array_equal(most_relevant(LEADING, SHARES, weight=1.0), IDS)
    assert most_relevant(LEADING, SHARES, weight=0.0).tolist() == [[1, 0, 2], [3, 2, 0], [4, 5, 0]]
    assert most_relevant(LEADING, SHARES, weight=0.5)[:, 0].tolist() == [1, 3, 4]


def test_a_topic_without_words_has_no_number_that_is_none():
    nothing = (IDS, np.zeros((3, 3), np.float32))
    for weight in (0.0, 0.5, 1.0):
        assert np.all(relevance(nothing, SHARES, weight) == -np.inf)
    np.testing.assert_array_equal(most_relevant(nothing, SHARES), IDS)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        (["film", "films", "director", "actor"], ("film", "director", "actor")),
        (["party", "parties", "election", "vote"], ("party", "election", "vote")),
        (["art", "artist", "arts", "museum"], ("art", "artist", "museum")),
        (["sea"], ("sea",)),
        (["one", "once", "on", "won"], ("one", "once", "on")),
    ],
)
def test_a_name_has_three_words_and_no_two_forms_of_one(relevant, expected):
    assert name_words(relevant) == expected


def test_a_name_holds_while_its_words_lead():
    words = [f"word{letter * 3}" for letter in "abcdefghijkl"]
    assert all_words_relevant(name_words(words), words[::-1][:3] + words[:7])
    one_gone = [*words[1:11], words[0]]
    assert most_words_relevant(name_words(words), one_gone)
    assert not all_words_relevant(name_words(words), one_gone)
    assert not most_words_relevant(name_words(words), words[3:])


def test_a_topic_owns_its_words_when_no_other_has_them() -> None:
    ids = np.array([[0, 1], [0, 1], [2, 3]])
    leading = (ids, np.array([[0.5, 0.2], [0.5, 0.2], [0.4, 0.1]]))
    assert np.allclose(distinctness(leading, np.array([0.3, 0.1, 0.6])), [0.75, 0.25, 1])


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
    topics = np.random.default_rng(0).dirichlet(np.ones(9), (2, 4))
    orders = np.argsort(-topics, axis=2)
    sorted_topics = np.take_along_axis(topics, orders, axis=2)
    before, after = zip(orders.astype(np.int32), sorted_topics.astype(np.float32), strict=True)
    topics_before, topics_after = topics
    distance = 0.5 * np.abs(topics_before - topics_after).sum(axis=1)
    assert drift(before, after) == pytest.approx(distance, abs=1e-6)


def test_topics_of_another_model_are_refused():
    with pytest.raises(ValueError, match="2 topics before and 1 after"):
        drift(leading([(0, 1.0)], [(1, 1.0)]), leading([(0, 1.0)]))


ORDER = np.linspace(0.2, 0.05, 10, dtype=np.float32)


def topics(*firsts):
    """Topics that lead with ten words from each number on."""
    ids = np.array([np.arange(first, first + 10) for first in firsts], np.int32)
    return ids, np.tile(ORDER, (len(firsts), 1))


def look(*firsts, shares=None):
    if shares is None:
        shares = np.full(len(firsts), 1 / len(firsts))
    return TopicState(topics(*firsts), np.array(shares, np.float32))


SAME = look(0, 50, 200, 300)


def test_nothing_is_told_before_there_were_enough_looks_or_while_all_topics_say_the_same():
    assert changes([SAME] * (OBSERVATIONS - 1), ()) == []
    assert changes([SAME] * OBSERVATIONS, ()) == [Change("born", topic) for topic in range(4)]
    assert changes([look(*[0] * 20)] * OBSERVATIONS, ()) == []


def test_a_topic_is_born_once_it_has_kept_words_of_its_own():
    vague = look(0, 0, 0, 0)
    own = look(0, 0, 100, 0)
    other = look(0, 0, 400, 0)
    assert changes([vague, own, own], {0, 1, 3}) == []
    assert changes([other, own, own], {0, 1, 3}) == []
    assert changes([own, own, own], {0, 1, 3}) == [Change("born", 2)]


def test_one_that_is_hardly_used_is_not_born():
    small = look(0, 100, 200, 300, shares=[0.5, 0.4993, 0.0002, 0.0005])
    assert changes([small] * OBSERVATIONS, ()) == [Change("born", 0), Change("born", 1)]


def test_only_the_largest_topics_are_born_however_many_there_are():
    K = 10 * LARGEST_TOPICS
    shares = np.arange(K, 0, -1) / K
    many = TopicState(topics(*range(0, 10 * K, 10)), shares / shares.sum())
    assert changes([many] * OBSERVATIONS, ()) == [
        Change("born", topic) for topic in range(LARGEST_TOPICS)
    ]


def test_a_topic_splits():
    # At the first look topic 1 leads with what topic 2 is about to take.
    before = look(0, 50, 53, 300)
    after = look(0, 100, 53, 300)
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
    between = look(0, 50, 200, 300, shares=[0.4, 0.5993, 0.0007, 0.0])
    assert changes([between] * OBSERVATIONS, alive) == []


def test_who_is_alive():
    found = [Change("born", 4), Change("split", 0, 5), Change("died", 1), Change("merged", 2, 0)]
    assert living({0, 1, 2}, found) == {0, 4, 5}


def test_affinity_is_one_for_the_same_words_and_nought_for_others():
    near = affinity(topics(0, 5, 10, 0), topics(0), 0)
    np.testing.assert_allclose(near[[0, 2, 3]], [1, 0, 1], atol=1e-6)
    assert 0 < near[1] < 1


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
    assert set(repeats(topics(*firsts), np.array(shares))) == found


def test_distances_are_symmetric_and_bounded():
    far = distances(topics(0, 3, 100))
    np.testing.assert_allclose(far, far.T)
    assert np.all((far >= 0) & (far <= 1))
    assert far[0, 2] == 1
    assert far[0, 1] < 1


# Coherence by NPMI, and places from distances.


def naive(topics, documents, n):
    """Straight from the definition, with sets."""
    sets = [set(words) for words in documents if words]

    def share(*words):
        """Of the documents that contain all these words."""
        return sum(words_of_document.issuperset(words) for words_of_document in sets) / len(sets)

    def of_pair(one, other):
        both = share(one, other)
        if both == 0:
            return -1.0
        if both == 1:
            return 1.0
        return math.log(both / (share(one) * share(other))) / -math.log(both)

    coherence = []
    for topic in topics:
        leading = np.argsort(-topic, kind="stable")[:n].tolist()
        pairs = [of_pair(one, other) for one, other in itertools.combinations(leading, 2)]
        coherence.append(sum(pairs) / len(pairs))
    return coherence


def test_is_the_definition():
    random = np.random.default_rng(0)
    documents = [sorted(random.choice(12, random.integers(0, 8), replace=False)) for _ in range(60)]
    topics = random.dirichlet(np.ones(12), 5)
    batch = batch_of(documents, times=2)
    for n in (2, 4, 10, 50):
        np.testing.assert_allclose(npmi(topics, batch, n), naive(topics, documents, n), rtol=1e-6)


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
    far = np.random.default_rng(1).random((9, 9))
    far = np.triu(far, 1) + np.triu(far, 1).T  # eigenvalues of both signs
    found = classical_scaling(far, 3)
    assert (found.shape, found.dtype) == ((9, 3), np.float64)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("K", [0, 1, 2])
def test_few_things_have_places_too(K):
    found = classical_scaling(np.ones((K, K)) - np.eye(K))
    assert found.shape == (K, 2)
    assert euclidean(found) == pytest.approx(np.ones((K, K)) - np.eye(K))
    assert not found[:, 1].any()

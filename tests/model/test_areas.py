"""Areas of topics: that they are those that were planted, that they last, and their tree, map and
names."""

import itertools

import numpy as np
import pytest

from tests.maps import GROUPS, planted
from wikitopics.model import OnlineLDA
from wikitopics.model.area_names import names, words_of_groups
from wikitopics.model.area_tree import cut, tree
from wikitopics.model.areas import (
    FEW_AREAS,
    JOINS,
    LEAVES,
    MOST_AREAS,
    NONE,
    OTHER,
    Areas,
    belonging,
    grouped,
    numbered,
    topic_distances,
    usual_number,
    word_similarity,
)
from wikitopics.model.meetings import ENOUGH, Meetings


def together(groups):
    """Which topics are in the same group: (U, U)."""
    return groups[:, None] == groups


def same_groups(one, other):
    """Whether these are the same groups, whatever their numbers."""
    return np.array_equal(together(one), together(other))


def test_topics_are_alike_if_their_words_differ_alike_from_the_corpus():
    random = np.random.default_rng(0)
    of_all = random.dirichlet(np.ones(500))
    of_groups = random.dirichlet(np.full(500, 0.05), 4)
    of_topics = random.dirichlet(np.full(500, 0.05), 24)
    rows = 0.7 * of_all + 0.2 * of_groups[GROUPS] + 0.1 * of_topics
    shares = np.full(24, 1 / 24)
    similarity = word_similarity([rows.T], shares)
    assert np.diagonal(similarity) == pytest.approx(1)
    in_two_blocks = word_similarity([rows.T[:123], rows.T[123:]], shares)
    np.testing.assert_allclose(in_two_blocks, similarity, atol=1e-4)
    far = topic_distances(similarity, None, 0.0)
    assert same_groups(grouped(far, 4), GROUPS)


def test_topics_are_alike_if_they_meet():
    random = np.random.default_rng(1)
    meetings = Meetings.none(24)
    for _ in range(25):
        theta = np.zeros((300, 24), np.float32)
        for theta_d, group in zip(theta, random.integers(0, 4, 300), strict=True):
            theta_d[group == GROUPS] = random.dirichlet(np.ones(6))
        meetings.add(theta)
    assert meetings.settled
    lift = meetings.lift(np.arange(24))
    of_one_group = lift[0, 1]
    of_two_groups = lift[0, 23]
    assert of_one_group > 0
    assert of_two_groups < 0
    words_alike = np.zeros((24, 24))
    far = topic_distances(words_alike, lift, 0.7)
    assert same_groups(grouped(far, 4), GROUPS)


def test_groups_last_where_distances_hardly_tell():
    groups = np.repeat(np.arange(8), 6)
    far = planted(2, groups) * 0.2 + 1
    np.fill_diagonal(far, 0)
    now = grouped(far, 6)
    noise = np.random.default_rng(3).normal(0, 0.02, far.shape)
    noise = (noise + noise.T) / 2
    np.fill_diagonal(noise, 0)
    later = far + noise
    kept = grouped(later, 6, now)
    agree = together(kept) == together(now)
    assert agree.mean() > 0.95


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([2, 2, 2, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 2, 2, 2]),
        ([0, 0, 1, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2, 2]),
        ([0, 0, 3, 1, 1, 1, 2, 2, 2], [0, 0, 3, 1, 1, 1, 2, 2, 2]),
    ],
    ids=["renumbered", "a topic has moved", "a new area gets a number that none had"],
)
def test_an_area_keeps_its_number_where_most_of_its_topics_are(found, expected):
    before = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert numbered(np.array(found), before).tolist() == expected


def met(lifts, documents=2 * ENOUGH):
    """Meetings of topics of one size, `lifts` times as often as if each were independent."""
    U = len(lifts)
    sums = np.full((U + 1, U), documents / U, np.float32)
    sums[:-1] = np.array(lifts) * documents / U**2
    return Meetings(sums)


def meeting_within(groups, lift=8.0):
    """Lifts of topics that meet within groups and hardly between them; those in `OTHER` meet no
    other topic often."""
    groups = np.asarray(groups)
    within = (groups[:, None] == groups) & (groups != OTHER)
    return np.where(within, lift, 0.5)


def found_by(lifts, groups):
    """The groups left of these, or `OTHER`, as a list."""
    U = len(groups)
    return belonging(np.array(groups), np.full(U, NONE), met(lifts), np.arange(U)).tolist()


SIXTEEN = np.repeat(np.arange(16), 3)
"""The groups of 48 topics: so many that no topic is an area by itself."""


def test_a_topic_that_does_not_meet_its_group_belongs_to_none():
    lifts = meeting_within(SIXTEEN)
    lifts[5] = lifts[:, 5] = 0.5
    expected = SIXTEEN.copy()
    expected[5] = OTHER
    assert found_by(lifts, SIXTEEN) == expected.tolist()


def test_a_topic_joins_the_group_that_it_meets():
    expected = SIXTEEN.copy()
    expected[5] = 9
    assert found_by(meeting_within(expected), SIXTEEN) == expected.tolist()


def test_of_a_bad_group_those_that_meet_stay_an_area():
    meeting = np.append(SIXTEEN, [16, 16, 16, OTHER, OTHER, OTHER])
    grouped_together = np.append(SIXTEEN, [16] * 6)
    assert found_by(meeting_within(meeting), grouped_together) == meeting.tolist()


def test_of_a_group_whose_topics_never_meet_nothing_is_left():
    meeting = np.append(SIXTEEN, [OTHER] * 4)
    grouped_together = np.append(SIXTEEN, [16] * 4)
    assert found_by(meeting_within(meeting), grouped_together) == meeting.tolist()


def test_meetings_by_chance_make_no_area():
    lifts = 1 + np.random.default_rng(8).normal(0, 0.1, (48, 48))
    found = found_by((lifts + lifts.T) / 2, SIXTEEN)
    assert found.count(OTHER) == 48 - FEW_AREAS
    assert len(set(found)) == 1 + FEW_AREAS


def test_while_there_are_few_areas_a_topic_may_be_one_by_itself():
    groups = [0, 0, 0, 1, 1, 1, 2, 2]
    found = found_by(meeting_within([0, 0, 0, 1, 1, 1, OTHER, OTHER]), groups)
    assert OTHER not in found
    assert len(set(found)) == 4
    areas = numbered(np.array(found), np.full(8, NONE))
    assert sorted(set(areas.tolist())) == [0, 1, 2, 3]


def test_in_every_area_topics_meet_more_often_than_it_takes_to_stay():
    random = np.random.default_rng(9)
    for _ in range(20):
        groups = random.integers(0, 16, 48)
        lifts = meeting_within(SIXTEEN, 3.0) * random.lognormal(0, 0.8, (48, 48))
        lifts = (lifts + lifts.T) / 2
        np.fill_diagonal(lifts, 0)
        found = np.array(found_by(lifts, groups))
        chance = lifts.sum() / (48 * 47)
        for area in set(found.tolist()) - {OTHER}:
            inside = lifts[np.ix_(found == area, found == area)]
            n = len(inside)
            assert n == 1 or inside.sum() / (n * (n - 1)) / chance >= LEAVES * 0.999


def test_a_topic_that_wavers_moves_once():
    """Between the two thresholds a topic stays where it is."""

    def lifts_of(times_chance):
        lifts = meeting_within(SIXTEEN)
        chance = (lifts.sum() - np.trace(lifts)) / (48 * 47)
        lifts[5, 3:5] = lifts[3:5, 5] = times_chance * chance
        return lifts

    between = (JOINS + LEAVES) / 2
    course = [
        JOINS + 1,
        between,
        LEAVES + 0.1,
        between,
        LEAVES - 1,
        between,
        LEAVES + 0.1,
        JOINS + 1,
    ]
    before = np.full(48, NONE)
    is_inside = []
    for times_chance in course:
        found = belonging(SIXTEEN, before, met(lifts_of(times_chance)), np.arange(48))
        before = numbered(found, before)
        is_inside.append(bool(before[5] != OTHER))
    assert is_inside == [True, True, True, True, False, False, False, True]


def test_no_topic_is_left_out_before_meetings_are_settled():
    far = planted(6)
    nothing_meets = np.full((24, 24), 1.0)
    topics = np.arange(24)
    for documents, is_left_out in [(ENOUGH / 2, False), (2 * ENOUGH, True)]:
        meetings = met(nothing_meets, documents)
        areas = Areas.by_distance(far, topics, 24, meetings=meetings)
        assert (OTHER in areas.of_topic) == is_left_out
    assert areas.topics.tolist() == list(range(24)), "they are in use"
    later = Areas.by_distance(far, topics, 24, areas, meetings)
    assert later.of_topic.tolist() == areas.of_topic.tolist()


def test_topics_of_no_area_are_on_the_map_without_a_name():
    far = planted(6)
    areas = Areas.by_distance(far, np.arange(24), 24, meetings=met(np.full((24, 24), 1.0)))
    placed = areas.placed()
    assert np.isfinite(placed.places).all()
    assert placed.places.shape == (24, 2)
    assert OTHER in placed.members
    ids = np.arange(24 * 3, dtype=np.int32).reshape(24, 3)
    words = [f"word{number}" for number in range(24 * 3)]
    named = placed.words(ids, np.full(24, 1 / 24), words)
    assert named.keys() == placed.members.keys() - {OTHER}


def test_an_area_is_named_by_its_largest_topics():
    shown = np.array([[0, 1, 2], [3, 1, 4], [5, 6, 7], [8, 9, 0]])
    shares = np.array([0.1, 0.4, 0.2, 0.3])
    assert words_of_groups([[0, 1], [2], []], shown, shares) == [[3, 0, 1, 4, 2], [5, 6, 7], []]


def test_numbers_leave_out_topics_of_no_area():
    before = np.array([0, 0, 0, OTHER, OTHER, 1, 1, NONE])
    found = np.array([5, 5, OTHER, 5, OTHER, 7, 7, 30])
    assert numbered(found, before).tolist() == [0, 0, OTHER, 0, OTHER, 1, 1, 2]


def test_areas_without_any_before_are_numbered_from_0():
    before = np.full(6, NONE)
    assert set(numbered(np.array([0, 0, 0, 1, 1, 1]), before).tolist()) == {0, 1}


def test_as_many_areas_as_there_can_be_have_different_numbers():
    all_numbers = np.arange(MOST_AREAS)
    nine_before = np.where(all_numbers < 9, all_numbers, NONE)
    found = numbered(all_numbers[::-1].copy(), nine_before)
    assert sorted(found.tolist()) == all_numbers.tolist()


@pytest.mark.parametrize(
    ("U", "areas"),
    [(0, 1), (1, 1), (3, 1), (4, 3), (50, 10), (100, 13), (182, 18), (1000, 18)],
)
def test_the_number_of_areas_grows_with_the_topics_in_use(U, areas):
    assert usual_number(U) == areas


def test_the_number_of_areas_stays_unless_it_is_off_by_one_or_more():
    assert usual_number(52, before=10) == 10
    assert usual_number(60, before=9) == 11


def test_the_tree_joins_all_topics_each_node_higher_than_its_children():
    nodes = tree(planted(4), GROUPS)
    assert [node.number for node in nodes] == list(range(24, 47)), "behind the topics' own numbers"
    root = nodes[-1]
    assert sorted(root.topics) == list(range(24))
    heights = {node.number: node.height for node in nodes}
    all_children = []
    for node in nodes:
        all_children += node.children
        for child in node.children:
            assert heights.get(child, 0.0) <= node.height
    assert set(all_children) == set(range(46)), "all but the root"


def test_each_area_is_a_branch_of_the_tree():
    nodes = tree(planted(4), GROUPS)
    planted_groups = {frozenset(np.flatnonzero(group == GROUPS).tolist()) for group in range(4)}
    assert {frozenset(group) for group in cut(nodes, 24, 4)} == planted_groups
    root = nodes[-1]
    assert cut(nodes, 24, 1) == [root.topics]
    assert sorted(cut(nodes, 24, 99)) == [(topic,) for topic in range(24)]


def test_in_the_tree_topics_that_belong_to_no_area_come_last():
    areas = np.where(GROUPS == 1, OTHER, GROUPS)
    nodes = tree(planted(4), areas)
    others = np.flatnonzero(areas == OTHER).tolist()
    assert sorted(nodes[-1].topics[-len(others) :]) == others
    heights = [node.height for node in nodes]
    assert max(heights) == heights[-1]
    groups = {frozenset(group) for group in cut(nodes, 24, 4)}
    assert groups == {frozenset(np.flatnonzero(area == areas).tolist()) for area in set(areas)}


def test_the_tree_of_one_topic_has_no_node():
    assert tree(planted(4)[:1, :1], GROUPS[:1]) == ()
    assert cut((), 1, 3) == [(0,)]


RELEVANT = {
    4: ["music", "band", "album"],
    0: ["bands", "song", "musical", "songs"],
    7: ["music"],
}
"""The words that are relevant for each area."""


def test_names_of_areas_share_no_stem():
    assert names(RELEVANT, {}) == {4: ("music", "band"), 0: ("song",), 7: ("music",)}
    assert names({0: ["building", "built", "war", "warm"]}, {}) == {0: ("building", "war")}


def test_an_area_keeps_its_name_while_its_words_are_relevant():
    relevant_still = names(RELEVANT, {4: ("album", "band")})
    assert relevant_still[4] == ("album", "band")
    no_longer_relevant = names(RELEVANT, {4: ("river", "band")})
    assert no_longer_relevant[4] == ("music", "band")


@pytest.mark.parametrize("U", [0, 1, 2, 3, 4, 5])
def test_few_topics_have_areas_too(U):
    far = planted(6)[:U, :U]
    topics = np.arange(2, 2 + U)
    areas = Areas.by_distance(far, topics, 9).placed()
    assert areas.topics.tolist() == topics.tolist()
    assert areas.places.shape == (U, 2)
    assert np.isfinite(areas.places).all()
    np.testing.assert_allclose(areas.far, far, atol=2e-3)
    later = Areas.by_distance(far, topics, 9, areas).placed(areas)
    assert later.of_topic.tolist() == areas.of_topic.tolist()


def test_of_a_model_only_topics_in_use_have_an_area():
    model = OnlineLDA(12, 1500, 1000)
    nothing_has_met = Meetings.none(12)
    areas = Areas.of(model, nothing_has_met)
    assert areas.topics.tolist() == list(range(12))
    assert len(areas.members) == usual_number(12)
    assert sorted(itertools.chain(*areas.members.values())) == list(range(12))
    for area, topics in areas.members.items():
        assert areas.leader(area, model.topic_shares()) in topics
    by_words_alone = Areas.of(model, None)
    assert by_words_alone.of_topic.tolist() == areas.of_topic.tolist()

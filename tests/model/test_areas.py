"""Areas of topics: that they are those that were planted, that they last, and their tree, map and
names."""

import itertools

import numpy as np
import pytest

from wikitopics.model import OnlineLDA
from wikitopics.model.areas import (
    MOST_AREAS,
    NONE,
    PRESENT,
    Areas,
    Meetings,
    cut,
    distances,
    grouped,
    names,
    numbered,
    places,
    tree,
    usual_number,
    word_similarity,
)

GROUPS = np.repeat(np.arange(4), 6)
NOWHERE = np.full((24, 2), np.nan)


def planted(seed, groups=GROUPS):
    """Distances of topics that are close within groups."""
    U = len(groups)
    noise = np.random.default_rng(seed).random((U, U)) / 2
    far = np.where(groups[:, None] == groups, 1.0, 3.0) + noise
    far = (far + far.T) / 2
    np.fill_diagonal(far, 0)
    return far


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
    far = distances(similarity, None, 0.0)
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
    far = distances(words_alike, lift, 0.7)
    assert same_groups(grouped(far, 4), GROUPS)


def test_small_parts_of_a_document_are_no_meetings():
    meetings = Meetings.none(2)
    too_small = PRESENT / 2
    meetings.add(np.array([[0.5, 0.5], [1 - too_small, too_small]], np.float32))
    of_topic_0 = 0.5**2 + (1 - too_small) ** 2
    expected = [[pytest.approx(of_topic_0, rel=1e-3), 0.25], [0.25, 0.25]]
    assert meetings.sums[:2].tolist() == expected


def test_old_meetings_fade():
    """After ten thousand documents a meeting counts half."""
    meetings = Meetings.none(2)
    meetings.add(np.array([[0.5, 0.5], [1, 0]], np.float32))
    thousand_of_topic_0 = np.tile(np.array([[1, 0]], np.float32), (1000, 1))
    for _ in range(10):
        meetings.add(thousand_of_topic_0)
    assert meetings.sums[0, 1] == pytest.approx(0.25 / 2)
    thousands = sum(1000 * 0.5 ** (n / 10) for n in range(10))
    assert meetings.documents == pytest.approx(2 / 2 + thousands, rel=1e-5)


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


def test_the_tree_of_one_topic_has_no_node():
    assert tree(planted(4)[:1, :1], GROUPS[:1]) == ()
    assert cut((), 1, 3) == [(0,)]


def test_the_map_keeps_groups_together():
    far = planted(5)
    found = places(far, GROUPS, NOWHERE)
    on_the_map = np.linalg.norm(found[:, None] - found, axis=-1)
    five_nearest = on_the_map.argsort(axis=1)[:, 1:6]  # the first is the topic itself
    of_the_same_group = GROUPS[five_nearest] == GROUPS[:, None]
    assert of_the_same_group.mean() > 0.95
    np.testing.assert_array_equal(places(far, GROUPS, NOWHERE), found)


def test_on_a_later_map_topics_have_hardly_moved():
    far = planted(5)
    first = places(far, GROUPS, NOWHERE)
    later = places(far * 1.02, GROUPS, first)
    moved = np.linalg.norm(later - first, axis=1)
    width_of_map = np.ptp(first, axis=0).max()
    assert np.median(moved) < 0.05 * width_of_map


def test_a_topic_that_is_new_to_the_map_is_placed_beside_one_of_its_group():
    far = planted(5)
    before = places(far, GROUPS, NOWHERE)
    before[3] = np.nan
    found = places(far, GROUPS, before)
    itself, nearest, *_ = np.linalg.norm(found - found[3], axis=1).argsort()
    assert itself == 3
    assert GROUPS[nearest] == GROUPS[3]


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

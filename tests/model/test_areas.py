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


def same(one, other):
    """Whether these are the same groups, whatever their numbers."""
    return np.array_equal(one[:, None] == one, other[:, None] == other)


def test_topics_are_alike_if_their_words_differ_alike_from_the_corpus():
    random = np.random.default_rng(0)
    of_all = random.dirichlet(np.ones(500))
    of_groups = random.dirichlet(np.full(500, 0.05), 4)
    of_topics = random.dirichlet(np.full(500, 0.05), 24)
    rows = 0.7 * of_all + 0.2 * of_groups[GROUPS] + 0.1 * of_topics
    shares = np.full(24, 1 / 24)
    whole = word_similarity([rows.T], shares)
    assert np.diagonal(whole) == pytest.approx(1)
    in_parts = word_similarity([rows.T[:123], rows.T[123:]], shares)
    np.testing.assert_allclose(in_parts, whole, atol=1e-4)
    assert same(grouped(distances(whole, None, 0.0), 4), GROUPS)


def test_topics_are_alike_if_they_meet():
    random = np.random.default_rng(1)
    meetings = Meetings.none(24)
    for _ in range(25):
        within = np.zeros((300, 24), np.float32)
        for theta, group in zip(within, random.integers(0, 4, 300), strict=True):
            theta[group == GROUPS] = random.dirichlet(np.ones(6))
        meetings.add(within)
    assert meetings.settled
    lift = meetings.lift(np.arange(24))
    assert lift[0, 1] > 0 > lift[0, 23]
    assert same(grouped(distances(np.zeros((24, 24)), lift, 0.7), 4), GROUPS)


def test_old_meetings_fade_and_small_parts_are_none():
    meetings = Meetings.none(2)
    small = PRESENT / 2
    meetings.add(np.array([[0.5, 0.5], [1 - small, small]], np.float32))
    of_first = pytest.approx(0.5**2 + (1 - small) ** 2, rel=1e-3)
    assert meetings.sums[:2].tolist() == [[of_first, 0.25], [0.25, 0.25]]
    # Ten times a thousand documents of the first topic alone: one half-life.
    first_alone = np.tile(np.array([[1, 0]], np.float32), (1000, 1))
    for _ in range(10):
        meetings.add(first_alone)
    assert meetings.sums[0, 1] == pytest.approx(0.25 / 2)
    of_thousands = [1000 * 0.5 ** (n / 10) for n in range(10)]
    assert meetings.documents == pytest.approx(2 / 2 + sum(of_thousands), rel=1e-5)


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
    agree = (kept[:, None] == kept) == (now[:, None] == now)
    assert agree.mean() > 0.95


def test_numbers_are_kept_by_who_has_most_of_the_topics():
    before = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert numbered(np.array([2, 2, 2, 0, 0, 0, 1, 1, 1]), before).tolist() == before.tolist()
    moved = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2])
    assert numbered(moved, before).tolist() == moved.tolist()
    split = np.array([0, 0, 3, 1, 1, 1, 2, 2, 2])
    found = numbered(split, before)
    assert found.tolist() == split.tolist(), "a new area gets a number that none had"
    assert set(numbered(np.array([0, 0, 0, 1, 1, 1]), np.full(6, NONE)).tolist()) == {0, 1}
    full = np.arange(MOST_AREAS)
    found = numbered(full[::-1].copy(), np.where(full < 9, full, NONE))
    assert sorted(found.tolist()) == full.tolist()


def test_the_number_of_areas():
    for U, expected in {0: 1, 1: 1, 3: 1, 4: 3, 50: 10, 100: 13, 182: 18, 1000: 18}.items():
        assert usual_number(U) == expected
    assert usual_number(52, before=10) == 10
    assert usual_number(60, before=9) == 11


def test_each_area_is_a_branch_of_the_tree():
    far = planted(4)
    nodes = tree(far, GROUPS)
    U = len(far)
    assert [node.number for node in nodes] == list(range(U, 2 * U - 1))
    root = nodes[-1]
    assert sorted(root.topics) == list(range(U))
    heights = {node.number: node.height for node in nodes}
    for node in nodes:
        for child in node.children:
            assert heights.get(child, 0.0) <= node.height
    children = {child for node in nodes for child in node.children}
    assert children == set(range(root.number)), "all but the root"
    planted_groups = [np.flatnonzero(group == GROUPS).tolist() for group in range(4)]
    assert sorted(sorted(group) for group in cut(nodes, U, 4)) == planted_groups
    assert cut(nodes, U, 1) == [root.topics]
    assert sorted(cut(nodes, U, 99)) == [(topic,) for topic in range(U)]
    assert tree(far[:1, :1], GROUPS[:1]) == ()
    assert cut((), 1, 3) == [(0,)]


def test_the_map_keeps_groups_together_and_continues():
    far = planted(5)
    first = places(far, GROUPS, NOWHERE)
    on_map = np.linalg.norm(first[:, None] - first, axis=-1)
    five_nearest = on_map.argsort(axis=1)[:, 1:6]  # after the topic itself
    of_same_group = GROUPS[five_nearest] == GROUPS[:, None]
    assert of_same_group.mean() > 0.95
    np.testing.assert_array_equal(places(far, GROUPS, NOWHERE), first)
    again = places(planted(5) * 1.02, GROUPS, first)
    moved = np.linalg.norm(again - first, axis=1)
    assert np.median(moved) < 0.05 * np.ptp(first, axis=0).max()
    newborn = first.copy()
    newborn[3] = np.nan
    found = places(far, GROUPS, newborn)
    itself, nearest, *_ = np.linalg.norm(found - found[3], axis=1).argsort()
    assert itself == 3
    assert GROUPS[nearest] == GROUPS[3]


def test_names_share_no_stem_and_hold():
    relevant = {
        4: ["music", "band", "album"],
        0: ["bands", "song", "musical", "songs"],
        7: ["music"],
    }
    assert names(relevant, {}) == {4: ("music", "band"), 0: ("song",), 7: ("music",)}
    assert names({0: ["building", "built", "war", "warm"]}, {}) == {0: ("building", "war")}
    assert names(relevant, {4: ("album", "band")})[4] == ("album", "band")
    assert names(relevant, {4: ("river", "band")})[4] == ("music", "band")


@pytest.mark.parametrize("U", [0, 1, 2, 3, 4, 5])
def test_few_topics_have_areas_too(U):
    far = planted(6)[:U, :U]
    in_use = np.arange(2, 2 + U)
    areas = Areas.by_distance(far, in_use, 9).placed()
    assert areas.topics.tolist() == in_use.tolist()
    assert areas.places.shape == (U, 2)
    assert np.isfinite(areas.places).all()
    np.testing.assert_allclose(areas.far, far, atol=2e-3)
    later = Areas.by_distance(far, in_use, 9, areas).placed(areas)
    assert later.of_topic.tolist() == areas.of_topic.tolist()


def test_of_a_model_only_topics_in_use_have_an_area():
    model = OnlineLDA(12, 1500, 1000)
    areas = Areas.of(model, Meetings.none(12))
    assert areas.topics.tolist() == list(range(12))
    assert len(areas.members) == usual_number(12)
    assert sorted(itertools.chain(*areas.members.values())) == list(range(12))
    for area, topics in areas.members.items():
        assert areas.leader(area, model.topic_shares()) in topics
    assert Areas.of(model, None).of_topic.tolist() == areas.of_topic.tolist(), "nothing has met yet"

"""The map of topics: that it keeps groups together, and changes little."""

import numpy as np

from tests.maps import GROUPS, planted
from wikitopics.model.topic_tsne import places

NOWHERE = np.full((24, 2), np.nan)


def test_the_map_keeps_groups_together():
    far = planted(5)
    found = places(far, NOWHERE)
    on_the_map = np.linalg.norm(found[:, None] - found, axis=-1)
    five_nearest = on_the_map.argsort(axis=1)[:, 1:6]  # the first is the topic itself
    of_the_same_group = GROUPS[five_nearest] == GROUPS[:, None]
    assert of_the_same_group.mean() > 0.95
    np.testing.assert_array_equal(places(far, NOWHERE), found)


def test_on_a_later_map_topics_have_hardly_moved():
    far = planted(5)
    first = places(far, NOWHERE)
    later = places(far * 1.02, first)
    moved = np.linalg.norm(later - first, axis=1)
    width_of_map = np.ptp(first, axis=0).max()
    assert np.median(moved) < 0.05 * width_of_map


def test_a_topic_that_is_new_to_the_map_is_placed_beside_one_of_its_group():
    far = planted(5)
    before = places(far, NOWHERE)
    before[3] = np.nan
    found = places(far, before)
    itself, nearest, *_ = np.linalg.norm(found - found[3], axis=1).argsort()
    assert itself == 3
    assert GROUPS[nearest] == GROUPS[3]

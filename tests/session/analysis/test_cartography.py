"""Maps as every screen and file draws them: labels, lands and colours."""

import itertools

import numpy as np
import pytest

from tests.colours import DEFICIENCIES, apart
from wikitopics.session.analysis.cartography import (
    COLOURS,
    arranged,
    filled,
    lands,
    name_places,
    pushed,
)

ROWS = 60
COLUMNS = 90
SHAPE = (ROWS, COLUMNS)


def test_labels_that_were_pushed_never_overlap_and_stay_inside():
    random = np.random.default_rng(60)
    smallest = (2, 4)
    largest = (6, 16)
    sizes = random.integers(smallest, largest, (60, 2)).tolist()
    boxes = [(height, width) for height, width in sizes]
    crowded = random.random((60, 2)) ** 2 * SHAPE
    corners = arranged(pushed(crowded, boxes, SHAPE), boxes, SHAPE)
    labels_in = np.zeros(SHAPE, int)
    for corner, (height, width) in zip(corners, boxes, strict=True):
        assert corner is not None
        top, left = corner
        assert 0 <= top <= ROWS - height
        assert 0 <= left <= COLUMNS - width
        labels_in[top : top + height, left : left + width] += 1
    assert labels_in.max() == 1


def test_a_label_without_room_is_left_out():
    assert arranged(np.zeros((3, 2)), [(2, 4), (9, 1), (2, 2)], (2, 6)) == [(0, 0), None, (0, 4)]
    assert arranged(np.zeros((2, 2)), [(2, 4), (2, 4)], (2, 6)) == [(0, 0), None]


def test_a_name_is_wanted_on_the_largest_island_and_on_others_of_several_topics():
    large = [(10, 10), (10, 14), (14, 10), (14, 14), (12, 30), (12, 24), (12, 18)]
    small = [(50, 70), (50, 74)]
    more = [(54, 70), (54, 74)]
    for others, islands in ((small, 1), (small + more, 2)):
        cells = np.array([*large, *others, (50, 10)])
        areas = np.array([4] * (len(cells) - 1) + [7])
        places = name_places(cells, areas, SHAPE, 5.0)
        assert [area for area, _, _ in places].count(4) == islands
        assert places[0][0] == 4
        assert places[0][1:] == pytest.approx(np.array(large).mean(axis=0) + 0.5)
        assert (7, 50.5, 10.5) in places


def test_labels_that_lie_apart_stay_where_they_are():
    centres = np.array([[10.0, 10.0], [30.0, 60.0]])
    boxes = [(4, 10), (4, 10)]
    assert np.array_equal(pushed(centres, boxes, SHAPE), centres)
    assert arranged(centres, boxes, SHAPE) == [(8, 5), (28, 55)]


def test_places_are_spread_and_keep_their_order():
    places = np.random.default_rng(1).normal(size=(50, 2)) ** 3
    spread = filled(places)
    assert (spread.min(axis=0) == 0).all()
    assert (spread.max(axis=0) == 1).all()
    assert np.array_equal(spread.argsort(axis=0), places.argsort(axis=0))
    assert filled(places[:1]).tolist() == [[0.5, 0.5]]
    assert np.isfinite(filled(np.zeros((3, 2)))).all()


def test_land_is_that_of_the_nearest_label_within_reach():
    land = lands([(5, 5), None, (5, 30)], [(2, 6), (2, 2), (2, 6)], [4, 2, 7], (20, 60), reach=8)
    assert set(np.unique(land)) == {-1, 4, 7}
    assert (land[5:7, 5:11] == 4).all(), "under the label"
    assert land[6, 8] == 4
    assert land[6, 15] == 4
    assert land[6, 33] == 7
    assert land[6, 45] == -1


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_differ_whatever_cones_one_has(deficiency):
    """Two colours that differ by 2.3 can just be told apart, side by side."""
    *of_areas, grey = COLOURS
    pairs = itertools.combinations(of_areas, 2)
    differences = [apart(first, second, deficiency) for first, second in pairs]
    assert min(differences) > 7
    assert min(apart(grey, colour, deficiency) for colour in of_areas) > 5
    assert len(set(COLOURS)) == 19

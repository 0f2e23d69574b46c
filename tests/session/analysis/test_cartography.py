"""Maps as every screen and file draws them: labels, lands and colours."""

import itertools

import numpy as np
import pytest

from tests.colours import DEFICIENCIES, apart
from wikitopics.session.analysis.cartography import COLOURS, arranged, filled, lands, pushed

SHAPE = 60, 90


def test_labels_that_were_pushed_never_overlap_and_stay_inside():
    random = np.random.default_rng(60)
    boxes = [
        (int(height), int(width)) for height, width in random.integers((2, 4), (6, 16), (60, 2))
    ]
    centres, taken = pushed(random.random((60, 2)) ** 2 * SHAPE, boxes, SHAPE), np.zeros(SHAPE, int)
    for corner, (height, width) in zip(arranged(centres, boxes, SHAPE), boxes, strict=True):
        assert corner is not None
        top, left = corner
        assert 0 <= top <= SHAPE[0] - height
        assert 0 <= left <= SHAPE[1] - width
        taken[top : top + height, left : left + width] += 1
    assert taken.max() == 1


def test_a_label_without_room_is_left_out():
    assert arranged(np.zeros((3, 2)), [(2, 4), (9, 1), (2, 2)], (2, 6)) == [(0, 0), None, (0, 4)]
    assert arranged(np.zeros((2, 2)), [(2, 4), (2, 4)], (2, 6)) == [(0, 0), None]


def test_labels_that_lie_apart_stay_where_they_are():
    centres, boxes = np.array([[10.0, 10.0], [30.0, 60.0]]), [(4, 10), (4, 10)]
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
    assert (land[6, 8], land[6, 33], land[6, 15], land[6, 45]) == (4, 7, 4, -1)
    assert (land[5:7, 5:11] == 4).all()


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_differ_whatever_cones_one_has(deficiency):
    """Two colours that differ by 2.3 can just be told apart, side by side."""
    differences = [
        apart(one, other, deficiency) for one, other in itertools.combinations(COLOURS, 2)
    ]
    assert min(differences) > 7
    assert len(set(COLOURS)) == 18

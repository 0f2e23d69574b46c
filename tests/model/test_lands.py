"""Lands, their islands, and labels that lie on them and never overlap."""

import numpy as np
import pytest

from wikitopics.model.lands import SEA, cells_of, islands, labels, land_of, with_scale

SHAPE = (20, 60)


def two_areas() -> np.ndarray:
    """Area 0 has a large island and a small one, area 1 a middling one."""
    land = np.full(SHAPE, SEA)
    land[2:12, 2:30] = 0
    land[14:19, 2:12] = 0
    land[2:12, 30:50] = 1
    return land


NOWHERE = np.empty((0, 2), np.int64)
NONE = np.empty(0, np.int64)


def test_islands_are_connected_pieces_the_largest_of_an_area_first():
    cells = np.array([[15, 3], [5, 5], [5, 40]])
    found = islands(two_areas(), cells, np.array([0, 0, 1]))
    assert [(island.area, island.cells, island.topics) for island in found] == [
        (0, 280, (1,)),
        (0, 50, (0,)),
        (1, 200, (2,)),
    ]


def test_a_name_lies_on_its_areas_largest_island():
    boxes = {0: (1, 10), 1: (3, 12)}
    found = labels(two_areas(), NOWHERE, NONE, boxes)
    assert sorted(label.area for label in found) == [0, 1]
    for label in found:
        height, width = boxes[label.area]
        rows = slice(label.row, label.row + height)
        columns = slice(label.column, label.column + width)
        assert (two_areas()[rows, columns] == label.area).all()
        assert label.island.cells >= 200


def test_islands_of_more_than_three_topics_carry_the_name_too():
    cells = np.array([[15, 3], [15, 5], [15, 7], [15, 9]])
    assert len(labels(two_areas(), cells[:3], np.zeros(3, int), {0: (1, 5)})) == 1
    assert len(labels(two_areas(), cells, np.zeros(4, int), {0: (1, 5)})) == 2


def test_a_name_does_not_stand_beside_itself():
    cells = np.array([[15, 3], [15, 5], [15, 7], [15, 9]])
    areas = np.zeros(4, int)
    assert len(labels(two_areas(), cells, areas, {0: (1, 10)})) == 2  # ten rows apart
    assert len(labels(two_areas(), cells, areas, {0: (1, 14)})) == 1


def test_labels_never_overlap():
    random = np.random.default_rng(4)
    places = random.random((400, 2))
    areas = random.integers(0, 12, 400)
    land = land_of(places, areas, SHAPE, aspect=2.0)
    boxes = {area: (1 + area % 2, 6 + area) for area in range(12)}
    found = labels(land, cells_of(places, SHAPE), areas, boxes, aspect=2.0)
    assert len(found) >= 8
    taken = np.zeros(SHAPE, int)
    for label in found:
        height, width = boxes[label.area]
        taken[label.row : label.row + height, label.column : label.column + width] += 1
        middle = (label.row + height // 2, label.column + width // 2)
        assert land[middle] == label.area
    assert taken.max() == 1


def test_what_is_taken_stays_free():
    taken = np.zeros(SHAPE, np.bool_)
    taken[:, :] = True
    assert labels(two_areas(), NOWHERE, NONE, {0: (1, 5)}, taken=taken) == []
    assert labels(two_areas(), NOWHERE, NONE, {0: (30, 5), 1: (1, 99)}) == []


def test_land_is_where_an_areas_places_are():
    places = np.array([[0.2, 0.8]] * 5 + [[0.8, 0.2]] * 5)
    land = land_of(places, np.repeat([4, 7], 5), SHAPE)
    (row, column), (other_row, other_column) = cells_of(places, SHAPE)[[0, 5]]
    assert land[row, column] == 4
    assert land[other_row, other_column] == 7
    assert land[0, 0] == SEA


def test_places_of_earlier_versions_get_a_scale_and_those_of_this_one_stay():
    places = np.array([[0.1, 0.2], [1.0, 0.0], [0.3, 0.9]])
    np.testing.assert_array_equal(with_scale(places), places)
    without_a_scale = with_scale(300 * places - 40)
    assert without_a_scale.min() == pytest.approx(0.04)
    assert without_a_scale.max() == pytest.approx(0.96)
    for axis in range(2):
        np.testing.assert_array_equal(places[:, axis].argsort(), without_a_scale[:, axis].argsort())
    assert with_scale(np.array([[-7.0, 3.0]])).tolist() == [[0.5, 0.5]]
    assert with_scale(np.empty((0, 2))).shape == (0, 2)

"""The map of topics that lives: it stays while it is good, and moves little when it is not."""

from pathlib import Path

import numpy as np
import pytest

from tests.maps import GROUPS, distances, planted
from wikitopics.model.areas import OTHER, Areas
from wikitopics.model.lands import cells_of, islands, labels
from wikitopics.model.topic_map import anew, drifted, kept
from wikitopics.model.topic_tsne import places
from wikitopics.session.analysis.cartography import lands

U = 60
NO_AREAS = np.full(U, -1)


def new_map(far: np.ndarray) -> np.ndarray:
    return places(far, np.full((len(far), 2), np.nan))


def test_a_map_made_anew_keeps_more_than_t_sne():
    far = distances(U)
    at = anew(far, NO_AREAS)
    assert at.min() >= 0
    assert at.max() <= 1
    assert kept(far, at) >= kept(far, new_map(far))
    np.testing.assert_array_equal(at, anew(far, NO_AREAS))


def test_over_sixty_snapshots_it_is_never_worse_than_one_made_anew_and_moves_little():
    at = anew(distances(U), NO_AREAS)
    moves = []
    for snapshot in range(60):
        far = distances(U, later=0.01 * snapshot)
        now = drifted(far, at, NO_AREAS)
        assert kept(far, now) >= kept(far, new_map(far))
        moves.append(np.linalg.norm(now - at, axis=1).mean())
        at = now
    assert np.mean(moves) < 0.01


def test_a_map_that_is_good_enough_stays():
    far = distances(U)
    at = anew(far, NO_AREAS)
    np.testing.assert_array_equal(drifted(far, at, NO_AREAS), at)


def test_a_topic_that_is_new_to_the_map_lies_beside_one_of_its_area_and_the_others_stay():
    far = planted(5)
    before = anew(far, GROUPS)
    for topic in (3, 20):
        newcomer = before.copy()
        newcomer[topic] = np.nan
        now = drifted(far, newcomer, GROUPS)
        apart = np.linalg.norm(now - now[topic], axis=1)
        apart[topic] = np.inf
        assert GROUPS[apart.argmin()] == GROUPS[topic]
        moved = np.linalg.norm(now - before, axis=1)
        assert np.median(moved) < 0.01


def test_topics_that_die_leave_the_others_where_they_are():
    far = distances(U)
    before = anew(far, NO_AREAS)
    rest = np.delete(np.arange(U), 3)
    now = drifted(far[np.ix_(rest, rest)], before[rest], NO_AREAS[rest])
    moved = np.linalg.norm(now - before[rest], axis=1)
    assert np.median(moved) < 0.01


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7])
def test_few_topics(n):
    far = distances(max(n, 1))[:n, :n]
    areas = np.arange(n) % 2
    at = drifted(far, np.full((n, 2), np.nan), areas)
    assert at.shape == (n, 2)
    assert np.isfinite(drifted(far, at, areas)).all()
    assert ((at >= 0) & (at <= 1)).all()


def test_topics_that_are_all_alike_have_places():
    far = np.zeros((9, 9))
    at = drifted(far, np.full((9, 2), np.nan), np.zeros(9, int))
    assert np.isfinite(at).all()
    assert np.isfinite(drifted(far, at, np.zeros(9, int))).all()


def test_over_a_night_it_is_never_worse_than_t_sne_and_moves_little_and_labels_lie_on_their_lands():
    """At 60 snapshots of a run over 200,000 articles, `night.py` says which."""
    with np.load(Path(__file__).with_name("night.npz")) as night:
        distances_of = night["distances"] / 20
        areas_of = night["areas"].astype(np.int16)
    n, K = areas_of.shape
    assert n == 60
    pairs = np.triu_indices(K, 1)
    before = None
    moves = []
    off_island = []
    for distance, of_topic in zip(distances_of, areas_of, strict=True):
        far = np.zeros((K, K))
        far[pairs] = distance
        far += far.T
        areas = Areas(of_topic, distance.astype(np.float16), np.empty((0, 2), np.float32), {})
        areas = areas.placed(before)
        at = areas.places.astype(np.float64)
        assert kept(areas.far, at) >= kept(areas.far, new_map(areas.far))
        if before is not None:
            moves.append(np.linalg.norm(at - before.places, axis=1).mean())
        before = areas

        shape = (35, 118)
        cells = cells_of(at, shape)
        land = lands(cells.tolist(), [(1, 1)] * K, of_topic.tolist(), shape, 7.0, 2.0)
        boxes = dict.fromkeys(range(OTHER), (1, 12))
        largest = {}
        for island in islands(land, cells, of_topic):
            largest.setdefault(island.area, island)
        labelled = labels(land, cells, of_topic, boxes, aspect=2.0)
        assert {label.area for label in labelled} == largest.keys() - {OTHER}
        for label in labelled:
            on_it = land[label.row, label.column + 6] == label.area
            is_named = label.island == largest[label.area] or len(label.island.topics) > 3
            off_island.append(not (on_it and is_named))
    assert not any(off_island)
    assert np.mean(moves) < 0.01

"""The map of topics that lives: it stays while it is good, and moves little when it is not."""

import numpy as np
import pytest

from tests.maps import distances
from wikitopics.model.living_map import anew, drifted, kept, stayed
from wikitopics.model.places import places

U = 60


def new_map(far: np.ndarray) -> np.ndarray:
    return places(far, np.full((len(far), 2), np.nan))


def test_a_map_made_anew_keeps_more_than_t_sne():
    far = distances(U)
    at = anew(far)
    assert at.min() >= 0
    assert at.max() <= 1
    assert kept(far, at) >= kept(far, new_map(far))
    np.testing.assert_array_equal(at, anew(far))


def test_over_sixty_snapshots_it_is_never_worse_than_one_made_anew_and_moves_little():
    at = anew(distances(U))
    moves = []
    for snapshot in range(60):
        far = distances(U, later=0.01 * snapshot)
        now = drifted(far, at, ahead=0.0)
        assert kept(far, now) >= kept(far, new_map(far))
        moves.append(np.linalg.norm(now - at, axis=1).mean())
        at = now
    assert np.mean(moves) < 0.01


def test_a_map_that_is_good_enough_stays():
    far = distances(U)
    at = anew(far)
    np.testing.assert_array_equal(drifted(far, at, ahead=0.0), at)


def test_topics_are_born_and_die():
    far = distances(U)
    before = anew(far)
    before[7] = np.nan
    rest = np.delete(np.arange(U), 3)
    now = stayed(far[np.ix_(rest, rest)], before[rest])
    was_there = np.isfinite(before[rest, 0])
    np.testing.assert_array_equal(now[was_there], before[rest][was_there])
    assert np.isfinite(now).all()
    later = drifted(far[np.ix_(rest, rest)], before[rest])
    assert np.isfinite(later).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7])
def test_few_topics(n):
    far = distances(max(n, 1))[:n, :n]
    at = drifted(far, np.full((n, 2), np.nan))
    assert at.shape == (n, 2)
    assert np.isfinite(at).all()
    assert np.isfinite(drifted(far, at)).all()

"""The map of articles: what is alike is close, and places depend on nothing else."""

import numpy as np
import pytest

from wikitopics.model.article_map import (
    DISC,
    SPACING,
    Field,
    Landmarks,
    aligned,
    chosen_landmarks,
    laid_out,
    moved,
    packed,
    repelled,
    started,
    unpacked,
)
from wikitopics.model.near import Rows

K = 9
TOPICS = np.stack(np.meshgrid([0.2, 0.5, 0.8], [0.2, 0.5, 0.8]), axis=-1).reshape(K, 2)
THETA = np.random.default_rng(2).dirichlet(np.full(K, 0.1), 600).astype(np.float32)
ROWS = Rows.of(THETA)


def same_topic(places: np.ndarray) -> float:
    leading = ROWS.leading()
    apart = np.square(places[:, None] - places).sum(axis=-1)
    ten = apart.argsort(axis=1)[:, 1:11]
    return float((leading[ten] == leading[:, None]).mean())


def test_an_article_starts_in_its_topics_disc_towards_what_else_it_is_about():
    theta = np.zeros((2, K), np.float32)
    theta[0, 4] = 1
    theta[1, [4, 5]] = 0.7, 0.3
    places = started(Rows.of(theta), TOPICS)
    np.testing.assert_allclose(places[0], TOPICS[4])
    towards = places[1] - TOPICS[4]
    wanted = TOPICS[5] - TOPICS[4]
    assert 0 < np.linalg.norm(towards) < np.linalg.norm(wanted) / 2
    assert towards @ wanted > 0.99 * np.linalg.norm(towards) * np.linalg.norm(wanted)


@pytest.mark.parametrize("left_out", [(), (3,), (0, 1, 2, 3, 4, 5, 6, 7), tuple(range(K))])
def test_an_articles_start_follows_from_all_pairs_of_topics(left_out):
    topics = TOPICS + np.random.default_rng(7).normal(0, 0.05, (K, 2))
    topics[8] = topics[7]  # two at the same place
    topics[list(left_out)] = np.nan
    on_map = np.isfinite(topics[:, 0])
    at = np.where(on_map[:, None], topics, 0.5)
    away = at - at[:, None]  # of l seen from k
    apart = np.linalg.norm(away, axis=2)
    directions = away / np.maximum(apart, 1e-9)[:, :, None]
    to_others = np.where(on_map, apart, np.inf)
    np.fill_diagonal(to_others, np.inf)
    to_nearest = np.minimum(to_others.min(axis=1), 1)
    wanted = []
    for article in range(len(ROWS)):
        entries = slice(ROWS.indptr[article], ROWS.indptr[article + 1])
        of_article = ROWS.topics[entries]
        shares = np.square(ROWS.roots[entries].astype(np.float64))
        leading = of_article[shares.argmax()]
        shares[of_article == leading] = 0
        pull = (shares[:, None] * directions[leading, of_article]).sum(axis=0)
        outwards = pull / np.sqrt(max(shares.sum(), 1e-9))
        wanted.append(at[leading] + DISC * to_nearest[leading] * outwards)
    np.testing.assert_allclose(started(ROWS, topics), wanted, rtol=0, atol=1e-12)


def test_topics_that_are_not_on_the_map_do_no_harm():
    topics = TOPICS.copy()
    topics[3] = np.nan
    assert np.isfinite(started(ROWS, topics)).all()


def test_a_layout_keeps_articles_of_one_topic_together_within_the_map():
    places = laid_out(ROWS, K, started(ROWS, TOPICS))
    assert places.min() >= 0
    assert places.max() <= 1
    assert same_topic(places) > 0.8
    np.testing.assert_array_equal(places, laid_out(ROWS, K, started(ROWS, TOPICS)))
    # Topics lie as they did on the map of topics.
    leading = ROWS.leading()
    middle = np.array([places[leading == topic].mean(axis=0) for topic in range(K)])
    assert np.corrcoef(middle[:, 0], TOPICS[:, 0])[0, 1] > 0.5


def test_a_later_layout_moves_little():
    first = laid_out(ROWS, K, started(ROWS, TOPICS))
    later = laid_out(ROWS, K, first, is_later=True)
    assert np.linalg.norm(later - first, axis=1).mean() < 0.1


@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_few_articles_have_places_too(n):
    rows = ROWS.take(np.arange(n))
    places = laid_out(rows, K, started(rows, TOPICS))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_a_single_article_is_in_the_middle_of_the_map():
    rows = ROWS.take(np.arange(1))
    assert laid_out(rows, K, started(rows, TOPICS)).tolist() == [[0.5, 0.5]]


def test_the_field_is_the_sum_over_all_landmarks():
    places = np.random.default_rng(1).normal(size=(1000, 2)) * 8
    field = Field.of(places)
    apart = places[:, None] - places
    kernel = 1 / (1 + np.square(apart).sum(axis=-1))
    assert field.total == pytest.approx(kernel.sum() - len(places), rel=0.001)
    wanted = (np.square(kernel)[:, :, None] * apart).sum(axis=1)
    forces = np.zeros_like(places)
    repelled(places, field.low, SPACING, field.potential, 1.0, forces)
    assert np.linalg.norm(forces - wanted) < 0.1 * np.linalg.norm(wanted)


def test_places_among_landmarks_depend_on_no_other_article():
    chosen = chosen_landmarks(len(ROWS), 300)
    landmarks = ROWS.take(chosen)
    stored = packed(laid_out(landmarks, K, started(landmarks, TOPICS)))
    map_of = Landmarks(landmarks, K, stored)
    at_once = map_of.placed(ROWS)
    assert same_topic(unpacked(at_once)) > 0.75
    order = np.random.default_rng(5).permutation(len(ROWS))
    again = Landmarks(landmarks, K, stored)
    np.testing.assert_array_equal(again.placed(ROWS.take(order)), at_once[order])
    some = map_of.placed(ROWS.take(order[:100]))
    np.testing.assert_array_equal(some, at_once[order[:100]])


def test_an_article_that_is_pushed_off_the_map_is_among_its_landmarks():
    # Close to the left edge, where landmarks of another topic repel it to the left.
    theta = np.zeros((2000, K), np.float32)
    theta[:20, 0] = 1
    theta[20:, 1] = 1
    at = np.where(theta[:, :1] > 0, [0.005, 0.5], [0.01, 0.5])
    landmarks = Landmarks(Rows.of(theta), K, packed(at))
    (place,) = unpacked(landmarks.placed(Rows.of(theta[:1])))
    np.testing.assert_allclose(place, at[0], atol=1e-4)


def test_an_article_without_a_landmark_of_its_topics_is_in_the_middle():
    theta = np.zeros((20, K), np.float32)
    theta[:, 1] = 1
    at = np.random.default_rng(3).random((20, 2)) / 4
    landmarks = Landmarks(Rows.of(theta), K, packed(at))
    other = np.zeros((1, K), np.float32)
    other[0, 2] = 1
    np.testing.assert_allclose(unpacked(landmarks.placed(Rows.of(other))), 0.5, atol=1e-4)


def test_articles_move_with_their_topics():
    places = np.full((2, 2), 0.5)
    theta = np.zeros((2, K), np.float32)
    theta[0, 1] = theta[1, 2] = 1
    later = TOPICS.copy()
    later[1] += 0.1
    later[2] = np.nan  # no longer on the map
    result = moved(Rows.of(theta), places, TOPICS, later)
    np.testing.assert_allclose(result, [[0.6, 0.6], [0.5, 0.5]])


def test_places_are_turned_to_earlier_ones():
    places = np.random.default_rng(0).random((20, 2))
    turned = places @ np.array([[0.0, -3.0], [3.0, 0.0]]) + 5
    np.testing.assert_allclose(aligned(turned, places), places, atol=1e-9)
    # One place that does not count has gone elsewhere.
    counts = np.arange(20) > 0
    turned[0] = 99
    np.testing.assert_allclose(aligned(turned, places, counts)[1:], places[1:], atol=1e-9)


def test_stored_places_take_two_small_numbers():
    places = np.random.default_rng(0).random((20, 2))
    stored = packed(places)
    assert stored.dtype == np.uint16
    np.testing.assert_allclose(unpacked(stored), places, atol=1e-5)

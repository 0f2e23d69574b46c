"""What is on the sky, and what moves there."""

import numpy as np

from wikitopics.session.analysis.article_map import ArticleMap
from wikitopics.tui.sky import Counts
from wikitopics.tui.sky_index import UNITS, Window
from wikitopics.tui.sky_motion import (
    DRIFT_SECONDS,
    FLIGHT_SECONDS,
    GLOW_SECONDS,
    MOST_FLIGHTS,
    Drift,
    Sky,
    bright,
    set_out,
)

AREA_OF = np.array([0, 1, 0])
SIZE = (40, 12)


def a_map(n, layout=512, seed=0):
    """A map of n articles with every other number."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, UNITS, (n, 2)).astype(np.uint16)
    topics = (np.arange(n) % 3).astype(np.int16)
    second = np.full(n, -1, np.int16)
    return ArticleMap("lda", layout, 1 + 2 * np.arange(n), places, topics, second)


def grown(found, n):
    """The same map with more articles."""
    more = a_map(n, found.layout, seed=1)
    more.places[: len(found)] = found.places
    return more


def test_a_sky_has_the_articles_up_to_one_and_finds_them_by_number():
    sky = Sky.of(a_map(100), last=60)
    assert len(sky) == 30
    assert sky.seqs[-1] == 59
    assert sky.find([1, 2, 59, 61, 7]).tolist() == [0, 29, 3]
    assert sky.topic_count == 3
    assert len(Sky.of(a_map(100), last=0)) == 0
    assert Sky.of(a_map(0)).find([1]).tolist() == []


def test_a_sky_made_from_an_earlier_one_is_the_same():
    found = a_map(5_000)
    more = grown(found, 9_000)
    before = Sky.of(found)
    after = Sky.of(more, before=before)
    assert after.articles._sorted is not before.articles._sorted or len(after.articles.late.topics)
    for window in (Window(), Window.around(0.3, 0.6, 4)):
        step_by_step = Counts.of(after.articles, AREA_OF, 2, window, SIZE)
        at_once = Counts.of(Sky.of(more).articles, AREA_OF, 2, window, SIZE)
        assert (step_by_step.areas == at_once.areas).all()
    assert len(before) == 5_000, "it has not changed"
    moved = Sky.of(a_map(9_000, seed=2), before=before)
    counts = Counts.of(moved.articles, AREA_OF, 2, Window(), SIZE)
    at_once = Counts.of(Sky.of(a_map(9_000, seed=2)).articles, AREA_OF, 2, Window(), SIZE)
    assert (counts.areas == at_once.areas).all()


def test_a_drift_leads_from_the_old_places_to_the_new_ones():
    before = Sky.of(a_map(300))
    now = Sky.of(a_map(400, layout=1_024, seed=5))
    drift = Drift.between(before, now, 10.0)
    assert (drift.before == before.places).all()
    assert (drift.now == now.places[:300]).all()
    for time, sky in ((10.0, before), (10.0 + DRIFT_SECONDS, Sky.of(now.map, last=600))):
        expected = Counts.of(sky.articles, AREA_OF, 2, Window(), SIZE)
        assert (drift.counts(time, AREA_OF, 2, Window(), SIZE).dots == expected.dots).all()
    assert not drift.ended(11.0)
    assert drift.ended(10.0 + DRIFT_SECONDS)


def test_a_few_of_those_just_read_fly_to_their_places_one_after_another():
    found = a_map(200)
    sky = Sky.of(grown(found, 1_000))
    flights = set_out([], sky, 200, Window(), 5.0)
    assert len(flights) == MOST_FLIGHTS
    assert [flight.seq for flight in flights] == sky.seqs[-MOST_FLIGHTS:].tolist()
    begins = [flight.begins for flight in flights]
    assert begins == sorted(set(begins))
    assert begins[0] == 5.0
    assert set_out(flights, sky, 200, Window(), 5.1) == flights, "no more than that at once"
    first, *_ = flights
    assert first.places(4.9) == []
    assert first.at(5.0) == first.start
    way = [np.hypot(*np.subtract(first.at(5 + part), first.end)) for part in (0, 0.5, 1)]
    assert way == sorted(way, reverse=True)
    assert first.at(5 + FLIGHT_SECONDS) == first.end
    assert bright([first], 5 + FLIGHT_SECONDS).tolist() == [list(first.end)]
    end = begins[-1] + FLIGHT_SECONDS + GLOW_SECONDS
    assert set_out(flights, sky, 1_000, Window(), end) == []
    assert bright([], end).shape == (0, 2)


def test_only_articles_in_the_window_fly():
    sky = Sky.of(a_map(500))
    window = Window.around(0.25, 0.75, 4)
    (left, bottom), (right, top) = window.corners
    for flight in set_out([], sky, 0, window, 0.0):
        x, y = flight.end
        assert left <= x < right
        assert bottom <= y < top

"""Which articles stand out, and that the spotlight shows them in turn."""

import numpy as np
import pytest

from wikitopics.session.analysis.areas import atlas
from wikitopics.session.analysis.spotlight import (
    COMPANY,
    PURE,
    aloneness,
    bridging,
    spotlight,
    strangeness,
)
from wikitopics.session.storage.reader import SessionReader


def test_the_strangest_article_is_least_like_those_of_its_largest_topic():
    theta = np.tile([0.7, 0.3, 0.0, 0.0], (40, 1))
    theta[20:] = [0.0, 0.0, 0.6, 0.4]
    theta[7] = [0.6, 0.0, 0.0, 0.4]
    strange = strangeness(theta)
    assert strange.argmax() == 7
    assert np.isfinite(strange).all()
    theta[9] = [0.01, 0.99, 0.0, 0.0]  # the only one about its topic, and about nothing else
    assert strangeness(theta).argmax() == 7
    usual = strangeness(np.full((30, 4), 0.25))
    assert usual == pytest.approx(np.zeros(30), abs=1e-12)


def test_a_bridge_links_topics_of_two_areas_and_the_longest_is_the_best():
    far = np.array([[0, 1, 2, 4], [1, 0, 2, 4], [2, 2, 0, 4], [4, 4, 4, 0]], np.float64)
    area_of = np.array([0, 0, 1, 2])
    theta = np.array(
        [
            [0.5, 0.5, 0.0, 0.0],  # both of one area
            [0.5, 0.0, 0.4, 0.1],
            [0.0, 0.6, 0.0, 0.4],
            [0.9, 0.0, 0.0, 0.1],  # hardly about the other one
        ]
    )
    scores, ends = bridging(theta, far, area_of)
    assert scores.tolist() == pytest.approx([0, 0.8, 1.6, 0])
    assert ends[1:3].tolist() == [[0, 2], [1, 3]]


def test_an_article_is_alone_where_no_other_about_its_topic_is_near():
    random = np.random.default_rng(0)
    places = random.integers(0, 1_000, (60, 2)).astype(np.uint16)
    topics = np.repeat([0, 1], 30)
    places[5] = 60_000, 60_000
    places[40:50] = places[5]  # of another topic
    alone = aloneness(places, topics)
    assert alone.argmax() == 5
    assert alone[40] == 0
    few = aloneness(places[:COMPANY], topics[:COMPANY])
    assert not few.any(), "of a topic with few articles, each would be alone"
    assert aloneness(places[:0], topics[:0]).shape == (0,)


def test_kinds_take_turns_and_a_turn_is_the_same_for_every_reader(trained):
    with SessionReader(trained) as reader, SessionReader(trained) as another:
        found = atlas(reader, "lda")
        assert spotlight(reader, "lda", 0, None) is None
        spots = [spotlight(reader, "lda", turn, found) for turn in range(12)]
        assert spots == [spotlight(another, "lda", turn, found) for turn in range(12)]
        assert [spot.kind for spot in spots[:3]] == ["strange", "bridge", "pure"]
        pure = [spot.article for spot in spots if spot.kind == "pure"]
        assert len(pure) == len({article.seq for article in pure})
        for article in pure:
            ((_, topic, proportion),) = article.topics
            assert reader.articles_about("lda", topic, 1) == [article]
            assert proportion >= PURE
        for spot in spots:
            assert reader.numbered([spot.article.seq]) == {spot.article.seq: spot.article}
            assert spot.words

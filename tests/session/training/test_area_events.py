"""What a trainer tells of areas: which are new, which have merged, and which have dissolved."""

import itertools

import numpy as np
import pytest

from wikitopics.model.areas import NONE, OTHER, Areas
from wikitopics.session.analysis.story import happenings
from wikitopics.session.records import TopicEvent, TopWords
from wikitopics.session.training.chronicle import area_events

SHARES = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05], np.float32)


def areas(of_topic):
    """Six topics with these areas, each of which is named after its number."""
    numbers = np.array(of_topic, np.int16)
    named = sorted(set(of_topic) - {NONE, OTHER})
    names = {number: (f"area{number}",) for number in named}
    return Areas(numbers, np.zeros(15, np.float16), np.zeros((6, 2), np.float32), names)


def told(before, now):
    """The events between two groupings: (event, topic, other, name)."""
    ids = np.zeros((6, 1), np.int32)
    words = (ids, ids.astype(np.float32))
    snapshot = TopWords(0, 10_000, words, words, SHARES)
    events = area_events("lda", snapshot, areas(before), areas(now))
    return [(event.event, event.topic, event.other, event.name) for event in events]


def test_a_new_area_is_born_and_a_lost_one_has_merged():
    assert told([0, 0, 0, 0, 1, 1], [0, 0, 2, 2, 1, 1]) == [("area_born", 2, None, "area2")]
    assert told([0, 0, 2, 2, 1, 1], [0, 0, 0, 0, 1, 1]) == [("area_merged", 2, 0, "area2")]


def test_topics_of_no_area_are_no_news():
    assert told([0, 0, 0, 1, 1, 1], [0, 0, OTHER, 1, 1, OTHER]) == []
    assert told([0, 0, OTHER, 1, 1, OTHER], [0, 0, 1, 1, 1, 0]) == []


@pytest.mark.parametrize("nowhere", [OTHER, NONE])
def test_an_area_whose_topics_belong_to_none_any_longer_has_dissolved(nowhere):
    dissolved = told([0, 0, 2, 2, 1, 1], [0, 0, nowhere, nowhere, 1, 1])
    assert dissolved == [("area_died", 2, None, "area2")]


def test_an_area_under_another_number_is_neither_new_nor_gone():
    assert told([0, 0, 0, 0, 1, 1], [OTHER, 2, OTHER, OTHER, 1, 1]) == [
        ("area_born", 1, None, "area2"),
        ("area_died", 0, None, "area0"),
    ]
    assert told([0, 0, 0, 0, 1, 1], [2, 1, OTHER, OTHER, 1, 1]) == []


def test_an_area_that_takes_over_the_one_it_joins_is_gone():
    assert told([2, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1]) == [("area_merged", 0, 1, "area2")]


def test_every_birth_of_an_area_comes_after_its_end():
    """A topic that goes to and fro between its own area, another one, and none."""
    courses = [[2, 0, 0, 0, 1, 1], [OTHER, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 1, 1]]
    for first, second in itertools.product(courses, courses):
        kinds = [kind for kind, topic, _, _ in told(first, second) if topic == 0]
        alone_before = first == courses[0]
        alone_now = second == courses[0]
        assert ("area_born" in kinds) == (alone_now and not alone_before)
        ended = bool({"area_died", "area_merged"} & set(kinds))
        assert ended == (alone_before and not alone_now)


def test_the_end_of_an_area_is_told_in_words():
    event = TopicEvent("lda", 130_000, "area_died", 18, None, "population, village")
    assert event.told() == "the area population, village, led by #18, has dissolved"
    (moment,) = happenings([event])
    assert (moment.kind, moment.topic, moment.words) == ("area_died", 18, event.told())

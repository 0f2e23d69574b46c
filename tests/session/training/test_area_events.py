"""What a trainer tells of areas: which are new, and which have merged."""

import numpy as np

from wikitopics.model.areas import NONE, OTHER, Areas
from wikitopics.session.records import TopWords
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


def test_an_area_whose_topics_belong_to_none_any_longer_has_not_merged():
    assert told([0, 0, 2, 2, 1, 1], [0, 0, OTHER, OTHER, 1, 1]) == []

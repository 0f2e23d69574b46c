"""Areas of a stored session in which some topics belong to none."""

import sqlite3
from dataclasses import replace

import pytest

from wikitopics.model.areas import OTHER
from wikitopics.session.analysis.areas import areas, atlas, in_drawing_order, topic_tree
from wikitopics.session.analysis.described import described_topics
from wikitopics.session.given_names import rename
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.topics import replace_areas

OUTSIDE = [1, 3]


@pytest.fixture
def reader(trained):
    """A session of which two topics belong to no area."""
    with SessionReader(trained) as before:
        stored = before.areas("lda")
    of_topic = stored.of_topic.copy()
    of_topic[OUTSIDE] = OTHER
    names = {area: words for area, words in stored.names.items() if area in of_topic}
    changed = replace(stored, of_topic=of_topic, names=names)
    with sqlite3.connect(trained) as db:
        replace_areas(db, {0: changed})
    db.close()
    with SessionReader(trained) as reader:
        yield reader


def test_topics_of_no_area_come_last_as_other(reader):
    found = atlas(reader, "lda")
    *named, other = found.areas
    assert (other.number, other.name) == (18, "other")
    assert sorted(other.topics) == OUTSIDE
    assert other.is_other
    assert not any(area.is_other for area in named)
    assert set(found.area_of) == set(range(5))


@pytest.mark.parametrize("n", [1, 2, 9])
def test_they_are_other_however_the_tree_is_cut(reader, n):
    *named, other = areas(reader, "lda", n)
    assert other.is_other
    assert sorted(other.topics) == OUTSIDE
    assert len(named) == min(n, 3)
    in_areas = [topic for area in named for topic in area.topics]
    assert sorted(in_areas) == [0, 2, 4]


def test_they_are_last_in_the_tree(reader):
    branches = topic_tree(reader, "lda")
    *_, (area, topics) = in_drawing_order(branches, areas(reader, "lda"))
    assert area.is_other
    assert sorted(topics) == OUTSIDE


def test_each_of_them_is_in_use_and_has_the_area_other(reader):
    for topic in described_topics(reader, "lda"):
        is_outside = topic.number in OUTSIDE
        assert (topic.area == 18) == is_outside
        assert (topic.area_name == "other") == is_outside
        assert topic.in_use


def test_a_given_name_is_not_that_of_other(reader, trained):
    rename(trained, "lda", 1, "mine")
    *_, other = areas(reader, "lda")
    assert other.name == "other"

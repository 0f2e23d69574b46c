"""Names of topics given in Python, hidden topics, and the table of topics."""

import sys

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt

COLUMNS = "topic name share area area_name npmi found in_use hidden parent words shown titles"


@pytest.fixture
def session(trained):
    return wt.open()


def names(session):
    return {topic.number: topic.name for topic in session.topics()}


def test_a_topic_is_renamed_and_back_as_by_the_command(session, cli):
    automatic = names(session)
    assert session.rename(2, "rivers and lakes") == "rivers and lakes"
    assert names(session) == {**automatic, 2: "rivers and lakes"}
    assert {row["name"] for row in cli.json("topics")} >= {"rivers and lakes"}
    assert session.rename(np.int64(2), None) == automatic[2]
    session.rename(2, "x", model="lda")
    assert session.rename(2, "") == automatic[2]
    assert names(session) == automatic


def test_topics_are_hidden_and_listed_again(session, cli):
    session.hide(1, 3)
    assert [topic.number for topic in session.topics() if topic.hidden] in ([1, 3], [3, 1])
    assert "2 of 5 topics are hidden" in cli("topics").err
    session.unhide(3)
    assert session.topics(frame=True).query("hidden")["topic"].tolist() == [1]
    session.unhide(1)
    assert not any(topic.hidden for topic in session.topics())


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda session: session.rename(99, "x"), ValueError, "topic"),
        (lambda session: session.rename("1", "x"), TypeError, "topic must be a whole number"),
        (lambda session: session.rename(1, 3), TypeError, "name must be text"),
        (lambda session: session.rename(1, "x" * 61), ValueError, "60"),
        (lambda session: session.rename(1, "a\x1b[31m"), ValueError, "name"),
        (lambda session: session.rename(1, "x", model="no"), ValueError, "no model"),
        (lambda session: session.hide(), ValueError, "give at least one number"),
        (lambda session: session.hide(0, 99), ValueError, "topic"),
        (lambda session: session.unhide(1.5), TypeError, "whole number"),
        (lambda session: session.name("x"), TypeError, "give must be a function"),
        (lambda session: session.name(lambda topic: 3), TypeError, "must be text or None, not 3"),
        (lambda session: session.name(lambda topic: "x" * 61), ValueError, "has no new name"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(session, call, error, says):
    before = [(topic.name, topic.hidden) for topic in session.topics()]
    with pytest.raises(error, match=says) as caught:
        call(session)
    assert "\n" not in str(caught.value)
    assert [(topic.name, topic.hidden) for topic in session.topics()] == before


def test_a_function_names_topics_that_have_no_given_name(session):
    automatic = names(session)
    session.rename(4, "given")
    asked = []

    def give(topic):
        asked.append(topic)
        return None if topic.number == 0 else f"about {topic.shown[0]}"

    given = session.name(give)
    assert all(isinstance(topic, wt.stored.Topic) for topic in asked)
    shares = [topic.share for topic in asked]
    assert shares == sorted(shares, reverse=True)
    assert {topic.number for topic in asked} == {0, 1, 2, 3}
    assert given.keys() == {1, 2, 3}
    assert names(session) == {0: automatic[0], 4: "given", **given}
    # Only topic 0 still has no given name.
    assert session.name(lambda topic: "x") == {0: "x"}
    assert session.name(lambda topic: "x") == {}
    assert session.name(lambda topic: str(topic.number), replace=True) == {
        number: str(number) for number in range(5)
    }


def test_an_error_of_the_function_is_raised_and_the_names_so_far_stay(session):
    automatic = names(session)
    largest, second, *_ = [topic.number for topic in session.topics()]

    def give(topic):
        if topic.number != largest:
            raise ConnectionError("no model answers")
        return "the largest"

    with pytest.raises(ConnectionError, match="no model answers"):
        session.name(give)
    assert names(session) == {**automatic, largest: "the largest"}
    assert second in session.name(lambda topic: f"then {topic.number}")
    assert names(session)[largest] == "the largest"


def test_a_topic_named_by_hand_meanwhile_keeps_that_name(session):
    first, second, *_ = [topic.number for topic in session.topics()]

    def give(topic):
        if topic.number == first:
            session.rename(second, "by hand")
        return f"topic {topic.number}"

    assert second not in session.name(give)
    assert names(session)[second] == "by hand"


def test_topics_that_are_not_in_use_are_named_if_asked(session, monkeypatch):
    monkeypatch.setattr("wikitopics.model.online.IN_USE", 0.99)
    assert session.name(lambda topic: "x") == {}
    assert len(session.name(lambda topic: f"t{topic.number}", all=True)) == 5


def test_the_table_has_what_topics_are(session):
    session.hide(2)
    frame = session.topics(frame=True)
    topics = session.topics()
    assert list(frame) == COLUMNS.split()
    assert frame.index.equals(pd.RangeIndex(5))
    for column in ("topic", "share", "hidden", "in_use", "name", "area", "area_name"):
        attribute = "number" if column == "topic" else column
        assert frame[column].tolist() == [getattr(topic, attribute) for topic in topics]
    for column in ("npmi", "found"):
        assert frame[column].dtype == "float64"
        values = [getattr(topic, column) for topic in topics]
        found = [np.nan if value is None else value for value in values]
        assert np.array_equal(frame[column], found, equal_nan=True)
    assert frame["words"].tolist() == [" ".join(topic.words[:10]) for topic in topics]
    assert frame["area"].dtype == frame["parent"].dtype == "Int64"
    assert frame.loc[frame["hidden"], "topic"].tolist() == [2]


def test_the_table_needs_pandas(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValueError, match=r"^topics\(frame=True\) needs pandas"):
        session.topics(frame=True)

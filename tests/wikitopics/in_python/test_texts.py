"""`wikitopics.train`: collections of texts, their indexes, ids and titles."""

import sqlite3
import warnings
from contextlib import closing
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.wikitopics.in_python import learning
from tests.wikitopics.in_python.learning import TEXTS, TRAINED, WORDS, assert_nothing_is_left, learn
from wikitopics.session.storage.opened import keep_index

pytestmark = pytest.mark.filterwarnings("ignore:short texts")


def test_a_column_becomes_a_session(in_a_process, path):
    missing = [None, np.nan, np.float32("nan"), pd.NA, "", "  "]
    column = pd.Series([*TEXTS, *missing])
    number = len(column)
    session = learn(column, titles=(f"T{n}" for n in range(number)), ids=range(1000, 1000 + number))
    status = session.status()
    assert status.state == "finished"
    assert status.documents == TRAINED
    assert status.passes == 2
    assert status.source == "texts"
    assert status.source_name == "texts from a Python program"
    assert status.skips == {"no known word": len(missing)}
    assert len(session.topics()) == 3
    found = {(one.page_id, one.title, one.id) for one in session.articles(limit=200)}
    assert found == {(n + 1, f"T{n}", str(n + 1000)) for n in range(number)}
    assert set(session.vocabulary().words) <= set(WORDS)
    assert str(session.vocabulary().rule) == "2 en"
    assert_nothing_is_left(path)
    assert path.exists()


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_columns_of_arrow_are_collections(path):
    import pyarrow as pa

    texts = pa.chunked_array([pa.array(TEXTS[:50]), pa.array([*TEXTS[50:], None])])
    number = len(texts)
    session = learn(
        texts,
        titles=pa.array(f"T{n}" for n in range(number)),
        ids=pa.array(range(1000, 1000 + number)),
    )
    found = {(one.page_id, one.title, one.id) for one in session.articles(limit=200)}
    assert found <= {(n + 1, f"T{n}", str(n + 1000)) for n in range(number)}
    assert session.status().skips == {"no known word": 1}
    assert np.array_equal(
        session.infer(pa.array(TEXTS[:3], pa.large_string())), session.infer(TEXTS[:3])
    )


WITHOUT_WORDS = [None, np.nan, pd.NA, "", "  ", "unheard of"]
LENGTH = len(TEXTS) + len(WITHOUT_WORDS)
INDEXES = (
    pd.RangeIndex(LENGTH),
    pd.Index(np.arange(5000, 5000 + LENGTH)[::-1], name="review"),
    pd.Index([f"r{n}" for n in range(LENGTH)], name="name"),
    pd.date_range("2026-01-01", periods=LENGTH, tz="UTC"),
    pd.Index([np.nan, *range(LENGTH - 1)]),
    pd.Index(["", *(f"s{n}" for n in range(LENGTH - 1))], dtype=object),
)


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: str(index.dtype))
def test_the_index_of_a_series_comes_back_in_its_order_with_its_values(path, index):
    column = pd.Series([*TEXTS, *WITHOUT_WORDS], index)
    learn(column)
    for found in (wt.open(path).proportions(frame=True), learn(column).proportions(frame=True)):
        pd.testing.assert_index_equal(found.index, index, exact="equiv", check_freq=False)
        has_proportions = [True] * len(TEXTS) + [False] * len(WITHOUT_WORDS)
        assert found[0].notna().tolist() == has_proportions
        assert found.join(column.rename("text"))["text"].head(len(TEXTS)).tolist() == TEXTS
    title_of = {article.page_id: article.title for article in wt.open(path).articles(limit=200)}
    is_numbered = isinstance(index, pd.RangeIndex)
    for page_id, label in enumerate(index, 1):
        if is_numbered or label == "":
            assert title_of[page_id] == f"text {page_id}"
        else:
            assert title_of[page_id] == str(label)
    assert len(title_of) == len(index)
    trained = wt.open(path).proportions(frame=True, held_out=False)
    assert len(trained) == len(index)
    assert trained[0].notna().sum() == TRAINED


def test_documents_have_their_largest_topic_in_the_order_of_the_texts(path):
    in_order = pd.Series([*TEXTS, ""], index=[f"r{n}" for n in range(121)])
    column = in_order.sample(frac=1, random_state=1)
    session = learn(column)
    table = session.documents()
    theta = session.proportions(frame=True)
    assert table.index.equals(column.index)
    assert table.loc["r120"].isna().all()
    topics = {topic.number: topic for topic in session.topics()}
    for label, row in table.drop("r120").iterrows():
        topic = topics[row.topic]
        assert row.snippet == in_order[label]
        assert row.drop("snippet").tolist() == [
            topic.number,
            topic.name,
            theta.loc[label].max(),
            topic.area,
            topic.area_name,
        ]


def test_of_a_generator_titles_are_numbers_and_rows_are_in_order(path):
    session = learn(text for text in [*TEXTS, ""])
    assert all(one.title == f"text {one.page_id}" for one in session.articles(limit=200))
    found = session.proportions(frame=True)
    assert (found.index.tolist(), found.index.name) == (list(range(1, 122)), "page_id")
    assert found[0].isna().tolist() == [False] * 120 + [True]


@pytest.mark.parametrize("ids", [range(500, 620), [f"text {n}" for n in range(120)]], ids=str)
def test_a_session_is_resumed_whose_texts_have_ids_but_are_called_by_numbers(path, ids):
    new = learn(ids=ids, session="new")
    assert {one.title for one in new.articles(limit=200)} == set(map(str, ids))
    assert learn(ids=ids, session="new").status().state == "finished"
    # An earlier version gave these titles to texts without titles, although they had ids. So the
    # session "notes" looks as if that version had made it.
    learn(ids=ids, titles=(f"text {n}" for n in range(1, 121)))
    assert learn(ids=ids).status().state == "finished"


def test_empty_texts_are_no_part_of_the_collection(path):
    found = learn([*TEXTS[:20], *[None] * 100]).status()
    assert found.documents == 18
    assert found.held_out == 2
    assert found.skips == {"no known word": 100}
    assert len(wt.open(path).proportions(frame=True)) == 120


def test_a_session_of_1_1_0_does_not_take_an_index_for_ids(path):
    learn(TEXTS)
    # As 1.1.0 stored it: the setting `lines` came later.
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "UPDATE settings SET value = json_remove(value, '$.lines') WHERE key = 'source_options'"
        )
    assert learn(pd.Series(TEXTS)).proportions(frame=True).index.name == "page_id"


def test_an_index_that_cannot_be_kept_is_warned_of(path):
    index = pd.MultiIndex.from_product([[1, 2], range(60)])
    with pytest.warns(
        UserWarning, match="the index of the texts is of a type that can only be kept as text"
    ):
        session = learn(pd.Series(TEXTS, index))
    assert session.proportions(frame=True).index.tolist() == list(map(str, index))


@pytest.mark.parametrize(
    "ids", [pd.Series(range(500, 620), name="review"), pd.Index(range(500, 620))], ids=type
)
def test_ids_from_pandas_come_back_with_their_type_and_another_is_damage(path, ids):
    frame = pd.DataFrame({"text": TEXTS}, ids)
    found = learn(frame["text"].tolist(), ids=ids).proportions(frame=True)
    pd.testing.assert_index_equal(found.index, pd.Index(ids), exact="equiv")
    assert frame.join(found)[0].notna().all()
    assert {one.id for one in wt.open(path).articles(limit=200)} == set(map(str, ids))
    for dtype in ("S1000000000", "bool", "category", "int8", "datetime64[ns, dateutil//etc/hosts]"):
        keep_index(path, {"name": None, "dtype": dtype})
        with pytest.raises(wt.SessionError, match=r"settings\.index does not fit"):
            wt.open(path).proportions(frame=True)


def test_ids_of_which_some_are_missing_are_text(path):
    with pytest.warns(UserWarning, match="^ids: some are missing"):
        found = learn(ids=pd.Series([None, *range(119)])).proportions(frame=True)
    assert (found.index.name, len(found)) == ("page_id", 120)


def test_repeated_ids_are_warned_of_and_all_texts_learnt(path):
    column = pd.concat([pd.Series(TEXTS[:60]), pd.Series(TEXTS[60:])])
    with pytest.warns(UserWarning, match="^ids: 60 of 120 repeat an earlier one"):
        session = learn(column)
    assert session.status().documents + session.status().held_out == 120
    table = session.documents()
    theta = session.proportions(frame=True)
    pd.testing.assert_index_equal(theta.index, column.index)
    pd.testing.assert_index_equal(table.index, column.index)
    assert table["topic"].tolist() == theta.to_numpy().argmax(axis=1).tolist()


def test_warnings_name_the_line_of_the_program_that_called(path):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        learn([f"<p>{text}</p><br>" for text in TEXTS], ids=[1] * 120)
    assert {found.filename for found in warned} == {learning.__file__}
    assert any("markup html keeps only the prose" in str(found.message) for found in warned)
    assert not any("--" in str(found.message) for found in warned)


def test_an_error_of_the_texts_leaves_nothing(path):
    def failing():
        yield "one"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError, match="the database is gone"):
        learn(failing())
    assert_nothing_is_left(path)
    assert not path.exists()


def test_markup_is_warned_of_and_removed(path):
    pages = [f"<p>{text}</p><br>" for text in TEXTS]
    with pytest.warns(UserWarning, match="120 of the first 120 texts contain HTML"):
        learn(pages, session="tags")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?!short texts)")
        session = learn(pages, markup="html")
    assert session.status().tokens == learn(session="plain").status().tokens
    if find_spec("jinja2"):
        session.report(path.with_name("page.html"))
        assert (
            "<code>--markup</code></th><td><bdi>html</bdi>"
            in path.with_name("page.html").read_text()
        )

"""`wikitopics.train`: texts in memory, a trainer in a process of its own, and what a kill leaves
behind."""

import os
import random
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import warnings
from contextlib import closing, suppress
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.commands import ROOT
from tests.session.rows import sql
from tests.waiting import gone, until
from wikitopics.session.control import InMemoryTexts, start_trainer
from wikitopics.session.storage.opened import keep_index
from wikitopics.session.system import TrainerLock, owner

SUBJECTS = {
    subject: [subject + letter for letter in "abcdefghijkl"]
    for subject in ("river", "song", "theorem")
}
WORDS = [word for words in SUBJECTS.values() for word in words]


def text(number):
    """Eight words of one subject; texts of the three subjects take turns."""
    words = list(SUBJECTS.values())[number % len(SUBJECTS)]
    return " ".join(random.Random(number).choices(words, k=8))


TEXTS = [text(number) for number in range(120)]
HELD_OUT = 12
"""The tenth of these texts that a session holds out."""
TRAINED = len(TEXTS) - HELD_OUT
pytestmark = pytest.mark.filterwarnings("ignore:short texts")


@pytest.fixture
def in_a_process():
    """For a test that is about it: the trainer is a process of its own, as it is for users."""


@pytest.fixture(autouse=True)
def trainers(request):
    if "in_a_process" not in request.fixturenames:
        request.getfixturevalue("trainers_run_here")


@pytest.fixture
def path(home):
    return home / "notes.db"


def assert_nothing_is_left(path):
    assert not any(file.exists() for file in InMemoryTexts.of(path))


def learn(texts=TEXTS, **options):
    return wt.train(
        texts, **{"session": "notes", "model": "scvb0", "topics": 3, "passes": 2, **options}
    )


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import pandas as pd
from tests.wikitopics.test_training import TEXTS, learn
learn(pd.Series(TEXTS, range(500, 620)), passes=10_000)
"""


def endless_program():
    """A program that will not come to its end."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def articles(path):
    with suppress(wt.SessionError):
        return wt.open(path).status().articles
    return 0


def pid_of_trainer_at_work(path):
    """The trainer's pid, once it has trained on more articles than the session has now."""
    before = articles(path)
    until(lambda: articles(path) > before)
    return owner(path).pid


def test_topics_are_found_again_by_replicas_unless_there_are_none():
    session = learn()
    assert session.status().replicas == 3
    assert [topic.found for topic in session.topics() if topic.in_use] == [1.0] * 3
    assert learn(session="none", replicas=0).topics()[0].found is None
    with pytest.raises(wt.SessionError, match="replicas 5: this session was made with 3"):
        learn(replicas=5)
    with pytest.raises(ValueError, match="replicas must be a whole number from 0 to 11"):
        learn(session="many", replicas=12)
    with pytest.raises(TypeError, match="replicas must be a whole number"):
        learn(session="half", replicas=2.5)


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


def test_the_same_call_returns_the_session_and_any_other_is_refused(path, monkeypatch):
    learn(vocabulary=wt.Vocabulary.from_words(WORDS))
    before = path.read_bytes()
    monkeypatch.setattr("wikitopics.session.control.start_trainer", pytest.fail)
    assert learn(vocabulary=wt.Vocabulary.from_words(WORDS)).status().state == "finished"
    again = learn(iter(TEXTS), passes=None)
    assert again.status().state == "finished", "an argument that is not given changes nothing"
    assert wt.train(TEXTS, "notes").status().models[0].kind == "scvb0"
    with pytest.raises(
        wt.SessionError, match=r"^topics 10: this session was made with 3; leave topics out"
    ):
        wt.train(TEXTS, "notes", topics=10)
    for other, says in (
        ({"texts": [*TEXTS[:-1], "another"]}, "was made from other texts"),
        ({"texts": [*TEXTS[:-1], TEXTS[0]]}, "was made from other texts"),
        ({"titles": TEXTS}, "was made from other texts"),
        ({"seed": 2}, "seed 2: this session was made with 0; leave seed out"),
        (
            {"topics": 4},
            "scvb0:topics=4: this session was made with scvb0:topics=3; leave model out",
        ),
        ({"passes": 3}, "^passes 3"),
        (
            {"vocabulary": WORDS[1:]},
            "^vocabulary: this session counts other words; to resume it, leave",
        ),
        ({"markup": "html"}, "^markup html"),
    ):
        with pytest.raises(wt.SessionError, match=says):
            learn(**other)
    assert path.read_bytes() == before
    assert_nothing_is_left(path)


def test_a_session_is_replaced_once_all_is_known_to_be_right(path):
    learn()
    before = path.read_bytes()
    mistakes = [
        {"topics": 0},
        {"texts": [*TEXTS, 3]},
        {"texts": []},
        {"vocabulary": "no such"},
        {"seed": -1},
        {"texts": ["rivera songb", "other"], "vocabulary": WORDS},
        {"seeds": {"a": ["\ud800"]}},
    ]
    for wrong in mistakes:
        with pytest.raises((ValueError, TypeError)):
            learn(**{"replace": True, **wrong})
        assert path.read_bytes() == before
    for wrong, says in (({"topics": 0}, "not 0$"), ({"model": "bertopic"}, "lda, scvb0, hdp$")):
        with pytest.raises(ValueError, match=says):
            learn(**wrong)
    with pytest.raises(wt.SessionError, match=r"or replace=True to start over$"):
        learn(topics=4)
    again = learn(TEXTS[:90], topics=4, replace=True)
    assert (again.status().state, len(again.topics())) == ("finished", 4)
    assert learn(TEXTS[:90], topics=4, session="new", replace=True).status().state == "finished"
    assert_nothing_is_left(path)
    path.write_text("mine")
    with pytest.raises(wt.SessionError, match="not a wikitopics session"):
        learn(replace=True)
    assert path.read_text() == "mine"


def test_sessions_are_listed_and_deleted(path):
    learn()
    learn(session="other")
    broken = path.with_name("broken.db")
    shutil.copy(path, broken)
    sql(broken, "DROP TABLE snapshots")
    with pytest.warns(UserWarning, match="session broken is left out: .* damaged"):
        found = wt.sessions()
    assert [session.path.stem for session in found] == ["notes", "other"]
    assert [len(session.topics()) for session in found] == [3, 3]
    for name in ("other", "broken", path):
        wt.delete(name)
    assert wt.sessions() == []
    with pytest.raises(wt.SessionError, match="no session"):
        wt.delete("notes")


def test_a_call_with_defaults_is_the_same_call_again(path):
    session = wt.train(TEXTS, "notes")
    assert [model.kind for model in session.status().models] == ["lda"]
    before = path.read_bytes()
    assert wt.train(TEXTS, "notes").status().state == "finished"
    assert path.read_bytes() == before


def test_a_session_that_was_made_otherwise_is_refused(trained):
    with pytest.raises(wt.SessionError, match="default was made from other texts"):
        wt.train(TEXTS)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"texts": "a text"}, TypeError, "texts must be a collection, such as a list"),
        (
            {"texts": {"id": "a text"}},
            TypeError,
            "^texts must be a collection, such as a list, not {'id'",
        ),
        (
            {"texts": pd.DataFrame({"text": ["a text"]})},
            TypeError,
            "a column, such as .*, not a table",
        ),
        ({"texts": ["a", 3]}, TypeError, "texts: number 1 is of type int"),
        ({"texts": np.array("a text")}, TypeError, "^texts must be a collection, .*, not array"),
        ({"ids": np.array(3)}, TypeError, "^ids must be a collection, .*, not array"),
        ({"titles": ["a"]}, ValueError, "titles: only 1 of them"),
        ({"ids": range(200)}, ValueError, "texts: only 120 of them"),
        ({"seed": -1}, ValueError, "seed must be a whole number"),
        ({"markup": "xml"}, ValueError, "one of wikitext, html"),
        ({"ids": "abc"}, TypeError, "^ids must be a collection, such as a list, not 'abc' .str"),
        (
            {"titles": pd.DataFrame({"a": TEXTS})},
            TypeError,
            "^titles must be a column, .*, not a table",
        ),
        ({"ids": ["x" * 4097, *TEXTS[1:]]}, ValueError, "^ids: number 0 is over 4,096 bytes"),
        ({"passes": "2"}, TypeError, "^passes must be a whole number, not '2'"),
        ({"model": []}, TypeError, "model must be a kind of model or a SPEC"),
        ({"model": b"lda"}, TypeError, "model must be a kind of model or a SPEC"),
        ({"model": 3}, TypeError, "model must be a kind of model or a SPEC"),
        ({"model": "lsa"}, ValueError, "^model 'lsa': 'lsa' is not a kind of model"),
        ({"topics": 0}, ValueError, "^topics must be a whole number from 1"),
        ({"vocabulary": 3}, TypeError, "^vocabulary must be a Vocabulary, words, .* not 3 .int"),
        ({"vocabulary": [3]}, TypeError, "^vocabulary must be"),
        ({"vocabulary": ["two  words", "one"]}, ValueError, "^vocabulary, word 1: 'two  words'"),
        (
            {"vocabulary": ["party", "two", "party"]},
            ValueError,
            "^vocabulary, word 3: 'party' repeats word 1$",
        ),
        (
            {"vocabulary": ["a", "b"], "min_df": 3},
            ValueError,
            "^vocabulary: .* leave out stop_words",
        ),
        (
            {"vocabulary": "english", "lang": "de"},
            ValueError,
            "lang and digits go with a list of words",
        ),
        ({"lang": "english"}, ValueError, "^lang english: give the code of a language"),
        ({"lang": 3}, TypeError, "^lang must be the code of a language, not 3"),
        ({"seeds": {"x": []}}, ValueError, "^seeds: the topic 'x' has no words$"),
        (
            {"stop_words": "de"},
            ValueError,
            "^stop_words must be words, 'auto', 'en' or None, not 'de'",
        ),
        ({"stop_words": [3]}, TypeError, "^stop_words must be words"),
        ({"min_df": 1.5}, ValueError, "^min_df: 1.5 is neither a number of documents"),
        ({"min_letters": 0}, ValueError, "^min_letters must be from 1 to"),
        ({"min_df": np.array([1, 2])}, ValueError, "^min_df: only integer"),
        ({"seeds": {"a": None}}, TypeError, "^seeds must be a dictionary"),
        ({"seeds": {"a": "b"}}, TypeError, "^seeds must be a dictionary"),
        ({"seeds": {"a": [["b"]]}}, TypeError, "^seeds must be a dictionary"),
        ({"seeds": pd.Series({"a": ["b"], "c": ["d"]})}, TypeError, "^seeds must be a dictionary"),
        ({"stop_words": np.array([1, 2])}, TypeError, "^stop_words must be words"),
        ({"lang": "lo"}, ValueError, "^Lao is written without spaces"),
        ({"vocabulary": "klingon"}, wt.UnknownVocabulary, "^vocabulary: .*klingon"),
        ({"texts": []}, ValueError, "^texts is empty$"),
        ({"texts": [None, " "]}, ValueError, "^texts: all 2 are empty$"),
        ({"texts": ["one"]}, ValueError, "too little text"),
        ({"session": 3}, TypeError, "^session must be a name or a path, not 3"),
        (
            {"texts": map(open, ["missing.txt"])},
            wt.SessionError,
            "cannot read the texts: .*missing.txt",
        ),
        ({"session": "/dev/null/a/b.db"}, wt.SessionError, "Not a directory"),
        ({"session": "/" + "a" * 300 + ".db"}, wt.SessionError, "File name too long"),
        ({"session": "a b"}, ValueError, "^session: 'a b' is not a session name"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(path, arguments, error, says):
    with pytest.raises(error, match=says) as caught:
        learn(**arguments)
    assert "\n" not in str(caught.value)
    assert not path.parent.exists() or not list(path.parent.iterdir())


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
        assert row.tolist() == [
            topic.number,
            topic.name,
            theta.loc[label].max(),
            topic.area,
            topic.area_name,
        ]


def test_texts_are_added_to_a_session_and_have_the_index_of_both(path):
    passes = 2
    session = learn(pd.Series(TEXTS, index=range(1000, 1120)), passes=passes)
    more = pd.Series([text(number) for number in range(110, 160)], index=range(1110, 1160))
    with pytest.warns(
        UserWarning, match="^10 of 50 texts are skipped, because the session already has"
    ):
        status = learn(more, passes=passes, add=True).status()
    new = 40  # of the 50 texts, without the 10 whose ids the session has
    assert status.articles == passes * TRAINED + new, "what is added is read once"
    frame = session.proportions(frame=True)
    assert frame.index.equals(pd.RangeIndex(1000, 1160))
    assert not frame.isna().any(axis=None)
    _, pages = session.counts()
    assert len(pages) == len(session.documents()) == len(TEXTS) + new
    committed = session.status().committed_at
    assert learn(more, add=True).status().committed_at == committed  # the same texts again
    with pytest.raises(wt.SessionError, match="made from other texts"):
        learn(more[:20])
    with pytest.raises(wt.SessionError, match="seed"):
        learn(more[:20], add=True, seed=1)
    assert learn(TEXTS[:5], add=True).documents().index.name == "page_id"  # a list has no ids
    with pytest.raises(ValueError, match="add and replace"):
        learn(more, add=True, replace=True)


def test_counts_of_a_session_are_a_minibatch(path):
    session = learn()
    counts, pages = session.counts()
    assert counts.D == 120
    assert sorted(pages) == list(range(1, 121))
    assert counts.n_tokens == sum(session.vocabulary().count(each)[1].sum() for each in TEXTS)
    assert session.model().infer(counts).shape == (120, 3)
    once = learn(session="once", passes=1)
    assert once.counts()[0].D == 120
    # As up to 1.2, with one pass.
    sql(once.path, "UPDATE settings SET value = 'false' WHERE key = 'keep_counts'")
    with pytest.raises(ValueError, match="kept no word counts"):
        wt.open("once").counts()


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


def test_a_session_that_may_only_be_read_is_returned(path):
    column = pd.Series(TEXTS, name="text")
    learn(column)
    before = path.stat().st_mtime_ns
    path.chmod(0o400)
    assert learn(column).status().state == "finished"
    assert path.stat().st_mtime_ns == before


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
    assert {found.filename for found in warned} == {__file__}
    assert any("markup html keeps only the prose" in str(found.message) for found in warned)
    assert not any("--" in str(found.message) for found in warned)


def test_a_vocabulary_without_a_rule_reads_what_the_session_reads(path):
    words = learn(
        vocabulary=wt.Vocabulary.from_words(["cooperate", "operate", *WORDS])
    ).vocabulary()
    assert words.split("co\u00adoperate \u202briver\u202c") == ["cooperate", "river"]


@pytest.mark.parametrize("words", [frozenset(WORDS), (word for word in WORDS)], ids=type)
def test_words_become_a_vocabulary_in_their_order_or_sorted_if_they_are_a_set(path, words):
    assert learn(vocabulary=words).vocabulary().words == tuple(WORDS)


def test_a_list_of_words_is_read_as_texts_of_the_language_are(path):
    words = learn(vocabulary=["don't", "5g", *WORDS], digits=True).vocabulary()
    assert words.split("Don’t 5G") == ["don't", "5g"]


def test_words_are_chosen_as_asked_and_are_part_of_the_session(path):
    choice = {
        "stop_words": np.array([WORDS[0], WORDS[12]]),
        "min_df": 2,
        "max_df": 1.0,
        "digits": True,
    }
    session = learn(**choice, phrases=True)
    assert set(session.vocabulary().words) == set(WORDS) - {WORDS[0], WORDS[12]}
    # The same call resumes the session; so does one that chooses no words.
    again = learn(**choice, phrases=True).status()
    without_choice = learn().status()
    assert again.documents == without_choice.documents
    # Most words are in fewer than 22 texts.
    for other in ({**choice, "stop_words": None}, {"min_df": 22}, {**choice, "digits": False}):
        with pytest.raises(wt.SessionError, match="counts other words"):
            learn(**other)


def test_an_error_of_the_texts_leaves_nothing(path):
    def failing():
        yield "one"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError, match="the database is gone"):
        learn(failing())
    assert_nothing_is_left(path)
    assert not path.exists()


def test_seeded_topics_come_first_and_have_their_names(path):
    seeds = {"Waters": ["rivera", "riverb", "lake"], "Music": ["songc", "songd"]}
    with pytest.warns(UserWarning, match="seeds of 'Waters': the vocabulary has no lake"):
        session = learn(seeds=seeds)
    topics = {topic.number: topic for topic in session.topics()}
    assert (topics[0].name, topics[1].name) == ("Waters", "Music")
    assert all(word.startswith("river") for word in topics[0].words[:5])
    assert len(learn(seeds=seeds).topics()) == 3
    with pytest.raises(wt.SessionError, match=r"^seeds: this session was made with other seeds"):
        learn(seeds={"Waters": ["riverb"]})
    with pytest.raises(ValueError, match="none of the words of 'x': y"):
        learn(seeds={"x": ["y"]}, replace=True)
    with pytest.raises(ValueError, match="seeds: 2 topics are seeded, but scvb0 has only 1"):
        learn(seeds=seeds, topics=1, replace=True)
    assert len(learn().topics()) == 3, "nothing was deleted"
    assert_nothing_is_left(path)


def test_ctrl_c_while_a_trainer_is_being_started_ends_that_trainer(in_a_process, path, monkeypatch):
    started = []

    def interrupted(*arguments):
        started.append(start_trainer(*arguments))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr("wikitopics.session.control.start_trainer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn(passes=10_000)
    assert started[0].poll() is not None
    assert_nothing_is_left(path)


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


def test_a_new_collection_is_told_of_and_the_bars_total_stays(
    in_a_process, path, monkeypatch, capsys
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with pytest.warns(
        UserWarning, match="^short texts: half of the first 120 .* give another vocabulary$"
    ):
        learn([" ".join(text.split()[:2]) for text in TEXTS], topics=None, passes=None)
    written = capsys.readouterr()
    shown = written.err
    chosen = (
        "10 topics (about the square root of its documents), 5 passes; topics and passes change "
        "that"
    )
    assert f"Small collection: {chosen}" in written.out
    assert "Small collection" not in shown
    total = 5 * len(TEXTS)  # texts in all passes
    assert set(re.findall(r"/(\d+) ", shown)) == {str(total)}
    assert re.search(rf"pass 5 of 5: 100%.*{total}/{total}", shown)


def test_two_at_once_do_not_take_each_others_texts(path, monkeypatch):
    def owner_once_texts_are_written(path):
        """In place of `owner`, which finds the trainer that is running on the session: as if the
        other one had begun only after this call had written its texts."""
        return owner(path) if InMemoryTexts.of(path).texts.exists() else None

    monkeypatch.setattr("wikitopics.in_python.run.owner", owner_once_texts_are_written)
    path.parent.mkdir()
    says = (
        f"in use by another trainer .pid {os.getpid()}.; watch it with `wikitopics watch --session "
        "notes`"
    )
    with TrainerLock(path), pytest.raises(wt.SessionError, match=says):  # locked by the other one
        learn()
    assert InMemoryTexts.of(path).texts.exists()


def test_a_call_at_the_same_time_is_refused_before_it_writes(in_a_process, path):
    """Once the program that made the first call is killed, its trainer still holds the texts."""
    program = endless_program()
    try:
        until(InMemoryTexts.of(path).texts.exists)
        with pytest.raises(wt.SessionError, match=r"another call of|in use by another trainer"):
            learn(TEXTS[::-1])
        trainer = pid_of_trainer_at_work(path)
        program.kill()
        with pytest.raises(wt.SessionError, match="another call of"), InMemoryTexts.of(path).held():
            pass
    finally:
        program.kill()
        program.communicate()
    os.kill(trainer, signal.SIGTERM)
    until(lambda: gone(trainer))
    with InMemoryTexts.of(path).held() as held:
        InMemoryTexts.of(path).remove(held)


def test_texts_that_another_call_took_over_are_not_removed(path):
    given = InMemoryTexts.of(path)
    with given.held() as first:
        given.texts.unlink()  # as the trainer does at its end
        with given.held() as second:
            given.remove(first)
            assert given.texts.exists()
            given.remove(second)
    assert_nothing_is_left(path)


def test_a_trainer_that_was_stopped_is_warned_of(path, cli):
    program = endless_program()
    pid_of_trainer_at_work(path)
    assert cli("stop", "--session", "notes").code == 0
    _, told = program.communicate()
    assert "UserWarning: the trainer was stopped after" in told
    assert program.returncode == 0


@pytest.mark.long
def test_whoever_is_killed_the_texts_are_removed(in_a_process, path, cli):
    program = endless_program()
    pid_of_trainer_at_work(path)
    until(lambda: articles(path) >= len(TEXTS))  # each has its proportions
    assert all(
        stat.S_IMODE(file.stat().st_mode) == 0o600
        for file in InMemoryTexts.of(path)
        if file.exists()
    )
    program.send_signal(signal.SIGINT)
    _, told = program.communicate()
    assert told.endswith("KeyboardInterrupt\n"), told
    assert wt.open(path).status().state == "stopped"
    assert wt.open(path).proportions(frame=True).index.tolist() == list(range(500, 620))
    assert_nothing_is_left(path)

    program = endless_program()  # resumes the session
    trainer = pid_of_trainer_at_work(path)
    program.kill()
    program.communicate()
    before = articles(path)
    until(lambda: articles(path) > before)
    with pytest.raises(wt.SessionError, match=f"in use by another trainer .pid {trainer}"):
        learn(passes=10_000)
    assert InMemoryTexts.of(path).texts.exists()
    os.kill(trainer, signal.SIGTERM)
    until(lambda: gone(trainer))
    assert_nothing_is_left(path)

    program = endless_program()
    os.kill(pid_of_trainer_at_work(path), signal.SIGKILL)
    _, told = program.communicate()
    assert "SessionError: the trainer was killed by signal 9" in told.splitlines()[-1]
    assert program.returncode == 1
    assert_nothing_is_left(path)

    for remove in (lambda: cli("sessions", "rm", "notes", "--yes"), lambda: learn()):
        program = endless_program()
        trainer = pid_of_trainer_at_work(path)
        program.kill()
        os.kill(trainer, signal.SIGKILL)
        program.communicate()
        until(lambda trainer=trainer: gone(trainer))
        left = f"left by killed trainers, which you can delete: {InMemoryTexts.of(path).texts}"
        assert f"texts passed from Python, {left}" in cli("doctor", "--offline").out
        with suppress(wt.SessionError):  # `learn` asks for other passes than the session has
            remove()
        assert_nothing_is_left(path)


def test_proportions_are_those_of_infer_also_once_texts_are_added():
    for texts, options in ((TEXTS, {}), ([f"{one} river" for one in TEXTS[:40]], {"add": True})):
        learn(texts, ids=[f"{len(texts)}/{number}" for number in range(len(texts))], **options)
    session = wt.open("notes")
    found = session.proportions(frame=True)
    both = [*TEXTS, *(f"{one} river" for one in TEXTS[:40])]
    assert len(found) == len(both)
    differences = np.abs(found.to_numpy() - session.infer(both)).sum(axis=1) / 2
    assert np.nanmax(differences) < 0.02


VARIED = {"model": "scvb0", "passes": 2, "progress": False}


def test_several_numbers_of_topics_make_a_table_and_a_session(home):
    table = wt.vary_topics(TEXTS, range(3, 12, 3), **VARIED)
    assert table.index.tolist() == ["scvb0-3", "scvb0-6", "scvb0-9"]
    assert table["topics"].tolist() == [3, 6, 9]
    assert table["log_likelihood"].idxmax() == "scvb0-3", "three subjects are planted"
    assert table["standard_error"].idxmin() == "scvb0-3"
    assert table["distinct"].between(0, 1).all()
    session = wt.open("vary-topics")
    assert len(session.topics("scvb0-6")) == 6
    for name in table.index:
        found = [topic.found for topic in session.topics(name) if topic.in_use]
        assert table["found"][name] == pytest.approx(np.mean(found))
        assert set(found) <= {0.0, 0.333333, 0.666667, 1.0}, "no digits of a float32"
    pd.testing.assert_frame_equal(table, session.compare())
    again = wt.vary_topics(TEXTS, np.array([3, 6, 9]), **VARIED)
    pd.testing.assert_frame_equal(table, again)
    assert not (home / "default.db").exists()
    with pytest.raises(wt.SessionError, match="scvb0-6,topics=6: this session was made with "):
        wt.vary_topics(TEXTS, [3, 6], **VARIED)
    by_train = wt.train(TEXTS, "by-train", topics=(3, 6, 9), **VARIED).compare()
    pd.testing.assert_frame_equal(table, by_train)


@pytest.mark.parametrize(
    ("topics", "error", "says"),
    [
        ([], ValueError, "topics must be a number, or several such as"),
        ([3, 3], ValueError, "topics 3,3: 3 is given twice"),
        ([3, 0], ValueError, "topics must be a whole number from 1 to 10,000, not 0"),
        ([3, 2.5], TypeError, "topics must be a whole number, not 2.5"),
        (["3"], TypeError, "topics must be a whole number, not '3'"),
        ([[3]], TypeError, "topics must be a whole number, not"),
    ],
)
def test_numbers_of_topics_that_make_no_sense_begin_nothing(home, topics, error, says):
    for call in (wt.vary_topics, lambda texts, topics: wt.train(texts, topics=topics)):
        with pytest.raises(error, match=re.escape(says)):
            call(TEXTS, topics)
    assert not list(home.glob("*.db"))


def test_without_pandas_no_numbers_of_topics_are_tried(home, monkeypatch):
    monkeypatch.setattr("wikitopics.in_python.run.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="vary_topics needs pandas: "):
        wt.vary_topics(TEXTS, [3, 6])
    assert not list(home.glob("*.db"))

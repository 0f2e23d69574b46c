"""`wikitopics.train` and `vary_topics`: sessions that are made, resumed, replaced and refused."""

import re
import shutil
import sys
from itertools import count

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.session.rows import sql
from tests.wikitopics.in_python.learning import (
    TEXTS,
    TRAINED,
    WORDS,
    assert_nothing_is_left,
    learn,
    text,
)

pytestmark = pytest.mark.filterwarnings("ignore:short texts")


def test_topics_are_found_again_by_replicas_unless_there_are_none():
    session = learn()
    assert session.status().replicas == 3
    assert [topic.found for topic in session.topics() if topic.in_use] == [1.0] * 3
    assert learn(session="none", replicas=0).topics()[0].found is None
    with pytest.raises(wt.SessionError, match="replicas 5: this session was made with 3"):
        learn(replicas=5)
    with pytest.raises(ValueError, match="replicas must be a whole number from 0 to 11"):
        learn(session="many", replicas=12)
    for no_number in (2.5, True, "2"):
        with pytest.raises(TypeError, match="replicas must be a whole number, not"):
            learn(session="half", replicas=no_number)


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
            {"texts": pd.DataFrame({"review": ["a text"], "n": [1]})},
            ValueError,
            r"^texts: which column holds the text\? Name one with text_column: 'review'$",
        ),
        (
            {"texts": pd.DataFrame([["a text", "b"]], columns=["text", "text"])},
            ValueError,
            "^texts: several columns are called 'text'",
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
    with pytest.warns(UserWarning, match="ids: not all added texts have one, so the index"):
        session = learn(TEXTS[:5], add=True)  # a list has no ids
    assert session.documents().index.name == "page_id"
    with pytest.raises(ValueError, match="add and replace"):
        learn(more, add=True, replace=True)


def test_ids_of_another_type_are_told_when_they_make_the_index_text(path, recwarn):
    learn(pd.Series(TEXTS, index=range(120)))
    session = learn(pd.Series(TEXTS[:2], index=pd.Index([120, 121], dtype="int32")), add=True)
    assert not recwarn.list, "numbers remain numbers"
    assert session.documents().index.equals(pd.RangeIndex(122))
    with pytest.warns(UserWarning, match=r"^ids: those of the added texts are not int64") as told:
        session = learn(pd.Series(TEXTS[2:4], index=["n1", "n2"]), add=True)
    assert len(told) == 1
    assert session.documents().index[-1] == "n2"


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


def test_a_session_that_may_only_be_read_is_returned(path):
    column = pd.Series(TEXTS, name="text")
    learn(column)
    before = path.stat().st_mtime_ns
    path.chmod(0o400)
    assert learn(column).status().state == "finished"
    assert path.stat().st_mtime_ns == before


def test_a_new_collection_is_told_of_and_the_bar_says_how_many_texts_are_learnt(
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
    learnt = len(TEXTS) - len(TEXTS) // 10  # a tenth is held out
    assert re.search(rf"pass 5 of 5: 100%.*{learnt} texts learnt", shown)


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
        ([3, True], TypeError, "topics must be a whole number, not True (bool)"),
        (range(2, 23), ValueError, "topics: at most 20 numbers of topics are learnt side by side"),
        (count(2), ValueError, "topics: at most 20 numbers of topics are learnt side by side"),
    ],
)
def test_numbers_of_topics_that_make_no_sense_begin_nothing(home, topics, error, says):
    for call in (wt.vary_topics, lambda texts, topics: wt.train(texts, topics=topics)):
        with pytest.raises(error, match=re.escape(says)):
            call(TEXTS, topics)
    assert not list(home.glob("*.db"))


@pytest.mark.parametrize("topics", ["3,4", b"3", True])
def test_what_is_no_number_of_topics_begins_nothing(home, topics):
    with pytest.raises(
        TypeError, match=r"topics must be (a whole number, not|a number, or several such)"
    ):
        wt.train(TEXTS, topics=topics)
    for of_one in (topics, 3, None):
        with pytest.raises(TypeError, match="topics must be a collection, such as a list, not"):
            wt.vary_topics(TEXTS, of_one)
    assert not list(home.glob("*.db"))


def test_without_pandas_no_numbers_of_topics_are_tried(home, monkeypatch):
    monkeypatch.setattr("wikitopics.in_python.run.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="vary_topics needs pandas: "):
        wt.vary_topics(TEXTS, [3, 6])
    assert not list(home.glob("*.db"))

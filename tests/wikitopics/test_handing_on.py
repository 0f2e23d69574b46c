"""What a session hands on from Python: files, tables, the nearest articles of a text."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import wikitopics as wt
from tests.wikitopics.test_training import TEXTS, learn
from wikitopics.crawler.source import Extra


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Of documents with ids; nobody may write to it."""
    folder = tmp_path_factory.mktemp("handing on")
    ids = [f"n{number}" for number in range(120)]
    return learn(session=folder / "notes.db", ids=ids, titles=ids, model=["scvb0", "lda"])


@pytest.mark.parametrize("what", ["topics", "articles", "proportions", "words", "metrics"])
def test_exports_are_those_of_the_command(session, cli, tmp_path, what):
    for name, form in ((f"{what}.json", None), (f"{what}.csv", None), ("any", None), ("any", "json")):
        session.export(what, tmp_path / name, form)
        ending = "json" if "json" in (form, name.rpartition(".")[2]) else "csv"
        told = cli("export", what, "--format", ending, "--session", session.path).out
        assert (tmp_path / name).read_text() == told
        if form is None:
            cli("export", what, "-o", tmp_path / name, "--session", session.path)
            assert (tmp_path / name).read_text() == told
    session.export(what, str(tmp_path / "some.json"), model="lda")
    told = cli("export", what, "--format", "json", "--model", "lda", "--session", session.path).out
    assert json.loads((tmp_path / "some.json").read_text()) == json.loads(told)


def test_the_model_is_exported_as_its_ending_says(session, tmp_path):
    for name in ("model.npz", "model"):
        session.export("model", tmp_path / name)
        assert (
            wt.StoredSession(session.path).model().topics().shape
            == np.load(tmp_path / name)["topic_word"].shape
        )
    session.export("model", tmp_path / "pages.ldavis.json")
    assert "tinfo" in json.loads((tmp_path / "pages.ldavis.json").read_text())


def test_what_cannot_be_exported_is_one_line(session, tmp_path):
    for arguments, says in (
        (("topic", tmp_path / "a"), "Did you mean 'topics'"),
        (("topics", tmp_path / "a", "npz"), "topics cannot be exported as npz"),
        (("topics", tmp_path / "a.npz"), "topics cannot be exported as npz"),
        (("topics", tmp_path), "folder"),
        (("topics", session.path), "session"),
    ):
        with pytest.raises((ValueError, wt.SessionError), match=says) as caught:
            session.export(*arguments)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="no model 'nope'"):
        session.export("topics", tmp_path / "a", model="nope")


def test_the_report_is_a_page(session, tmp_path):
    pytest.importorskip("jinja2")
    session.report(tmp_path / "page.html")
    assert "What 108 documents are about" in (tmp_path / "page.html").read_text()
    with pytest.raises(ValueError, match="session"):
        session.report(session.path)


def test_a_text_has_neighbours_as_a_title_has(session, cli, tmp_path):
    (tmp_path / "text").write_text(TEXTS[5])
    told = cli("similar", tmp_path / "text", "--json", "--limit", 7, "--session", session.path).out
    found = session.similar(text=TEXTS[5], limit=7)
    assert [(one.page_id, one.distance, one.id) for one in found] == [
        (one["page_id"], one["distance"], one["id"]) for one in json.loads(told)
    ]
    for arguments in ({}, {"title": "n5", "text": "both"}):
        with pytest.raises(ValueError, match="takes a title or a text"):
            session.similar(**arguments)
    with pytest.raises(TypeError, match="text must be text, not 3"):
        session.similar(text=3)


def test_proportions_are_a_table_by_id(session):
    matrix, page_ids = session.proportions("lda", held_out=True)
    frame = session.proportions("lda", frame=True)
    np.testing.assert_array_equal(frame.to_numpy(), matrix.toarray()[np.argsort(page_ids)])
    assert frame.index.name == "id"
    assert frame.index.tolist() == [f"n{n}" for n in range(120)]
    assert frame.columns.tolist() == [0, 1, 2]
    assert session.proportions(frame=True, held_out=False)[0].notna().sum() == 108


def test_proportions_of_documents_without_ids_are_a_table_by_number():
    frame = learn().proportions(frame=True)
    assert frame.index.name == "page_id"
    assert frame.index.tolist() == list(range(1, 121))


def test_top_words_are_by_topic_and_may_be_many(session):
    by_number = {topic.number: list(topic.words) for topic in session.topics()}
    assert session.top_words() == [by_number[k][:10] for k in range(3)]
    assert [words[:20] for words in session.top_words(n=30)] == [by_number[k] for k in range(3)]
    assert {len(words) for words in session.top_words("lda", n=30)} == {30}
    with pytest.raises(ValueError, match="n must be from 1"):
        session.top_words(n=0)


def test_a_notebook_shows_tables_that_load_nothing(session):
    pytest.importorskip("jinja2")
    topics = session.topics()
    pages = session._repr_html_(), topics._repr_html_(), topics[0]._repr_html_()
    for page, says in zip(
        pages, ("108 documents (texts given in Python)", "3 topics of scvb0", "#"), strict=True
    ):
        assert says in page
        assert page.count("<svg") == page.count("</svg>") > 0
        assert not re.search(r"(?:src|href)=|https?:|<script|@import|url\(", page)
    assert "3 topics of lda" in pages[0]
    assert topics[0].name in pages[1]
    assert all(f"<th>{word}</th>" in pages[2] for word in topics[0].words)
    assert len(topics[0].own) == len(topics[0].words)


def test_what_texts_contain_is_escaped(session):
    pytest.importorskip("jinja2")
    hostile = "<script>&\x1b[31m\u202e\"'"
    topic = replace(session.topics()[0], name=hostile, words=(hostile,), probabilities=(0.5,), own=(0.5,))
    for page in (topic._repr_html_(), wt.stored.Topics([topic], session, "lda")._repr_html_()):
        assert "&lt;script&gt;&amp;" in page
        assert not any(part in page for part in ("<script", "\x1b", "\u202e"))


def test_without_the_extra_a_notebook_shows_a_line(session, monkeypatch):
    monkeypatch.setattr(Extra, "missing", lambda self: ["no-such-package"])
    topics = session.topics()
    assert session._repr_html_() is topics._repr_html_() is topics[0]._repr_html_() is None


def test_a_session_that_is_gone_is_shown_as_such(session, tmp_path):
    pytest.importorskip("jinja2")
    shutil.copy(session.path, tmp_path / "gone.db")
    gone = wt.open(tmp_path / "gone.db")
    (tmp_path / "gone.db").unlink()
    assert "there is no session" in gone._repr_html_()

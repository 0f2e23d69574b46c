"""Stored sessions in Python: what a notebook gets of them and hands on; nothing of it reaches
them."""

import contextlib
import copy
import json
import pickle
import re
import shutil
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from keyword import iskeyword
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.wikitopics.in_python.learning import TEXTS, learn
from wikitopics.cli import run
from wikitopics.extra import Extra
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter

TWO = ["--model", "lda:topics=5", "--model", "hdp:name=many,topics=8"]


@pytest.fixture(scope="module")
def trained_two(corpus, tmp_path_factory):
    """Two models, trained on 300 articles; nobody may write to it."""
    path = tmp_path_factory.mktemp("two") / "two.db"
    few = ["--batch-size", "64", "--held-out", "40", "--articles", "300", "--seed", "3"]
    assert run(["train", *corpus.options(), *TWO, *few, "--session", str(path)]) == 0
    return path


@pytest.fixture
def session(trained_two, home):
    """The same as the session `default`."""
    home.mkdir()
    shutil.copy(trained_two, home / "default.db")
    return wt.open()


def refused(call, *says, error=wt.SessionError):
    """Asserts that the call ends in one line that says these things."""
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, wt.SessionError) == (error is wt.SessionError)
    assert "\n" not in str(caught.value)
    for text in says:
        assert text in str(caught.value)
    return str(caught.value)


def test_status_and_articles_are_those_of_the_commands(session, cli):
    told = cli.json("status")
    status = session.status()
    for key in told.keys() - {"models", "checkpoint_age_seconds"}:
        name = f"{key}_" if iskeyword(key) else key
        assert getattr(status, name) == told[key], key
    models = [{**model, "prequential_log_likelihood": None} for model in told["models"]]
    assert [asdict(model) for model in status.models] == models
    scores = r"lda perplexity [\d.]+; many perplexity [\d.]+"
    assert re.fullmatch(
        rf"<Status: finished, 300 documents, [\d,]+ an hour; {scores}>", repr(status)
    )
    told = cli.json("articles", "--topic", 2, "--limit", 7)
    found = session.articles(np.int64(2), limit=np.int64(7))
    for key in ("page_id", "title", "revision_id", "words", "topic", "proportion"):
        assert [getattr(article, key) for article in found] == [one[key] for one in told]
    newest = session.articles(limit=350, model="many")
    assert len(newest) > 300
    for article in newest:
        assert (
            (article.role != "skipped")
            == (article.topic is not None)
            == (article.proportion is not None)
        )
    assert session.articles(limit=0) == []


def test_topics_metrics_and_history_are_those_of_the_commands(session, cli):
    for model in (None, "lda", "many"):
        options = ["--model", model] if model else []
        told = cli.json("topics", "--top", 20, *options)
        topics = session.topics(model)
        for topic, one in zip(topics, told, strict=True):
            assert (topic.number, topic.share) == (one["topic"], one["share"])
            pairs = zip(topic.words, topic.probabilities, strict=True)
            assert [{"word": word, "probability": value} for word, value in pairs] == one["words"]
            assert topic.in_use == (topic.share > 0.001)
            first = session.articles(topic.number, limit=3, model=model)
            assert list(topic.titles) == one["titles"] == [article.title for article in first]
        last = [one for one in session.metrics(model) if one.metric == "npmi"][-1]
        assert last.articles == session.history(0, model)[-1].articles
        assert np.mean([topic.npmi for topic in topics if topic.in_use]) == pytest.approx(
            last.value
        )
    first = session.topics()[0]
    words = " ".join(first.shown)
    assert len(first.shown) == 10
    assert repr(first) == f"<Topic {first.number} {first.name!r}, {first.share:.1%}: {words}>"
    for model in ("lda", "many"):
        told = cli.rows("metrics", "--model", model)
        assert [asdict(one) for one in session.metrics(model)] == told
        told = cli.rows("history", "--model", model)
        for then in session.history(1, model):
            words = [one for one in told if (one["articles"], one["topic"]) == (then.articles, 1)]
            assert [one["word"] for one in words] == list(then.words[:10])
            assert [one["probability"] for one in words] == list(then.probabilities[:10])
    assert session.metrics() == session.metrics("lda")
    assert "after 64 articles" in repr(session.history(0)[0])


def test_texts_are_inferred_by_each_model(session, corpus, cli, tmp_path):
    texts = [" ".join(corpus.words[:12]), "unknown", ""]
    for model, K in ((None, 5), ("many", 8)):
        theta = session.infer(iter(texts), model)
        assert (theta.shape, theta.dtype) == ((3, K), np.float32)
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
        assert session.infer([], model).shape == (0, K)
    (tmp_path / "text").write_text(texts[0])
    (told,) = cli.json("infer", tmp_path / "text")
    assert session.infer(texts)[0].tolist() == told["proportions"]
    refused(lambda: session.infer("a text"), "texts must be a collection", error=TypeError)
    missing = session.infer(["", None, np.nan, pd.NA, *np.ma.masked_all(1, object)])
    assert (missing == missing[0]).all()
    refused(
        lambda: session.infer(np.array("a text")), "texts must be a collection", error=TypeError
    )
    refused(
        lambda: session.infer(["a text", 3.0]), "texts: number 1 is of type float", error=TypeError
    )
    table = pd.DataFrame({"number": [1], "text": texts[:1]})
    assert session.infer(table).tolist() == session.infer(texts[:1]).tolist()
    refused(
        lambda: session.infer(table[["number"]]), "which column holds the text", error=ValueError
    )
    refused(lambda: session.infer(["a"], markup="xml"), "markup must be one of", error=ValueError)


def test_a_model_learns_and_the_session_stays(session, corpus):
    before = session.path.read_bytes()
    model = session.model("many")
    assert isinstance(model, wt.OnlineModel)
    assert repr(model) == f"<OnlineHDP: 8 topics, 60 words, {model.updates} updates>"
    ids, counts = session.vocabulary().count(" ".join(corpus.words[:30]))
    model.learn(wt.Minibatch([0, len(ids)], ids, counts))
    assert model.updates == session.model("many").updates + 1
    assert not np.array_equal(model.topics(), session.model("many").topics())
    assert session.path.read_bytes() == before
    assert not [
        file for file in session.path.parent.iterdir() if file.name.startswith("default.db-")
    ]


def test_names_and_paths(session, monkeypatch):
    for named in ("default", session.path, str(session.path)):
        assert wt.open(named).path == session.path
    monkeypatch.chdir(session.path.parent)
    shutil.copy(session.path, "night")
    assert wt.open(Path("night")).status().articles == 300, (
        "a Path is no name, whatever it looks like"
    )
    told = "finished, 300 documents (counts.npz); lda (5 topics), many (8 topics)"
    assert repr(session) == f"<StoredSession default: {told}>"


def test_mistakes_are_one_line(session, home, tmp_path):
    (tmp_path / "text.db").write_text("some text")
    refused(lambda: wt.open("nothing"), "no session", "Available: default")
    assert "--" not in refused(lambda: wt.open("nothing"))
    refused(lambda: wt.open(tmp_path / "text.db"), "not a session", "not an SQLite file")
    refused(lambda: wt.open(tmp_path), "folder")
    refused(lambda: wt.open("../x y"), "no session")
    refused(lambda: wt.open(home / "default.db-wal"), "part of a session", error=ValueError)
    for ask in (
        session.topics,
        session.metrics,
        session.model,
        lambda name: session.infer(["a"], name),
    ):
        refused(lambda ask=ask: ask("nope"), "no model 'nope'", "lda, many", error=ValueError)
    for ask in (session.articles, session.history):
        refused(lambda ask=ask: ask(5), "topics 0 to 4", error=ValueError)
        refused(lambda ask=ask: ask(-1), "topics 0 to 4", error=ValueError)
    refused(lambda: session.articles(limit=-1), "limit", error=ValueError)
    refused(lambda: session.articles(limit="all"), "limit must be a whole number", error=TypeError)
    refused(lambda: session.similar(2.5), "must be a title or an id, not 2.5", error=TypeError)
    refused(lambda: session.similar(), "a title or a text", error=ValueError)
    for arguments, error, *says in (
        (
            ("topic", "x.csv"),
            ValueError,
            "what: there is no export 'topic'",
            "Did you mean 'topics'",
        ),
        (([], "x.csv"), ValueError, "what: there is no export []"),
        (("topics", "x.xls"), ValueError, "no format has the ending .xls"),
        (("topics", "x.csv", "json"), ValueError, ".csv is not the ending of"),
        (("topics", "x", "npz"), ValueError, "topics cannot be exported as npz"),
        (("topics", "x.npz"), ValueError, "topics cannot be exported as npz"),
        (("topics", tmp_path), wt.SessionError, "folder"),
        (("topics", session.path), ValueError, "session"),
        (("topics", 3), TypeError, "path must be a path, not 3"),
    ):
        refused(lambda arguments=arguments: session.export(*arguments), *says, error=error)
    refused(
        lambda: session.export("topics", "x", model="nope"), "no model 'nope'", error=ValueError
    )
    unknown = "~nobody-of-that-name/x.html"
    for write in (
        lambda: session.export("topics", unknown),
        lambda: session.report(unknown),
        lambda: session.map().save(unknown),
    ):
        refused(write, "path: ", "no such user", error=ValueError)
    refused(lambda: session.report("x.pdf"), "end the name in .html", error=ValueError)
    refused(lambda: wt.open(3), "session must be a name or a path, not 3", error=TypeError)
    refused(lambda: wt.open("x y"), "session: 'x y' is not a session name", error=ValueError)


def test_a_session_that_goes_away_is_told(session, tmp_path):
    with wt.open() as other:
        assert len(other.topics()) == 5
    shutil.copy(session.path, tmp_path / "copy")
    (tmp_path / "copy").replace(session.path)
    refused(session.status, "replaced")
    session.path.unlink()
    refused(session.status, "no session")
    assert "no session" in repr(session)


def test_it_is_used_from_many_threads_and_sent_to_other_processes(session):
    topics = session.topics()
    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit(call) for call in [session.topics, session.metrics, session.status] * 8
        ]
        assert all(call.result() == topics for call in calls[::3])
        assert {call.result().articles for call in calls[2::3]} == {300}
        title = session.articles(limit=1)[0].title
        found = list(pool.map(session.find, [title] * 16))
        assert len({tuple(one.page_id for one in each.documents) for each in found}) == 1
    for copied in (pickle.loads(pickle.dumps(session)), copy.deepcopy(session)):
        assert copied.topics() == topics


def test_one_call_sees_one_commit(session):
    with (
        contextlib.closing(SessionWriter(session.path)),
        contextlib.closing(sqlite3.connect(session.path)) as trainer,
        SessionReader(session.path) as reader,
    ):
        with reader.one_moment():
            before = reader.status()
            with trainer:
                trainer.execute("UPDATE models SET updates = updates + 1")
                trainer.execute(
                    "UPDATE progress SET articles = articles + 64, crawled = crawled + 64"
                )
            with reader.one_moment():
                now = reader.status()
            assert (now.articles, now.models) == (before.articles, before.models)
        assert reader.status().articles == before.articles + 64
        assert session.status().models[0].updates == before.models[0].updates + 1


@pytest.fixture
def notes(made_once, trainers_run_here):
    """A session of documents with ids; nobody may write to it."""
    ids = [f"n{number}" for number in range(120)]

    def train(folder):
        learn(session=folder / "notes.db", ids=ids, titles=ids, model=["scvb0", "lda"])

    return wt.open(made_once("handing-on", train) / "notes.db")


def test_a_document_is_also_found_by_its_id_if_no_title_is_the_same(
    trainers_run_here, tmp_path, cli
):
    texts = pd.Series(TEXTS, index=range(1, 121))
    titles = ["7", *(f"text {number}" for number in range(2, 121))]
    session = learn(texts, session=tmp_path / "s.db", titles=titles)
    assert session.similar(5, 3) == session.similar("5", 3) == session.similar("text 5", 3)
    assert "1" in {found.id for found in session.similar(8, 119)}
    assert "1" not in {found.id for found in session.similar("7", 119)}, "a title comes first"
    told = cli.json("similar", "5", "--limit", 3, "--session", session.path)
    assert [one["id"] for one in told] == [found.id for found in session.similar(5, 3)]
    for unknown in ("", "121", -1):
        with pytest.raises(wt.SessionError, match="no trained document is called"):
            session.similar(unknown)


@pytest.mark.parametrize("what", ["topics", "articles", "proportions", "words", "metrics"])
def test_exports_are_those_of_the_command(notes, cli, tmp_path, what):
    for name, form in (
        (f"{what}.json", None),
        (f"{what}.csv", None),
        ("any", None),
        ("any", "json"),
    ):
        notes.export(what, tmp_path / name, form)
        ending = "json" if "json" in (form, name.rpartition(".")[2]) else "csv"
        told = cli("export", what, "--format", ending, "--session", notes.path).out
        assert (tmp_path / name).read_text() == told
        if form is None:
            cli("export", what, "-o", tmp_path / name, "--session", notes.path)
            assert (tmp_path / name).read_text() == told
    notes.export(what, str(tmp_path / "some.json"), model="lda")
    told = cli("export", what, "--format", "json", "--model", "lda", "--session", notes.path).out
    assert json.loads((tmp_path / "some.json").read_text()) == json.loads(told)


def test_the_model_is_exported_as_its_ending_says(notes, tmp_path):
    for name in ("model.npz", "model"):
        notes.export("model", tmp_path / name)
        assert notes.model().topics().shape == np.load(tmp_path / name)["topic_word"].shape
    notes.export("model", tmp_path / "pages.ldavis.json")
    assert "tinfo" in json.loads((tmp_path / "pages.ldavis.json").read_text())


@pytest.mark.interop
def test_the_report_is_a_page(notes, tmp_path):
    pytest.importorskip("jinja2")
    notes.report(tmp_path / "page.html")
    assert "What 120 documents are about" in (tmp_path / "page.html").read_text()
    with pytest.raises(ValueError, match="session"):
        notes.report(notes.path)


def test_a_text_has_neighbours_as_a_title_has(notes, cli, tmp_path):
    (tmp_path / "text").write_text(TEXTS[5])
    told = cli("similar", tmp_path / "text", "--json", "--limit", 7, "--session", notes.path).out
    found = notes.similar(text=TEXTS[5], limit=7)
    for key in ("page_id", "distance", "id"):
        assert [getattr(one, key) for one in found] == [one[key] for one in json.loads(told)]
    for arguments in ({}, {"title": "n5", "text": "both"}):
        with pytest.raises(ValueError, match="takes either a title or a text"):
            notes.similar(**arguments)
    for text in ("zzz qqq", ""):
        with pytest.raises(ValueError, match=r"^text contains no word of the session's vocabulary"):
            notes.similar(text=text)
    with pytest.raises(TypeError, match="text must be text, or a list of tokens, not 3"):
        notes.similar(text=3)


def test_proportions_are_a_table_by_id_and_top_words_by_topic(notes):
    matrix, page_ids = notes.proportions("lda", held_out=True)
    frame = notes.proportions("lda", frame=True)
    np.testing.assert_array_equal(frame.to_numpy(), matrix.toarray()[np.argsort(page_ids)])
    assert (frame.index.name, frame.index.tolist()) == ("id", [f"n{n}" for n in range(120)])
    assert frame.columns.tolist() == [0, 1, 2]
    assert notes.proportions(frame=True, held_out=False)[0].notna().sum() == 108
    by_number = {topic.number: list(topic.words) for topic in notes.topics()}
    assert notes.top_words() == [by_number[k][:10] for k in range(3)]
    assert [words[:20] for words in notes.top_words(n=30)] == [by_number[k] for k in range(3)]
    assert {len(words) for words in notes.top_words("lda", n=30)} == {30}
    with pytest.raises(ValueError, match="n must be from 1"):
        notes.top_words(n=0)


def test_no_article_is_called_as_another_one(session, monkeypatch):
    of_others = Mock(own=False)
    monkeypatch.setattr("wikitopics.session.analysis.frames.kind_named", lambda source: of_others)
    with contextlib.closing(sqlite3.connect(session.path)) as db, db:
        db.execute("UPDATE articles SET id = 'n' || page_id")
        (ids,) = zip(*db.execute("SELECT id FROM articles WHERE role < 2"), strict=True)
    assert set(session.proportions(frame=True).index) == set(ids)
    with contextlib.closing(sqlite3.connect(session.path)) as db, db:
        db.execute("DELETE FROM articles WHERE seq = (SELECT max(seq) - 3 FROM articles)")
    with pytest.raises(wt.SessionError, match="blocks and articles do not match"):
        session.proportions(frame=True)


@pytest.mark.interop
def test_a_notebook_shows_tables_that_load_nothing_with_everything_escaped(notes, tmp_path):
    pytest.importorskip("jinja2")
    topics = notes.topics()
    pages = notes._repr_html_(), topics._repr_html_(), topics[0]._repr_html_()
    told = "108 documents (texts from a Python program)", "3 topics of scvb0", "#"
    for page, says in zip(pages, told, strict=True):
        assert says in page
        assert page.count("<svg") == page.count("</svg>") > 0
        assert not re.search(r"(?:src|href)=|https?:|<script|@import|url\(", page)
    assert "3 topics of lda" in pages[0]
    assert topics[0].name in pages[1]
    assert " ".join(topics[0].shown) in pages[1]
    assert all(f"<th>{word}</th>" in pages[2] for word in topics[0].words)
    assert len(topics[0].own) == len(topics[0].words)
    hostile = "<script>&\x1b[31m\u202e\"'"
    topic = replace(
        notes.topics()[0],
        name=hostile,
        words=(hostile,),
        shown=(hostile,),
        probabilities=(0.5,),
        own=(0.5,),
        called=(hostile, "a title"),
    )
    for page in (topic._repr_html_(), wt.stored.topics.Topics([topic], notes, "lda")._repr_html_()):
        assert "&lt;script&gt;&amp;" in page
        assert " · <bdi>a title</bdi>" in page
        assert not any(part in page for part in ("<script", "\x1b", "\u202e"))
    shutil.copy(notes.path, tmp_path / "gone.db")
    gone = wt.open(tmp_path / "gone.db")
    (tmp_path / "gone.db").unlink()
    assert "there is no session" in gone._repr_html_()


def test_a_part_of_the_topics_is_a_table_too(notes):
    topics = notes.topics()
    first = topics[:2]
    assert first == list(topics)[:2]
    assert topics[1] is first[1]
    assert first[0].name in (first._repr_html_() or first[0].name)
    assert type(topics[::-1]) is type(topics)


def test_without_the_extra_a_notebook_shows_a_line(notes, monkeypatch):
    monkeypatch.setattr(Extra, "missing", lambda self: ["no-such-package"])
    topics = notes.topics()
    assert notes._repr_html_() is topics._repr_html_() is topics[0]._repr_html_() is None


def test_models_are_compared_in_a_table(session, cli):
    table = session.compare()
    assert table.index.name == "model"
    assert list(table.columns) == [
        "topics",
        "log_likelihood",
        "standard_error",
        "npmi",
        "distinct",
        "found",
    ]
    told = {model["model"]: model for model in cli.json("compare")["models"]}
    assert set(table.index) == {"lda", "many"}
    for name, row in table.iterrows():
        known = {key: value for key, value in row.items() if not np.isnan(value)}
        assert known == {key: told[name][key] for key in known}
        assert set(row.keys()) - set(known) == {"found"}


def test_without_pandas_models_are_not_compared(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    refused(session.compare, "compare() needs pandas: ", error=ValueError)
